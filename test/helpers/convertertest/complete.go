package convertertest

import (
	"context"
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Complete returns an error if the conversion of a valid object fails, lacks a field that the other
// version requires, or has a value of another type or not of an enum.
func Complete(ctx context.Context, kind *converters.Kind, object []byte, from, to *crdschema.Version) error {
	obj, err := jsondoc.ParseObject(object)
	if err != nil {
		return err
	}
	if err := kind.Convert(ctx, obj, from.Name, to.Name); err != nil {
		return err
	}
	var result map[string]any
	if err := utiljson.Unmarshal(obj.Text(), &result); err != nil {
		return err
	}
	to.Default(result)
	for _, problem := range to.Validate(result) {
		switch problem.Type {
		case field.ErrorTypeRequired, field.ErrorTypeTypeInvalid, field.ErrorTypeNotSupported:
			return fmt.Errorf("%s -> %s: %w: %s became %s", from.Name, to.Name, problem, object, obj.Text())
		default:
		}
	}
	return nil
}
