package transform

import (
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/go-cmp/cmp"
)

func TestSyntaxProblemsAreSaidInWords(t *testing.T) {
	t.Parallel()
	env, err := cel.NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	const early, str = "it ends too early", "a string that does not end, or has an escape that CEL does not know"
	for expression, want := range map[string][]string{
		"self +":     {early},
		"":           {early},
		"(self":      {"')' is missing at the end"},
		"[1,":        {"']' is missing at the end"},
		"a ? b":      {"':' is missing at the end"},
		"f(a b)":     {"'b' where ')' is expected"},
		"self + )":   {"')' is not allowed here"},
		"a b":        {"'b' is not allowed here"},
		"a.":         {"nothing that can follow '.'"},
		"a == = b":   {"characters that mean nothing: = "},
		"$x":         {"characters that mean nothing: $"},
		"'abc":       {str, early},
		`self + "\q`: {str, early},
	} {
		_, issues := env.Parse(expression)
		got := make([]string, 0, len(issues.Errors()))
		for _, e := range issues.Errors() {
			got = append(got, syntaxProblem(strings.TrimPrefix(e.Message, "Syntax error: ")))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", expression, diff)
		}
	}
}
