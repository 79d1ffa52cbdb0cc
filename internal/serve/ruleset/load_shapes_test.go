package ruleset

import (
	"strconv"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/costtest"
	"github.com/crdconvert/webhookd/test/helpers/rulesettest"
)

// A loadShape is a way to let a Conversion and its CRD grow.
type loadShape struct {
	name     string
	findings bool // the rules have findings
	make     func(n int) grown
}

// A grown is the result of a shape: the rules, and the properties of the spec in both versions.
type grown struct{ rules, beta, v1 string }

// each repeats a text n times, separated by commas, with 0 to n-1 in place of #.
func each(n int, text string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(strings.ReplaceAll(text, "#", strconv.Itoa(i)))
	}
	return b.String()
}

// properties returns an object with n strings.
func properties(n int, name string) string {
	return "type: object, properties: {" + each(n, name+"#: {type: string}") + "}"
}

// loadShapes are of all kinds of rules, and of mistakes in them.
func loadShapes() []loadShape {
	andOne := func(properties string) string { return strings.TrimSuffix(properties, "}") + ", f: {type: string}}" }
	one := func(what string) string { return "type: object, properties: {f: {" + what + "}}" }
	enum := func(n int, name string) string { return "type: string, enum: [" + each(n, name+"#") + "]" }
	return []loadShape{
		{"rules", false, func(n int) grown {
			return grown{each(n, "{spoke: .spec.a#, hub: .spec.b#}"), properties(n, "a"), properties(n, "b")}
		}},
		{"rules into an object", false, func(n int) grown {
			return grown{
				each(n, "{spoke: .spec.a#, hub: .spec.o.b#}"), properties(n, "a"),
				"type: object, properties: {o: {" + properties(n, "b") + "}}",
			}
		}},
		{"rules of elements", false, func(n int) grown {
			return grown{
				each(n, "{spoke: '.spec.l[].a#', hub: '.spec.l[].b#'}"),
				"type: object, properties: {l: {type: array, items: {" + properties(n, "a") + "}}}",
				"type: object, properties: {l: {type: array, items: {" + properties(n, "b") + "}}}",
			}
		}},
		{"rules of lists", false, func(n int) grown {
			list := func(name string) string {
				return "type: object, properties: {" + each(n, name+"#: {type: array, items: {type: string}}") + "}"
			}
			return grown{each(n, "{spoke: '.spec.a#[]', hub: '.spec.b#[]', codec: Base64}"), list("a"), list("b")}
		}},
		{"dropped fields", false, func(n int) grown {
			return grown{each(n, "{spoke: .spec.a#, drop: x}"), andOne(properties(n, "a")), one("type: string")}
		}},
		{"kept fields", false, func(n int) grown {
			return grown{each(n, "{spoke: .spec.a#}"), andOne(properties(n, "a")), one("type: string")}
		}},
		{"annotations", false, func(n int) grown {
			return grown{each(n, `{spoke: .spec.a#, hub: '.metadata.annotations["a#"]'}`), andOne(properties(n, "a")), one("type: string")}
		}},
		{"computed fields", false, func(n int) grown {
			return grown{each(n, "{spoke: .spec.a#, hub: .spec.b#, toHub: self, toSpoke: self}"), properties(n, "a"), properties(n, "b")}
		}},
		{"reads of other fields", true, func(n int) grown {
			return grown{each(n, `{hub: .spec.b#, toHub: object.spec.a#}`), properties(n, "a"), properties(n, "b")}
		}},
		{"named paths", false, func(n int) grown {
			return grown{
				"{spoke: {" + each(n, "a#: .spec.a#") + "}, hub: .spec.f, template: \"" + strings.ReplaceAll(each(n, "{a#}"), ",", "-") + "\"}",
				properties(n, "a"), one("type: string"),
			}
		}},
		{"rules of a place with conditions", false, func(n int) grown {
			return grown{
				each(n, "{spoke: .spec.a#, hub: .spec.f, whenToHub: 'true', whenToSpoke: 'true'}"), properties(n, "a"), one("type: string"),
			}
		}},
		{"elements that are picked", true, func(n int) grown {
			return grown{
				each(n, `{spoke: .spec.a#, hub: '.spec.l[k=x#].v'}`), properties(n, "a"),
				"type: object, properties: {l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {" +
					"type: object, required: [k], properties: {k: {type: string}, v: {type: string}}}}}",
			}
		}},
		{"uses of a rule set", false, func(n int) grown {
			return grown{
				each(n, "{spoke: .spec.a#, hub: .spec.b#, use: s}"),
				"type: object, properties: {" + each(n, "a#: {type: object, properties: {x: {type: string}}}") + "}",
				"type: object, properties: {" + each(n, "b#: {type: object, properties: {z: {type: string}}}") + "}",
			}
		}},
		{"uses of shared rule sets", false, func(n int) grown {
			return grown{
				each(n, "{spoke: .spec.a#, hub: .spec.b#, use: shared/s#}"),
				"type: object, properties: {" + each(n, "a#: {type: object, properties: {x: {type: string}}}") + "}",
				"type: object, properties: {" + each(n, "b#: {type: object, properties: {z: {type: string}}}") + "}",
			}
		}},
		{"uses of shared rule sets that are not there", true, func(n int) grown {
			return grown{each(n, "{spoke: .spec.a#, hub: .spec.b#, use: gone/s#}"), properties(n, "a"), properties(n, "b")}
		}},
		{"values", false, func(n int) grown {
			return grown{"{spoke: .spec.f, hub: .spec.f, values: {" + each(n, "a#: b#") + "}}", one(enum(n, "a")), one(enum(n, "b"))}
		}},
		{"values of an enum that is the same", false, func(n int) grown { return grown{"", one(enum(n, "a")), one(enum(n, "a"))} }},
		{"values of an enum that is another one", true, func(n int) grown { return grown{"", one(enum(n, "a")), one(enum(n, "b"))} }},
		{"values that are in no enum", true, func(n int) grown {
			return grown{"{spoke: .spec.f, hub: .spec.f, values: {" + each(n, "c#: d#") + "}}", one(enum(n, "a")), one(enum(n, "b"))}
		}},
		{"required fields", true, func(n int) grown {
			return grown{
				each(n, "{spoke: .spec.a#, hub: .spec.b#}"), properties(n, "a"),
				properties(n, "b") + ", required: [" + each(n, "b#") + "]",
			}
		}},
		{"required fields of an object", true, func(n int) grown {
			return grown{
				each(n, "{spoke: .spec.a#, hub: .spec.o.b#}"), properties(n, "a"),
				"type: object, properties: {o: {" + properties(n, "b") + ", required: [" + each(n, "b#") + "]}}",
			}
		}},
		{"fields of no rule", true, func(n int) grown { return grown{"", properties(n, "a"), properties(n, "b")} }},
		{"misspelt fields", true, func(n int) grown {
			return grown{each(n, "{spoke: .spec.c#, hub: .spec.d#}"), properties(n, "a"), properties(n, "b")}
		}},
		{"rules of one place", true, func(n int) grown {
			return grown{each(n, "{spoke: .spec.f, hub: .spec.f}"), one("type: string"), one("type: string")}
		}},
		{"unknown keys", true, func(n int) grown {
			return grown{each(n, "{feild: .spec.f, hub: .spec.f}"), one("type: string"), one("type: string")}
		}},
	}
}

// files returns the rules and the CRD as files.
func (g grown) files() (ruleFiles, crdFiles []File) {
	text := "apiVersion: conversion.webhookd.io/v1beta1\nkind: Conversion\nmetadata: {name: widgets.example.com}\nspec:\n  hub: v1\n"
	if strings.Contains(g.rules, "use: s}") {
		text += "  ruleSets: {s: [{spoke: .x, hub: .z}]}\n"
	}
	text += "  versions:\n  - name: v1beta1\n    rules: [" + strings.ReplaceAll(g.rules, ",{", ",\n{") + "]\n"
	crd := rulesettest.CRD("Widget")
	crd = strings.Replace(crd, "spec: {type: object, properties: {width: {type: integer}}}", "spec: {"+g.beta+"}", 1)
	crd = strings.Replace(crd, "spec: {type: object, properties: {size: {type: integer}}}", "spec: {"+g.v1+"}", 1)
	crd = strings.ReplaceAll(crd, "},", "},\n      ")
	if n := strings.Count(g.rules, "use: shared/"); n > 0 {
		text += "---\napiVersion: conversion.webhookd.io/v1beta1\nkind: RuleSets\nmetadata: {name: shared}\n" +
			"ruleSets: {" + strings.ReplaceAll(each(n, "s#: [{spoke: .x, hub: .z}]"), ",", ",\n  ") + "}\n"
	}
	return []File{{Name: "rules.yaml", Text: []byte(text)}}, []File{{Name: "crd.yaml", Text: []byte(crd)}}
}

// The rules of all shapes load, with findings or without as they say, and take no more than their
// size.
func TestLoadShapes(t *testing.T) { //nolint:paralleltest // it measures
	for _, shape := range loadShapes() {
		t.Run(shape.name, func(t *testing.T) {
			costtest.Linear(t, 100, func(n int) func() {
				rules, crds := shape.make(n).files()
				return func() {
					set, err := exampleKinds().Load(t.Context(), rules, crds)
					if err != nil {
						t.Fatal(err)
					}
					if got := len(set.Findings) > 0; got != shape.findings {
						t.Errorf("findings: %v, want %v: %.500v", got, shape.findings, set.Findings)
					}
					if !shape.findings && len(set.Kinds) != 1 {
						t.Errorf("%d kinds", len(set.Kinds))
					}
				}
			})
		})
	}
}
