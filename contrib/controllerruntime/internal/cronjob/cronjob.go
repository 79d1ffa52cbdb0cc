// Package cronjob has the CronJob of kubebuilder's tutorial on several versions, for tests and
// examples. Controller-gen has made crd.yaml, with a part of the template.
package cronjob

import (
	_ "embed"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob/v1"
	v2 "github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob/v2"
)

//go:embed crd.yaml
var crd []byte

// Group is that of the kind.
const Group = "batch.tutorial.example.com"

// CRD returns the CustomResourceDefinition.
func CRD() []byte { return crd }

// AddToScheme registers both versions.
func AddToScheme(scheme *runtime.Scheme) {
	for version, obj := range map[string]runtime.Object{"v1": &v1.CronJob{}, "v2": &v2.CronJob{}} {
		gv := schema.GroupVersion{Group: Group, Version: version}
		scheme.AddKnownTypes(gv, obj)
		metav1.AddToGroupVersion(scheme, gv)
	}
}
