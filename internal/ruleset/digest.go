package ruleset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/manifest"
)

// digestLen is how much of a digest is shown, in hexadecimal digits.
const digestLen = 12

// A digest is the SHA-256 of what a kind is converted by.
type digest [sha256.Size]byte

// Digest identifies what the kinds are converted by: it is the same wherever they have the same rules and the same CRDs. It does
// not depend on names of files, on how YAML is laid out, or on what a CRD has beside its spec, nor on which webhook it points at.
func (r RuledKinds) Digest() string {
	kinds := slices.SortedFunc(slices.Values(r.Kinds), func(a, b converters.Kind) int { return strings.Compare(a.Name(), b.Name()) })
	sum := sha256.New()
	for i := range kinds {
		of := r.digests[kinds[i].GroupKind]
		sum.Write([]byte(kinds[i].Name() + "\n"))
		sum.Write(of[:])
	}
	return hex.EncodeToString(sum.Sum(nil))[:digestLen]
}

// digests returns what each kind of a set is made of: its Conversion and its CRD.
func (s *Set) digests(kinds []converters.Kind) map[schema.GroupKind]digest {
	conversions, crds := documentDigests(s.Files, syntax.Kind), documentDigests(s.CRDFiles, manifest.KindCRD)
	all := make(map[schema.GroupKind]digest, len(kinds))
	for i := range kinds {
		kind := kinds[i].GroupKind
		crd := s.CRD(kind)
		if crd == nil {
			continue // a kind of rules has one
		}
		rules, schemas := conversions[crd.Name], crds[crd.Name]
		all[kind] = sha256.Sum256(append(rules[:], schemas[:]...))
	}
	return all
}

// documentDigests returns the digests of all objects of a kind in some files, by name. Of two with one name it is the first, as it
// is for the loader. What cannot be read is left out: the loader makes no kind of it.
func documentDigests(files []File, kind string) map[string]digest {
	all := map[string]digest{}
	for _, f := range files {
		in, _ := manifest.ParseFile(f.Name, f.Text) // on an error with the documents before it
		for _, document := range in.Documents {
			decoder := json.NewDecoder(bytes.NewReader(document))
			decoder.UseNumber()
			var object map[string]any
			if decoder.Decode(&object) == nil {
				addDigests(all, object, kind)
			}
		}
	}
	return all
}

// addDigests adds an object, or the items of a list of objects.
func addDigests(all map[string]digest, object map[string]any, kind string) {
	if items, is := object["items"].([]any); is {
		for _, item := range items {
			if object, is := item.(map[string]any); is {
				addDigests(all, object, kind)
			}
		}
		return
	}
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	spec, _ := object["spec"].(map[string]any)
	if _, has := all[name]; has || name == "" || object["kind"] != kind {
		return
	}
	if kind == manifest.KindCRD {
		delete(spec, "conversion")
	}
	text, err := json.Marshal([]any{object["apiVersion"], name, spec}) // which sorts members by name
	if err == nil {
		all[name] = sha256.Sum256(text)
	}
}
