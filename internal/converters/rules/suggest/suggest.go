// Package suggest writes a first Conversion for a CRD. Fields that two versions have in common need
// no rule. For fields that are likely the same under another name, it writes a rule in a comment,
// for a person to decide.
//
// Its functions are deterministic, do not change their arguments, and are safe for concurrent use.
package suggest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// maxColumn bounds the lines of comments.
const maxColumn = 100

// Conversion returns the text of a Conversion of a CRD with a hub. If the CRD does not have that
// version, it returns an error with the versions that it has.
//
// The file has no mistakes of its own, whether or not the `#` is removed before a rule.
func Conversion(crd *crdschema.CRD, hubName string) ([]byte, error) {
	hub := crd.Version(hubName)
	if hub == nil {
		return nil, fmt.Errorf("no version %s in %s, use one of %s", hubName, crd.Name, strings.Join(crd.VersionNames(), ", "))
	}
	var w writer
	w.comment("", "Written by webhookd suggest from the schemas of "+crd.Name+". Fields that the versions have in common are "+
		"copied without a rule. Each rule in a comment below is a guess, with its reason. If it is right, remove the # before it.")
	w.line("apiVersion: %s", syntax.APIVersion)
	w.line("kind: %s", syntax.Kind)
	w.line("metadata:")
	w.line("  name: %s", crd.Name)
	w.line("spec:")
	w.line("  hub: %s", hub.Name)
	spokes := 0
	for _, v := range crd.Versions {
		if v == hub {
			continue
		}
		if spokes++; spokes == 1 {
			w.line("  versions:")
		}
		w.version(v, hub)
	}
	if spokes == 0 {
		w.line("  versions: []")
	}
	return w.Bytes(), nil
}

// HubOf returns the usual hub: the storage version.
func HubOf(crd *crdschema.CRD) string {
	for _, v := range crd.Versions {
		if v.Storage {
			return v.Name
		}
	}
	return crd.Versions[0].Name
}

// A writer writes lines.
type writer struct{ bytes.Buffer }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// comment writes a text without line breaks as lines of a comment.
func (w *writer) comment(indent, text string) {
	line := indent + "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > maxColumn && len(line) > len(indent)+1 {
			w.line("%s", line)
			line = indent + "#"
		}
		line += " " + word
	}
	w.line("%s", line)
}

// version writes the rules between one version and the hub.
func (w *writer) version(v, hub *crdschema.Version) {
	guesses, left := match(compare(v.Root, hub.Root))
	w.line("  - name: %s", v.Name)
	if len(guesses)+len(left) == 0 {
		w.comment("    ", "No rule is needed: all values can be copied to "+hub.Name+" and back.")
		return
	}
	w.comment("    ", "Keeps fields that no rule covers in annotations. Without this line, webhookd check lists them.")
	w.line("    unmapped: Preserve")
	if len(guesses) > 0 {
		w.line("    rules:")
	}
	for _, g := range guesses {
		w.comment("    ", g.reason(v.Name, hub.Name))
		w.line("    #- %s", g.rule())
	}
	if len(left) > 0 {
		w.comment("    ", "These have no guess. They need a rule, or are kept in annotations:")
	}
	for _, l := range left {
		w.line("    #   %s", l.text(v.Name, hub.Name))
	}
}
