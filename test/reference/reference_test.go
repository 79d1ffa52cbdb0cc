package reference_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/conversion/rules"
)

//nolint:gochecknoglobals // flags
var (
	steps = flag.Int("steps", 8000, "steps of all walks together")
	stop  = flag.Uint64("stop", 0, "stop at a difference after so many rule sets")
	seed  = flag.Uint64("seed", 1, "seed of the first walk")
)

// window converts "DAYS START" and both, as the example's own function does.
func window() rules.Function {
	return rules.Function{
		ToHub: func(_ context.Context, in []json.RawMessage) ([]json.RawMessage, error) {
			var s string
			if in[0] == nil {
				return make([]json.RawMessage, 2), nil
			}
			if err := json.Unmarshal(in[0], &s); err != nil {
				return nil, err
			}
			days, start, ok := strings.Cut(s, " ")
			if !ok {
				return nil, fmt.Errorf("no start")
			}
			return []json.RawMessage{json.RawMessage(`"` + days + `"`), json.RawMessage(`"` + start + `"`)}, nil
		},
		ToSpoke: func(_ context.Context, in []json.RawMessage) ([]json.RawMessage, error) {
			if in[0] == nil || in[1] == nil {
				return make([]json.RawMessage, 1), nil
			}
			return []json.RawMessage{json.RawMessage(strings.TrimSuffix(string(in[0]), `"`) + " " + string(in[1][1:]))}, nil
		},
	}
}

// subjects returns the folders with rules and a CRD.
func subjects(t *testing.T) map[string]*subject {
	t.Helper()
	out := map[string]*subject{}
	for _, pattern := range []string{"examples/*", "testdata/kinds/*", "test/upstream/kinds/*"} {
		files, err := filepath.Glob(filepath.Join("..", "..", pattern, "rules.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			dir := filepath.Dir(file)
			var more [][]byte
			if strings.Contains(dir, "openstack") {
				more = append(more, read(t, "../../test/upstream/kinds/openstack.yaml"))
			}
			name := strings.TrimPrefix(dir, "../../")
			s, err := newSubject(t.Context(), name, map[string]rules.Function{"example.com/window": window()},
				read(t, filepath.Join(dir, "crd.yaml")), read(t, file), more...)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			out[name] = s
		}
	}
	return out
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// refused are kinds that are not compared, and the construct that the reference does not judge yet.
func refused() map[string]string {
	return map[string]string{
		"test/upstream/kinds/authorino-authconfig":           "expressions that make lists of objects within elements",
		"test/upstream/kinds/capsule-tenant":                 "objects that an edit removes, and of which a label or an annotation is left",
		"test/upstream/kinds/openstack-machine":              "objects that an edit removes, and of which a place in .status is left",
		"test/upstream/kinds/openstack-cluster":              "values that return make an object that an expression reads",
		"test/upstream/kinds/opendatahub-datasciencecluster": "an expression that makes a whole map",
	}
}

// compared is the number of kinds that are compared: it only grows.
const compared = 27

func TestWebhookdShowsWhatTheReferenceShows(t *testing.T) {
	t.Parallel()
	all := subjects(t)
	for name := range refused() {
		if all[name] == nil {
			t.Errorf("there is no %s", name)
		}
		delete(all, name)
	}
	if len(all) != compared {
		t.Errorf("%d kinds are compared, not %d", len(all), compared)
	}
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.walk(t, *seed, *steps/2/len(all))
		})
	}
}

//nolint:tparallel // a set of rules that differs ends the test
func TestGeneratedRules(t *testing.T) {
	t.Parallel()
	const each = 240
	refused := 0
	n := max(*steps/each/2, 1)
	for i := range uint64(n) {
		ruleText, crd, names := generate(*seed*1_000_000 + i)
		if strings.Contains(names, "list/") {
			names = "list"
		}
		s, err := newSubject(t.Context(), "generated with "+names, nil, crd, ruleText)
		if err != nil {
			t.Logf("%v\n%s\n%s", err, ruleText, crd)
			refused++
			continue
		}
		if !t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Log(names)
			s.walk(t, i, each)
		}) && i >= *stop {
			break
		}
	}
	if refused*10 > n {
		t.Errorf("%d of %d sets of rules were refused", refused, n)
	}
}
