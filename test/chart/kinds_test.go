package chart_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// empty returns an empty object of a kind.
func empty(kind apischema.GroupVersionKind) any {
	switch kind.GroupKind().String() {
	case "Certificate.cert-manager.io":
		return &certmanagerv1.Certificate{}
	case "Issuer.cert-manager.io":
		return &certmanagerv1.Issuer{}
	case "CiliumNetworkPolicy.cilium.io", "NetworkPolicy.projectcalico.org": // the golden files have them
		return &unstructured.Unstructured{}
	case "PodMonitor.monitoring.coreos.com":
		return &monitoringv1.PodMonitor{}
	case "PrometheusRule.monitoring.coreos.com":
		return &monitoringv1.PrometheusRule{}
	case "ServiceMonitor.monitoring.coreos.com":
		return &monitoringv1.ServiceMonitor{}
	}
	o, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil
	}
	return o
}

// decode decodes an object into its Go type. Unknown fields and duplicate keys are errors.
func decode(t *testing.T, document string) any {
	t.Helper()
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
		t.Fatal(err)
	}
	o := empty(kind.GroupVersionKind())
	if o == nil {
		t.Fatalf("no type of %s %s", kind.APIVersion, kind.Kind)
	}
	if err := yaml.UnmarshalStrict([]byte(document), o); err != nil {
		t.Fatalf("%v in:\n%s", err, document)
	}
	return o
}

// No manifest has a field that its kind does not know. Names, namespaces and labels are right as
// well.
func TestManifestsAreOfTheirKinds(t *testing.T) {
	t.Parallel()
	for name, v := range ciFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			for _, document := range render(t, v, nil).Documents() {
				o := decode(t, document).(metav1.Object)
				var kind metav1.TypeMeta
				if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
					t.Fatal(err)
				}
				id := fmt.Sprintf("%s %s/%s", kind.Kind, o.GetNamespace(), o.GetName())
				if seen[id] {
					t.Errorf("twice: %s", id)
				}
				seen[id] = true
				own := o.GetLabels()["helm.sh/chart"] != ""
				extra := slices.Contains([]string{"extra", "conversion-text"}, o.GetName())
				clusterWide := strings.HasPrefix(kind.Kind, "ClusterRole") || strings.Contains(kind.Kind, "AdmissionPolicy")
				if !extra && (!own || clusterWide != (o.GetNamespace() == "") || len(o.GetName()) > 63) {
					t.Errorf("labels %v, namespace or name: %s", o.GetLabels(), id)
				}
			}
		})
	}
}

// Names stay within Kubernetes' limits, however long the name of the release is.
func TestLongNames(t *testing.T) {
	t.Parallel()
	for name, v := range ciFiles(t) {
		v["fullnameOverride"] = "a-name-that-is-much-longer-than-what-is-left-of-63-characters"
		for _, o := range objects(t, render(t, v, nil)) {
			limit := 63
			if o["kind"] == "CronJob" {
				limit = 52
			}
			if n := at(t, o, "metadata", "name"); len(n) > limit {
				t.Errorf("%s: %s has %d characters: %s", name, o["kind"], len(n), n)
			}
		}
	}
}

// rights returns what a role allows.
func rights(t *testing.T, document string) []string {
	t.Helper()
	var name string
	var rules []rbacv1.PolicyRule
	switch o := decode(t, document).(type) {
	case *rbacv1.Role:
		name, rules = o.Name, o.Rules
	case *rbacv1.ClusterRole:
		name, rules = o.Name, o.Rules
	}
	all := make([]string, 0, len(rules))
	for _, r := range rules {
		all = append(all, fmt.Sprintf("%s: %q %s %v %v", name, r.APIGroups[0], r.Resources[0], r.ResourceNames, r.Verbs))
	}
	return all
}

// subjects returns the names of the accounts of a binding.
func subjects(t *testing.T, document string) []string {
	t.Helper()
	var list []rbacv1.Subject
	switch o := decode(t, document).(type) {
	case *rbacv1.RoleBinding:
		list = o.Subjects
	case *rbacv1.ClusterRoleBinding:
		list = o.Subjects
	}
	names := make([]string, 0, len(list))
	for _, s := range list {
		names = append(names, s.Name)
	}
	return names
}
