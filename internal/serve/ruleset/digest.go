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
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// digestLen is the number of hexadecimal digits of a digest that are shown.
const digestLen = 12

// A digest is the SHA-256 of the rules and the CRD of a kind.
type digest [sha256.Size]byte

// Digest identifies the rules and CRDs of the kinds. It does not depend on the names of files, the
// layout of YAML, what a CRD has apart from its spec, or the webhook that it points at.
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

// digests returns the digest of each kind: of its Conversion, its CRD, and the RuleSets that its
// rules lead to.
func (s *Set) digests(kinds []converters.Kind) map[schema.GroupKind]digest {
	conversions, shared := documentDigests(s.Files, syntax.Kind), documentDigests(s.Files, syntax.KindRuleSets)
	all := make(map[schema.GroupKind]digest, len(kinds))
	for i := range kinds {
		kind := kinds[i].GroupKind
		crd := s.CRD(kind)
		if crd == nil {
			continue // a kind with rules has a CRD
		}
		rules := conversions[crd.Name]
		whole := slices.Concat(rules[:], crd.Digest[:])
		for _, name := range s.sharedBy(crd.Name) {
			of := shared[name]
			whole = append(whole, of[:]...)
		}
		all[kind] = sha256.Sum256(whole)
	}
	return all
}

// sharedBy returns the names of the RuleSets that the rules of a CRD lead to.
func (s *Set) sharedBy(crd string) []string {
	var names []string
	for _, c := range s.Conversions {
		if c.Name != crd {
			continue
		}
		for _, set := range c.Shared() { // in the order of their names
			names = append(names, set.In.Name)
		}
		break // when two share a name, the first wins
	}
	return slices.Compact(names)
}

// documentDigests returns the digests of all objects of a kind in files, by name. When two share a
// name, the first wins, as in the loader. Documents that cannot be read are skipped: the loader
// makes no kind of them.
func documentDigests(files []File, kind string) map[string]digest {
	all := map[string]digest{}
	for _, f := range files {
		in, _ := manifest.ParseFile(f.Name, f.Text) // on an error, the documents before it
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
	if _, has := all[name]; has || name == "" || object["kind"] != kind {
		return
	}
	content := object["spec"]
	if kind == syntax.KindRuleSets {
		content = object["ruleSets"]
	}
	text, err := json.Marshal([]any{object["apiVersion"], name, content}) // sorts members by name
	if err == nil {
		all[name] = sha256.Sum256(text)
	}
}
