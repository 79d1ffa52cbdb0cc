package upstream_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// comparable returns an object as the API server would store it, without what says nothing: the
// projects' Go types add and drop zero values, lists and objects without content as omitempty has
// it. Annotations with kept values, ours and the project's, are left out.
func (k *kind) comparable(t *testing.T, v *crdschema.Version, text []byte) any {
	t.Helper()
	var object map[string]any
	if err := utiljson.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	if metadata, ok := object["metadata"].(map[string]any); ok {
		if annotations, ok := metadata["annotations"].(map[string]any); ok {
			maps.DeleteFunc(annotations, func(name string, _ any) bool { return k.keepsValues(name) })
		}
	}
	v.Prune(object)
	dropHollow(object, k.source.Zero)
	v.Default(object)
	return clean(byKey("", object, k.source.Keyed), k.source.Zero)
}

// dropHollow removes objects without content, at any depth, so that they get no defaults.
func dropHollow(value any, zero []string) {
	switch value := value.(type) {
	case map[string]any:
		maps.DeleteFunc(value, func(_ string, member any) bool {
			_, object := member.(map[string]any)
			return object && clean(runtime.DeepCopyJSONValue(member), zero) == nil
		})
		for _, member := range value {
			dropHollow(member, zero)
		}
	case []any:
		for _, element := range value {
			dropHollow(element, zero)
		}
	}
}

// byKey replaces each list whose order says nothing by an object with a member for each element,
// named as rules name it. An element that repeats a key has its number, too.
func byKey(path string, value any, keyed map[string]string) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = byKey(path+segment(name), member, keyed)
		}
	case []any:
		key := keyed[path]
		elements := make(map[string]any, len(value))
		for i, element := range value {
			value[i] = byKey(path+"[]", element, keyed)
			name := fmt.Sprintf("[%s=%s]", key, textOf(element, key))
			for n := 2; elements[name] != nil; n++ {
				name = fmt.Sprintf("[%s=%s, %d]", key, textOf(element, key), n)
			}
			elements[name] = value[i]
		}
		if key != "" {
			return elements
		}
	}
	return value
}

func textOf(element any, name string) string {
	members, _ := element.(map[string]any)
	text, _ := members[name].(string)
	return text
}

func (k *kind) keepsValues(annotation string) bool {
	return strings.HasPrefix(annotation, "conversion.webhookd.io/") ||
		strings.HasPrefix(annotation, "status.conversion.webhookd.io/") || slices.Contains(k.source.Annotations, annotation)
}

// clean removes members without content, at any depth. It returns nil for a value without content,
// such as one of the texts. Elements stay, so that the others keep their index.
func clean(value any, zero []string) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			if member = clean(member, zero); member == nil {
				delete(value, name)
			} else {
				value[name] = member
			}
		}
		if len(value) == 0 {
			return nil
		}
	case []any:
		for i, element := range value {
			value[i] = clean(element, zero)
		}
		if len(value) == 0 {
			return nil
		}
	case string:
		if value == "" || slices.Contains(zero, value) {
			return nil
		}
	case int64:
		if value == 0 {
			return nil
		}
	case float64:
		if value == 0 {
			return nil
		}
	case bool:
		if !value {
			return nil
		}
	}
	return value
}
