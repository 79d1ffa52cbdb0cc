// Package cli is the command line of webhookd, built on cobra: the root command, help and
// completion. Each folder has a verb or a family of verbs, but for three that verbs share: voice,
// offline and connect. A verb imports no other verb. Results go to stdout, everything else to
// stderr. Programs that compile in kinds of their own call [Run] through webhookd.Main. Begin with
// run.go.
package cli
