package controllerruntime_test

import (
	"context"
	"fmt"

	"github.com/crdconvert/webhookd/conversion"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crdconvert/webhookd/contrib/controllerruntime"
	"github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob"
)

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
