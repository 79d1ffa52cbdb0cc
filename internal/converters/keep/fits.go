package keep

import (
	"math"
	"strconv"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// fits reports whether a value is of the types of the place. Bounds, patterns, enums and rules do not count: they are the
// API server's, and this copy of the schema may be older than its. Nor do fields that the schema does not name.
func (w where) fits(text []byte) bool { return w.anything || w.schema == nil || ofType(w.schema, text) }

func ofType(s *crdschema.Node, text []byte) bool {
	if s == nil {
		return true
	}
	if len(text) == 0 {
		return false
	}
	if text[0] == 'n' {
		return true // the API server removes one that the schema does not have, but for those of lists
	}
	switch s.Kind() {
	case crdschema.None:
	case crdschema.Object, crdschema.Map:
		return text[0] == '{' && membersFit(s, text)
	case crdschema.Array:
		return text[0] == '[' && elementsFit(s.Items(), text) && keysFit(s, text)
	case crdschema.String:
		return text[0] == '"'
	case crdschema.Integer:
		return isInteger(text)
	case crdschema.Number:
		return isNumber(text)
	case crdschema.Boolean:
		return text[0] == 't' || text[0] == 'f'
	case crdschema.IntOrString:
		return text[0] == '"' || isInteger(text)
	case crdschema.Any:
		return text[0] != '{' || membersFit(s, text)
	}
	return true
}

func isNumber(text []byte) bool {
	if text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	_, err := jsondoc.CanonicalNumber(string(text))
	return err == nil
}

func isInteger(text []byte) bool {
	if !isNumber(text) {
		return false
	}
	if _, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return true
	}
	f, err := strconv.ParseFloat(string(text), 64)
	const most = 1<<53 - 1 // more is a float64 to the API server's validation
	return err == nil && f == math.Trunc(f) && math.Abs(f) <= most
}

func membersFit(s *crdschema.Node, text []byte) bool {
	scan, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	fits := true
	if err == nil {
		err = scan.Members(func(name []byte) error {
			at, err := scan.Skip()
			fits = fits && err == nil && ofType(memberOf(s, string(name)), scan.Text(at))
			return err
		})
	}
	return fits && err == nil
}

func elementsFit(s *crdschema.Node, text []byte) bool {
	scan, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	fits := true
	if err == nil {
		err = scan.Elements(func() error {
			at, err := scan.Skip()
			fits = fits && err == nil && ofType(s, scan.Text(at))
			return err
		})
	}
	return fits && err == nil
}

// keysFit reports whether no two elements of a list that has keys have the same.
func keysFit(s *crdschema.Node, text []byte) bool {
	fields := s.ListMapKeys()
	if len(fields) == 0 {
		return true
	}
	n, err := parsed(text)
	if err != nil {
		return false
	}
	seen, fits := map[string]bool{}, true
	err = n.Each(func(_ string, e *jsondoc.Node) bool {
		if keys, all := keysOf(e, fields); all {
			fits = !seen[index(keys)]
			seen[index(keys)] = true
		}
		return fits
	})
	return err == nil && fits
}
