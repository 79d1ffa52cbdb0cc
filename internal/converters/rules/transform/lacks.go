package transform

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Requires reports whether the schema requires any field at any depth.
func Requires(n *crdschema.Node) bool { return requires(n, 0) }

func requires(n *crdschema.Node, depth int) bool {
	const deepest = 32
	if n == nil || depth > deepest {
		return false
	}
	if len(n.Required()) > 0 || requires(n.Values(), depth+1) || requires(n.Items(), depth+1) {
		return true
	}
	return slices.ContainsFunc(n.Properties(), func(name string) bool { return requires(n.Property(name), depth+1) })
}

// Lacks reports whether a value, given as valid JSON text, lacks a field that its schema requires
// and has no default for.
func Lacks(n *crdschema.Node, text []byte) bool {
	if n == nil {
		return false
	}
	found, err := lacksText(n, text)
	if jsondoc.IsRepeated(err) {
		found, err = lacksText(n, jsondoc.LastOfEach(text))
	}
	return found || err != nil
}

func lacksText(n *crdschema.Node, text []byte) (bool, error) {
	s, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err != nil {
		return false, nil //nolint:nilerr // it is not JSON, so no field is read
	}
	return lacks(n, &s)
}

func lacks(n *crdschema.Node, s *jsondoc.Scanner) (found bool, err error) {
	below := func(m *crdschema.Node) error {
		if m == nil || found {
			_, err := s.Skip()
			return err
		}
		var err error
		found, err = lacks(m, s)
		return err
	}
	switch s.Kind() {
	case jsondoc.Map:
		missing := slices.DeleteFunc(slices.Clone(n.Required()), func(name string) bool {
			_, added := n.Property(name).Default()
			return added
		})
		err = s.Members(func(name []byte) error {
			missing = slices.DeleteFunc(missing, func(m string) bool { return m == string(name) })
			m := n.Property(string(name))
			if m == nil {
				m = n.Values()
			}
			return below(m)
		})
		found = found || len(missing) > 0
	case jsondoc.Array:
		err = s.Elements(func() error { return below(n.Items()) })
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Bool, jsondoc.Number, jsondoc.String:
		_, err = s.Skip()
	}
	return found, err
}
