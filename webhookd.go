// Package webhookd is the conversion webhook of Kubernetes custom resources as a library: [Main] is
// the whole server and command line, with kinds of your own.
//
//	func main() {
//		os.Exit(webhookd.Main(webhookd.WithKinds(conversion.Must(conversion.Lossless(converter, crd)))))
//	}
//
// See package conversion for converters, package conversion/webhook for a handler in a server of
// your own, and package conversion/rules for kinds that rules convert.
package webhookd

import (
	"context"
	"fmt"
	"maps"
	"os"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/rules"
	"github.com/crdconvert/webhookd/internal/cli"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/serve/library"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// An Option adds something to the program of [Main].
type Option func(*program)

type program struct {
	version   string
	kinds     []conversion.Kind
	functions map[string]rules.Function
}

// WithKinds compiles kinds in. Rules for a kind win over a kind that is compiled in.
func WithKinds(kinds ...conversion.Kind) Option {
	return func(p *program) { p.kinds = append(p.kinds, kinds...) }
}

// WithFunctions compiles functions in, which rules call by name: `go: NAME`. The last function of a
// name counts.
func WithFunctions(functions map[string]rules.Function) Option {
	return func(p *program) { maps.Copy(p.functions, functions) }
}

// WithVersion sets the version that `version` prints and metrics show. Without it, that is the
// version of the main module in the build info.
func WithVersion(version string) Option { return func(p *program) { p.version = version } }

// Main runs webhookd's command line with the arguments, environment and standard streams of the
// process, and returns its exit code: 0 on success, 1 if something failed, 2 if the command line or
// the configuration is wrong. It ends when the command does, or on SIGINT or SIGTERM.
//
// It panics for kinds that [conversion.NewRegistry] refuses, for a function without both
// directions, and for a nil Option.
func Main(options ...Option) int {
	p := &program{functions: map[string]rules.Function{}}
	for i, option := range options {
		if option == nil {
			panic(fmt.Sprintf("webhookd.Main: options[%d] is nil", i))
		}
		option(p)
	}
	kinds, err := library.Kinds(p.kinds...)
	if err != nil {
		panic(fmt.Sprintf("webhookd.WithKinds: %v", err))
	}
	compiled := ruleset.Compiled{Kinds: kinds, Functions: make(map[string]transform.GoFunc, len(p.functions))}
	for name, f := range p.functions {
		if f.ToHub == nil || f.ToSpoke == nil {
			panic("webhookd.WithFunctions: function without ToHub or ToSpoke: " + name)
		}
		compiled.Functions[name] = transform.GoFunc(f)
	}
	return cli.Run(context.Background(), p.version, compiled, os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr)
}
