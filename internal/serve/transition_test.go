package serve

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/test/helpers/rulesettest"
)

// Two replicas get a rule one after the other: by a reload, or by a restart. At no time does an
// object lose what is stored, and the rule converts it at once.
func TestReplicasGetRulesOneAfterTheOther(t *testing.T) {
	t.Parallel()
	const period = 10 * time.Minute
	after := rulesettest.Conversion("Widget", "width")
	before := strings.Replace(after, "{spoke: .spec.width, hub: .spec.size}", "", 1)
	during := strings.Replace(after, ".spec.size}", ".spec.size, transitional: true}", 1)
	for name, steps := range map[string][]func(a, b *replica){
		"reloaded": {
			func(a, b *replica) { a.start(before); b.start(before) },
			func(a, _ *replica) { a.reload(after); advance(time.Minute) },
			func(_, b *replica) { b.reload(after); advance(period - time.Minute) },
			func(a, _ *replica) { a.tick(); advance(time.Minute) },
			func(_, b *replica) { b.tick(); advance(period - time.Minute) },
			func(a, _ *replica) { a.tick(); advance(time.Minute) },
			func(_, b *replica) { b.tick() },
		},
		"started": {
			func(a, b *replica) { a.start(before); b.start(before) },
			func(a, _ *replica) { a.start(during); advance(time.Minute) },
			func(_, b *replica) { b.start(during); advance(period - time.Minute) },
			func(a, _ *replica) { a.tick(); advance(time.Minute) },
			func(_, b *replica) { b.tick() },
			func(a, _ *replica) { a.start(after) },
			func(_, b *replica) { b.start(after) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "crd.yaml"), rulesettest.CRD("Widget"))
			synctest.Test(t, func(t *testing.T) {
				a, b := &replica{t: t, dir: dir, name: "a"}, &replica{t: t, dir: dir, name: "b"}
				stored := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","uid":"1"},"spec":{"size":3}}`
				for i, step := range steps {
					step(a, b)
					for _, pair := range [][2]*replica{{a, b}, {b, a}, {a, a}} {
						read := pair[0].convert(stored, "v1", "v1beta1")
						if shown := strings.Contains(read, `"width":3`); pair[0] == a && shown != (i > 0) {
							t.Errorf("step %d: %s reads %s", i, pair[0].name, read)
						}
						if stored = pair[1].convert(read, "v1beta1", "v1"); !strings.Contains(stored, `"size":3`) {
							t.Fatalf("step %d: read by %s: %s\nwritten by %s: %s", i, pair[0].name, read, pair[1].name, stored)
						}
					}
				}
				if read := a.convert(stored, "v1", "v1beta1"); strings.Contains(read+stored, "webhookd.io") {
					t.Errorf("annotations are left: %s is read as %s", stored, read)
				}
			})
		})
	}
}

// A replica has its own copy of the rules.
type replica struct {
	t         *testing.T
	dir, name string
	*ruleWatch
}

func (r *replica) write(rules string) { writeFile(r.t, filepath.Join(r.dir, r.name+".yaml"), rules) }

func (r *replica) start(rules string) {
	r.write(rules)
	r.ruleWatch = opened(r.t, config.Config{
		Rules: filepath.Join(r.dir, r.name+".yaml"), CRDs: filepath.Join(r.dir, "crd.yaml"), RulesTransition: 10 * time.Minute,
	})
}

func (r *replica) reload(rules string) {
	r.write(rules)
	if r.look(r.t.Context()); r.failure != "" {
		r.t.Fatal(r.failure)
	}
}

func (r *replica) tick() { r.advance(r.t.Context()) }

func (r *replica) convert(object, from, to string) string {
	r.t.Helper()
	obj, err := jsondoc.ParseObject([]byte(object))
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.registry().Lookup(schema.GroupKind{Group: "example.com", Kind: "Widget"}).Convert(r.t.Context(), obj, from, to); err != nil {
		r.t.Fatal(err)
	}
	return string(obj.Text())
}
