// Package rules makes kinds of conversion rules: the YAML files that `webhookd check` checks. It
// links CEL.
package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// A Function converts the values of a rule that says `go: NAME`. ToHub gets the values at the
// spoke's paths as JSON, in their order and nil for one that is absent, and returns the values for
// the hub's paths in the same form. ToSpoke does the reverse.
//
// Both are pure, and safe for concurrent use. They take fragments: any value may be absent or of
// another type. If all are absent, so must be the results. They need not be lossless: what the way
// back does not give is kept. An error says that the values cannot be converted, so they are kept;
// it is neither shown nor logged. They may change and keep the slices that they get.
type Function struct {
	ToHub, ToSpoke func(ctx context.Context, in []json.RawMessage) ([]json.RawMessage, error)
}

// Load returns the kinds of all rules in the files, which are YAML or JSON: Conversions, RuleSets
// and the CustomResourceDefinitions of their kinds, in any folders. A file with rules has nothing
// else; files of other kinds are skipped, and so are patches of CRDs. functions are those that
// rules call with `go: NAME`.
//
// Its error has all that `webhookd check` finds as an error, each with its file and line, or is
// that of ctx or of reading a file. It also fails if no rules are found, and for a function without
// both directions. The kinds are safe for concurrent use.
func Load(ctx context.Context, files fs.FS, functions map[string]Function) ([]conversion.Kind, error) {
	if files == nil {
		return nil, errors.New("rules.Load: no files")
	}
	compiled := ruleset.Compiled{Functions: make(map[string]transform.GoFunc, len(functions))}
	for name, f := range functions {
		if f.ToHub == nil || f.ToSpoke == nil {
			return nil, fmt.Errorf("rules.Load: function without ToHub or ToSpoke: %s", name)
		}
		compiled.Functions[name] = transform.GoFunc(f)
	}
	texts, err := read(files)
	if err != nil {
		return nil, fmt.Errorf("rules.Load: %w", err)
	}
	set, err := compiled.Load(ctx, texts, texts)
	if err != nil {
		return nil, fmt.Errorf("rules.Load: %w", err)
	}
	var problems []error
	for _, f := range set.Errors() {
		problems = append(problems, errors.New(f.String()))
	}
	if len(problems) == 0 && len(set.Kinds) == 0 {
		problems = append(problems, errors.New("rules.Load: the files have no rules"))
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	kinds := make([]conversion.Kind, 0, len(set.Kinds))
	for _, k := range set.Kinds {
		kinds = append(kinds, conversion.Kind{GroupKind: k.GroupKind, Hub: k.Hub, Versions: k.Versions, Converter: &ruled{k}})
	}
	return kinds, nil
}

// read returns the files with names as YAML and JSON files have them.
func read(files fs.FS) ([]ruleset.File, error) {
	var texts []ruleset.File
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		extension := path.Ext(name)
		if err != nil || entry.IsDir() || extension != ".yaml" && extension != ".yml" && extension != ".json" {
			return err
		}
		text, err := fs.ReadFile(files, name)
		texts = append(texts, ruleset.File{Name: name, Text: text, InFolder: true})
		return err
	})
	return texts, err
}

// ruled is the Converter of rules.
type ruled struct{ kind converters.Kind }

// Internal returns the kind. Package conversion knows the method.
func (r *ruled) Internal() converters.Kind { return r.kind }

// Convert implements [conversion.Converter].
func (r *ruled) Convert(ctx context.Context, obj *conversion.Object, from, to string) error {
	doc, err := jsondoc.ParseObject(obj.JSON())
	if err != nil {
		return err
	}
	if err := r.kind.Converter.Convert(ctx, doc, from, to); err != nil {
		return err
	}
	return obj.Set(json.RawMessage(doc.Text()))
}
