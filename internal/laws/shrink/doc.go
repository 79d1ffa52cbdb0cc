// Package shrink makes objects and walks smaller for as long as a test fails on them. What the test
// is, its caller knows. Read shrink.go first.
package shrink
