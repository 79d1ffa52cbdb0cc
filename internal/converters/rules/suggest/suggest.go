// Package suggest writes a first Conversion for a CRD. Fields that two versions have in common need
// no rule. For fields that are likely the same under another name, it writes a rule in a comment,
// for a person to decide.
//
// Its functions are deterministic, do not change their arguments, and are safe for concurrent use.
package suggest

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// maxColumn bounds the lines of comments.
const maxColumn = 100

// schemaURL is where editors find the JSON schema of a Conversion.
const schemaURL = "https://raw.githubusercontent.com/crdconvert/webhookd/main/docs/reference/conversion.schema.json"

// Conversion returns the text of a Conversion of a CRD with a hub. If the CRD does not have that
// version, it returns an error with the versions that it has.
//
// The file has no mistakes of its own, whether or not the `#` is removed before a rule.
func Conversion(ctx context.Context, crd *crdschema.CRD, hubName string) ([]byte, error) {
	hub := crd.Version(hubName)
	if hub == nil {
		return nil, fmt.Errorf("no version %s in %s, use one of %s", hubName, crd.Name, strings.Join(crd.VersionNames(), ", "))
	}
	guesses := map[string][]guess{}
	for _, v := range crd.Versions {
		if v != hub {
			guesses[v.Name] = match(v.Name, hub.Name, v.Root, hub.Root)
		}
	}
	var draft, w writer
	draft.conversion(crd, hub, guesses, nil)
	open, err := openPlaces(ctx, draft.Bytes(), crd)
	if err != nil {
		return nil, err
	}
	w.conversion(crd, hub, guesses, open)
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

// conversion writes the file.
func (w *writer) conversion(crd *crdschema.CRD, hub *crdschema.Version, guesses map[string][]guess, open map[string][]string) {
	w.line("# yaml-language-server: $schema=%s", schemaURL)
	w.comment("", "Written by webhookd suggest from the schemas of "+crd.Name+". Fields that the versions have in common are "+
		"copied without a rule. Read each rule: it is a guess, with its reason. The sure ones are rules, the others are comments: "+
		"remove the # before those that are right.")
	w.line("apiVersion: %s", syntax.APIVersion)
	w.line("kind: %s", syntax.Kind)
	w.line("metadata:")
	w.line("  name: %s", crd.Name)
	w.line("spec:")
	w.line("  hub: %s", hub.Name)
	if len(guesses) == 0 {
		w.line("  versions: []")
		return
	}
	w.line("  versions:")
	for _, v := range crd.Versions {
		if v != hub {
			w.version(v.Name, hub.Name, guesses[v.Name], open[v.Name])
		}
	}
}

// version writes the rules between one version and the hub.
func (w *writer) version(name, hub string, guesses []guess, open []string) {
	w.line("  - name: %s", name)
	if len(guesses)+len(open) == 0 {
		w.comment("    ", "No rule is needed: all values can be copied to "+hub+" and back.")
		return
	}
	w.line("    unmapped: Error")
	if len(guesses) > 0 {
		w.line("    rules:")
	}
	for _, g := range guesses {
		if g.sure {
			w.comment("    ", "Sure: "+g.reason(name, hub))
			w.line("    - %s", g.rule())
			continue
		}
		w.comment("    ", "Perhaps: "+g.reason(name, hub))
		w.line("    #- %s", g.rule())
	}
	if len(open) > 0 {
		w.comment("    ", "Open: webhookd check reports these until each has a rule, or unmapped is Preserve, which keeps them in annotations.")
	}
	for _, line := range open {
		w.line("    #   %s", line)
	}
}
