package syntax_test

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// The rules start in line 9.
func TestTheLikelyCauseOfWhatIsNotYAML(t *testing.T) {
	t.Parallel()
	const (
		tab        = "not YAML: there is a tab in the indentation (indent with spaces, not tabs)"
		expression = "not YAML: the expression of toHub has characters that mean something to YAML (put it in quotes: toHub: "
		broken     = "9 not YAML: did not find expected ',' or '}' "
		template   = "{{ starts a template (render it first, or put it in quotes)"
		between    = "put paths and expressions with brackets, braces or commas in quotes)"
	)
	for name, c := range map[string]struct{ rules, want string }{
		"a tab before a rule":        {"\t- spoke: .spec.x\n", "9:1 " + tab},
		"a tab behind the dash":      {"    -\tspoke: .spec.x\n\t  hub: .spec.y\n", "9:6 " + tab},
		"a tab before a key":         {"    - spoke: .spec.x\n    \thub: .spec.y\n", "10:5 " + tab},
		"a tab in a block of text":   {"    - spoke: .spec.x\n      toHub: |\n\tself\n", "11:1 " + tab},
		"a condition":                {"    - toHub: self ? \"a\" : \"b\"\n", "9:14 " + expression + "'self ? \"a\" : \"b\"')"},
		"a condition in braces":      {"    - {toHub: self ? 1 : 2, toSpoke: self}\n", "9:15 " + expression + "'self ? 1 : 2')"},
		"a condition in two lines":   {"    - toHub: self ?\n        1 : 2\n", "9:14 " + expression + "'self ? 1 : 2')"},
		"a condition behind letters": {"    - {drop: ü, toHub: self ? 1 : 2}\n", "9:24 " + expression + "'self ? 1 : 2')"},
		"an optional field in braces": {
			"    - {spoke: .a, whenToHub: self.?x.orValue(true)}\n",
			"9:30 not YAML: the expression of whenToHub has characters that mean something to YAML " +
				"(put it in quotes: whenToHub: 'self.?x.orValue(true)')",
		},
		"a text, and more":   {"    - toHub: 'a' + self\n", "9:14 " + expression + "'''a'' + self')"},
		"a list in braces":   {"    - {spoke: .spec.x, toHub: self in [1], toSpoke: self}\n", "9:31 " + expression + "'self in [1]')"},
		"the second of two":  {"    - {toSpoke: 'self ? 1 : 2', toHub: self[0]}\n", "9:40 " + expression + "'self[0]')"},
		"an index in a path": {"    - {spoke: .spec.x[0], toHub: 'self[0]'}\n", broken + "(between { and }, " + between},
		"a path in braces": {
			"    - {spoke: {.spec.x[]}}\n", broken + "(drop the braces around the path: write .name)",
		},
		"a brace that is not closed": {"    - {spoke: .spec.x\n    - {hub: .spec.y}\n", broken + "(write } at the end, or " + between},
		"a quote that is not closed": {
			"    - spoke: '.spec.x\n", "9 not YAML: found unexpected end of stream (a quote is not closed)",
		},
		"a colon in a text": {
			"    - drop: gone: for ever\n",
			"9 not YAML: mapping values are not allowed in this context (put a text with a colon in quotes)",
		},
		"a character with a meaning": {
			"    - drop: @all\n",
			"9 not YAML: found character that cannot start any token (put a value that starts with @, % or ` in quotes)",
		},
		"a negation in braces": {"    - {spoke: .a, hub: .b, toHub: !has(object.spec)}\n", "9:35 " + expression + "'!has(object.spec)')"},
		"a negation": {
			"    - whenToHub: !has(object.spec)\n      spoke: .a\n      hub: .b\n",
			"9:18 tags are not supported: !has(object.spec) (put an expression that starts with ! in quotes)",
		},
		"a mapping for an expression": {
			"    - {spoke: .a, hub: .b, toSpoke: self, toHub: {a: self}}\n", "9:50 toHub is a mapping, not a string (put it in quotes)",
		},
		"braces of JSONPath": {
			"    - {spoke: {.a}, hub: '{.b}'}\n",
			"9:15 spoke has a path in braces (drop the braces: write spoke: .a)\n" +
				"9:27 hub path {.b}: it is in braces (drop the braces: write .b)",
		},
		"a template for a value":  {"    - {spoke: .a, hub: {{.x}}}\n", "9:24 " + template},
		"a template in an object": {"    - spoke: .a\n      hub: {{ .Values.x }}\n", "10:12 " + template},
		"a template and more":     {"    - spoke: .a\n      hub: {{ .x }}.y\n", "10:12 not YAML: " + template},
		"a template for lines":    {"    - spoke: .a\n      {{- include \"x\" . | nindent 6 }}\n", "10:7 not YAML: " + template},
		"a template in quotes, and a list": {
			"    - {spoke: '{{.a}}', hub: .spec.x[0]}\n", broken + "(drop the braces around the path: write .name)",
		},
		"braces of a template": {
			"    - {spoke: '{{.a}}', hub: '${.b}'}\n",
			"9:16 spoke path {{.a}}: it is in braces (drop the braces: write .a)\n" +
				"9:31 hub path ${.b}: it is in braces (drop the braces: write .b)",
		},
	} {
		_, findings := syntax.Parse("f", []byte(head+c.rules))
		if got := inLines(findings); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// inLines writes each finding in a line, with its hint.
func inLines(findings []finding.Finding) (text string) {
	for i, f := range findings {
		if i > 0 {
			text += "\n"
		}
		text += f.Pos.String()[len("f:"):] + " " + f.Message + " (" + f.Hint + ")"
	}
	return text
}
