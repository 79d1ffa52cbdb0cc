package laws_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/hints"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// While replicas with old and new rules convert an object, of which clients edit another field,
// nothing that is stored goes missing at the stored version: L17. Replicas reload rules, or
// restart.
func TestRollouts(t *testing.T) {
	t.Parallel()
	for name, c := range rollouts() {
		for _, storage := range []string{"v1", "v1beta1"} {
			for how, load := range map[string]func(*rollout, *testing.T, change){"reloaded": (*rollout).reload, "started": (*rollout).start} {
				t.Run(name+", stored at "+storage+", "+how, func(t *testing.T) {
					t.Parallel()
					crd := strings.Replace(rolloutCRD, "{name: "+storage+", served: true, storage: false", "{name: "+storage+", served: true, storage: true", 1)
					r := &rollout{crd: parseCRD(t, []byte(crd)), hints: map[string]generate.Hints{}}
					load(r, t, c)
					for index := range *exampleObjects {
						r.walk(t, r.crd.Version(storage), index, !c.unedited)
					}
				})
			}
		}
	}
}

// A change is that of rules. StandIns are transitional rules for places that lose their rule, if
// replicas restart.
type change struct {
	before, after, standIns []string
	unedited                bool // no client edits another field
}

// rollouts are changes of rules.
func rollouts() map[string]change {
	const (
		pair     = "{spoke: .spec.s, hub: .spec.h}"
		field    = "{spoke: .spec.s}"
		hubField = "{hub: .spec.h}"
		template = `{spoke: {a: .spec.s, b: .spec.s2}, hub: .spec.h, template: "{a}:{b}"}`
		values   = "{spoke: .spec.mode, hub: .spec.mode, values: {A: B, B: A, C: A}}"
		label    = `{spoke: .spec.s, hub: ".metadata.labels.team"}`
		noLabel  = `{spoke: ".metadata.labels.team", hub: ".metadata.labels.team"}`
		cel      = `{spoke: .spec.s, hub: .spec.h, toHub: 'self + "!"', toSpoke: 'self.endsWith("!") ? self.substring(0, size(self) - 1) : self'}`
		joins    = `{spoke: .spec.s, hub: .spec.h, whenToHub: 'object.spec.mode != "B"'}`
		dflt     = "{hub: .spec.h, defaultInHub: none}"
	)
	all := map[string]change{}
	exchange := func(name string, before, after []string) {
		all[name] = change{before: before, after: after}
		all[name+", the other way round"] = change{before: after, after: before}
	}
	exchange("a template is exchanged", []string{template}, []string{strings.Replace(template, "{a}:{b}", "{a}/{b}", 1)})
	exchange("a table is exchanged", []string{values}, []string{"{spoke: .spec.mode, hub: .spec.mode, values: {A: C, C: A, B: A}}"})
	exchange("a codec is exchanged", []string{"{spoke: .spec.s, hub: .spec.h, codec: Base64}"}, []string{cel})
	exchange("an expression replaces a pair", []string{pair}, []string{cel})
	exchange("a one-sided field gets a counterpart", []string{dflt}, []string{"{spoke: .spec.s, hub: .spec.h, defaultInHub: none}"})
	exchange("a one-sided field gets a label", []string{field}, []string{label})
	comes := func(name string, among []string, rule string, standIns ...string) {
		all[name+" comes"] = change{before: among, after: append(slices.Clone(among), rule)}
		all[name+" goes"] = change{before: append(slices.Clone(among), rule), after: among, standIns: standIns}
	}
	comes("a pair", nil, pair, field, hubField)
	comes("a template", nil, template, field, "{spoke: .spec.s2}", hubField)
	comes("a codec", nil, "{spoke: .spec.seconds, hub: .spec.duration, codec: DurationSeconds}", "{spoke: .spec.seconds}", "{hub: .spec.duration}")
	comes("a table of values", nil, values, "{spoke: .spec.mode, hub: .spec.mode}")
	comes("a label", nil, label, field, noLabel)
	comes("a pair of expressions", nil, cel, field, hubField)
	comes("a pair of objects", nil, "{spoke: .spec.cfg, hub: .spec.conf}", "{spoke: .spec.cfg}", "{hub: .spec.conf}")
	comes("a pair of the status", nil, "{spoke: .status.s, hub: .status.h}", "{spoke: .status.s}", "{hub: .status.h}")
	comes("a pair in elements", nil, `{spoke: ".spec.ports[].note", hub: ".spec.ports[].remark"}`,
		`{spoke: ".spec.ports[].note"}`, `{hub: ".spec.ports[].remark"}`)
	comes("a pair of lists", nil, `{spoke: ".spec.servers[].host", hub: ".spec.backends[].address"}`,
		`{spoke: ".spec.servers[].host"}`, `{hub: ".spec.backends[].address"}`)
	comes("a rule that reads a table's field", []string{values}, joins, field, hubField)
	// An edit of another field ends what is kept in an expression's result, if that contradicts it.
	all["an expression that makes an object is exchanged"] = change{
		before:   []string{`{spoke: .spec.cfg, hub: .spec.conf, toHub: '{"a": self.a, "c": 1}', toSpoke: '{"a": self.a, "b": 1}'}`},
		after:    []string{`{spoke: .spec.cfg, hub: .spec.conf, toHub: '{"a": self.a + "!", "c": 2}', toSpoke: '{"a": self.a, "b": self.c}'}`},
		unedited: true,
	}
	return all
}

const rolloutCRD = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {
	group: example.com, scope: Namespaced, names: {plural: things, kind: Thing}, versions: [
	{name: v1beta1, served: true, storage: false, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {
		spec: {type: object, properties: {x: {type: string}, s: {type: string}, s2: {type: string}, seconds: {type: integer},
			mode: {type: string, enum: [A, B, C]}, cfg: {type: object, properties: {a: {type: string}, b: {type: integer}}},
			ports: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [port], items: {type: object, required: [port], properties: {
				port: {type: integer}, note: {type: string}}}},
			servers: {type: array, items: {type: object, properties: {host: {type: string}, zone: {type: string}}}}}},
		status: {type: object, properties: {s: {type: string}}}}}}},
	{name: v1, served: true, storage: false, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {
		spec: {type: object, properties: {x: {type: string}, h: {type: string}, duration: {type: string},
			mode: {type: string, enum: [A, B, C]}, conf: {type: object, properties: {a: {type: string}, c: {type: integer}}},
			ports: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [port], items: {type: object, required: [port], properties: {
				port: {type: integer}, remark: {type: string}}}},
			backends: {type: array, items: {type: object, properties: {address: {type: string}, weight: {type: integer}}}}}},
		status: {type: object, properties: {h: {type: string}}}}}}}]}}`

// A rollout has the kind as replicas have it one after the other. Those with one may run next to
// those with the next.
type rollout struct {
	crd    *crdschema.CRD
	phases []*converters.Kind
	hints  map[string]generate.Hints
}

// reload is a rollout of replicas that know the old rules.
func (r *rollout) reload(t *testing.T, c change) {
	t.Helper()
	old := []*rules.Set{r.add(t, rules.Options{}, c.before)}
	r.add(t, rules.Options{Before: old}, c.after)
	r.add(t, rules.Options{Known: old}, c.after)
	r.add(t, rules.Options{}, c.after)
}

// start is a rollout of replicas that know what their file says.
func (r *rollout) start(t *testing.T, c change) {
	t.Helper()
	file := slices.Clone(c.before)
	for _, rule := range slices.Concat(c.after, c.standIns) {
		if !slices.Contains(c.before, rule) {
			file = append(file, strings.TrimSuffix(rule, "}")+", transitional: true}")
		}
	}
	r.add(t, rules.Options{}, c.before)
	old := []*rules.Set{r.load(t, rules.Options{}, file).Earlier()}
	r.add(t, rules.Options{Before: old}, file)
	r.add(t, rules.Options{Known: old}, file)
	r.add(t, rules.Options{}, c.after)
}

// add adds replicas with some rules.
func (r *rollout) add(t *testing.T, opts rules.Options, list []string) *rules.Set {
	t.Helper()
	set := r.load(t, opts, list)
	r.phases = append(r.phases, &set.Kinds()[0])
	for version, of := range hints.Of(set.Conversions()[0]) {
		if r.hints[version] == nil {
			r.hints[version] = generate.Hints{}
		}
		maps.Copy(r.hints[version], of)
	}
	return set
}

func (r *rollout) load(t *testing.T, opts rules.Options, list []string) *rules.Set {
	t.Helper()
	text := "apiVersion: conversion.webhookd.io/v1beta1\nkind: Conversion\nmetadata: {name: things.example.com}\n" +
		"spec:\n  hub: v1\n  versions:\n  - name: v1beta1\n    unmapped: Preserve\n    rules:\n    - {spoke: .spec.x, hub: .spec.x}\n"
	for _, rule := range list {
		text += "    - " + rule + "\n"
	}
	set, findings := rules.Load(t.Context(), []rules.Source{{Name: "rules.yaml", Text: []byte(text)}}, []*crdschema.CRD{r.crd}, opts)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	return set
}

// walk stores an object by old rules, and lets replicas read and write it. Clients may edit a field
// that no rule is about.
func (r *rollout) walk(t *testing.T, storage *crdschema.Version, index uint64, edits bool) {
	t.Helper()
	random := rand.New(rand.NewPCG(*lawsSeed, index)) //nolint:gosec // to be repeated
	other := r.crd.Versions[0]
	if other == storage {
		other = r.crd.Versions[1]
	}
	first := r.crd.Versions[random.IntN(2)]
	generator, err := generate.NewGenerator(first, r.hints[first.Name])
	if err != nil {
		t.Fatal(err)
	}
	now := withUID(t, generator.Object(*lawsSeed, index))
	if first != storage {
		now = stored(t, r.phases[0], now, first, storage)
	}
	for phase := range len(r.phases) - 1 {
		for range 4 {
			reads, writes := phase+random.IntN(2), phase+random.IntN(2)
			read := stored(t, r.phases[reads], now, storage, other)
			if edits && random.IntN(2) == 0 {
				read = edited(t, read)
			}
			next := stored(t, r.phases[writes], read, other, storage)
			if was, is := visible(t, edited(t, now)), visible(t, edited(t, next)); lost(was, is) {
				t.Errorf("stored at %s: %s\nread by %d: %s\nwritten by %d: %s\n%s", storage.Name, now, reads, read, writes, next, cmp.Diff(was, is))
				return
			}
			now = next
		}
	}
}

// withUID returns an object as the API server stores it.
func withUID(t *testing.T, text []byte) []byte {
	t.Helper()
	object := decode(t, text)
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	metadata["uid"] = "b3997c42-5d0c-4a19-9e3f-0f6ad6c1a0e5"
	delete(metadata, "managedFields") // it may say that no client has read the object
	return encode(t, object)
}

// edited returns an object with another value of a field that is the same in both versions.
func edited(t *testing.T, text []byte) []byte {
	t.Helper()
	object := decode(t, text)
	if spec, ok := object["spec"].(map[string]any); ok {
		spec["x"] = "edited"
	}
	return encode(t, object)
}

// visible returns an object without what is kept in it.
func visible(t *testing.T, text []byte) map[string]any {
	t.Helper()
	object := decode(t, text)
	take(object)
	return object
}

func decode(t *testing.T, text []byte) (object map[string]any) {
	t.Helper()
	if err := utiljson.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	return object
}
