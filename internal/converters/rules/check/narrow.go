package check

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// narrowing notes a place that is handed on although the target's schema refuses some of its
// values, with one of them, and deep also those below it.
func (w *walker) narrowing(v visit, deep bool) {
	if w.atoms != nil || w.muted > 0 || isRoot(v.binding, w.src, v.path, v.src.Node) || strings.HasPrefix(w.placeOf(v).from, ".metadata.") {
		return // the API server itself bounds labels
	}
	pos := w.Version.Pos
	if v.via != nil {
		pos = posOf(v.via, w.src)
	}
	var look func(at place, src, dst *crdschema.Node)
	look = func(at place, src, dst *crdschema.Node) {
		if src == nil || dst == nil {
			return
		}
		if example := refused(src, dst); example != "" {
			w.note(pos, "narrower-schema", "relax the schema of "+w.Names[w.dst]+", or convert the value",
				"%s -> %s: %s may be %s, which %s refuses: an update that leaves it as it is passes, the first write that changes it is refused",
				w.Names[w.src], w.Names[w.dst], at.from, example, w.Names[w.dst])
			w.about(at.from)
		}
		if !deep {
			return
		}
		look(at.step("[]"), src.Items(), dst.Items())
		look(at.step("{}"), src.Values(), dst.Values())
		for _, name := range src.Properties() {
			look(at.step(syntax.Segment{Kind: syntax.Field, Name: name}.String()), src.Property(name), dst.Property(name))
		}
	}
	look(w.placeOf(v), v.src.Node, v.dst.Node)
}

// refused describes a value that a source allows and a target does not by its bounds, its pattern,
// its format or a rule in CEL; "" if there is none. Types, enums and required fields have findings
// of their own.
func refused(src, dst *crdschema.Node) string {
	a, b := validations(src), validations(dst)
	switch {
	case lower(b.MaxLength, a.MaxLength):
		return fmt.Sprintf("a text of %d characters", *b.MaxLength+1)
	case higher(b.MinLength, a.MinLength):
		return fmt.Sprintf("a text of %d characters", *b.MinLength-1)
	case b.Pattern != "" && b.Pattern != a.Pattern:
		return "a text that " + b.Pattern + " does not match"
	case b.Format != "" && b.Format != a.Format && src.Kind() == crdschema.String:
		return "a text in another format than " + b.Format
	case lower(b.Maximum, a.Maximum):
		return strconv.FormatFloat(*b.Maximum+1, 'f', -1, 64)
	case higher(b.Minimum, a.Minimum):
		return strconv.FormatFloat(*b.Minimum-1, 'f', -1, 64)
	case lower(b.MaxItems, a.MaxItems):
		return fmt.Sprintf("a list of %d elements", *b.MaxItems+1)
	case higher(b.MinItems, a.MinItems):
		return fmt.Sprintf("a list of %d elements", *b.MinItems-1)
	case lower(b.MaxProperties, a.MaxProperties):
		return fmt.Sprintf("an object of %d fields", *b.MaxProperties+1)
	case higher(b.MinProperties, a.MinProperties):
		return fmt.Sprintf("an object of %d fields", *b.MinProperties-1)
	case dst.ListType() == "set" && src.ListType() != "set" && src.ListType() != "map":
		return "a list with one value twice"
	}
	for _, rule := range dst.Structural().XValidations {
		has := func(o apiextensionsv1.ValidationRule) bool { return o.Rule == rule.Rule }
		if !strings.Contains(rule.Rule, "oldSelf") && !slices.ContainsFunc(src.Structural().XValidations, has) {
			return "one for which `" + rule.Rule + "` is false"
		}
	}
	return ""
}

func validations(n *crdschema.Node) schema.ValueValidation {
	if v := n.Structural().ValueValidation; v != nil {
		return *v
	}
	return schema.ValueValidation{}
}

// lower reports whether an upper bound is lower than another one; nil is none.
func lower[T cmp.Ordered](bound, other *T) bool {
	return bound != nil && (other == nil || *bound < *other)
}

// higher reports whether a lower bound is higher than another one.
func higher[T cmp.Ordered](bound, other *T) bool {
	return bound != nil && (other == nil || *bound > *other)
}
