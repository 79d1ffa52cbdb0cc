package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// differs says where lists of objects say different things.
func differs(want, got []json.RawMessage) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d objects, want %d", len(got), len(want))
	}
	for i := range want {
		w, g := decode(want[i]), decode(got[i])
		reduce(w)
		reduce(g)
		if problem := diff(w, g, fmt.Sprintf("objects[%d]", i)); problem != "" {
			return problem
		}
	}
	return ""
}

func decode(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err.Error()
	}
	return v
}

// reduce leaves of metadata what the API server takes, and drops the version, which the conversion
// changes.
func reduce(v any) {
	object, ok := v.(map[string]any)
	if !ok {
		return
	}
	delete(object, "apiVersion")
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return
	}
	maps.DeleteFunc(metadata, func(name string, value any) bool {
		return value == nil || !slices.Contains([]string{"name", "namespace", "labels", "annotations"}, name)
	})
	if len(metadata) == 0 {
		delete(object, "metadata")
	}
}

// diff compares values; what is null is as good as absent.
func diff(want, got any, path string) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(w)) {
			if problem := diff(w[name], g[name], path+"."+name); problem != "" {
				return problem
			}
		}
		for _, name := range slices.Sorted(maps.Keys(g)) {
			if _, ok := w[name]; !ok && g[name] != nil {
				return fmt.Sprintf("%s.%.80s was added", path, name)
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			if problem := diff(w[i], g[i], path); problem != "" {
				return problem
			}
		}
		return ""
	case json.Number:
		g, ok := got.(json.Number)
		if ok && normal(w) == normal(g) {
			return ""
		}
	default:
		if want == got {
			return ""
		}
	}
	return fmt.Sprintf("%.80s is %.60q, want %.60q", path, fmt.Sprint(got), fmt.Sprint(want))
}

// normal spells a number in one way: its digits without zeros at the ends, and the power of ten.
func normal(n json.Number) string {
	text, sign := strings.CutPrefix(string(n), "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	power, ok := new(big.Int).SetString(strings.TrimPrefix(exponent, "+"), 10)
	if !ok {
		power = new(big.Int)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	power.Sub(power, big.NewInt(int64(len(fraction))))
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	power.Add(power, big.NewInt(int64(len(digits)-len(trimmed))))
	if trimmed == "" {
		return "0"
	}
	return fmt.Sprintf("%t %s %s", sign, trimmed, power)
}
