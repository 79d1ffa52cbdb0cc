package conversion

import (
	"bytes"
	"maps"
	"reflect"
)

// equal is reflect.DeepEqual for two values of one type, at least one of which has no cycle, as no
// value that was decoded. It allocates nothing (BenchmarkReview in contrib/controllerruntime).
func equal(v, w reflect.Value) bool {
	switch v.Kind() { //nolint:exhaustive // the others have no parts
	case reflect.String:
		return v.String() == w.String()
	case reflect.Struct:
		for i := range v.NumField() {
			if !equal(v.Field(i), w.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer:
		return v.Pointer() == w.Pointer() || !v.IsNil() && !w.IsNil() && equal(v.Elem(), w.Elem())
	case reflect.Interface:
		if v.IsNil() || w.IsNil() {
			return v.IsNil() == w.IsNil()
		}
		return v.Elem().Type() == w.Elem().Type() && equal(v.Elem(), w.Elem())
	case reflect.Slice:
		if v.IsNil() != w.IsNil() || v.Len() != w.Len() {
			return false
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return bytes.Equal(v.Bytes(), w.Bytes())
		}
		return v.Pointer() == w.Pointer() || elementsEqual(v, w)
	case reflect.Array:
		return elementsEqual(v, w)
	case reflect.Map:
		return v.IsNil() == w.IsNil() && v.Len() == w.Len() && (v.Pointer() == w.Pointer() || entriesEqual(v, w))
	case reflect.Func:
		return v.IsNil() && w.IsNil()
	}
	return v.Equal(w)
}

func elementsEqual(v, w reflect.Value) bool {
	for i := range v.Len() {
		if !equal(v.Index(i), w.Index(i)) {
			return false
		}
	}
	return true
}

func entriesEqual(v, w reflect.Value) bool {
	if v.CanInterface() && w.CanInterface() {
		if m, is := reflect.TypeAssert[map[string]string](v); is {
			n, _ := reflect.TypeAssert[map[string]string](w)
			return maps.Equal(m, n)
		}
	}
	for entries := v.MapRange(); entries.Next(); {
		if other := w.MapIndex(entries.Key()); !other.IsValid() || !equal(entries.Value(), other) {
			return false
		}
	}
	return true
}
