package cli

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/crdconvert/webhookd/internal/serve/ruleset"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // fuzz makes many small objects that are soon garbage
	testscript.Main(m, map[string]func(){
		"webhookd": func() { runProgram(exampleKinds()) },
		"released": func() { runProgram(ruleset.Compiled{}) },
	})
}

// runProgram is the main function of a program with these kinds and functions.
func runProgram(compiled ruleset.Compiled) {
	os.Exit(Run(context.Background(), "", compiled, os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr)) //nolint:forbidigo,revive // as main does
}

// TestScripts runs testdata/script. There, webhookd is the custom server of examples/, with its
// kinds, released is the released program without any, and EXAMPLES is the folder of the examples.
// In addition to testscript's own commands there are, for one server per script:
//
//	secret DIR                  puts a new key pair into a folder, as a Secret is mounted and updated
//	[!] start [FLAG...]         starts serve on free ports, with a self-signed pair unless a flag names
//	                            one, and waits until it is ready, or with ! only until it listens;
//	                            the program is webhookd, or that of the variable PROGRAM
//	post FILE [PATH]            posts a file to the webhook; the answer is in stdout, the code in stderr
//	[!] get webhook|admin PATH  gets a page in the same way; the code must (not) be 200
//	waitlog REGEXP              waits for a line of the log
//	[!] shutdown [SIGNAL]       sends TERM, or INT, waits for a clean end, and leaves the log in the
//	                            file log; with ! it sends a second signal during the drain, which must
//	                            end the server at once
//
// With -update, the files of a script that cmp compares stdout or stderr with are rewritten.
func TestScripts(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "scripts")
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", examples)
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
			"shutdown": command((*scriptServer).shutdown),
		},
	})
}
