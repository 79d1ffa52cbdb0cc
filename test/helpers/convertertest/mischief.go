// Package convertertest has converters for tests.
package convertertest

import (
	"context"
	"errors"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// Mischief returns a converter that does what its object says, so an input can try whatever a
// converter could do. Each member of spec replaces the member of the object that its name, a path
// with dots, leads to; "." is the whole object, and a null removes the member. If spec is a string,
// the converter calls fails with it, which returns the error or panics. The converter is safe for
// concurrent use if fails is.
func Mischief(fails func(text string) error) converters.Func {
	return func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
		spec, err := obj.Get("spec")
		if err != nil {
			return err
		}
		if text, isString := spec.Str(); isString {
			return fails(text)
		}
		var problems []error
		_ = spec.Each(func(name string, value *jsondoc.Node) bool {
			path := strings.Split(name, ".")
			switch {
			case name == ".":
				obj.Replace(value.Value())
				return false
			case value.Kind() == jsondoc.Null:
				problems = append(problems, obj.Remove(path...))
			default:
				problems = append(problems, obj.Set(value.Value(), path...))
			}
			return path[0] != "spec" // the loop reads spec
		})
		return errors.Join(problems...)
	}
}
