package lsp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A word is a key or a value that fits at a cursor, with what it means.
type word struct{ text, doc string }

// words adds the keys or the values that fit at byte at of a line. It is false where a path
// fits, or nothing.
func (a *analysis) words(list *completionList, text []string, line, at int, e encoding) bool {
	n, ok := nestingAt(text, line, at)
	if !ok || strings.Contains(n.typed, " ") {
		return false
	}
	c := n.cursor()
	var words []word
	behind := ""
	switch owner := n.in(c.document); {
	case n.key == "" && (n.holds("values") || n.holds("hubValues")):
		words, behind = a.enum(&n, &c, n.holds("values")), ": "
	case n.key == "":
		words, behind = keysOf(owner), ": "
		words = slices.DeleteFunc(words, func(w word) bool { return n.has(owner, w.text) })
	case n.holds("values") || n.holds("hubValues"):
		words = a.enum(&n, &c, n.holds("hubValues"))
	default:
		words = a.values(&n, &c, owner)
	}
	if behind != "" && strings.HasPrefix(strings.TrimLeft(text[line][at:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"), ":") {
		behind = ""
	}
	where := e.span(text, line, at-len(n.typed), at)
	for _, w := range words {
		const kindKey, kindValue = 10, 12
		item := completionItem{
			Label: w.text, Kind: kindValue, Detail: w.doc, FilterText: w.text, SortText: fmt.Sprintf("%05d", len(list.Items)),
			TextEdit: textEdit{where, w.text + behind},
		}
		if n.key == "" {
			item.Kind = kindKey
		}
		list.Items = append(list.Items, item)
	}
	return len(words) > 0
}

// holds reports whether the innermost keys are those of a mapping of values.
func (n *nesting) holds(key string) bool {
	return len(n.keys) > 1 && n.keys[0] == key && (n.keys[1] == "rules" || len(n.keys) > 2 && n.keys[2] == "ruleSets")
}

// has reports whether a rule or a version has a key already.
func (n *nesting) has(owner, key string) bool {
	return (owner == "rule" || owner == "version") && n.member(0, key) != nil
}

// keysOf returns the keys of a document or of a mapping in it, the places of a rule first.
func keysOf(owner string) (words []word) {
	for _, k := range syntax.KeysOf(owner) {
		words = append(words, word{k.Name, k.Doc})
	}
	rank := func(w word) int { return strings.Index("spoke hub name", w.text) }
	slices.SortFunc(words, func(a, b word) int {
		if ra, rb := rank(a), rank(b); ra >= 0 || rb >= 0 {
			return (ra+100)%100 - (rb+100)%100
		}
		return strings.Compare(a.text, b.text)
	})
	return words
}

// values returns the values of a key whose values are known.
func (a *analysis) values(n *nesting, c *cursor, owner string) (words []word) {
	some := func(doc string, texts ...string) {
		for _, t := range texts {
			words = append(words, word{t, doc})
		}
	}
	switch owner + " " + n.key {
	case "rule codec":
		some("codec", transform.Codecs()...)
	case "rule use":
		for _, set := range a.ruleSets {
			if set.conversion == "" || set.conversion == c.kind {
				some("rule set of "+filepath.Base(set.file), strings.TrimPrefix(set.name, c.name+"/"))
			}
		}
	case "rule omitEmpty":
		some("where empty values are left out", string(syntax.OmitInHub), string(syntax.OmitInSpoke), string(syntax.OmitInBoth))
	case "rule defaultFrom":
		some("the default of each version's schema", "schema")
	case "rule transitional":
		some("other replicas may lack the rule", "true")
	case "rule unmapped", "version unmapped":
		some("a finding of check", string(syntax.Error))
		some("kept in an annotation", string(syntax.Preserve))
	case "spec hub", "version name", "version sameAs":
		for _, crd := range a.crds {
			for _, v := range crd.Versions {
				if crd.Name == c.kind && (n.key == "hub" || v.Name != c.hub) {
					some("version of "+crd.Name, v.Name)
				}
			}
		}
	case "conversion apiVersion", "ruleSets apiVersion":
		some("the version of this format", syntax.APIVersion)
	}
	return words
}

// enum returns the values that the schema allows at a place of the rule around the cursor.
func (a *analysis) enum(n *nesting, c *cursor, spoke bool) (words []word) {
	key, side := "hub", binding.OfHub
	if spoke {
		key, side = "spoke", binding.OfSpoke
	}
	place := n.member(1, key)
	if place == nil {
		return nil
	}
	path, err := syntax.ParsePath(place.Value)
	if err != nil {
		return nil
	}
	known := map[string]bool{}
	for _, s := range a.scopes(c) {
		from, version, _ := s.end(side)
		node := nodeAt(from.node, path.Segments)
		values := node.Enum()
		if node.Kind() == crdschema.Boolean && values == nil {
			values = []string{"true", "false"}
		}
		for _, v := range values {
			if text := plain(v); !known[text] {
				known[text] = true
				words = append(words, word{text, "value of " + from.path + path.Text + " in " + version})
			}
		}
	}
	return words
}

// plain writes a scalar of JSON as YAML does, without quotes where it needs none.
func plain(scalar string) string {
	var text string
	if json.Unmarshal([]byte(scalar), &text) != nil || strings.ContainsAny(text, "{}[],") {
		return scalar
	}
	out, err := yaml.Marshal(text)
	if err != nil || strings.Count(string(out), "\n") != 1 {
		return scalar
	}
	return strings.TrimSuffix(string(out), "\n")
}
