// Package suggest writes a first Conversion for a CRD. Fields that two versions have in common need
// no rule. For fields that are likely the same in another place or shape it writes a rule, in a
// comment if a person has to decide.
//
// Its functions are deterministic, do not change their arguments, and are safe for concurrent use.
package suggest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// schemaURL is where editors find the JSON schema of a Conversion.
const schemaURL = "https://raw.githubusercontent.com/crdconvert/webhookd/main/docs/reference/conversion.schema.json"

// Conversion returns the text of a Conversion of a CRD with a hub, or without a name with the usual
// one, the storage version. If the CRD does not have that version, it returns an error with the
// versions that it has.
//
// The file has no mistakes of its own, whether or not the `#` is removed before a rule.
func Conversion(ctx context.Context, crd *crdschema.CRD, hubName string) ([]byte, error) {
	at := slices.IndexFunc(crd.Versions, func(v *crdschema.Version) bool { return v.Name == hubName || hubName == "" && v.Storage })
	if at < 0 {
		return nil, fmt.Errorf("no version %s in %s, use one of %s", hubName, crd.Name, strings.Join(crd.VersionNames(), ", "))
	}
	d := draft{crd: crd, hub: crd.Versions[at], guesses: map[string][]guess{}}
	for _, v := range crd.Versions {
		guesses, objects := match([2]string{v.Name, d.hub.Name}, pair{{node: v.Root}, {node: d.hub.Root}})
		d.guesses[v.Name] = d.share(guesses, objects)
	}
	file, _ := syntax.Parse("", d.write(nil))
	syntax.Link([]*syntax.File{file})
	kind := binding.Bind(ctx, file.Conversions, []*crdschema.CRD{crd}, binding.Options{}).Kind(crd.Name)
	return d.write(check.Explain(kind)), nil
}

// A draft is what a Conversion says.
type draft struct {
	bytes.Buffer
	crd     *crdschema.CRD
	hub     *crdschema.Version
	sets    []ruleSet
	guesses map[string][]guess // by the versions
}

func (d *draft) line(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

// write returns the file, with what is open in some directions.
func (d *draft) write(open []check.Direction) []byte {
	d.Reset()
	d.line(`# yaml-language-server: $schema=%s
# Written by webhookd suggest from the schemas of %s.
# Fields that the versions have in common are copied without a rule. Read each rule: it is a guess,
# with its reason. The sure ones are rules, the others are comments: remove the # before those that
# are right.
apiVersion: %s
kind: %s
metadata:
  name: %[2]s
spec:
  hub: %[5]s`, schemaURL, d.crd.Name, syntax.APIVersion, syntax.Kind, d.hub.Name)
	if len(d.sets) > 0 {
		d.line("  ruleSets:")
	}
	for _, s := range d.sets {
		d.line("    %s:", s.name)
		d.rules(s.rules)
	}
	if len(d.crd.Versions) == 1 {
		d.line("  versions: []")
		return slices.Clone(d.Bytes())
	}
	d.line("  versions:")
	for _, v := range d.crd.Versions {
		if v != d.hub {
			d.version(v.Name, open)
		}
	}
	return slices.Clone(d.Bytes())
}

// version writes the rules between one version and the hub, and a rule for each place that is open.
func (d *draft) version(name string, open []check.Direction) {
	d.line("  - name: %s", name)
	var keep []string
	for _, o := range open {
		if o.From != name && o.To != name {
			continue
		}
		for _, a := range o.Open() {
			rule := "#- {" + map[string]string{name: "spoke", d.hub.Name: "hub"}[o.From] + ": " + syntax.Quoted(a.Path) + "}"
			if a.To != "" || a.Kind == check.Unknown {
				rule = "#   values of " + a.Path + " in " + o.From + " that " + o.To + " does not take: write a rule that converts them"
			}
			keep = append(keep, rule)
		}
	}
	if len(d.guesses[name])+len(keep) == 0 {
		d.line("    # No rule is needed: all values can be copied to %s and back.", d.hub.Name)
		return
	}
	d.line("    unmapped: Error\n    rules:")
	d.rules(d.guesses[name])
	if len(keep) > 0 {
		d.line("    # Open: webhookd check reports these. Write a rule for each, or remove the # to keep it in annotations.")
		d.line("    %s", strings.Join(keep, "\n    "))
	}
}

// rules writes guesses, with a reason for those that follow it.
func (d *draft) rules(guesses []guess) {
	reason := ""
	for _, g := range guesses {
		why, mark := "Perhaps: "+g.reason, "#"
		if g.sure {
			why, mark = "Sure: "+g.reason, ""
		}
		if why != reason {
			d.line("    # %s.", why)
			reason = why
		}
		d.line("    %s- %s", mark, g.rule())
	}
}

// rule writes the rule of a guess in YAML.
func (g guess) rule() string {
	var keys []string
	for side, key := range []string{"spoke", "hub"} {
		var parts []string // of a template
		for _, path := range g.ends[side] {
			parts = append(parts, path[strings.LastIndexByte(path, '.')+1:]+": "+syntax.Quoted(path))
		}
		switch len(parts) {
		case 0:
		case 1:
			keys = append(keys, key+": "+syntax.Quoted(g.ends[side][0]))
		default:
			keys = append(keys, key+": {"+strings.Join(parts, ", ")+"}")
		}
	}
	if g.keys != "" {
		keys = append(keys, g.keys)
	}
	return "{" + strings.Join(keys, ", ") + "}"
}
