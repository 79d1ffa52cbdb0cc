package chart_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yannh/kubeconform/pkg/validator"
)

// quantity is written as a string or as a number (k8s.io/apimachinery/pkg/api/resource).
const quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity"

// schemas writes a JSON Schema for each kind of the documents in testdata/openapi, and returns
// their folders by the minor.
func schemas(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/openapi/*.json.gz")
	if err != nil || len(files) < 3 {
		t.Fatal("fewer than three minors", files, err)
	}
	folders := map[string]string{}
	for _, name := range files {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		var cut struct {
			Kinds       map[string]string `json:"kinds"`
			Definitions map[string]any    `json:"definitions"`
		}
		if err := json.NewDecoder(text).Decode(&cut); err != nil {
			t.Fatal(err)
		}
		cut.Definitions[quantity] = map[string]any{"type": []string{"string", "number"}}
		dir := t.TempDir()
		for kind, definition := range cut.Kinds {
			schema, err := json.Marshal(map[string]any{"$ref": "#/definitions/" + definition, "definitions": cut.Definitions})
			if err != nil {
				t.Fatal(err)
			}
			gvk := strings.Split(kind, "/")
			if gvk[0] == "" {
				gvk[0] = gvk[1] // kubeconform's name for the core group
			}
			if err := os.WriteFile(filepath.Join(dir, strings.Join(gvk, "_")+".json"), schema, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		folders[strings.TrimSuffix(filepath.Base(name), ".json.gz")] = dir
	}
	return folders
}

// The chart's output, and the base for kustomize, are what the API servers of several minors take:
// kubeconform validates each object with schemas of their own OpenAPI.
func TestKubeconform(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for name, v := range ciFiles(t) {
		documents := render(t, v, nil).Documents()
		texts[name] = strings.Join(documents, "\n---\n")
	}
	base, err := os.ReadFile(filepath.Join(kustomizeDir, "base", "webhookd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	texts["kustomize"] = string(base)
	for minor, dir := range schemas(t) {
		t.Run(minor, func(t *testing.T) {
			t.Parallel()
			v := conform(t, dir)
			valid := 0
			for name, text := range texts {
				for _, result := range v.Validate(name, io.NopCloser(strings.NewReader(text))) {
					switch said := verdict(result, minor); {
					case said != "":
						t.Errorf("%s: %s", name, said)
					case result.Status == validator.Valid:
						valid++
					}
				}
			}
			if valid < 100 {
				t.Errorf("only %d objects were validated", valid)
			}
		})
	}
}

// conform returns a validator with the schemas of a folder.
func conform(t *testing.T, dir string) validator.Validator {
	t.Helper()
	v, err := validator.New([]string{filepath.Join(dir, "{{ .Group }}_{{ .ResourceAPIVersion }}_{{ .ResourceKind }}.json")},
		validator.Opts{Strict: true, IgnoreMissingSchemas: true})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// verdict says what is wrong with an object. Only kinds of CRDs have no schema, and those that a
// minor does not have yet.
func verdict(result validator.Result, minor string) string {
	signature, err := result.Resource.Signature()
	switch {
	case result.Status == validator.Empty, result.Status == validator.Valid:
		return ""
	case err != nil:
		return err.Error()
	case result.Status != validator.Skipped:
		return fmt.Sprintf("%s %s: %v", signature.Kind, signature.Name, result.Err)
	case slices.ContainsFunc([]string{"cert-manager.io/", "cilium.io/", "monitoring.coreos.com/", "projectcalico.org/"}, func(group string) bool {
		return strings.HasPrefix(signature.Version, group)
	}):
		return ""
	case strings.HasPrefix(signature.Kind, "MutatingAdmissionPolicy") && minor < "v1.36":
		return ""
	}
	return "no schema: " + signature.Version + " " + signature.Kind
}

// The schemas refuse what an API server does: an unknown field, a value of another type, a missing
// one.
func TestKubeconformRefuses(t *testing.T) {
	t.Parallel()
	for minor, dir := range schemas(t) {
		v := conform(t, dir)
		for _, text := range []string{
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {prots: []}}",
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: '443'}]}}",
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {}}}",
		} {
			for _, result := range v.Validate("a.yaml", io.NopCloser(strings.NewReader(text))) {
				if result.Status != validator.Invalid {
					t.Errorf("%s: not refused: %s", minor, text)
				}
			}
		}
	}
}
