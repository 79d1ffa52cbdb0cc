package cli

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/crdconvert/webhookd/internal/ruleset"
	"github.com/crdconvert/webhookd/internal/tlsreload/tlstest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"webhookd": func() { runProgram(exampleKinds()) },
		"released": func() { runProgram(ruleset.Compiled{}) },
	})
}

// runProgram is the main function of a program with these kinds.
func runProgram(compiled ruleset.Compiled) {
	os.Exit(Run(context.Background(), "", compiled, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)) //nolint:forbidigo,revive // as main does
}

// TestScripts runs testdata/script. There, webhookd is the custom server of examples/, with its kinds,
// and released is webhookd as it is released. Beside testscript's own commands there are, for one
// server a script:
//
//	secret DIR                  puts a new key pair into a folder, as a Secret is mounted and updated
//	[!] start [FLAG...]         starts webhookd serve on free ports, with a self-signed pair unless a
//	                            flag says where there is one, and waits until it is ready, or with !
//	                            only until it listens
//	post FILE [PATH]            posts a file to the webhook; the answer is in stdout, the code in stderr
//	[!] get webhook|admin PATH  gets a page in the same way; the code must (not) be 200
//	waitlog REGEXP              waits for a line of the log
//	[!] shutdown [SIGNAL]       sends TERM, or INT, waits for the end, which must be clean, and leaves
//	                            the log in the file log; with ! it sends another one while the server
//	                            drains, which must end it at once
//
// With -update, the files of a script that cmp compares stdout or stderr with are written anew.
func TestScripts(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "scripts")
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Values[serverKey{}] = &scriptServer{log: &logBuffer{changed: make(chan struct{})}, roots: ca.Pool()}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"secret": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 1 {
					ts.Fatalf("usage: secret DIR")
				}
				tlstest.WriteSecretDir(t, ts.MkAbs(args[0]), ca.Issue(t, tlstest.Leaf{}).Files())
			},
			"start":    command((*scriptServer).start),
			"post":     command((*scriptServer).post),
			"get":      command((*scriptServer).get),
			"waitlog":  command((*scriptServer).waitLog),
			"hangup":   command((*scriptServer).hangup),
			"shutdown": command((*scriptServer).shutdown),
		},
	})
}
