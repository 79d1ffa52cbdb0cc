package keep

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Describe returns the version of an annotation, and a line for each of its kept values, if it has
// any. The lines quote values and keys, so they are only for the owner of the object.
func Describe(name, text string) (version string, lines []string) {
	version, own := VersionOf(name)
	if !own {
		return "", nil
	}
	kept, ok := new(Memory).reading().annotation(name, version, jsondoc.AppendString(nil, text))
	if !ok {
		return version, nil
	}
	return version, describe("", kept)
}

// describe returns the lines of entries whose paths start at another path.
func describe(at string, kept []*Entry) []string {
	var lines []string
	for _, e := range kept {
		path := at + e.path.full()
		switch e.kind {
		case isValue:
			lines = append(lines, fmt.Sprintf("%s = %s", path, e.value))
		case isAbsent:
			lines = append(lines, path+" was absent")
		case isOrder:
			lines = describeExtra(append(lines, path+": the order of its elements"), path, e.extra)
		case isList:
			for _, p := range e.list.parts {
				lines = append(lines, describe(fmt.Sprintf("%s[%d]", path, p.at), p.kept)...)
			}
			lines = describeExtra(lines, path, e.list.extra)
		}
	}
	return lines
}

func describeExtra(lines []string, path string, all []extra) []string {
	for _, x := range all {
		lines = append(lines, fmt.Sprintf("%s[] = %s", path, x.value))
	}
	return lines
}

// full writes the path as rules do, with the keys of lists and maps.
func (p Path) full() string {
	var text strings.Builder
	for _, s := range p {
		if s.Keys == nil {
			text.WriteString(jsondoc.FormatPath(s.Name))
			continue
		}
		for i, k := range s.Keys {
			value := k.Value
			if strings.HasPrefix(value, `"`) {
				value = jsondoc.Unquote([]byte(value))
			}
			if !isPlain(value) {
				value = strconv.Quote(value)
			}
			text.WriteString("[,"[min(i, 1):][:1] + k.Name + "=" + value)
		}
		text.WriteByte(']')
	}
	return text.String()
}
