package apiserver

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Refusal is one reason for which the API server would refuse a value.
type Refusal struct {
	Path   string // of the part that it is about: .a.b[0]; empty for the value itself
	Lacks  bool   // the part is required and absent
	Size   bool   // the part has too few or too many elements or fields
	Reason string // what the part should be, such as: should match '^a$'
}

// A Judge says why the API server would refuse values of a place. It is not safe for concurrent
// use.
type Judge struct {
	schema    *schema.Structural // of an object whose field named judged has the value
	validator validation.SchemaValidator
}

const judged = "value"

// NewJudge returns the judge of a place. That takes far longer than to judge a value. It fails only
// for a schema that [Parse] refuses.
func NewJudge(n *crdschema.Node) (*Judge, error) {
	if n == nil {
		return &Judge{}, nil
	}
	j := &Judge{schema: &schema.Structural{
		Generic: schema.Generic{Type: "object"}, Properties: map[string]schema.Structural{judged: *n.Structural()},
	}}
	var err error
	j.validator, err = validatorOf(j.schema)
	return j, err
}

// validatorOf makes a validator. The schema in the API server's other form would take more memory
// for as long as the CRD lives.
func validatorOf(s *schema.Structural) (validation.SchemaValidator, error) {
	text, err := json.Marshal(s.ToKubeOpenAPI())
	if err != nil {
		return nil, err
	}
	var external apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(text, &external); err != nil {
		return nil, err
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &props, nil); err != nil {
		return nil, err
	}
	v, _, err := validation.NewSchemaValidator(&props)
	return v, err
}

// Refusals returns what the API server has against a value, given as JSON text, once it has added
// defaults: types, enums, patterns, formats, lengths, ranges, required fields, list types; in the
// order of their paths. It does not know validation rules in CEL. A place that does not exist
// refuses nothing.
func (j *Judge) Refusals(text []byte) []Refusal {
	var value any
	if err := utiljson.Unmarshal(text, &value); err != nil || j.schema == nil {
		return nil
	}
	obj := map[string]any{judged: value}
	defaulting.Default(obj, j.schema)
	errs := validation.ValidateCustomResource(nil, obj, j.validator)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, j.schema, obj)...)
	errs = append(errs, objectmeta.Validate(context.Background(), nil, obj, j.schema, false)...)
	var found, choices []Refusal
	for _, err := range errs {
		refusal := RefusalOf(err)
		refusal.Path = strings.TrimPrefix(refusal.Path, judged)
		switch {
		case strings.Contains(refusal.Reason, "(allOf)"): // others say which of them
		case strings.Contains(refusal.Reason, "(anyOf)"), strings.Contains(refusal.Reason, "(oneOf)"):
			choices = append(choices, refusal)
		default:
			found = append(found, refusal)
		}
	}
	if len(choices) > 0 {
		found = choices // the others may be about a branch that is not meant
	}
	slices.SortFunc(found, func(a, b Refusal) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Reason, b.Reason))
	})
	return found
}

// RefusalOf takes an error of the API server apart. The path is as the API server writes it:
// a.b[0]. Its texts have the path in front of or behind what counts, and may end with the value.
func RefusalOf(err *field.Error) Refusal {
	path, reason := err.Field, err.Detail
	switch err.Type {
	case field.ErrorTypeTooLong:
		reason = strings.Replace(reason, "byte", "char", 1) // the API server counts characters
	case field.ErrorTypeNotSupported:
		reason = strings.Replace(reason, "supported values:", "should be one of", 1)
	case field.ErrorTypeDuplicate:
		reason = "should not occur twice"
	case field.ErrorTypeRequired:
		reason = "is required"
	default:
	}
	if quoted, unquoted := strconv.QuotedPrefix(reason); unquoted == nil { // a combination of schemas
		path, reason = strings.Trim(quoted, `"`), strings.TrimPrefix(reason, quoted+" ")
		reason = strings.Replace(reason, ". F", ", f", 1)
	} else if after, is := strings.CutPrefix(reason, "Checked value "); is { // the range of int32 and others
		reason, path, _ = strings.Cut(after, " in ")
	} else if _, after, is := strings.Cut(reason, " in body "); is {
		reason = after
	}
	if strings.HasPrefix(reason, "must be of type ") {
		reason, _, _ = strings.Cut(reason, ": ")
	}
	return Refusal{
		Path: path, Reason: reason, Lacks: err.Type == field.ErrorTypeRequired,
		Size: err.Type == field.ErrorTypeTooMany || strings.HasPrefix(reason, "should have at least"),
	}
}
