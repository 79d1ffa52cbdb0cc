package reference

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// look returns the value of a table for another, and whether there is an entry.
func look(from, to []any, v any) (any, bool) {
	for i := range from {
		if equal(from[i], v) {
			if to[i] == nil {
				return absent{}, true
			}
			return to[i], true
		}
	}
	return nil, false
}

// convertValues converts a value by tables; target is the side of the result.
func (r *rule) convertValues(target int, v any, source, result *Schema) any {
	out, ok := any(nil), false
	if target == hub {
		out, ok = look(r.values.from, r.values.to, v)
	} else if out, ok = lookBack(r.values, v); !ok {
		out, ok = look(r.hubValues.from, r.hubValues.to, v)
	}
	if !ok && allows(v, source) && allows(v, result) {
		return v
	}
	if !ok {
		return absent{}
	}
	return out
}

// lookBack returns the first value that becomes another.
func lookBack(t table, v any) (any, bool) {
	for i := range t.to {
		if t.to[i] != nil && equal(t.to[i], v) {
			return t.from[i], true
		}
	}
	return nil, false
}

// parts are those of a template.
var parts = regexp.MustCompile(`\{([^{}]+)\}`)

// split returns the parts of a string; each ends where the text after it first occurs.
func (r *rule) split(text string, part func(name string) *Schema) any {
	pattern := regexp.QuoteMeta(parts.ReplaceAllString(r.text.Template, "\x00"))
	found := regexp.MustCompile("(?s)^" + strings.ReplaceAll(pattern, "\x00", "(.*?)") + "$").FindStringSubmatch(text)
	if found == nil {
		return absent{}
	}
	out := map[string]any{}
	for i, name := range parts.FindAllStringSubmatch(r.text.Template, -1) {
		if r.text.Absent != nil && found[i+1] == *r.text.Absent {
			continue
		}
		v, ok := fromText(found[i+1], part(name[1]))
		if !ok {
			return absent{}
		}
		out[name[1]] = v
	}
	return out
}

func (r *rule) join(values map[string]any) any {
	lacks := false
	text := parts.ReplaceAllStringFunc(r.text.Template, func(part string) string {
		if v, ok := values[part[1:len(part)-1]]; ok {
			return toText(v)
		} else if r.text.Absent != nil {
			return *r.text.Absent
		}
		lacks = true
		return ""
	})
	if lacks {
		return absent{}
	}
	return text
}

func toText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// fromText returns the value that a text is for a schema, if it is the only text of that value.
func fromText(text string, s *Schema) (any, bool) {
	if s == nil || s.Type == "string" {
		return text, true
	}
	v := parseJSON([]byte(text))
	if _, isText := v.(string); isText || v == nil || !fits(v, s) {
		return nil, false
	}
	return v, true
}

// plainSide returns the side whose value is not encoded.
func plainSide(codec string, schemas [2]*Schema) int {
	text := [2]bool{}
	for side, s := range schemas {
		text[side] = s != nil && (s.Type == "string" || s.XIntOrString)
	}
	if codec == "Base64" {
		for side, s := range schemas {
			if s != nil && s.ValueValidation != nil && s.ValueValidation.Format == "byte" {
				return 1 - side
			}
		}
		return spoke
	}
	if text[spoke] && !text[hub] {
		return hub
	}
	return spoke
}

func encode(codec string, v any) any {
	n, isNumber := number(v)
	switch codec {
	case "String":
		switch v.(type) {
		case int64, float64, bool:
			return toText(v)
		}
	case "DurationSeconds", "DurationNanoseconds":
		unit := map[string]float64{"DurationSeconds": 1e9, "DurationNanoseconds": 1}[codec]
		if isNumber && n*unit < 1<<63 && n*unit >= -(1<<63) {
			return time.Duration(n * unit).String()
		}
	case "QuantityInt":
		if i, ok := v.(int64); ok {
			return resource.NewQuantity(i, resource.BinarySI).String()
		}
	case "JSON":
		text, err := json.Marshal(v)
		if err == nil {
			return string(text)
		}
	case "YAML":
		text, err := yaml.Marshal(v)
		if err == nil {
			return string(text)
		}
	case "Base64":
		if s, ok := v.(string); ok && s != "" {
			return base64.StdEncoding.EncodeToString([]byte(s))
		}
	}
	return absent{}
}

func decode(codec string, v any, s *Schema) any {
	text, ok := v.(string)
	if !ok && codec != "JSON" && codec != "YAML" && codec != "Base64" && fits(v, s) {
		return v
	}
	if !ok {
		return absent{}
	}
	switch codec {
	case "String":
		if v, ok := fromText(text, s); ok {
			return v
		}
	case "DurationSeconds", "DurationNanoseconds":
		unit := map[string]int64{"DurationSeconds": 1e9, "DurationNanoseconds": 1}[codec]
		if d, ok := parseDuration(text); ok && int64(d)%unit == 0 {
			return int64(d) / unit
		} else if ok && s != nil && s.Type == "number" {
			return float64(d) / float64(unit)
		}
	case "QuantityInt":
		if q, err := resource.ParseQuantity(text); err == nil {
			if i, ok := q.AsInt64(); ok {
				return i
			}
		}
	case "JSON":
		if json.Valid([]byte(text)) {
			return parseJSON([]byte(text))
		}
	case "YAML":
		if j, err := yaml.YAMLToJSON([]byte(text)); err == nil {
			return parseJSON(j)
		}
	case "Base64":
		if b, err := base64.StdEncoding.DecodeString(text); err == nil && utf8.Valid(b) && text != "" {
			return string(b)
		}
	}
	return absent{}
}

// parseDuration reads a duration of Go, also with weeks and days.
func parseDuration(text string) (time.Duration, bool) {
	long := regexp.MustCompile(`^(-?)(?:(\d+)w)?(?:(\d+)d)?(.*)$`).FindStringSubmatch(text)
	rest := long[4]
	if long[2] == "" && long[3] == "" {
		d, err := time.ParseDuration(text)
		return d, err == nil
	}
	weeks, _ := strconv.Atoi("0" + long[2])
	days, _ := strconv.Atoi("0" + long[3])
	d := time.Duration(weeks*7+days) * 24 * time.Hour
	if rest != "" {
		more, err := time.ParseDuration(rest)
		if err != nil {
			return 0, false
		}
		d += more
	}
	if long[1] == "-" {
		d = -d
	}
	return d, true
}
