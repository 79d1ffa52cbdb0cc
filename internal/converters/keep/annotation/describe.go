package annotation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A Description says what an annotation keeps.
type Description struct {
	// Version is the one whose values it keeps; empty if the annotation is not webhookd's own.
	Version string
	// Values are the kept values; none if this build does not know the format.
	Values []Described
}

// A Described is one kept value.
type Described struct {
	// Path is the place in the version, without the keys of lists. Keys of maps are in it.
	Path string
	// What says what is kept of the place: "its value", for example.
	What string
	// Line says all, such as .spec.owner = "a". It quotes values and keys, so it is only for the
	// owner of the object.
	Line string
}

// Describe says what an annotation keeps.
func Describe(name, text string) Description {
	version, own := VersionOf(name)
	if !own {
		return Description{}
	}
	kept, ok := new(Memory).annotation(nil, name, version, jsondoc.AppendString(nil, text))
	if !ok {
		return Description{Version: version}
	}
	return Description{version, describe("", "", kept)}
}

// describe describes entries whose paths start at another path, without and with keys.
func describe(at, full string, kept []*Entry) []Described {
	var all []Described
	for _, e := range kept {
		path, full := at, full+e.Path.full()
		if len(e.Path) > 0 {
			path += e.Path.String()
		}
		switch e.Kind {
		case KindValue:
			what, line := "its value", fmt.Sprintf("%s = %s", full, e.Value)
			if by, is := e.describeMark(); is {
				what, line = "the rules that converted it", by
			}
			all = append(all, Described{path, what, line})
		case KindAbsent:
			all = append(all, Described{path, "that there is nothing", full + " was absent"})
		case KindOrder:
			all = describeAdded(append(all, Described{path, "the order of its elements", full + ": the order of its elements"}), path, full, e.Added)
		case KindList:
			for _, p := range e.List.Elements {
				all = append(all, describe(path+"[]", fmt.Sprintf("%s[%d]", full, p.Index), p.Kept)...)
			}
			all = describeAdded(all, path, full, e.List.Added)
		}
	}
	return all
}

func describeAdded(all []Described, path, full string, all2 []Added) []Described {
	for _, x := range all2 {
		all = append(all, Described{path + "[]", "an element", fmt.Sprintf("%s[] = %s", full, x.Value)})
	}
	return all
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
