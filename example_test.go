package webhookd_test

import (
	"context"
	_ "embed"
	"os"

	"github.com/crdconvert/webhookd"
	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/rules"
)

//go:embed conversion/conversiontest/testdata/widgets.example.com.yaml
var crd []byte

func convert(_ context.Context, obj *conversion.Object, from, _ string) error {
	old, current := []string{"spec", "size"}, []string{"spec", "replicas"}
	if from == "v1" {
		old, current = current, old
	}
	_, err := obj.Rename(old, current)
	return err
}

// The whole main.go of a server with a kind of its own.
func ExampleMain() {
	kind := conversion.Must(conversion.Lossless(conversion.Func(convert), crd))
	os.Exit(webhookd.Main(webhookd.WithKinds(kind)))
}

func ExampleWithKinds() {
	kind := conversion.Must(conversion.Lossless(conversion.Func(convert), crd))
	os.Exit(webhookd.Main(webhookd.WithKinds(kind)))
}

// Rules call the function with `go: example.com/window`.
func ExampleWithFunctions() {
	var window rules.Function
	os.Exit(webhookd.Main(webhookd.WithFunctions(map[string]rules.Function{"example.com/window": window})))
}

func ExampleWithVersion() {
	var version string // set with -ldflags "-X main.version=v1.2.3"
	os.Exit(webhookd.Main(webhookd.WithVersion(version)))
}
