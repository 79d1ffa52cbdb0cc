package controlplane_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/cluster/crdguard"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// A CRD, an XRD, the CRD of XRDs with what matters here, and spec.conversion of the first two.
const (
	boatCRD = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: boats.sea.example.com},
spec: {group: sea.example.com, scope: Namespaced, names: {plural: boats, singular: boat, kind: Boat, listKind: BoatList}, conversion: $conversion, versions: [
  {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}},
  {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}]}}`
	boatXRD = `{apiVersion: apiextensions.crossplane.io/$version, kind: CompositeResourceDefinition, metadata: {name: ships.sea.example.com},
spec: {group: sea.example.com, names: {plural: ships, kind: Ship}, conversion: $conversion, versions: [
  {name: v1, served: true, referenceable: true, schema: {openAPIV3Schema: {type: object}}},
  {name: v2, served: true, referenceable: false, schema: {openAPIV3Schema: {type: object}}}]}}`
	xrdsCRD = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: compositeresourcedefinitions.apiextensions.crossplane.io},
spec: {group: apiextensions.crossplane.io, scope: Cluster, names: {plural: compositeresourcedefinitions, singular: compositeresourcedefinition, kind: CompositeResourceDefinition, listKind: CompositeResourceDefinitionList}, versions: [
  {name: v1, served: true, storage: true, schema: {openAPIV3Schema: &s {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}},
  {name: v2, served: true, storage: false, schema: {openAPIV3Schema: *s}}]}}`
	boatByURL      = `{strategy: Webhook, webhook: {conversionReviewVersions: [v1, v1beta1], clientConfig: {url: "https://example.com/crdconvert"}}}`
	boatConversion = `{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {caBundle: $ca, service: {namespace: webhookd, name: webhookd, path: /crdconvert, port: 443}}}}`
)

// guardConversion has the API server keep spec.conversion of CRDs and XRDs, by what `webhookd crd
// guard conversion` prints, in both modes.
func guardConversion(t *testing.T, p *plane.Plane) {
	t.Helper()
	ca := base64.StdEncoding.EncodeToString(tlstest.NewCA(t, "boats").PEM)
	conversion := strings.ReplaceAll(boatConversion, "$ca", ca)
	admin := p.Kubectl(t, p.Token(plane.Admin))
	admin.Write(t, "xrds.yaml", xrdsCRD)
	admin.Run(t, "create", "-f", "xrds.yaml")
	defer admin.Run(t, "delete", "-f", "xrds.yaml")
	admin.Run(t, "wait", "--for=condition=Established", "crd/compositeresourcedefinitions.apiextensions.crossplane.io")
	client, err := dynamic.NewForConfig(p.Config())
	if err != nil {
		t.Fatal(err)
	}
	for name, manifest := range map[string]string{
		"CRD": boatCRD, "CRD by URL": strings.ReplaceAll(boatCRD, "$conversion", boatByURL), "XRD at v1": strings.ReplaceAll(boatXRD, "$version", "v1"), "XRD at v2": strings.ReplaceAll(boatXRD, "$version", "v2"),
	} {
		for _, mode := range []crdguard.Mode{crdguard.Validate, crdguard.Restore} {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				admin.Write(t, "definition.yaml", strings.ReplaceAll(manifest, "$conversion", conversion))
				admin.Run(t, "create", "-f", "definition.yaml")
				defer admin.Run(t, "delete", "-f", "definition.yaml")
				admin.Shell(t, "sed 's/name: webhookd, path: .crdconvert, port: 443/name: moved, path: \\/moved, port: 8443/' definition.yaml > moved.yaml\nwebhookd crd guard conversion -f moved.yaml --mode "+string(mode)+" > policy.yaml\nkubectl apply -f policy.yaml", webhookFolder(t))
				defer admin.Run(t, "delete", "-f", "policy.yaml")
				of := object(t, manifest)
				g := &guardedConversion{mode: mode, client: client.Resource(schema.GroupVersionResource{
					Group: of.GroupVersionKind().Group, Version: of.GroupVersionKind().Version, Resource: strings.ToLower(of.GetKind()) + "s",
				}), name: of.GetName()}
				g.wired = g.conversion(t)
				g.test(t)
				if mode == crdguard.Validate {
					admin.Write(t, "without.yaml", regexp.MustCompile(`conversion: .*, versions`).ReplaceAllString(manifest, "versions"))
					if out := admin.Fails(t, "replace", "-f", "without.yaml"); !strings.Contains(out, "drops spec.conversion while more than one version is in use") {
						t.Errorf("kubectl replace: %s", out)
					}
				}
			})
		}
	}
}

type guardedConversion struct {
	mode   crdguard.Mode
	client dynamic.NamespaceableResourceInterface
	name   string
	wired  map[string]any
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(text, "$conversion", "{}")), &obj.Object); err != nil {
		t.Fatal(err)
	}
	return obj
}

func (g *guardedConversion) conversion(t *testing.T) map[string]any {
	t.Helper()
	obj, err := g.client.Get(t.Context(), g.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conversion, _, _ := unstructured.NestedMap(obj.Object, "spec", "conversion")
	return conversion
}

// withCA returns two caBundles as one.
func (g *guardedConversion) withCA(t *testing.T, bundle any, more string) string {
	t.Helper()
	var all []byte
	for _, text := range []string{fmt.Sprint(bundle), more} {
		pem, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pem...)
	}
	return base64.StdEncoding.EncodeToString(all)
}

// update changes the definition in a dry run, and returns spec.conversion then.
func (g *guardedConversion) update(t *testing.T, change func(spec, clientConfig map[string]any)) (map[string]any, error) {
	t.Helper()
	obj, err := g.client.Get(t.Context(), g.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := obj.Object["spec"].(map[string]any)
	config, _, _ := unstructured.NestedFieldNoCopy(spec, "conversion", "webhook", "clientConfig")
	change(spec, config.(map[string]any)) //nolint:forcetypeassert // as the manifest has it
	obj, err = g.client.Update(t.Context(), obj, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return nil, err
	}
	conversion, _, _ := unstructured.NestedMap(obj.Object, "spec", "conversion")
	return conversion, nil
}

// test holds which updates are refused or repaired, and which pass as they are.
func (g *guardedConversion) test(t *testing.T) {
	t.Helper()
	drop := func(spec, _ map[string]any) { delete(spec, "conversion") }
	scenario.Succeeds(t, "the policy to be in force", func() error {
		conversion, err := g.update(t, drop)
		if g.mode == crdguard.Validate && err == nil || g.mode == crdguard.Restore && (err != nil || cmp.Diff(g.wired, conversion) != "") {
			return fmt.Errorf("%v, %w", conversion, errors.Join(err, errors.New("not yet")))
		}
		return nil
	})
	if _, byService, _ := unstructured.NestedMap(g.wired, "webhook", "clientConfig", "service"); !byService {
		return
	}
	service := func(config map[string]any) map[string]any { s, _ := config["service"].(map[string]any); return s }
	for problem, change := range map[string]func(spec, config map[string]any){
		"drops spec.conversion":                                  drop,
		"drops spec.conversion, for None":                        func(spec, _ map[string]any) { spec["conversion"] = map[string]any{"strategy": "None"} },
		"points spec.conversion at another webhook":              func(_, config map[string]any) { service(config)["name"] = "webhook-service" },
		"points spec.conversion at another, by a URL":            func(_, config map[string]any) { delete(config, "service"); config["url"] = "https://example.com/a" },
		"points spec.conversion at another webhook, by its path": func(_, config map[string]any) { service(config)["path"] = "/convert" },
		"points spec.conversion at another webhook, by its port": func(_, config map[string]any) { service(config)["port"] = int64(8443) },
		"points spec.conversion at another webhook, by a space":  func(_, config map[string]any) { service(config)["name"] = "webhookd " },
		"drops spec.conversion, and adds a version": func(spec, _ map[string]any) {
			delete(spec, "conversion")
			added := maps.Clone(spec["versions"].([]any)[1].(map[string]any))
			added["name"] = "v3"
			spec["versions"] = append(spec["versions"].([]any), added)
		},
		"removes the CA from caBundle":                func(_, config map[string]any) { delete(config, "caBundle") },
		"removes the CA from caBundle, for a newline": func(_, config map[string]any) { config["caBundle"] = "Cg==" },
	} {
		conversion, err := g.update(t, change)
		begin, _, _ := strings.Cut(problem, ",")
		switch {
		case g.mode == crdguard.Validate && err != nil && strings.Contains(err.Error(), "unable to load root certificates"): // the API server's own
		case g.mode == crdguard.Validate && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "this update "+begin)):
			t.Errorf("%s: %v, %v", problem, conversion, err)
		case g.mode == crdguard.Restore && (err != nil || cmp.Diff(g.wired, conversion) != ""):
			t.Errorf("%s: %v, (-want +got):\n%s", problem, err, cmp.Diff(g.wired, conversion))
		}
	}
	g.patches(t)
	other := base64.StdEncoding.EncodeToString(tlstest.NewCA(t, "other").PEM)
	for name, change := range map[string]func(spec, config map[string]any){
		"another CA": func(_, config map[string]any) { config["caBundle"] = other },
		"the webhook of the policy": func(_, config map[string]any) {
			config["service"] = map[string]any{"namespace": "webhookd", "name": "moved", "path": "/moved", "port": int64(8443)}
		},
		"another CA in addition": func(_, config map[string]any) { config["caBundle"] = g.withCA(t, config["caBundle"], other) },
		"something else":         func(spec, _ map[string]any) { spec["names"].(map[string]any)["categories"] = []any{"all"} },
		"one version is in use": func(spec, _ map[string]any) {
			spec["conversion"] = map[string]any{"strategy": "None"}
			spec["versions"] = spec["versions"].([]any)[:1]
		},
	} {
		before, err := json.Marshal(g.wired)
		conversion, err2 := g.update(t, func(spec, config map[string]any) {
			change(spec, config)
			before, _ = json.Marshal(spec["conversion"])
		})
		after, _ := json.Marshal(conversion)
		if err := errors.Join(err, err2); err != nil || !bytes.Equal(after, before) {
			t.Errorf("%s: %v\n%s, want\n%s", name, err, after, before)
		}
	}
}

// patches drops or changes spec.conversion by each kind of patch, and by the status subresource,
// which changes no spec.
func (g *guardedConversion) patches(t *testing.T) {
	t.Helper()
	obj, err := g.client.Get(t.Context(), g.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const none = `{"spec":{"conversion":{"strategy":"None","webhook":null}}}`
	elsewhere := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"spec":{"conversion":{"strategy":"Webhook",
		"webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"webhookd","name":"other"}}}}}}`, obj.GetAPIVersion(), obj.GetKind())
	force := true
	for kind, patch := range map[types.PatchType]string{
		types.MergePatchType: none, types.ApplyPatchType: elsewhere,
		types.JSONPatchType: `[{"op":"replace","path":"/spec/conversion","value":{"strategy":"None"}}]`,
	} {
		o := metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: "attacker"}
		if kind == types.ApplyPatchType {
			o.Force = &force
		}
		obj, err := g.client.Patch(t.Context(), g.name, kind, []byte(patch), o)
		switch g.mode {
		case crdguard.Validate:
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "while more than one version is in use") {
				t.Errorf("%s: %v", kind, err)
			}
		case crdguard.Restore:
			if err != nil {
				t.Errorf("%s: %v", kind, err)
			} else if diff := cmp.Diff(g.wired, obj.Object["spec"].(map[string]any)["conversion"]); diff != "" { //nolint:forcetypeassert // it has one
				t.Errorf("%s (-want +got):\n%s", kind, diff)
			}
		}
	}
	if _, err := g.client.Patch(t.Context(), g.name, types.MergePatchType, []byte(none), metav1.PatchOptions{}, "status"); err != nil && !apierrors.IsNotFound(err) {
		t.Errorf("by status: %v", err)
	}
	if diff := cmp.Diff(g.wired, g.conversion(t)); diff != "" {
		t.Errorf("by status (-want +got):\n%s", diff)
	}
}
