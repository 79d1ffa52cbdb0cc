package rules_test

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// kindsFolder has the public kinds, which its README describes.
//
//nolint:gochecknoglobals // a flag
var kindsFolder = flag.String("kinds", filepath.Join("..", "..", "..", "testdata", "kinds"), "where public kinds are looked for")

// A publicKind is a kind of the folder: its rules, its CRD, and its objects by the names of their
// files without .yaml, as the API server sends them.
type publicKind struct {
	*converters.Kind

	folder     string
	crd        *crdschema.CRD
	hub, spoke string
	findings   []finding.Finding
	objects    map[string][]byte
}

// loadPublicKinds loads all kinds of the folder, in order of their names.
func loadPublicKinds(tb testing.TB) []publicKind {
	tb.Helper()
	folders, err := filepath.Glob(filepath.Join(*kindsFolder, "*", "crd.yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	kinds := make([]publicKind, 0, len(folders))
	for _, path := range folders {
		kinds = append(kinds, loadPublicKind(tb, filepath.Dir(path)))
	}
	return kinds
}

func loadPublicKind(tb testing.TB, folder string) publicKind {
	tb.Helper()
	k := publicKind{folder: folder, objects: map[string][]byte{}}
	var crds []*crdschema.CRD
	var source rules.Source
	paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		switch name := filepath.Base(path); name {
		case "crd.yaml":
			if crds, err = apiserver.Parse(path, text); err != nil {
				tb.Fatal(err)
			}
		case "rules.yaml":
			source = rules.Source{Name: path, Text: text}
		default:
			k.objects[strings.TrimSuffix(name, ".yaml")] = asSent(tb, path, text)
		}
	}
	set, findings := rules.Load(tb.Context(), []rules.Source{source}, crds, rules.Options{})
	checked, _ := check.Check(tb.Context(), set.Bound())
	k.findings = finding.Sort(append(findings, checked...))
	if len(crds) != 1 || len(set.Kinds()) != 1 || len(set.Conversions()) != 1 {
		tb.Fatalf("%s: %d CRDs, %d kinds, findings: %v", folder, len(crds), len(set.Kinds()), k.findings)
	}
	conversion := set.Conversions()[0]
	k.Kind, k.crd, k.hub, k.spoke = &set.Kinds()[0], crds[0], conversion.Hub, conversion.Versions[0].Name
	return k
}

// other returns the hub for the spoke, and the spoke for the hub.
func (k publicKind) other(version string) string {
	if version == k.hub {
		return k.spoke
	}
	return k.hub
}

// asSent returns the object of a YAML file as the API server writes it: compact, with sorted keys.
func asSent(tb testing.TB, path string, text []byte) []byte {
	tb.Helper()
	var obj map[string]any
	if err := yaml.Unmarshal(text, &obj); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return encoded(tb, obj)
}

// stored converts an object, and returns the result as the API server sends it next time.
func (k publicKind) stored(tb testing.TB, text []byte, from, to string) []byte {
	tb.Helper()
	return encoded(tb, asStored(tb, []byte(convert(tb, k.Kind, string(text), from, to))))
}

// versionOf returns the version of an object.
func kindVersionOf(tb testing.TB, text []byte) string {
	tb.Helper()
	apiVersion, _ := asStored(tb, text)["apiVersion"].(string)
	_, version, _ := strings.Cut(apiVersion, "/")
	return version
}

// Public kinds pass check without warnings, and their objects convert there and back
// without loss from either version. Results are valid and have nothing to prune. If an object is
// called plain, all of it is visible.
func TestKinds(t *testing.T) {
	t.Parallel()
	kinds := loadPublicKinds(t)
	if len(kinds) < 6 {
		t.Errorf("%d kinds", len(kinds))
	}
	for _, k := range kinds {
		t.Run(k.Kind.Kind, func(t *testing.T) {
			t.Parallel()
			for _, f := range finding.Worst(k.findings, finding.Warning) {
				t.Errorf("%s\n\t%s", f, f.Hint)
			}
			if names := slices.Sorted(maps.Keys(k.objects)); !slices.Equal(names, []string{"kept", "plain"}) {
				t.Fatalf("objects: %v", names)
			}
			for name, sent := range k.objects {
				k.comesBack(t, name, sent)
			}
		})
	}
}

// comesBack converts an object there and back, and there again.
func (k publicKind) comesBack(t *testing.T, name string, sent []byte) {
	t.Helper()
	from := kindVersionOf(t, sent)
	to := k.other(from)
	there := k.stored(t, sent, from, to)
	back := k.stored(t, there, to, from)
	again := k.stored(t, back, from, to)
	for _, diff := range []string{cmp.Diff(asStored(t, sent), asStored(t, back)), cmp.Diff(asStored(t, there), asStored(t, again))} {
		if diff != "" {
			t.Errorf("%s: %s -> %s -> %s:\n%s", name, from, to, from, diff)
		}
	}
	if len(sent) < 2000 || len(sent) > 4000 {
		t.Errorf("%s has %d bytes", name, len(sent))
	}
	if keeps := bytes.Contains(there, []byte("conversion.webhookd.io/")); keeps != (name == "kept") {
		t.Errorf("%s: what %s cannot say is kept: %t\n%s", name, to, keeps, there)
	}
	for version, text := range map[string][]byte{from: sent, to: there} {
		obj, v := asStored(t, text), k.crd.Version(version)
		v.Prune(obj)
		if diff := cmp.Diff(asStored(t, text), obj); diff != "" {
			t.Errorf("%s has to be pruned at %s:\n%s", name, version, diff)
		}
		for _, err := range v.Validate(obj) {
			t.Errorf("%s is not valid at %s: %v", name, version, err)
		}
	}
}
