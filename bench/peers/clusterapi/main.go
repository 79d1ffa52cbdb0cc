// Command clusterapi serves controller-runtime's conversion handler with the types of Cluster API
// and their own conversion functions.
package main

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	addonsv1beta1 "sigs.k8s.io/cluster-api/api/addons/v1beta1" //nolint:staticcheck // an old version is what it converts
	addonsv1beta2 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1" //nolint:staticcheck // an old version is what it converts
	bootstrapv1beta2 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	corev1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1" //nolint:staticcheck // an old version is what it converts
	corev1beta2 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ipamv1beta1 "sigs.k8s.io/cluster-api/api/ipam/v1beta1" //nolint:staticcheck // an old version is what it converts
	ipamv1beta2 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	runtimev1alpha1 "sigs.k8s.io/cluster-api/api/runtime/v1alpha1" //nolint:staticcheck // an old version is what it converts
	runtimev1beta2 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"github.com/crdconvert/webhookd/bench/peers/managed"
)

func main() { managed.Main(newHandler) }

func newHandler() (http.Handler, error) {
	// Managers look the version of a reference up in a cache.
	corev1beta1.SetAPIVersionGetter(func(gk schema.GroupKind) (string, error) { return gk.Group + "/v1beta2", nil })
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		addonsv1beta1.AddToScheme, addonsv1beta2.AddToScheme, bootstrapv1beta1.AddToScheme, bootstrapv1beta2.AddToScheme,
		corev1beta1.AddToScheme, corev1beta2.AddToScheme, ipamv1beta1.AddToScheme, ipamv1beta2.AddToScheme,
		runtimev1alpha1.AddToScheme, runtimev1beta2.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return conversion.NewWebhookHandler(scheme, conversion.NewRegistry()), nil
}
