// Package cli is the command line of webhookd: one file per verb, built on cobra. Results go to
// stdout, everything else to stderr. Programs that compile in kinds of their own call [Run] through
// webhookd.Main.
package cli
