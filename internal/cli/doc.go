// Package cli is the command line of webhookd: one file a verb, built on cobra. Results go to stdout,
// everything else to stderr. A program compiles its own kinds in through [Main].
package cli
