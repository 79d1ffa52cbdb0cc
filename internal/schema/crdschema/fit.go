package crdschema

import (
	"errors"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A Fit decides whether values have the types that a schema demands. It looks at no bounds and
// patterns, and at required fields only if it is Complete. Texts are valid JSON; when members share
// a name, the last one counts. It is safe for concurrent use if its functions are.
type Fit struct {
	// Lenient accepts what the API server removes: members that the schema lacks, or that are null.
	Lenient bool
	// Complete demands required fields, unless the API server fills them in.
	Complete bool
	// Demands reports whether a place demands more than types of its values, and Meets whether the
	// text of one meets that.
	Demands func(n *Node) bool
	Meets   func(n *Node, text []byte) bool
}

// Value reports whether a value fits a place. Any value fits a nil *Node.
func (f Fit) Value(n *Node, text []byte) bool {
	switch {
	case n == nil:
		return true
	case len(text) == 0:
		return false
	case text[0] == 'n':
		return n.Nullable() || f.Lenient && n.kind == Any
	case text[0] == '{' || text[0] == '[':
		if f.text(n, text) != nil && f.text(n, jsondoc.LastOfEach(text)) != nil {
			return false
		}
	case !n.kind.hasScalar(text):
		return false
	}
	return !f.Demands(n) || f.Meets(n, text)
}

// hasScalar reports whether values of the kind include a scalar other than null.
func (k Kind) hasScalar(text []byte) bool {
	switch k {
	case None, Any:
		return true
	case String:
		return text[0] == '"'
	case Integer:
		return jsondoc.IsInteger(text)
	case Number:
		return jsondoc.IsNumber(text)
	case Boolean:
		return text[0] == 't' || text[0] == 'f'
	case IntOrString:
		return text[0] == '"' || jsondoc.IsInteger(text)
	case Object, Map, Array:
	}
	return false
}

// errUnfit ends a scan.
var errUnfit = errors.New("does not fit")

func (f Fit) text(n *Node, text []byte) error {
	scan, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err != nil {
		return err
	}
	return f.parts(n, &scan)
}

// parts checks an object or a list, with one scan for all levels (BenchmarkKinds in
// converters/rules).
func (f Fit) parts(n *Node, scan *jsondoc.Scanner) error {
	isMap := scan.Kind() == jsondoc.Map
	switch {
	case isMap && (n.kind == Object || n.kind == Map || n.kind == Any):
		lacking := n.demands
		err := scan.Members(func(name []byte) error {
			if lacking > 0 && n.demandsNamed(name) {
				lacking--
			}
			return f.member(n, name, scan)
		})
		if err == nil && f.Complete && lacking > 0 {
			err = errUnfit
		}
		return err
	case !isMap && n.kind == Array:
		return scan.Elements(func() error { return f.part(n.items, scan) })
	case n.kind != None && n.kind != Any:
		return errUnfit
	}
	_, err := scan.Skip()
	return err
}

// demandsNamed reports whether an object must have a property that the API server does not fill in.
func (n *Node) demandsNamed(name []byte) bool {
	if !n.IsRequired(string(name)) {
		return false
	}
	_, filled := n.PropertyNamed(name).Default()
	return !filled
}

func (f Fit) member(n *Node, name []byte, scan *jsondoc.Scanner) error {
	member := n.properties[string(name)]
	switch {
	case member == nil && n.kind == Map:
		member = n.values
	case member == nil && !n.PreservesUnknown() && !f.Lenient:
		return errUnfit
	}
	if f.Lenient && scan.Kind() == jsondoc.Null {
		_, err := scan.Skip()
		return err
	}
	return f.part(member, scan)
}

func (f Fit) part(n *Node, scan *jsondoc.Scanner) error {
	if kind := scan.Kind(); n != nil && (kind == jsondoc.Map || kind == jsondoc.Array) && !f.Demands(n) {
		return f.parts(n, scan)
	}
	at, err := scan.Skip()
	if err == nil && !f.Value(n, scan.Text(at)) {
		err = errUnfit
	}
	return err
}
