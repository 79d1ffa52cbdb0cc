package clusterapi

import (
	"bytes"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/rules"
	"github.com/crdconvert/webhookd/conversion/webhook"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/review/reviewclient"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	utilconversion "sigs.k8s.io/cluster-api/util/conversion"
	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
	"sigs.k8s.io/yaml"
)

// A ruled kind has rules and objects in testdata/clusterapi.
type ruled struct {
	name       string // of the folder
	rules, crd []byte
	hub, spoke string            // apiVersions
	objects    map[string][]byte // as JSON, by the names of their files without .yaml
}

// loadRuled loads all kinds with rules.
func loadRuled(t *testing.T, crds map[string][]byte) []ruled {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "clusterapi", "*", "rules.yaml"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d kinds, error %v", len(files), err)
	}
	all := make([]ruled, 0, len(files))
	for _, file := range files {
		r := ruled{name: filepath.Base(filepath.Dir(file)), rules: read(t, file), objects: map[string][]byte{}}
		var head struct {
			Metadata struct{ Name string }
			Spec     struct {
				Hub      string
				Versions []struct{ Name string }
			}
		}
		if err := yaml.Unmarshal(r.rules, &head); err != nil {
			t.Fatal(err)
		}
		plural, group, _ := strings.Cut(head.Metadata.Name, ".")
		r.crd, r.hub, r.spoke = crds[plural], group+"/"+head.Spec.Hub, group+"/"+head.Spec.Versions[0].Name
		for _, name := range []string{"plain", "kept"} {
			path := filepath.Join(filepath.Dir(file), name+".yaml")
			if _, err := os.Stat(path); err == nil {
				if r.objects[name], err = yaml.YAMLToJSON(read(t, path)); err != nil {
					t.Fatal(err)
				}
			}
		}
		all = append(all, r)
	}
	return all
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// handler returns a handler that converts the kind by its rules.
func (r *ruled) handler(t *testing.T) http.Handler {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string][]byte{"rules.yaml": r.rules, "crd.yaml": r.crd} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kinds, err := rules.Load(t.Context(), os.DirFS(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := conversion.NewRegistry(kinds...)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := webhook.New(registry, webhook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return handler
}

// Rules convert the objects of testdata/clusterapi, and random ones, as Cluster API's own Go code
// does: a Go client reads the same but for the annotations in which both keep values. Back, the
// objects of testdata/clusterapi are as before.
func TestRulesConvertAsUpstreamDoes(t *testing.T) {
	t.Parallel()
	scheme := newScheme(t)
	theirs := crwebhook.NewWebhookHandler(scheme, crwebhook.NewRegistry())
	all := crds(t, scheme, ".")
	maps.Copy(all, crds(t, scheme, filepath.Join("bootstrap", "kubeadm")))
	for _, r := range loadRuled(t, all) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			ours := r.handler(t)
			compare := func(name string, object []byte) []byte {
				t.Helper()
				review := reviewclient.Request("v1", "u", r.other(object), object)
				want, got := answer(t, theirs, review), answer(t, ours, review)
				switch {
				case want == nil: // a Go type does not read it
					return nil
				case got == nil:
					t.Fatalf("%s: refused by rules: %s", name, object)
				}
				if diff := cmp.Diff(withoutData(seen(t, scheme, want)), withoutData(seen(t, scheme, got))); diff != "" {
					t.Errorf("%s: -upstream +rules\n%s\n%s", name, diff, object)
				}
				return got
			}
			for name, object := range r.objects {
				there := compare(name, object)
				if keeps := bytes.Contains(there, []byte("conversion.webhookd.io/")); keeps != (name == "kept") {
					t.Errorf("%s: values are kept: %t", name, keeps)
				}
				back := answer(t, ours, reviewclient.Request("v1", "u", r.other(there), there))
				if diff := cmp.Diff(seen(t, scheme, object), seen(t, scheme, back)); diff != "" {
					t.Errorf("%s and back: -before +after\n%s", name, diff)
				}
			}
			compared := 0
			for _, object := range r.random(t) {
				if compare("random", object) != nil {
					compared++
				}
			}
			if compared < objects {
				t.Errorf("only %d random objects are compared", compared)
			}
		})
	}
}

// random returns random objects of the hub and of the spoke.
func (r *ruled) random(t *testing.T) [][]byte {
	t.Helper()
	crds, err := apiserver.Parse("crd", r.crd)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for _, apiVersion := range []string{r.hub, r.spoke} {
		_, version, _ := strings.Cut(apiVersion, "/")
		generator, err := generate.NewGenerator(crds[0].Version(version), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(objects) {
			if object := generator.Object(1, i); object != nil {
				all = append(all, object)
			}
		}
	}
	return all
}

// other returns the apiVersion of the kind that an object does not have.
func (r *ruled) other(object []byte) string {
	var meta runtime.TypeMeta
	if err := yaml.Unmarshal(object, &meta); err == nil && meta.APIVersion == r.hub {
		return r.spoke
	}
	return r.hub
}

// withoutData removes the annotation in which Cluster API keeps values from an object.
func withoutData(object any) any {
	root, _ := object.(map[string]any)
	metadata, _ := root["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, utilconversion.DataAnnotation)
	return withoutZeros(object)
}
