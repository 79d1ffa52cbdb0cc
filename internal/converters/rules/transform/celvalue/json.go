package celvalue

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// ErrTooLarge is returned for a result that has more bytes than allowed.
var ErrTooLarge = errors.New("the result is too large")

// AppendJSON appends the JSON of a value to dst, with at most limit bytes. Objects and arrays from
// the source keep their text; those that an expression made have their names in order, without
// members that are optional.none(). AppendJSON fails for values that JSON does not have: bytes,
// timestamps and other types, infinity, keys that are not strings.
func AppendJSON(dst []byte, v ref.Val, limit int) ([]byte, error) {
	w := writer{text: dst, limit: len(dst) + limit}
	err := w.value(v)
	return w.text, err
}

type writer struct {
	text  []byte
	limit int
}

func (w *writer) value(v ref.Val) error {
	switch v := v.(type) {
	case types.String:
		w.text = jsondoc.AppendString(w.text, string(v))
	case types.Int:
		w.text = strconv.AppendInt(w.text, int64(v), 10)
	case types.Uint:
		w.text = strconv.AppendUint(w.text, uint64(v), 10)
	case types.Double:
		if math.IsInf(float64(v), 0) || math.IsNaN(float64(v)) {
			return errors.New("an infinite number or NaN has no JSON")
		}
		w.text = jsondoc.AppendFloat(w.text, float64(v))
	case types.Bool:
		w.text = strconv.AppendBool(w.text, bool(v))
	case types.Null:
		w.text = append(w.text, "null"...)
	case *types.Optional:
		if !v.HasValue() {
			return errors.New("optional.none() where a value is required")
		}
		return w.value(v.GetValue())
	case *object:
		w.text = append(w.text, v.raw()...)
	case *list:
		w.text = append(w.text, v.text...)
	case traits.Mapper:
		return w.mapper(v)
	case traits.Lister:
		return w.lister(v)
	case *types.Err:
		return v
	default:
		return fmt.Errorf("a value of type %s has no JSON", v.Type().TypeName())
	}
	return w.check()
}

func (w *writer) check() error {
	if len(w.text) > w.limit {
		return ErrTooLarge
	}
	return nil
}

func (w *writer) mapper(m traits.Mapper) error {
	if size := m.Size(); types.IsError(size) {
		return size.(*types.Err)
	}
	w.text = append(w.text, '{')
	for _, key := range sortedKeys(m) {
		name, ok := key.(types.String)
		if !ok {
			return errors.New("a map whose keys are not strings has no JSON")
		}
		value := m.Get(key)
		if o, ok := value.(*types.Optional); ok && !o.HasValue() {
			continue
		}
		if w.text[len(w.text)-1] != '{' {
			w.text = append(w.text, ',')
		}
		w.text = append(jsondoc.AppendString(w.text, string(name)), ':')
		if err := w.value(value); err != nil {
			return err
		}
	}
	w.text = append(w.text, '}')
	return w.check()
}

func (w *writer) lister(l traits.Lister) error {
	w.text = append(w.text, '[')
	for it := l.Iterator(); it.HasNext() == types.True; {
		if w.text[len(w.text)-1] != '[' {
			w.text = append(w.text, ',')
		}
		if err := w.value(it.Next()); err != nil {
			return err
		}
	}
	w.text = append(w.text, ']')
	return w.check()
}
