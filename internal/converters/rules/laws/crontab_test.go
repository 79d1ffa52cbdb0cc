package laws_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/rules/hints"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

// The CronTab of rules and the one in Go convert every object to the same one, and keep something
// of the same objects.
func TestCronTabOfRulesIsTheOneInGo(t *testing.T) {
	t.Parallel()
	byGo := exampletest.CronTab("rules.example.com")
	for _, e := range findExamples(t) {
		if e.name != "crontab-rules" {
			continue
		}
		byRules, tried := e.suite(t).Kind, hints.Of(e.c)
		for _, version := range []string{"v1beta1", "v1"} {
			for path, texts := range map[string][]string{".hostPort": hostPorts(), ".host": hostPorts(), ".port": {`"80"`, `""`, `":"`, `"8:0"`}} {
				tried[version][path] = append(tried[version][path], texts...)
			}
			generator, err := generate.NewGenerator(e.crd.Version(version), tried[version])
			if err != nil {
				t.Fatal(err)
			}
			for index := uint64(0); index < 10**exampleObjects && !t.Failed(); index++ {
				if object := generator.Object(*lawsSeed, index); object != nil {
					agree(t, byRules, &byGo, object, version)
				}
			}
		}
		return
	}
	t.Fatal("no example crontab-rules")
}

func hostPorts() []string {
	return []string{
		`"localhost:80"`, `"localhost"`, `":80"`, `"a:"`, `":"`, `""`, `"::1"`, `"[::1]:80"`, `"[::1]"`, `"[a]:80"`, `"[]:1"`, `"a:b:c"`,
		`"[a:b]:c:d"`, `"[[::1]]:80"`, `"\n:1"`, `"[:\n:]:1"`, `"]:["`, `"é:1"`, `"[::1:80"`,
	}
}

func agree(t *testing.T, byRules, byGo *converters.Kind, object []byte, from string) {
	t.Helper()
	to := map[string]string{"v1": "v1beta1", "v1beta1": "v1"}[from]
	was, is := convert(t, byGo, object, from, to), convert(t, byRules, object, from, to)
	goKept, rulesKept := take(was), take(is)
	if diff := cmp.Diff(was, is); diff != "" {
		t.Errorf("%s -> %s of %s (-Go +rules):\n%s", from, to, object, diff)
	}
	if (goKept == "") != (rulesKept == "") {
		t.Errorf("%s -> %s of %s: Go keeps %q, rules keep %q", from, to, object, goKept, rulesKept)
	}
}

// convert returns the decoded result.
func convert(t *testing.T, kind *converters.Kind, object []byte, from, to string) map[string]any {
	t.Helper()
	obj, err := jsondoc.ParseObject(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := kind.Convert(t.Context(), obj, from, to); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	var decoded map[string]any
	if err := utiljson.Unmarshal(obj.Text(), &decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

// take removes what was kept from an object, and returns it.
func take(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	kept := ""
	maps.DeleteFunc(annotations, func(name string, value any) bool {
		text, ok := value.(string)
		own := ok && annotation.IsOwn(name)
		if own {
			kept += text
		}
		return own
	})
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	if len(metadata) == 0 {
		delete(object, "metadata")
	}
	return kept
}
