package syntax

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
