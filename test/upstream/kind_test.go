package upstream_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/hints"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
	"sigs.k8s.io/yaml"
)

// A kind is a folder of kinds.
type kind struct {
	name        string
	source      source
	pairs       []pair
	differences []*difference

	rules      []byte
	shared     []byte
	conversion *syntax.Conversion
	findings   []finding.Finding
	converter  *converters.Kind // nil if the rules cannot be used
	crd        *crdschema.CRD
	drops      []hold.Drop
}

// A source says where a kind comes from.
type source struct {
	Project, Repository, Module, Version, Commit string
	License, CRD, Kind, Recorded                 string

	// Annotations are those in which the project itself keeps what a version cannot say.
	Annotations []string
	// Zero are texts that the project's Go types write where there is none.
	Zero []string
	// Keyed are lists whose order says nothing, by path, with the field that identifies an element.
	Keyed map[string]string
	// Shared is the file of rule sets that kinds of a project share, in the folder above, or empty.
	Shared string
	// Cut says which parts of the schemas are left out.
	Cut string
}

// A pair is an object, and what the project's own conversion makes of it.
type pair struct {
	From   string          `json:"from"`
	To     string          `json:"to"`
	Object json.RawMessage `json:"object"`
	Result json.RawMessage `json:"result"`
}

// A difference is a place where the project's result and ours differ.
type difference struct {
	From, To, Path, Reason string

	used bool
}

func readKind(t *testing.T, dir string) *kind {
	t.Helper()
	k := &kind{name: filepath.Base(dir), rules: readFile(t, dir, "rules.yaml")}
	readYAML(t, dir, "source.yaml", &k.source)
	if k.source.Shared != "" {
		k.shared = readFile(t, filepath.Dir(dir), k.source.Shared)
	}
	readYAML(t, dir, "differences.yaml", &k.differences)
	k.pairs = readPairs(t, dir, "pairs.jsonl")
	k.load(t, readFile(t, dir, "crd.yaml"))
	return k
}

func readPairs(t *testing.T, dir, name string) []pair {
	t.Helper()
	lines := bufio.NewScanner(bytes.NewReader(readFile(t, dir, name)))
	lines.Buffer(nil, 1<<20)
	var pairs []pair
	for lines.Scan() {
		var p pair
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, p)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return pairs
}

func (k *kind) load(t *testing.T, crd []byte) {
	t.Helper()
	rules := []ruleset.File{{Name: "rules.yaml", Text: k.rules}}
	if k.shared != nil {
		rules = append(rules, ruleset.File{Name: k.source.Shared, Text: k.shared})
	}
	set, err := ruleset.Compiled{}.Load(t.Context(), rules, []ruleset.File{{Name: "crd.yaml", Text: crd}})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.CRDs) != 1 || len(set.Conversions) != 1 {
		t.Fatalf("%d CRDs and %d Conversions, want one of each: %v", len(set.CRDs), len(set.Conversions), set.Findings)
	}
	k.crd, k.conversion, k.findings = set.CRDs[0], set.Conversions[0], set.Findings
	registry, err := set.Registry()
	if err != nil {
		t.Fatal(err)
	}
	k.converter = registry.Lookup(k.crd.GroupKind())
	if bound := set.BoundKind(k.crd.GroupKind()); bound != nil {
		k.drops = hints.Drops(bound)
	}
}

// convert returns the object of a pair at the other version, with apiVersion as the server sets it.
func (k *kind) convert(t *testing.T, p pair) []byte {
	t.Helper()
	object, err := jsondoc.ParseObject(p.Object)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.converter.Convert(t.Context(), object, p.From, p.To); err != nil {
		t.Fatal(err)
	}
	if err := object.Set(jsondoc.StringValue(k.crd.Group+"/"+p.To), "apiVersion"); err != nil {
		t.Fatal(err)
	}
	return object.Text()
}

// suite returns the laws for the kind.
func (k *kind) suite() hold.Suite {
	return hold.Suite{
		Kind: k.converter, CRD: k.crd, Seed: hold.DefaultSeed, Stored: true, Walks: true, Forgeries: true,
		Hints: hints.Of(k.conversion), Drops: k.drops,
	}
}

func readFile(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func readYAML(t *testing.T, dir, name string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(readFile(t, dir, name), into); err != nil {
		t.Fatalf("%s: %v", filepath.Join(dir, name), err)
	}
}
