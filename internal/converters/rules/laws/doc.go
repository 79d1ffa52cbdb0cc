// Package laws has no code but tests: they hold the examples of the repository to the laws of
// conversion on thousands of random objects, which is too much for the package of the engine.
package laws
