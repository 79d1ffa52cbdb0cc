package converters

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// FromUnstructured makes a function over unstructured objects a Converter. The function gets a copy of the object, decoded
// as the API server decodes it (integers are int64, exactly), whose apiVersion is that of the version from. What the
// function changes is written back and nothing else: all text whose value is the same stays byte for byte, members and
// elements keep their places, new members go behind the others in the order of their names.
//
// The function has the obligations of a Converter. Its changes to apiVersion are ignored.
func FromUnstructured(fn func(ctx context.Context, u *unstructured.Unstructured, from, to string) error) Converter {
	return Func(func(ctx context.Context, obj *jsondoc.Object, from, to string) error {
		var old map[string]any
		if err := decode(obj.Text(), &old); err != nil {
			return &jsondoc.PathError{Problem: "has a number too big for a float64, make it smaller or a string", Path: obj.Path()}
		}
		u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(old)}
		if apiVersion, ok := old["apiVersion"].(string); ok {
			group, _, _ := strings.Cut(apiVersion, "/")
			u.SetAPIVersion(group + "/" + from)
		}
		if err := fn(ctx, u, from, to); err != nil {
			return err
		}
		if u.Object == nil {
			return &jsondoc.PathError{Problem: "converter removed the whole object, mend the converter", Path: obj.Path()}
		}
		if apiVersion, found := old["apiVersion"]; found {
			u.Object["apiVersion"] = apiVersion
		} else {
			delete(u.Object, "apiVersion")
		}
		return rewrite(obj.Node, old, u.Object)
	})
}

// rewrite makes n, which says old, say now.
func rewrite(n *jsondoc.Node, old, now any) error {
	if reflect.DeepEqual(old, now) {
		return nil
	}
	switch old := old.(type) {
	case map[string]any:
		if now, ok := now.(map[string]any); ok && now != nil {
			return rewriteMembers(n, old, now)
		}
	case []any:
		if now, ok := now.([]any); ok && now != nil {
			return rewriteElements(n, old, now)
		}
	}
	v, err := render(now, n.Path())
	if err == nil {
		n.Replace(v)
	}
	return err
}

func rewriteMembers(n *jsondoc.Node, old, now map[string]any) error {
	for name := range old {
		if _, stays := now[name]; !stays {
			if err := n.RemoveMember(name); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if was, found := old[name]; found {
			child, err := n.Member(name)
			if err == nil {
				err = rewrite(child, was, now[name])
			}
			if err != nil {
				return err
			}
			continue
		}
		v, err := render(now[name], n.Path())
		if err == nil {
			err = n.SetMember(name, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rewriteElements keeps the text of each element that was in the list before, wherever it was, and rewrites others from
// the one at their index if that is free.
func rewriteElements(n *jsondoc.Node, old, now []any) error {
	elements, err := entries(n)
	if err != nil {
		return err
	}
	from, used := matchElements(old, now)
	inPlace := len(old) == len(now)
	texts := make([][]byte, len(now))
	for i := range now {
		switch j := from[i]; {
		case j >= 0:
			inPlace = inPlace && i == j
			texts[i] = elements[j].value.Text()
		case i < len(old) && !used[i]:
			if err := rewrite(elements[i].value, old[i], now[i]); err != nil {
				return err
			}
			texts[i] = elements[i].value.Text()
		default:
			v, err := render(now[i], n.Path())
			if err != nil {
				return err
			}
			texts[i] = v.Text()
		}
	}
	if inPlace {
		return nil
	}
	return replaceElements(n, texts)
}
