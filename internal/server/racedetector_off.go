//go:build !race

package server

// raceDetector is whether this is a build for the race detector.
const raceDetector = false
