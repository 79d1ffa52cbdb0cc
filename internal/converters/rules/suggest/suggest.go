// Package suggest writes a Conversion to begin with: what two versions have in common is left out, since it is copied, and
// what is likely the same under another name is a rule in a comment, for a person to decide.
//
// It is deterministic, changes nothing that it is given, and is safe for concurrent use.
package suggest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// maxColumn is where comments are broken.
const maxColumn = 125

// Conversion returns the text of a Conversion of a CRD with the hub that is named. The CRD must have that version, else
// there is an error that says which ones it has.
//
// As it stands, the file passes what can be checked without the rules that are missing; where a line that begins with
// `#- ` is a rule, the file stays one that can be checked if the `#` is removed.
func Conversion(crd *crdschema.CRD, hubName string) ([]byte, error) {
	hub := crd.Version(hubName)
	if hub == nil {
		names := make([]string, 0, len(crd.Versions))
		for _, v := range crd.Versions {
			names = append(names, v.Name)
		}
		return nil, fmt.Errorf("no version %s in %s, use one of %s", hubName, crd.Name, strings.Join(names, ", "))
	}
	var w writer
	w.comment("", "Written by webhookd suggest from the schemas of "+crd.Name+". What the versions have in common is copied "+
		"without a rule. Each rule below in a comment is a guess with its reason: where it is right, remove the # before it.")
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

// HubOf returns the version that is the usual hub: the one that is stored.
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

// comment writes a text, which has no line breaks, as lines of a comment.
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

// version writes what is known of one version and the hub.
func (w *writer) version(v, hub *crdschema.Version) {
	d := compare(v.Root, hub.Root)
	matches, left := match(d)
	w.line("  - name: %s", v.Name)
	if len(matches)+len(left) == 0 {
		w.comment("    ", "The same as "+hub.Name+" but for values that are copied: no rule is needed.")
		return
	}
	w.comment("    ", "Keeps what no rule covers in annotations. Without this line, webhookd check tells what that is.")
	w.line("    unmapped: Preserve")
	if len(matches) > 0 {
		w.line("    rules:")
	}
	for _, m := range matches {
		w.comment("    ", m.reason(v.Name, hub.Name))
		w.line("    #- %s", m.rule())
	}
	if len(left) > 0 {
		w.comment("    ", "For these nothing was found. They need a rule, or stay where they are:")
	}
	for _, l := range left {
		w.line("    #   %s", l.text(v.Name, hub.Name))
	}
}
