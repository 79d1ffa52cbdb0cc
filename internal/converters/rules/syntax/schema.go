package syntax

import "maps"

// A schema is a JSON Schema of draft 7, which editors support best. A test writes that of all keys
// to docs/reference/conversion.schema.json.
type schema map[string]any

func constant(value string) schema       { return schema{"const": value} }
func reference(definition string) schema { return schema{"$ref": "#/definitions/" + definition} }
func stringSchema() schema               { return schema{"type": "string", "pattern": `\S`} }

func rulesSchema() schema {
	return schema{"type": []string{"array", "null"}, "items": reference("rule")}
}

func ruleSetsSchema() schema {
	return schema{"type": "object", "propertyNames": schema{"pattern": namePattern}, "additionalProperties": rulesSchema()}
}

func valuesSchema() schema {
	return schema{
		"type": "object", "minProperties": 1,
		"additionalProperties": schema{"type": []string{"string", "number", "boolean", "null"}},
	}
}

func unmappedSchema() schema {
	return schema{"enum": []string{string(Error), string(Preserve)}}
}

// objectSchema returns the schema of a mapping that may have these keys only.
func objectSchema[T any](keys []key[T]) schema {
	properties := schema{}
	var required []string
	for _, k := range keys {
		property := schema{"description": k.doc}
		if len(k.schema) == 1 && k.schema["$ref"] != nil {
			property["allOf"] = []schema{k.schema} // draft 7 ignores other keys next to $ref
		} else {
			maps.Copy(property, k.schema)
		}
		properties[k.name] = property
		if k.required {
			required = append(required, k.name)
		}
	}
	s := schema{"type": "object", "additionalProperties": false, "properties": properties}
	if required != nil {
		s["required"] = required
	}
	return s
}

// A KeyDoc is a key of a mapping, with what it means.
type KeyDoc struct{ Name, Doc string }

// KeysOf returns the keys of a document, [Kind] or [KindRuleSets], or of the mapping "spec",
// "version" or "rule" in it. It returns nil for anything else.
func KeysOf(mapping string) []KeyDoc {
	switch mapping {
	case Kind:
		return docsOf(documentKeys())
	case KindRuleSets:
		return docsOf(ruleSetsKeys())
	case "spec":
		return docsOf(specKeys())
	case "version":
		return docsOf(versionKeys())
	case "rule":
		return docsOf(ruleKeys())
	}
	return nil
}

func docsOf[T any](keys []key[T]) []KeyDoc {
	docs := make([]KeyDoc, 0, len(keys))
	for _, k := range keys {
		docs = append(docs, KeyDoc{k.name, k.doc})
	}
	return docs
}
