package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/helpers/wait"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/test/oracle/load"
)

// generations is how many fields there are for a generation of rules to move a value to.
const generations = 8

// TestP5RulesChangeUnderLoad replaces the rules again and again, now and then with some that are
// wrong: no call fails, and all objects of a review are converted by the same rules.
func TestP5RulesChangeUnderLoad(t *testing.T) {
	t.Parallel()
	swaps := scaled(240, 2400) // one in six is bad
	ca, rules, crds := tlstest.NewCA(t, "faults"), t.TempDir(), t.TempDir()
	var fields strings.Builder
	for g := range generations {
		fmt.Fprintf(&fields, "              g%d: {type: integer}\n", g)
	}
	write(t, filepath.Join(crds, "things.yaml"), crdText("things", "Thing", "              width: {type: integer}\n", fields.String()))
	put := func(text string) {
		next := filepath.Join(rules, ".next")
		write(t, next, conversionText("things", text))
		if err := os.Rename(next, filepath.Join(rules, "things.yaml")); err != nil {
			t.Fatal(err)
		}
	}
	good := func(g int) string {
		text := fmt.Sprintf("    - {spoke: .spec.width, hub: .spec.g%d}\n", g)
		for other := range generations {
			if other != g {
				text += fmt.Sprintf("    - {hub: .spec.g%d}\n", other)
			}
		}
		return text
	}
	put(good(0))
	p := launchHostile(t, ca, []string{"rules cannot be used"}, "--rules="+rules, "--crds="+crds)
	c := alone(p).Converter(t, schema.GroupKind{Group: "ruled.example.com", Kind: "Thing"}, []string{"v1beta1", "v1"}, hook(ca))
	l := load.Start(t, load.Options{Workers: 4, Call: func(int, int) error { return sameGeneration(c.To(things(), "v1")) }})

	var loaded, refused int
	for i := range swaps {
		if i%6 == 5 {
			put(badRules(i / 6))
			refused++
			wait.Until(t, "the refusal of bad rules", func() bool { return len(p.Log("rules cannot be used")) == refused })
			continue
		}
		put(good((i + 1) % generations))
		loaded++
		wait.Until(t, "the new rules", func() bool { return len(p.Log(`"msg":"rules loaded"`)) == loaded })
	}
	l.More(4)
	l.NoFailures()
	t.Logf("%d good and %d bad changes, %d reviews of %d objects", loaded, refused, l.Calls(), listObjects)
}

// things is a list whose conversion shows which rules made it.
func things() *unstructured.UnstructuredList {
	in := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "ruled.example.com/v1", "kind": "ThingList"}}
	for i := range listObjects {
		in.Items = append(in.Items, unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "ruled.example.com/v1beta1", "kind": "Thing",
			"metadata": map[string]any{"name": fmt.Sprintf("t-%d", i)}, "spec": map[string]any{"width": int64(i)},
		}})
	}
	return in
}

// sameGeneration checks that one generation of the rules has converted all of things.
func sameGeneration(out runtime.Object, err error) error {
	if err != nil {
		return err
	}
	list, ok := out.(*unstructured.UnstructuredList)
	if !ok || len(list.Items) != listObjects {
		return wrongAnswerError(fmt.Sprintf("a %T", out))
	}
	var generation string
	for i := range list.Items {
		spec, _, _ := unstructured.NestedMap(list.Items[i].Object, "spec")
		for name, value := range spec {
			if generation == "" {
				generation = name
			}
			if name != generation || value != int64(i) || len(spec) != 1 {
				return wrongAnswerError(fmt.Sprintf("object %d has %v, others %s", i, spec, generation))
			}
		}
	}
	return nil
}

// badRules are some that webhookd must not take, each of them another one.
func badRules(n int) string {
	kinds := []string{
		"    - {spoke: .spec.width, hub: .spec.absent%d}\n",
		"    - {spoke: .spec.absent%d, hub: .spec.g0}\n",
		"    - {spoke: .spec.width, hub: .spec.g0, unknown%d: x}\n",
		"    - {spoke: .spec.width, hub: .spec.g0, toHub: 'self +', toSpoke: 'self(%d'}\n",
		"    - {spoke: [%d\n",
		"    - {spoke: '.spec.width', hub: '.spec..g%d'}\n",
		"    - &a%d {spoke: .spec.width, hub: .spec.g0}\n",
		"    no list %d\n",
	}
	return fmt.Sprintf(kinds[n%len(kinds)], n)
}
