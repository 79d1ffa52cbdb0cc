// Command controllerruntime serves controller-runtime's conversion handler with a typed CronTab.
package main

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"github.com/crdconvert/webhookd/bench/peers/managed"
)

func main() { managed.Main(newHandler) }

func newHandler() (http.Handler, error) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "CronTab"}, &CronTabV1{})
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1beta1", Kind: "CronTab"}, &CronTabV1beta1{})
	converter, err := conversion.NewHubSpokeConverter(&CronTabV1{},
		conversion.NewSpokeConverter(&CronTabV1beta1{}, toSpoke, toHub))(scheme)
	if err != nil {
		return nil, err
	}
	registry := conversion.NewRegistry()
	if err := registry.RegisterConverter(schema.GroupKind{Group: "example.com", Kind: "CronTab"}, converter); err != nil {
		return nil, err
	}
	return conversion.NewWebhookHandler(scheme, registry), nil
}
