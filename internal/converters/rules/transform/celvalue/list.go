package celvalue

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A list is a JSON array as a list of CEL. Once read, it is a list of cel-go's own, whose elements
// are still text.
type list struct {
	text  []byte
	items *crdschema.Node
	all   traits.Lister
	err   ref.Val
}

var _ traits.Lister = (*list)(nil)

// look lists the elements. Text that is not an array, which a document cannot have, gives an empty
// list with an error.
func (l *list) look() traits.Lister {
	if l.all != nil {
		return l.all
	}
	elements := []ref.Val{}
	s, err := jsondoc.NewScanner(l.text, jsondoc.MaxDepth)
	if err == nil {
		err = s.Elements(func() error {
			at, err := s.Skip()
			if err == nil {
				elements = append(elements, New(s.Text(at), l.items))
			}
			return err
		})
	}
	if err != nil {
		l.err, elements = types.NewErr("not the JSON of an array"), nil
	}
	l.all = types.NewRefValList(types.DefaultTypeAdapter, elements)
	return l.all
}

// Get implements traits.Indexer.
func (l *list) Get(index ref.Val) ref.Val { return l.look().Get(index) }

// Size implements traits.Sizer.
func (l *list) Size() ref.Val {
	all := l.look()
	if l.err != nil {
		return l.err
	}
	return all.Size()
}

// Add implements traits.Adder: it concatenates.
func (l *list) Add(other ref.Val) ref.Val { return l.look().Add(other) }

// Contains implements traits.Container.
func (l *list) Contains(value ref.Val) ref.Val { return l.look().Contains(value) }

// Iterator implements traits.Iterable.
func (l *list) Iterator() traits.Iterator { return l.look().Iterator() }

// Equal implements ref.Val.
func (l *list) Equal(other ref.Val) ref.Val { return l.look().Equal(other) }

// ConvertToNative implements ref.Val.
func (l *list) ConvertToNative(t reflect.Type) (any, error) { return l.look().ConvertToNative(t) }

// ConvertToType implements ref.Val.
func (l *list) ConvertToType(t ref.Type) ref.Val {
	if t == types.ListType {
		return l
	}
	return l.look().ConvertToType(t)
}

// Type implements ref.Val.
func (l *list) Type() ref.Type { return types.ListType }

// Value implements ref.Val.
func (l *list) Value() any { return l.look().Value() }
