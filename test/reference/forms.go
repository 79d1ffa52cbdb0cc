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
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"sigs.k8s.io/yaml"
)

// look returns the value of a table for another, and whether there is an entry.
func look(from, to []any, v any) (any, bool) {
	for i := range from {
		if equal(from[i], v) {
			return to[i], true
		}
	}
	return absent{}, false
}

// convertValues converts a value by tables; target is the side of the result.
func (r *rule) convertValues(target int, v any, source, result *Schema) any {
	out, ok := look(r.values.from, r.values.to, v)
	if target == spoke {
		if first, ok := look(r.values.to, r.values.from, v); ok {
			return first
		}
		out, ok = look(r.hubValues.from, r.hubValues.to, v)
	}
	switch {
	case !ok && allows(v, source) && allows(v, result):
		return v
	case out == nil:
		return absent{}
	}
	return out
}

// parts are those of a template.
var parts = regexp.MustCompile(`\{([^{}]+)\}`)

// split returns the parts of a string; each ends where the text after it first occurs.
func (r *rule) split(text string, part func(name string) *Schema) map[string]any {
	template, without := r.text.get("template"), r.text["absent"]
	pattern := regexp.QuoteMeta(parts.ReplaceAllString(template, "\x00"))
	found := regexp.MustCompile("(?s)^" + strings.ReplaceAll(pattern, "\x00", "(.*?)") + "$").FindStringSubmatch(text)
	if found == nil {
		return nil
	}
	out := map[string]any{}
	for i, name := range parts.FindAllStringSubmatch(template, -1) {
		if without.Kind != 0 && found[i+1] == without.Value {
			continue
		}
		if out[name[1]] = fromText(found[i+1], part(name[1])); isAbsent(out[name[1]]) {
			return nil
		}
	}
	return out
}

func (r *rule) join(values map[string]any) any {
	lacks, without := false, r.text["absent"]
	text := parts.ReplaceAllStringFunc(r.text.get("template"), func(part string) string {
		v, ok := values[part[1:len(part)-1]]
		if ok {
			return toText(v)
		}
		lacks = lacks || without.Kind == 0
		return without.Value
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
	return toJSON(v)
}

func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// fromText returns the value that a text is for a schema.
func fromText(text string, s *Schema) any {
	if s == nil || s.Type == "string" {
		return text
	}
	v := parseJSON([]byte(text))
	if _, isText := v.(string); isText || v == nil || !fits(v, s) {
		return absent{}
	}
	return v
}

// plainSide returns the side whose value is not encoded.
func plainSide(codec string, schemas [2]*Schema) int {
	encoded := func(s *Schema) bool { return s != nil && (s.Type == "string" || s.XIntOrString) }
	if codec == "Base64" {
		encoded = func(s *Schema) bool {
			return s != nil && s.ValueValidation != nil && s.ValueValidation.Format == "byte"
		}
	}
	if encoded(schemas[spoke]) && !encoded(schemas[hub]) {
		return hub
	}
	return spoke
}

// unitOf returns the nanoseconds of a codec's unit.
func unitOf(codec string) float64 {
	if codec == "DurationSeconds" {
		return 1e9
	}
	return 1
}

// durations are those of Go, also with weeks and days; the library takes any text with one in it.
var durations = regexp.MustCompile(`^(0|[-+]?([\d.]+(ns|us|µs|ms|[smhdw]))+)$`)

func encode(codec string, v any) any {
	switch codec {
	case "String":
		switch v.(type) {
		case int64, float64, bool:
			return toText(v)
		}
	case "DurationSeconds", "DurationNanoseconds":
		n, err := strconv.ParseFloat(toText(v), 64)
		if n *= unitOf(codec); err == nil && n < 1<<63 && n >= -(1<<63) {
			return time.Duration(n).String()
		}
	case "QuantityInt":
		if i, ok := v.(int64); ok {
			return resource.NewQuantity(i, resource.BinarySI).String()
		}
	case "JSON":
		return toJSON(v)
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
		return fromText(text, s)
	case "DurationSeconds", "DurationNanoseconds":
		d, err := strfmt.ParseDuration(text)
		if n := float64(d) / unitOf(codec); err == nil && durations.MatchString(text) && (n == float64(int64(n)) || s != nil && s.Type == "number") {
			return normal(n)
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
