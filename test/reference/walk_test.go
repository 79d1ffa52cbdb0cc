package reference_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/rules"
	"github.com/crdconvert/webhookd/test/reference"
)

// A subject is a kind that both convert.
type subject struct {
	name       string
	rules, crd []byte
	more       [][]byte // rule sets of other files
	kind       *reference.Kind
	engine     conversion.Kind
	definition apiextensionsv1.CustomResourceDefinition
	schemas    map[string]*reference.Schema // by version
	validators map[string]validation.SchemaValidator
	group      string
	versions   []string
	pool       []string // texts that rules have
}

func newSubject(ctx context.Context, name string, functions map[string]rules.Function, crd, ruleText []byte, more ...[]byte) (*subject, error) {
	s := &subject{name: name, rules: ruleText, crd: crd, more: more, schemas: map[string]*reference.Schema{}, validators: map[string]validation.SchemaValidator{}}
	own := map[string]reference.Function{}
	for n, f := range functions {
		own[n] = reference.Function{
			ToHub:   func(in []json.RawMessage) ([]json.RawMessage, error) { return f.ToHub(ctx, in) },
			ToSpoke: func(in []json.RawMessage) ([]json.RawMessage, error) { return f.ToSpoke(ctx, in) },
		}
	}
	err := yaml.Unmarshal(crd, &s.definition)
	if err != nil {
		return nil, err
	}
	s.group = s.definition.Spec.Group
	files := fstest.MapFS{"crd.yaml": {Data: crd}, "rules.yaml": {Data: ruleText}}
	for i, m := range more {
		files[fmt.Sprintf("more%d.yaml", i)] = &fstest.MapFile{Data: m}
	}
	kinds, err := rules.Load(ctx, files, functions)
	if err != nil {
		return nil, err
	}
	s.engine = kinds[0]
	for _, v := range s.definition.Spec.Versions {
		s.versions = append(s.versions, v.Name)
		var props apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &props, nil); err != nil {
			return nil, err
		}
		if s.validators[v.Name], _, err = validation.NewSchemaValidator(&props); err != nil {
			return nil, err
		}
		if s.schemas[v.Name], err = structuralschema.NewStructural(&props); err != nil {
			return nil, err
		}
	}
	if s.kind, err = reference.NewKind(s.schemas, own, append([][]byte{ruleText}, more...)...); err != nil {
		return nil, err
	}
	s.pool = texts(append([][]byte{ruleText}, more...))
	return s, nil
}

// A cluster is one object, as an API server stores it and as the reference has it.
type cluster struct {
	*subject
	stored  map[string]any // with webhookd's annotations
	storage string
	object  reference.Object
}

// coerce prunes and defaults an object as the API server does with what it receives or has stored.
func (s *subject) coerce(obj map[string]any, version string) {
	s.prune(obj, version)
	defaulting.Default(obj, s.schemas[version])
}

func (s *subject) prune(obj map[string]any, version string) {
	pruning.Prune(obj, s.schemas[version], true)
	defaulting.PruneNonNullableNullsWithoutDefaults(obj, s.schemas[version])
}

func (s *subject) convert(ctx context.Context, obj map[string]any, to string) (map[string]any, error) {
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	o, err := conversion.ParseObject(text)
	if err != nil {
		return nil, err
	}
	if err := s.engine.Convert(ctx, o, to); err != nil {
		return nil, err
	}
	var out map[string]any
	if err := utiljson.Unmarshal(o.JSON(), &out); err != nil {
		return nil, err
	}
	s.prune(out, to)
	return out, nil
}

// read returns what a client gets at a version.
func (c *cluster) read(ctx context.Context, version string) (map[string]any, error) {
	obj := clone(c.stored)
	c.coerce(obj, c.storage)
	if version == c.storage {
		return obj, nil
	}
	return c.convert(ctx, obj, version)
}

// write stores what a client writes at a version.
func (c *cluster) write(ctx context.Context, obj map[string]any, version, storage string) error {
	c.coerce(obj, version)
	if version != storage {
		var err error
		if obj, err = c.convert(ctx, obj, storage); err != nil {
			return err
		}
	}
	c.stored, c.storage = obj, storage
	return nil
}

func (c *cluster) readReference(version string) reference.Object {
	return c.server(c.kind.Convert(c.server(c.object, true), version), false)
}

// server does to the reference's objects what coerce and prune do.
func (c *cluster) server(o reference.Object, fill bool) reference.Object {
	o.Seen = clone(o.Seen)
	c.prune(o.Seen, o.Version)
	if fill {
		defaulting.Default(o.Seen, c.schemas[o.Version])
	}
	return o
}

func (c *cluster) writeReference(o reference.Object, storage string) {
	o = c.server(o, true)
	if o.Version != storage {
		o = c.server(c.kind.Convert(o, storage), false)
	}
	c.object = o
}

// A step is a write at a version, after which the object is stored at another.
type step struct {
	version, storage string
	seed             uint64
}

// differs takes a step, and returns how what users see differs after it.
func (c *cluster) differs(ctx context.Context, st step) (string, error) {
	obj, err := c.read(ctx, st.version)
	if err != nil {
		return "", err
	}
	seen := c.readReference(st.version)
	edited := c.edit(visible(obj), st)
	if edited != nil {
		if err := c.write(ctx, withKept(edited, obj, c.group+"/"+st.version), st.version, st.storage); err != nil {
			return "", err
		}
		seen.Seen = edited
		c.writeReference(seen, st.storage)
	}
	for _, v := range c.versions {
		obj, err := c.read(ctx, v)
		if err != nil {
			return "", err
		}
		want, got := c.sorted(v, visible(c.readReference(v).Seen)), c.sorted(v, visible(obj))
		if diff := cmp.Diff(want, got); diff != "" {
			if known(want, got) {
				return "", errKnown
			}
			return fmt.Sprintf("at %s, stored at %s, after a write at %s (-reference +webhookd):\n%s\nreference: %s\nwebhookd: %s",
				v, c.storage, st.version, diff, text(visible(c.readReference(v).Seen)), text(obj)), nil
		}
	}
	return "", nil
}

// sorted returns an object whose lists with keys are sorted: in which order elements that the other
// version does not show come back among new ones is not said.
func (s *subject) sorted(version string, obj map[string]any) map[string]any {
	s.sort(obj, s.schemas[version])
	return obj
}

func (s *subject) sort(v any, schema *reference.Schema) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			s.sort(e, schemaOf(schema, k))
		}
	case []any:
		for _, e := range v {
			s.sort(e, items(schema))
		}
		if schema != nil && schema.XListType != nil && *schema.XListType == "map" {
			slices.SortFunc(v, func(a, b any) int {
				return strings.Compare(keys(a, schema.XListMapKeys), keys(b, schema.XListMapKeys))
			})
		}
	}
}

func keys(v any, names []string) string {
	m, _ := v.(map[string]any)
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "%v,", m[n])
	}
	return b.String()
}

var errKnown = errors.New("a known difference")

func text(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func clone(obj map[string]any) map[string]any {
	var out map[string]any
	data, err := json.Marshal(obj)
	if err == nil {
		err = utiljson.Unmarshal(data, &out)
	}
	if err != nil {
		panic(err)
	}
	return out
}

const kept = "conversion.webhookd.io/"

// visible returns an object without apiVersion and webhookd's annotations.
func visible(obj map[string]any) map[string]any {
	out := clone(obj)
	delete(out, "apiVersion")
	meta, _ := out["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	maps.DeleteFunc(annotations, func(k string, _ any) bool { return strings.Contains(k, kept) })
	for _, k := range []string{"labels", "annotations"} {
		if m, ok := meta[k].(map[string]any); ok && len(m) == 0 {
			delete(meta, k)
		}
	}
	return out
}

// withKept returns an edited object with webhookd's annotations of the one that was read.
func withKept(edited, read map[string]any, apiVersion string) map[string]any {
	out := clone(edited)
	out["apiVersion"] = apiVersion
	meta, _ := out["metadata"].(map[string]any)
	old, _ := read["metadata"].(map[string]any)["annotations"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
	}
	for k, v := range old {
		if strings.Contains(k, kept) {
			annotations[k] = v
		}
	}
	if len(annotations) > 0 {
		meta["annotations"] = annotations
	}
	return out
}

// run makes a cluster and takes steps, and returns the first difference.
func (s *subject) run(ctx context.Context, steps []step) (int, string, error) {
	c := &cluster{subject: s}
	version := steps[0].version
	obj := map[string]any{
		"kind": s.definition.Spec.Names.Kind, "metadata": map[string]any{"name": "a", "namespace": "n", "uid": "u"},
	}
	c.object = reference.Object{Version: version, Seen: clone(obj)}
	obj["apiVersion"] = s.group + "/" + version
	c.stored, c.storage = obj, version
	for i, st := range steps {
		diff, err := c.differs(ctx, st)
		if errors.Is(err, errKnown) {
			break
		}
		if diff != "" || err != nil {
			return i, diff, err
		}
	}
	return -1, "", nil
}

// shrink drops steps as long as there is a difference.
func (s *subject) shrink(ctx context.Context, steps []step) []step {
	for i := len(steps) - 1; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(steps), i, i+1)
		if len(fewer) == 0 {
			continue
		}
		if at, diff, err := s.run(ctx, fewer); diff != "" || err != nil {
			steps = fewer[:at+1]
			i = min(i, len(steps))
		}
	}
	return steps
}

// walk takes random steps in objects of some length.
func (s *subject) walk(t *testing.T, seed uint64, n int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a walk that can be repeated
	for n > 0 {
		length := min(n, 12)
		n -= length
		var steps []step
		storage := s.versions[rng.IntN(len(s.versions))]
		for range length {
			if rng.IntN(3) == 0 {
				storage = s.versions[rng.IntN(len(s.versions))]
			}
			steps = append(steps, step{s.versions[rng.IntN(len(s.versions))], storage, rng.Uint64()})
		}
		at, diff, err := s.run(t.Context(), steps)
		if diff == "" && err == nil {
			continue
		}
		steps = s.shrink(t.Context(), steps[:at+1])
		_, diff, err = s.run(t.Context(), steps)
		t.Fatalf("%v\n%s%s", err, s.tell(steps), diff)
	}
}

// tell prints the steps: what a client writes at which version.
func (s *subject) tell(steps []step) string {
	var b strings.Builder
	if len(s.crd) < 6000 {
		fmt.Fprintf(&b, "%s\n---\n%s\n", s.rules, s.crd)
	}
	c := &cluster{subject: s}
	obj := map[string]any{
		"kind": s.definition.Spec.Names.Kind, "metadata": map[string]any{"name": "a", "namespace": "n", "uid": "u"},
	}
	c.object = reference.Object{Version: steps[0].version, Seen: clone(obj)}
	for _, st := range steps {
		seen := c.readReference(st.version)
		if edited := c.edit(visible(seen.Seen), st); edited != nil {
			fmt.Fprintf(&b, "write at %s, stored at %s: %s\n", st.version, st.storage, text(edited))
			seen.Seen = edited
			c.writeReference(seen, st.storage)
		}
	}
	return b.String()
}

// valid reports whether an API server accepts an object at a version.
func (s *subject) valid(obj map[string]any, version string) bool {
	obj = clone(obj)
	obj["apiVersion"] = s.group + "/" + version
	s.coerce(obj, version)
	return len(validation.ValidateCustomResource(nil, obj, s.validators[version])) == 0 &&
		len(listtype.ValidateListSetsAndMaps(nil, s.schemas[version], obj)) == 0
}
