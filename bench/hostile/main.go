// Command hostile plays the hostile requests of webhookd's own tests (test/hostile, sets A1 to A7)
// against conversion handlers in this process, and prints how many of the answers are right.
//
// An answer is right if it is what the protocol asks for, whatever its words:
//   - where a conversion is due, a review with Success, the uid, and objects that say what those of
//     the request said: numbers as numbers, whatever their spelling; a null is as good as nothing;
//     of metadata only the name, the namespace, labels and annotations count, since the API server
//     takes no more;
//   - where none is possible, a review with Failed, the uid and a message, or an HTTP error of the
//     client (4xx);
//   - where there is no review to answer, an HTTP error of the client;
//   - where RFC 8259 or the protocol leave it open, any of these.
//
// Cases about what webhookd alone has are left out. A panic is what the handler itself lets out; a
// server of net/http makes a dropped connection of it.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/test/hostile"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

// A peer is a handler with the CronTab of example.com.
type peer struct {
	name    string
	modules []string // whose versions say what it is
	handler http.Handler
}

func peers() ([]peer, error) {
	own, err := newWebhookd()
	if err != nil {
		return nil, err
	}
	runtime, err := newControllerRuntime()
	if err != nil {
		return nil, err
	}
	sample, err := newSample()
	if err != nil {
		return nil, err
	}
	return []peer{
		{"webhookd", nil, own},
		{"controller-runtime", []string{"sigs.k8s.io/controller-runtime"}, runtime},
		{"the flow of Kubernetes' sample server", []string{"k8s.io/apiextensions-apiserver", "k8s.io/apimachinery"}, sample},
	}, nil
}

func run(out io.Writer, args []string) error {
	verbose := len(args) == 1 && args[0] == "-v"
	if len(args) > 0 && !verbose {
		return fmt.Errorf("the only flag is -v, for what was wrong with each answer, not %q", args)
	}
	all, err := peers()
	if err != nil {
		return err
	}
	cases := hostile.Cases()
	scores := make([]score, len(all))
	for i, p := range all {
		scores[i] = p.play(cases)
		if verbose {
			for _, w := range scores[i].wrong {
				fmt.Fprintf(os.Stderr, "%s: %s\n", p.name, w)
			}
		}
	}
	report(out, all, scores)
	return nil
}

// version returns the versions of modules in this binary.
func version(modules []string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var text strings.Builder
	for _, dep := range info.Deps {
		if slices.Contains(modules, dep.Path) {
			fmt.Fprintf(&text, " (%s %s)", dep.Path, dep.Version)
		}
	}
	return text.String()
}
