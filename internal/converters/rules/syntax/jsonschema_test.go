package syntax

import (
	"bytes"
	"encoding/json"
)

// JSONSchema returns the JSON Schema of the documents of a file of rules, for editors. It accepts
// whatever Parse accepts.
func JSONSchema() []byte {
	path := schema{
		"type": "string", "pattern": pathPattern,
		"description": `.name, ["any key"], [] each element, {} each value of a map, [name] and {name} each by key, ` +
			`[name=x] one element by key, [0] the first element`,
	}
	conversion, ruleSets := objectSchema(documentKeys()), objectSchema(ruleSetsKeys())
	conversion["description"] = "How the versions of one CustomResourceDefinition relate. webhookd converts objects by it."
	ruleSets["description"] = "Rule sets that the rules of several Conversions use."
	root := schema{
		"$schema": "http://json-schema.org/draft-07/schema#",
		"title":   Kind + " or " + KindRuleSets,
		"if":      schema{"properties": schema{"kind": constant(KindRuleSets)}, "required": []string{"kind"}},
		"then":    reference("ruleSets"), "else": reference("conversion"),
		"definitions": schema{
			"conversion": conversion,
			"ruleSets":   ruleSets,
			"path":       path,
			"place": schema{"anyOf": []schema{reference("path"), {
				"type": "object", "minProperties": 1, "additionalProperties": reference("path"),
				"propertyNames": schema{"pattern": variablePattern},
			}}},
			"places": schema{"anyOf": []schema{
				reference("place"), {"type": "array", "minItems": 1, "uniqueItems": true, "items": reference("path")},
			}},
			"rule":    ruleSchema(),
			"version": versionSchema(),
		},
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic(err) // strings, lists and maps of them have a JSON form
	}
	return text.Bytes()
}

// pathPattern is what a JSON Schema can say about paths.
const pathPattern = `^(\.[A-Za-z_$][A-Za-z0-9_$-]*|\["([^"\\]|\\["\\])*"\]|\[\]|\{\}|\[[A-Za-z_$][A-Za-z0-9_$-]*\]|` +
	`\{[A-Za-z_$][A-Za-z0-9_$-]*\}|\[[A-Za-z_$][A-Za-z0-9_$-]*=([^\]"\\\s]+|"([^"\\]|\\["\\])*")\]|\[0\])+$`

// ruleSchema returns the schema of a rule: its keys, and which of them go together.
func ruleSchema() schema {
	requires := func(names ...string) schema { return schema{"required": names} }
	pair := requires("spoke", "hub")
	s := objectSchema(ruleKeys())
	s["anyOf"] = []schema{requires("spoke"), requires("hub")}
	s["dependencies"] = schema{
		"values": pair, "hubValues": pair,
		"template": pair, "absent": requires("spoke", "hub", "template"),
		"codec": pair, "use": pair, "go": pair, "omitEmpty": pair, "unmapped": pair,
		"toHub": requires("hub"), "toSpoke": requires("spoke"), "whenToHub": requires("hub"), "whenToSpoke": requires("spoke"),
		"defaultInSpoke": requires("spoke"), "defaultInHub": requires("hub"),
	}
	var notBoth []schema
	groups := transforms()
	for i, group := range groups {
		for _, other := range groups[i+1:] {
			notBoth = append(notBoth, requires(group[0], other[0]))
		}
		notBoth = append(notBoth, requires("drop", group[0]))
	}
	notBoth = append(notBoth, requires("drop", "spoke", "hub"), requires("drop", "toSpoke"), requires("drop", "whenToHub"), requires("drop", "whenToSpoke"))
	s["not"] = schema{"anyOf": notBoth}
	s["if"] = pair
	s["then"] = schema{
		"dependencies": schema{"toHub": requires("toSpoke"), "toSpoke": requires("toHub")},
		"properties":   schema{"spoke": reference("place"), "hub": reference("place")},
	}
	return s
}

// versionSchema returns the schema of a version: with sameAs it has no key of its own but its name.
func versionSchema() schema {
	s := objectSchema(versionKeys())
	var own []schema
	for _, k := range versionKeys() {
		if !k.required && k.name != "sameAs" {
			own = append(own, schema{"required": []string{k.name}})
		}
	}
	s["dependencies"] = schema{"sameAs": schema{"not": schema{"anyOf": own}}}
	return s
}
