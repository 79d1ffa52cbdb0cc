package controllerruntime_test

import (
	"context"
	"fmt"

	"github.com/crdconvert/webhookd/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/crdconvert/webhookd/contrib/controllerruntime"
	"github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob"
)

// In main.go, before the kinds' SetupWebhookWithManager. crds are the files that controller-gen
// writes, embedded.
func ExampleHandler() {
	_ = func(mgr manager.Manager, crds ...[]byte) error {
		handler, err := controllerruntime.Handler(mgr.GetScheme(), nil, crds...)
		if err != nil {
			return err
		}
		mgr.GetWebhookServer().Register("/convert", handler)
		return metrics.Registry.Register(handler.Collector())
	}
}

// The tutorial's CronJob cannot say @daily at v2. It comes back nevertheless.
func ExampleKinds() {
	scheme := runtime.NewScheme()
	cronjob.AddToScheme(scheme)
	kinds, err := controllerruntime.Kinds(scheme, nil, cronjob.CRD())
	if err != nil {
		fmt.Println(err)
		return
	}
	obj, err := conversion.ParseObject([]byte(
		`{"apiVersion":"batch.tutorial.example.com/v1","kind":"CronJob","spec":{"schedule":"@daily"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, version := range []string{"v2", "v1"} {
		if err := kinds[0].Convert(context.Background(), obj, version); err != nil {
			fmt.Println(err)
			return
		}
		spec, err := obj.Get("spec")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s\n", version, spec.JSON())
	}
	// Output:
	// v2: {"schedule":{}}
	// v1: {"schedule":"@daily"}
}
