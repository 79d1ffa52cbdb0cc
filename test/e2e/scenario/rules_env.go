package scenario

import (
	"bytes"
	"embed"
	"maps"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// rulesGroup is the group of the kinds that are converted by rules. The examples' kinds are in it
// as they are in example.com, where webhookd has converters of its own for them.
const rulesGroup = "rules.example.com"

//go:embed testdata/rules testdata/crds
var ruleFiles embed.FS

// ByRules returns an Env in the same cluster where webhookd converts by the rules of testdata, and
// the CRDs of the examples are those that the rules are about.
func (e *Env) ByRules(t *testing.T) *Env {
	t.Helper()
	byRules := *e
	byRules.rules = newRuleFolders(t)
	return &byRules
}

// CRD loads examples/crds/NAME.yaml as the Env needs it.
func (e *Env) CRD(t *testing.T, name string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := CRD(t, name)
	if e.rules != nil {
		regroup(crd, strings.TrimSuffix(crd.Spec.Group, "example.com")+rulesGroup)
	}
	return crd
}

// regroup moves a CRD to another group.
func regroup(crd *apiextensionsv1.CustomResourceDefinition, group string) {
	crd.Name, crd.Spec.Group = crd.Spec.Names.Plural+"."+group, group
}

// ruleFolders are the Conversion files and the CRDs that webhookd reads, each folder mounted as a
// ConfigMap is.
type ruleFolders struct {
	dir         string
	rules, crds map[string][]byte
	w           *webhook.Process // that reads them
}

func newRuleFolders(t *testing.T) *ruleFolders {
	t.Helper()
	f := &ruleFolders{dir: t.TempDir(), rules: embedded(t, "rules"), crds: embedded(t, "crds")}
	byRules := &Env{rules: f}
	for _, name := range []string{"crontabs.example.com", "crontabs.stable.example.com", "databases.example.com"} {
		crd := byRules.CRD(t, name)
		f.crds[crd.Name+".yaml"] = crdText(t, crd)
	}
	tlstest.WriteSecretDir(t, f.path("rules"), f.rules)
	tlstest.WriteSecretDir(t, f.path("crds"), f.crds)
	return f
}

// embedded returns the files of a folder of testdata.
func embedded(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	entries, err := ruleFiles.ReadDir(path.Join("testdata", folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if files[entry.Name()], err = ruleFiles.ReadFile(path.Join("testdata", folder, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func crdText(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) []byte {
	t.Helper()
	text, err := yaml.Marshal(crd)
	if err != nil {
		t.Fatalf("CRD: %v", err)
	}
	return text
}

func (f *ruleFolders) path(folder string) string { return filepath.Join(f.dir, folder) }

// flags are those with which webhookd serves the rules.
func (f *ruleFolders) flags() []string {
	return []string{"--rules", f.path("rules"), "--crds", f.path("crds")}
}

// knows has webhookd know a CRD as the cluster does, which matters where a scenario has changed it.
func (f *ruleFolders) knows(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	text, name := crdText(t, crd), crd.Name+".yaml"
	if known := ParseCRD(t, string(f.crds[name])); bytes.Equal(crdText(t, known), text) {
		return
	}
	f.crds = maps.Clone(f.crds)
	f.crds[name] = text
	f.reloads(t, "success", func() { tlstest.SwapSecretDir(t, f.path("crds"), f.crds) })
}

// change replaces a text in a file of rules, and waits for webhookd to take the change over, or
// not.
func (f *ruleFolders) change(t *testing.T, name, old, replacement, result string) {
	t.Helper()
	was := string(f.rules[name])
	if strings.Count(was, old) != 1 {
		t.Fatalf("%s does not have %q once", name, old)
	}
	f.rules = maps.Clone(f.rules)
	f.rules[name] = []byte(strings.Replace(was, old, replacement, 1))
	f.reloads(t, result, func() { tlstest.SwapSecretDir(t, f.path("rules"), f.rules) })
}

// reloads waits until webhookd's metrics have one reload with this result more.
func (f *ruleFolders) reloads(t *testing.T, result string, do func()) {
	t.Helper()
	count := func() float64 { return f.w.Metrics(t).Sum("webhookd_rules_reloads_total", "result", result) }
	before := count()
	do()
	Eventually(t, "webhookd to notice a change, with "+result, func() bool { return count() > before })
}
