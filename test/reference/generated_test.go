package reference_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A construct is a rule with its fields. S and H are the places around it, # is a number.
type construct struct {
	name              string
	spoke, hub, rules string
	root              bool // only where there is one object
}

func constructs() []construct {
	return []construct{
		{name: "move", spoke: "s#: {type: string}", hub: "h#: {type: string}", rules: "{spoke: 'S.s#', hub: 'H.h#'}"},
		{name: "copy", spoke: "c#: {type: string}", hub: "c#: {type: string}"},
		{
			name: "copy of an object", spoke: "c#: {type: object, properties: {a: {type: string}, b: {type: string}}}",
			hub: "c#: {type: object, properties: {a: {type: string}, c: {type: integer}}}",
		},
		{name: "spoke alone", spoke: "s#: {type: string}", rules: "{spoke: 'S.s#'}"},
		{name: "hub alone", hub: "h#: {type: string}", rules: "{hub: 'H.h#'}"},
		{
			name: "list", spoke: "s#: {type: array, items: {type: string}}", hub: "h#: {type: array, items: {type: string}}",
			rules: "{spoke: 'S.s#', hub: 'H.h#'}",
		},
		{
			name: "values", spoke: "s#: {type: string, enum: [a, b, c]}", hub: "h#: {type: string, enum: [A, B, x]}",
			rules: "{spoke: 'S.s#', hub: 'H.h#', values: {a: A, b: B, c: B}, hubValues: {x: a}}",
		},
		{
			name: "values without a counterpart", spoke: "s#: {type: string, enum: [a, b]}", hub: "h#: {type: string, enum: [A, x]}",
			rules: "{spoke: 'S.s#', hub: 'H.h#', values: {a: A, b: null}, hubValues: {x: null}}",
		},
		{
			name: "inverted", spoke: "s#: {type: boolean}", hub: "h#: {type: boolean}",
			rules: "{spoke: 'S.s#', hub: 'H.h#', values: {true: false, false: true}}",
		},
		{
			name: "template", spoke: "s#: {type: string}", hub: "h#: {type: string}, i#: {type: string}",
			rules: "{spoke: 'S.s#', hub: {a: 'H.h#', b: 'H.i#'}, template: '{a}:{b}'}",
		},
		{
			name: "template with numbers", spoke: "s#: {type: integer}, t#: {type: integer}", hub: "h#: {type: string}",
			rules: "{spoke: {a: 'S.s#', b: 'S.t#'}, hub: 'H.h#', template: '{a}-{b}'}",
		},
		{
			name: "absent", spoke: "s#: {type: string}, t#: {type: string}", hub: "h#: {type: string}",
			rules: "{spoke: {a: 'S.s#', b: 'S.t#'}, hub: 'H.h#', template: '{a} {b}', absent: '*'}",
		},
		{name: "String", spoke: "s#: {type: integer}", hub: "h#: {type: string}", rules: "{spoke: 'S.s#', hub: 'H.h#', codec: String}"},
		{
			name: "DurationSeconds", spoke: "s#: {type: string}", hub: "h#: {type: integer}",
			rules: "{spoke: 'S.s#', hub: 'H.h#', codec: DurationSeconds}",
		},
		{name: "QuantityInt", spoke: "s#: {type: integer}", hub: "h#: {type: string}", rules: "{spoke: 'S.s#', hub: 'H.h#', codec: QuantityInt}"},
		{
			name: "JSON", spoke: "s#: {type: object, properties: {a: {type: string}, b: {type: integer}}}", hub: "h#: {type: string}",
			rules: "{spoke: 'S.s#', hub: 'H.h#', codec: JSON}",
		},
		{name: "Base64", spoke: "s#: {type: string}", hub: "h#: {type: string, format: byte}", rules: "{spoke: 'S.s#', hub: 'H.h#', codec: Base64}"},
		{
			name: "expression", spoke: "s#: {type: integer}", hub: "h#: {type: string}",
			rules: `{spoke: 'S.s#', hub: 'H.h#', toHub: 'string(self) + "%"', toSpoke: 'int(self.replace("%", ""))'}`,
		},
		{
			name: "expression of two", spoke: "s#: {type: string}", hub: "h#: {type: string}, i#: {type: string}",
			rules: `{spoke: 'S.s#', hub: {a: 'H.h#', b: 'H.i#'}, toHub: '{"a": self, "b": "made"}', toSpoke: 'self.?a.orValue("none")'}`,
		},
		{
			name: "defaultInHub", spoke: "s#: {type: integer}", hub: "h#: {type: string}",
			rules: "{spoke: 'S.s#', hub: 'H.h#', codec: String, defaultInHub: '80'}",
		},
		{name: "defaultInSpoke", spoke: "s#: {type: string}", hub: "h#: {type: string}", rules: "{spoke: 'S.s#', hub: 'H.h#', defaultInSpoke: d}"},
		{name: "default of the schema", spoke: "s#: {type: string, default: a}", hub: "h#: {type: string}", rules: "{spoke: 'S.s#', hub: 'H.h#'}"},
		{name: "default of the hub's schema", spoke: "s#: {type: string}", hub: "h#: {type: string, default: a}", rules: "{spoke: 'S.s#', hub: 'H.h#'}"},
		{name: "omitEmpty", spoke: "s#: {type: string}", hub: "h#: {type: string}", rules: "{spoke: 'S.s#', hub: 'H.h#', omitEmpty: Hub}"},
		{name: "drop", spoke: "s#: {type: string}", rules: "{spoke: 'S.s#', drop: it is old}"},
		{
			name: "union", spoke: "s#: {type: string}", hub: "h#: {type: string}, i#: {type: string}",
			rules: "{spoke: 'S.s#', hub: 'H.h#', whenToHub: 'self.startsWith(\"a\")', whenToSpoke: 'true'}\n" +
				"{spoke: 'S.s#', hub: 'H.i#', whenToHub: '!self.startsWith(\"a\")', whenToSpoke: '!has(element.h#)'}",
		},
		{
			name: "computed", spoke: "s#: {type: string}", hub: "h#: {type: string}",
			rules: "{spoke: 'S.s#', toSpoke: 'has(element.h#) ? \"yes\" : \"no\"'}\n{hub: 'H.h#'}",
		},
		{
			name: "condition", spoke: "s#: {type: string}, t#: {type: string, enum: [a, b]}", hub: "h#: {type: string}, t#: {type: string, enum: [a, b]}",
			rules: "{spoke: 'S.s#', hub: 'H.h#', whenToHub: 'element.?t#.orValue(\"\") == \"a\"', whenToSpoke: 'element.?t#.orValue(\"\") == \"a\"'}",
		},
		{name: "label", spoke: "x#: {type: string}", hub: "h#: {type: string}", rules: `{spoke: '.metadata.labels["example.com/#"]', hub: 'H.h#'}`, root: true},
		{
			name: "pick", spoke: "s#: {type: string}",
			hub: "h#: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], " +
				"items: {type: object, required: [name], properties: {name: {type: string}, v: {type: string}, w: {type: string}}}}",
			rules: "{spoke: 'S.s#', hub: 'H.h#[name=a].v'}\n{hub: 'H.h#[]'}", root: true,
		},
		{
			name: "first", spoke: "s#: {type: string}", hub: "h#: {type: array, items: {type: string}}",
			rules: "{spoke: 'S.s#', hub: 'H.h#[0]'}\n{hub: 'H.h#[]'}", root: true,
		},
		{
			name: "wrapped", spoke: "s#: {type: array, items: {type: string}}",
			hub:   "h#: {type: array, items: {type: object, properties: {v: {type: string}, w: {type: string}}}}",
			rules: "{spoke: 'S.s#[]', hub: 'H.h#[].v'}\n{hub: 'H.h#[].w'}",
		},
		{
			name: "map to list", spoke: "s#: {type: object, additionalProperties: {type: string}}",
			hub: "h#: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], " +
				"items: {type: object, required: [name], properties: {name: {type: string}, v: {type: string}, w: {type: string}}}}",
			rules: "{spoke: 'S.s#{name}', hub: 'H.h#[name].v'}\n{hub: 'H.h#[name].w'}",
		},
	}
}

// A container is a place that constructs are in. PROPS are the fields within.
type container struct{ name, spoke, hub, rule, inSpoke, inHub string }

func containers() []container {
	const keyed = "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], " +
		"properties: {name: {type: string}, PROPS}}"
	return []container{
		{name: "root", spoke: "PROPS", hub: "PROPS", inSpoke: ".spec", inHub: ".spec"},
		{
			name: "object", spoke: "o#: {type: object, properties: {PROPS}}", hub: "p#: {type: object, properties: {PROPS}}",
			rule: "{spoke: .spec.o#, hub: .spec.p#}", inSpoke: ".spec.o#", inHub: ".spec.p#",
		},
		{
			name: "object of the same name", spoke: "o#: {type: object, properties: {PROPS}}", hub: "o#: {type: object, properties: {PROPS}}",
			inSpoke: ".spec.o#", inHub: ".spec.o#",
		},
		{
			name: "list", spoke: "l#: {type: array, items: {type: object, required: [id], properties: {id: {type: string}, PROPS}}}",
			hub:     "k#: {type: array, items: {type: object, required: [id], properties: {id: {type: string}, PROPS}}}",
			inSpoke: ".spec.l#[]", inHub: ".spec.k#[]", rule: "{spoke: '.spec.l#[]', hub: '.spec.k#[]'}",
		},
		{
			name: "keys", spoke: "l#: {type: array, " + keyed + "}", hub: "k#: {type: array, " + keyed + "}",
			inSpoke: ".spec.l#[name]", inHub: ".spec.k#[name]", rule: "{spoke: '.spec.l#[name]', hub: '.spec.k#[name]'}",
		},
		{
			name: "map", spoke: "m#: {type: object, additionalProperties: {type: object, properties: {PROPS}}}",
			hub:     "q#: {type: object, additionalProperties: {type: object, properties: {PROPS}}}",
			inSpoke: ".spec.m#{}", inHub: ".spec.q#{}", rule: "{spoke: '.spec.m#{}', hub: '.spec.q#{}'}",
		},
		{
			name: "map and keys", spoke: "m#: {type: object, additionalProperties: {type: object, properties: {PROPS}}}",
			hub: "k#: {type: array, " + keyed + "}", inSpoke: ".spec.m#{name}", inHub: ".spec.k#[name]",
			rule: "{spoke: '.spec.m#{name}', hub: '.spec.k#[name]'}",
		},
	}
}

// generate returns rules and a CRD with constructs chosen at random.
func generate(seed uint64) (ruleText, crd []byte, names string) {
	rng := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // rules that can be made again
	var hubProps []string
	var versions, schemas, used []string
	number := 0
	for v := range 1 + rng.IntN(2) {
		var spokeProps, lines []string
		for range 1 + rng.IntN(2) {
			number++
			box := containers()[rng.IntN(len(containers()))]
			var inSpoke, inHub []string
			at := strings.NewReplacer("#", fmt.Sprint(number))
			use := box.rule != "" && rng.IntN(4) == 0
			var within []string
			for range 1 + rng.IntN(3) {
				c := constructs()[rng.IntN(len(constructs()))]
				if c.root && box.name != "root" || !use && !strings.ContainsAny(box.inHub, "[{") && strings.Contains(c.rules, "element") {
					continue
				}
				number++
				in := strings.NewReplacer("#", fmt.Sprint(number), "S.", at.Replace(box.inSpoke)+".", "H.", at.Replace(box.inHub)+".")
				if use {
					in = strings.NewReplacer("#", fmt.Sprint(number), "S.", ".", "H.", ".")
				}
				n := strings.NewReplacer("#", fmt.Sprint(number))
				if c.spoke != "" {
					inSpoke = append(inSpoke, n.Replace(c.spoke))
				}
				if c.hub != "" {
					inHub = append(inHub, n.Replace(c.hub))
				}
				if c.rules != "" {
					within = append(within, strings.Split(in.Replace(c.rules), "\n")...)
				}
				used = append(used, box.name+"/"+c.name)
			}
			fillIn := func(text string, props []string) string {
				out := strings.ReplaceAll(at.Replace(text), "PROPS", strings.Join(props, ", "))
				return strings.ReplaceAll(strings.ReplaceAll(out, ", }", "}"), "PROPS", "")
			}
			both := fmt.Sprintf("both%d: {type: string}", number)
			inSpoke, inHub = append(inSpoke, both), append(inHub, both)
			spokeProps = append(spokeProps, fillIn(box.spoke, inSpoke))
			hubProps = append(hubProps, fillIn(box.hub, inHub))
			if use {
				set := fmt.Sprintf("Set%d", number)
				lines = append(lines, strings.TrimSuffix(at.Replace(box.rule), "}")+", use: "+set+"}")
				versions = append([]string{"\x00" + set + ":\n" + indented(within, "    ")}, versions...)
				continue
			}
			if box.rule != "" {
				lines = append(lines, at.Replace(box.rule))
			}
			lines = append(lines, within...)
		}
		name := fmt.Sprintf("v1beta%d", v+1)
		versions = append(versions, fmt.Sprintf("  - name: %s\n    unmapped: Preserve\n    rules:\n%s", name, indented(lines, "    ")))
		schemas = append(schemas, version(name, false, spokeProps))
	}
	var sets, specs string
	for _, v := range versions {
		if set, ok := strings.CutPrefix(v, "\x00"); ok {
			sets += "    " + set
		} else {
			specs += v
		}
	}
	if sets != "" {
		sets = "  ruleSets:\n" + sets
	}
	schemas = append([]string{version("v1", true, hubProps)}, schemas...)
	return []byte("apiVersion: conversion.webhookd.io/v1beta1\nkind: Conversion\nmetadata: {name: things.example.com}\nspec:\n  hub: v1\n" +
			sets + "  versions:\n" + specs),
		[]byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec:\n" +
			"  group: example.com\n  scope: Namespaced\n  names: {kind: Thing, plural: things, singular: thing}\n  versions:\n" +
			strings.Join(schemas, "")), strings.Join(used, ", ")
}

func indented(lines []string, by string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(by + "- " + l + "\n")
	}
	if len(lines) == 0 {
		return by + "  []\n"
	}
	return b.String()
}

func version(name string, storage bool, props []string) string {
	return fmt.Sprintf("  - name: %s\n    served: true\n    storage: %v\n    subresources: {status: {}}\n    schema: {openAPIV3Schema: "+
		"{type: object, properties: {spec: {type: object, properties: {%s}}}}}\n", name, storage, strings.Join(props, ", "))
}
