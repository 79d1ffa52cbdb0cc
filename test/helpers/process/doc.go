// Package process runs webhookd as a process of its own, for tests: the binary that is shipped, its
// flags, its log, its signals and what the kernel knows of it.
package process
