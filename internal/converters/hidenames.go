package converters

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// hidden returns an error whose path names only fields that some version's schema has. Other names
// are map keys, which are user data just as values are: errors go into logs, and to users who may
// not read the object.
func (k *Kind) hidden(err error) error {
	if len(k.Schemas) == 0 {
		return err
	}
	if all, ok := err.(interface{ Unwrap() []error }); ok { // from errors.Join
		list := make([]error, 0, len(all.Unwrap()))
		for _, e := range all.Unwrap() {
			list = append(list, k.hidden(e))
		}
		return errors.Join(list...)
	}
	wrong, ok := err.(*jsondoc.PathError) //nolint:errorlint // a wrapped one is text already
	if !ok {
		return err
	}
	return &jsondoc.PathError{Problem: wrong.Problem, Path: hideNames(wrong.Path, slices.Collect(maps.Values(k.Schemas)))}
}

// hideNames writes {} for names in a path that none of the schemas has.
func hideNames(path string, schemas []*crdschema.Node) string {
	if path == "." {
		return path
	}
	var text strings.Builder
	for path != "" {
		segment, name := firstSegment(path)
		path = path[len(segment):]
		if name == nil {
			text.WriteString(segment)
			schemas = each(schemas, (*crdschema.Node).Items)
			continue
		}
		named := each(schemas, func(s *crdschema.Node) *crdschema.Node { return s.Property(*name) })
		if len(named) > 0 {
			text.WriteString(segment)
			schemas = named
			continue
		}
		text.WriteString("{}")
		schemas = each(schemas, (*crdschema.Node).Values)
	}
	return text.String()
}

// firstSegment returns the first segment of a path that jsondoc wrote, and its name, or nil for an
// element.
func firstSegment(path string) (segment string, name *string) {
	if rest, ok := strings.CutPrefix(path, "["); ok {
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			plain, _ := strconv.Unquote(quoted)
			return path[:min(len("[]")+len(quoted), len(path))], &plain
		}
		return path[:max(strings.IndexByte(path, ']'), 0)+1], nil
	}
	end := strings.IndexAny(path[1:], ".[{") + 1
	if end == 0 {
		end = len(path)
	}
	plain := strings.TrimPrefix(path[:end], ".")
	return path[:end], &plain
}

// each returns the results of a function for the schemas, without nils.
func each(schemas []*crdschema.Node, below func(*crdschema.Node) *crdschema.Node) []*crdschema.Node {
	var found []*crdschema.Node
	for _, s := range schemas {
		if n := below(s); n != nil {
			found = append(found, n)
		}
	}
	return found
}
