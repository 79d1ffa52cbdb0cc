package serve

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/test/helpers/rulesettest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

const (
	emptyRules   = "RULES: no Conversion in any file: put some there, or unset rules to serve only what is compiled in"
	brokenRules  = "RULES: none of the rules can be used: the log and webhookd check show why"
	partialRules = "RULES: rules of some kinds have errors, which the log and webhookd check show; ready without those kinds 5m0s after the start"

	rulesKept     = "error: rules cannot be used, the last good ones are kept"
	rulesAsTheyGo = "error: rules have errors, only the kinds without any are served"
	rulesAsBefore = "error: rules have errors with these CRDs, the kinds that were served are kept"
	rulesLoaded   = "info: rules loaded"
)

// ruleTally records the calls of metrics.
type ruleTally struct {
	read, kinds []int
	digests     []string
}

func (r *ruleTally) RulesRead(findings int) { r.read = append(r.read, findings) }
func (r *ruleTally) RulesServed(kinds int, digest string) {
	r.kinds, r.digests = append(r.kinds, kinds), append(r.digests, digest)
}

// A ruleStep is a state of the rules' folder, which is read three times, and the expected result.
type ruleStep struct {
	name  string
	files map[string]string
	lines []string // level: message
	ruled []string // kinds of rules that are served
	ready string   // what readiness says
}

// Rules come and go; the CRDs of all kinds stay.
func TestRuleWatch(t *testing.T) {
	t.Parallel()
	widget, gadget := rulesettest.Conversion("Widget", "width"), rulesettest.Conversion("Gadget", "width")
	wrong := strings.Replace(gadget, "spoke:", "spok:", 1)
	crd := rulesettest.CRD("Widget")
	for name, tt := range map[string]struct {
		steps []ruleStep // the first one is the start
		read  []int      // findings of each reading that counts
	}{
		"all rules go": {
			steps: []ruleStep{
				{"start", map[string]string{"w.yaml": widget, "g.yaml": gadget}, nil, []string{"Gadget", "Widget"}, ""},
				{"no file", nil, []string{rulesKept}, []string{"Gadget", "Widget"}, ""},
				{"no Conversion", map[string]string{"crd.yaml": crd}, nil, []string{"Gadget", "Widget"}, ""},
				{"another name", map[string]string{"w.txt": widget}, nil, []string{"Gadget", "Widget"}, ""},
				{"back again", map[string]string{"w.yaml": widget, "g.yaml": gadget}, []string{rulesLoaded}, []string{"Gadget", "Widget"}, ""},
				{"no file again", nil, []string{rulesKept}, []string{"Gadget", "Widget"}, ""},
			},
			read: []int{0, 1, 0, 1},
		},
		"one of two goes": {
			steps: []ruleStep{
				{"start", map[string]string{"w.yaml": widget, "g.yaml": gadget}, nil, []string{"Gadget", "Widget"}, ""},
				{
					"one",
					map[string]string{"g.yaml": gadget},
					[]string{rulesLoaded, "warn: kinds are no longer converted, their rules are gone: [Widget.example.com]"},
					[]string{"Gadget"},
					"",
				},
				{"both", map[string]string{"w.yaml": widget, "g.yaml": gadget}, []string{rulesLoaded}, []string{"Gadget", "Widget"}, ""},
			},
			read: []int{0, 0, 0},
		},
		"none at the start": {
			steps: []ruleStep{
				{"start", nil, []string{rulesAsTheyGo}, nil, emptyRules},
				{"still none", map[string]string{"crd.yaml": crd}, nil, nil, emptyRules},
				{"one", map[string]string{"w.yaml": widget}, []string{rulesLoaded}, []string{"Widget"}, ""},
				{"none", nil, []string{rulesKept}, []string{"Widget"}, ""},
			},
			read: []int{1, 0, 1},
		},
		"none at the start, then some with findings": {
			steps: []ruleStep{
				{"start", nil, []string{rulesAsTheyGo}, nil, emptyRules},
				{"wrong", map[string]string{"g.yaml": wrong}, []string{rulesAsTheyGo}, nil, brokenRules},
				{"the same, and one that is right", map[string]string{"g.yaml": wrong, "w.yaml": widget}, []string{rulesLoaded}, []string{"Widget"}, partialRules},
				{"the other too", map[string]string{"g.yaml": wrong, "w.yaml": rulesettest.Conversion("Widget", "wide")}, []string{rulesKept}, []string{"Widget"}, partialRules},
			},
			read: []int{1, 1, 2},
		},
		"only findings at the start": {
			steps: []ruleStep{
				{"start", map[string]string{"g.yaml": wrong}, []string{rulesAsTheyGo}, nil, brokenRules},
				{"fixed", map[string]string{"g.yaml": gadget}, []string{rulesLoaded}, []string{"Gadget"}, ""},
			},
			read: []int{1, 0},
		},
		"findings for one of two at the start": {
			steps: []ruleStep{
				{"start", map[string]string{"g.yaml": wrong, "w.yaml": widget}, []string{rulesAsTheyGo}, []string{"Widget"}, partialRules},
				{"fixed", map[string]string{"g.yaml": gadget, "w.yaml": widget}, []string{rulesLoaded}, []string{"Gadget", "Widget"}, ""},
				{"wrong again", map[string]string{"g.yaml": wrong, "w.yaml": widget}, []string{rulesKept}, []string{"Gadget", "Widget"}, ""},
			},
			read: []int{1, 0, 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := config.Config{Rules: filepath.Join(dir, "rules"), CRDs: filepath.Join(dir, "crds"), WaitForRules: true}
			tlstest.WriteSecretDir(t, c.Rules, nil)
			tlstest.WriteSecretDir(t, c.CRDs, map[string][]byte{"w.yaml": []byte(crd), "g.yaml": []byte(rulesettest.CRD("Gadget"))})
			var tally ruleTally
			var w *ruleWatch
			for _, step := range tt.steps {
				files := map[string][]byte{}
				for name, text := range step.files {
					files[name] = []byte(text)
				}
				tlstest.SwapSecretDir(t, c.Rules, files)
				lines := logged(t, zapcore.DebugLevel, func(logger *zap.Logger) {
					if w == nil {
						var err error
						if w, err = openRules(t.Context(), c, exampleKinds(), logger, &tally, nil); err != nil {
							t.Fatal(err)
						}
					}
					w.logger = logger
					for range 3 {
						w.look(t.Context())
					}
				})
				step.check(t, w, lines)
			}
			if diff := cmp.Diff(tt.read, tally.read); diff != "" {
				t.Errorf("counted: %s", diff)
			}
		})
	}
}

// A replica that starts with rules of which some are broken lets a rollout stop, but does not keep
// the sound kinds unreadable for good.
func TestReadyWithSomeKindsAfterAWhile(t *testing.T) {
	t.Parallel()
	w := &ruleWatch{rules: "RULES", opened: time.Now().Add(-rolloutPatience + time.Minute)}
	registry, err := exampleKinds().Registry(nil)
	if err != nil {
		t.Fatal(err)
	}
	w.current.Store(&servedRules{registry: registry, partial: true})
	if err := w.ready(); err == nil || err.Error() != partialRules {
		t.Errorf("after four minutes: %v", err)
	}
	w.opened = time.Now().Add(-rolloutPatience)
	if err := w.ready(); err != nil {
		t.Errorf("after five minutes: %v", err)
	}
}

func (s ruleStep) check(t *testing.T, w *ruleWatch, lines []map[string]any) {
	t.Helper()
	told := make([]string, 0, len(lines))
	for _, line := range lines {
		text := fmt.Sprintf("%s: %s", line["level"], line["msg"])
		if line["level"] == "warn" {
			text += fmt.Sprintf(": %v", line["kinds"])
		}
		told = append(told, text)
	}
	if diff := cmp.Diff(s.lines, told, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: log: %s", s.name, diff)
	}
	var ruled []string
	for _, kind := range w.registry().Kinds() {
		if !exampleKinds().Has(kind.GroupKind) {
			ruled = append(ruled, kind.Kind)
		}
	}
	if diff := cmp.Diff(s.ruled, ruled); diff != "" {
		t.Errorf("%s: served: %s", s.name, diff)
	}
	lacks := ""
	if err := w.ready(); err != nil {
		lacks = strings.ReplaceAll(err.Error(), w.rules, "RULES")
	}
	if diff := cmp.Diff(s.ready, lacks); diff != "" {
		t.Errorf("%s: readiness: %s", s.name, diff)
	}
}
