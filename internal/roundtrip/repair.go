package roundtrip

import (
	"slices"
	"strconv"
	"strings"
)

// withoutPath returns v without what a path of the API server's messages leads to (a.b[0].c[key]), or, where that is not
// there, without the nearest thing around it that is. It changes v.
func withoutPath(v any, path string) any {
	out, _ := removePath(v, path)
	return out
}

// removePath also says whether something was removed.
func removePath(v any, path string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		name, rest, found := memberOfPath(v, path)
		if !found {
			return v, false
		}
		if rest != "" {
			if inner, removed := removePath(v[name], rest); removed {
				v[name] = inner
				return v, true
			}
		}
		delete(v, name)
		return v, true
	case []any:
		index, rest, found := elementOfPath(path)
		if !found || index >= len(v) {
			return v, false
		}
		if rest != "" {
			if inner, removed := removePath(v[index], rest); removed {
				v[index] = inner
				return v, true
			}
		}
		return slices.Delete(v, index, index+1), true
	}
	return v, false
}

// memberOfPath finds the member that a path starts with. Names with dots are not quoted in paths: the longest one it is.
func memberOfPath(v map[string]any, path string) (name, rest string, found bool) {
	path = strings.TrimPrefix(path, ".")
	for candidate := range v {
		after, ok := strings.CutPrefix(path, candidate)
		if !ok || candidate == "" || after != "" && after[0] != '.' && after[0] != '[' {
			after, ok = strings.CutPrefix(path, "["+candidate+"]")
		}
		if ok && (!found || len(candidate) > len(name)) {
			name, rest, found = candidate, after, true
		}
	}
	return name, rest, found
}

func elementOfPath(path string) (index int, rest string, found bool) {
	if !strings.HasPrefix(path, "[") {
		return 0, "", false
	}
	number, rest, found := strings.Cut(path[1:], "]")
	index, err := strconv.Atoi(number)
	return index, rest, found && err == nil && index >= 0
}
