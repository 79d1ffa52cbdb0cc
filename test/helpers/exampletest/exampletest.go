// Package exampletest has the kinds and functions of examples/custom-server for tests and
// benchmarks, as webhookd's own packages have them.
package exampletest

import (
	"bytes"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/examples/crds"
	"github.com/crdconvert/webhookd/examples/custom-server/crontab"
	"github.com/crdconvert/webhookd/examples/custom-server/gokinds"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/serve/library"
)

// Kinds returns the kinds in the order of their names.
func Kinds() []converters.Kind { return must(gokinds.Kinds()...) }

// CronTab returns the CronTab of another group, with the versions v1beta1 and v1.
func CronTab(group string) converters.Kind {
	crd := bytes.ReplaceAll(crds.CronTabs, []byte("example.com"), []byte(group))
	return must(conversion.Must(crontab.Kind(crd, "v1beta1")))[0]
}

// Functions returns the functions for rules.
func Functions() map[string]transform.GoFunc {
	functions := map[string]transform.GoFunc{}
	for name, f := range gokinds.Functions() {
		functions[name] = transform.GoFunc(f)
	}
	return functions
}

func must(kinds ...conversion.Kind) []converters.Kind {
	all, err := library.Kinds(kinds...)
	if err != nil {
		panic(err)
	}
	return all
}
