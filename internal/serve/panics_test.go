package serve

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
	"github.com/crdconvert/webhookd/test/helpers/rulesettest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// One file makes a parser panic in all replicas at once: they keep serving the previous rules.
func TestAPanicOverNewRulesKeepsTheOldOnes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := config.Config{Rules: filepath.Join(dir, "rules"), CRDs: filepath.Join(dir, "crds"), WaitForRules: true}
	good := map[string][]byte{"w.yaml": []byte(rulesettest.Conversion("Widget", "width"))}
	tlstest.WriteSecretDir(t, c.Rules, good)
	tlstest.WriteSecretDir(t, c.CRDs, map[string][]byte{"w.yaml": []byte(rulesettest.CRD("Widget"))})
	var tally ruleTally
	lines := logged(t, zapcore.DebugLevel, func(logger *zap.Logger) {
		w, err := openRules(t.Context(), c, exampleKinds(), logger, &tally, nil)
		if err != nil {
			t.Fatal(err)
		}
		before := w.registry()
		w.load = func(_ context.Context, rules, _ []ruleset.File) (ruleset.Set, error) {
			return ruleset.Set{Findings: []finding.Finding{{Message: rules[1].Name}}}, nil
		}
		tlstest.SwapSecretDir(t, c.Rules, map[string][]byte{"a.yaml": []byte("# others")})
		for range 3 {
			w.look(t.Context())
		}
		if w.registry() != before || w.ready() != nil {
			t.Error("the rules that there were are gone")
		}
		w.load = exampleKinds().Load
		tlstest.SwapSecretDir(t, c.Rules, good)
		w.look(t.Context())
	})
	wantStack(t, lines[0], "TestAPanicOverNewRulesKeepsTheOldOnes")
	want := []map[string]any{{
		"level": "error", "msg": "rules cannot be used, the last good ones are kept",
		"findings": []any{"panic, the log has the stack: runtime error: index out of range [1] with length 1"},
	}}
	if diff := cmp.Diff(want, lines[:len(lines)-1]); diff != "" {
		t.Error(diff)
	}
	if got := lines[len(lines)-1]["msg"]; got != "rules loaded" {
		t.Errorf("the last line says %v", got)
	}
	if diff := cmp.Diff([]int{0, 1, 0}, tally.read); diff != "" {
		t.Errorf("counted: %s", diff)
	}
}

// wantStack checks that a line has the stack of a panic in a function, and removes it.
func wantStack(t *testing.T, line map[string]any, function string) {
	t.Helper()
	if stack, _ := line["stack"].(string); !strings.Contains(stack, function) {
		t.Errorf("stack without %s: %s", function, stack)
	}
	delete(line, "stack")
}
