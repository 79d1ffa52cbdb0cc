package chart_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/chart"
)

// Values that cannot work together fail the rendering, with a line that says why and what to do.
func TestImpossibleCombinations(t *testing.T) {
	t.Parallel()
	texts := strings.NewReplacer("$MEGABYTE", strings.Repeat("x", 1_000_000), "$GIZMOS", strings.ReplaceAll(crdAndRules, "gadgets.example.org", "gizmos.example.org"))
	text, err := os.ReadFile(filepath.Join("testdata", "problems.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var tests []struct{ Name, Values, Want string }
	if err := yaml.UnmarshalStrict(text, &tests); err != nil {
		t.Fatal(err)
	}
	said := make([]string, 0, len(tests))
	for _, tt := range tests {
		said = append(said, tt.Want)
		t.Run(tt.Name, func(t *testing.T) {
			t.Parallel()
			var cluster *chart.Cluster
			switch tt.Name {
			case "rules that a CRD still needs":
				cluster = chart.NewCluster(wired(t)...)
			case "another name":
				cluster = chart.NewCluster(services(t, "metrics: {service: {enabled: true}}")...)
			}
			if strings.HasPrefix(tt.Name, "on Kubernetes 1.35") {
				cluster = chart.NewCluster()
				cluster.Version = "v1.35.9"
			}
			if got := problemsIn(t, texts.Replace(tt.Values), cluster); !slices.Equal(got, []string{tt.Want}) {
				t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), tt.Want)
			}
		})
	}
	for _, text := range problemTexts(t) {
		if !slices.ContainsFunc(said, func(s string) bool { return text.MatchString(s) }) {
			t.Errorf("no case for %s", text)
		}
	}
}

// services returns the Services of a rendering as Helm installs them, those of another release, and
// one of another chart in this release.
func services(t *testing.T, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, release := range []string{chart.ReleaseName, "another"} {
		for _, o := range objects(t, render(t, values(t, text), nil)) {
			metadata, _ := o["metadata"].(map[string]any)
			if o["kind"] != "Service" {
				continue
			}
			metadata["annotations"] = map[string]any{"meta.helm.sh/release-name": release}
			metadata["name"] = strings.Replace(at(t, o, "metadata", "name"), chart.ReleaseName, release, 1)
			all = append(all, o)
		}
	}
	return append(all, map[string]any{
		"apiVersion": "v1", "kind": "Service", "spec": map[string]any{"selector": map[string]any{"app.kubernetes.io/component": "server"}},
		"metadata": map[string]any{
			"name": "another-chart", "namespace": chart.Namespace, "labels": map[string]any{"helm.sh/chart": "another-1.0.0"},
			"annotations": map[string]any{"meta.helm.sh/release-name": chart.ReleaseName},
		},
	})
}

// The chart accepts an existing Service of the same name, and Services of others.
func TestServicesOfOthersDoNotMatter(t *testing.T) {
	t.Parallel()
	if _, err := chart.Render(nil, chart.NewCluster(services(t, "metrics: {service: {enabled: true}}")...)); err != nil {
		t.Error(err)
	}
}

// wired returns the objects of a cluster in which a CRD with rules points at the release.
func wired(t *testing.T) []map[string]any {
	t.Helper()
	r := render(t, values(t, crdAndRules), nil)
	var crd map[string]any
	for _, text := range values(t, crdAndRules)["crds"].(map[string]any) { //nolint:forcetypeassert // see there
		crd = values(t, text.(string)) //nolint:forcetypeassert // see there
	}
	crd["spec"].(map[string]any)["conversion"] = map[string]any{ //nolint:forcetypeassert // see there
		"strategy": "Webhook",
		"webhook":  map[string]any{"clientConfig": map[string]any{"service": map[string]any{"namespace": chart.Namespace, "name": chart.ReleaseName}}},
	}
	return []map[string]any{crd, object(t, r, "ConfigMap", "webhookd-rules")}
}

// Rules that no CRD needs may be removed.
func TestUnneededRulesMayBeRemoved(t *testing.T) {
	t.Parallel()
	other := strings.ReplaceAll(crdAndRules, "gadgets.example.org", "gizmos.example.org")
	for name, change := range map[string]func(spec map[string]any){
		"it points elsewhere": func(spec map[string]any) { spec["conversion"] = map[string]any{"strategy": "None"} },
		"it has one version":  func(spec map[string]any) { spec["versions"] = spec["versions"].([]any)[1:] }, //nolint:forcetypeassert // see crdAndRules
	} {
		all := wired(t)
		change(all[0]["spec"].(map[string]any)) //nolint:forcetypeassert // that of a CRD
		if _, err := chart.Render(values(t, other), chart.NewCluster(all...)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := chart.Render(values(t, other), chart.NewCluster(wired(t)[1])); err != nil {
		t.Errorf("the CRD is gone: %v", err)
	}
	if _, err := chart.Render(values(t, other+"crdWiring: {crds: [gadgets.example.org]}\n"), chart.NewCluster(wired(t)...)); err != nil {
		t.Errorf("it may have a converter in Go: %v", err)
	}
	if _, err := chart.Render(values(t, other+"rulesFrom: [{name: a}]\n"), chart.NewCluster(wired(t)...)); err != nil {
		t.Errorf("they may be in a ConfigMap of the user: %v", err)
	}
}

// Rules of a version that is neither served nor stored are still needed: managedFields may name it,
// and apply then converts to it.
func TestRulesOfAnUnservedVersionAreNeeded(t *testing.T) {
	t.Parallel()
	other := strings.ReplaceAll(crdAndRules, "gadgets.example.org", "gizmos.example.org")
	all := wired(t)
	spec := all[0]["spec"].(map[string]any)                        //nolint:forcetypeassert // that of a CRD
	spec["versions"].([]any)[0].(map[string]any)["served"] = false //nolint:forcetypeassert // see crdAndRules
	if got := problemsIn(t, other, chart.NewCluster(all...)); len(got) != 1 || !strings.HasPrefix(got[0], "- rules convert gadgets.example.org no longer") {
		t.Errorf("problems:\n%s", strings.Join(got, "\n"))
	}
}

func problems(t *testing.T, text string) []string {
	t.Helper()
	return problemsIn(t, text, nil)
}

// problemsIn returns the problems that fail the rendering.
func problemsIn(t *testing.T, text string, cluster *chart.Cluster) []string {
	t.Helper()
	_, err := chart.Render(values(t, text), cluster)
	if err == nil {
		t.Fatal("it renders")
	}
	_, list, found := strings.Cut(err.Error(), "these values cannot work:\n\n")
	if !found {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(list, "\n"), func(line string) bool { return line == "" })
}

// problemTexts returns a pattern for each problem that the templates may report.
func problemTexts(t *testing.T) []*regexp.Regexp {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chart.Dir, "templates", "_problems.tpl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*regexp.Regexp
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "- ") {
			continue
		}
		pattern := regexp.MustCompile(`\\\{\\\{.*?\\\}\\\}|\{\{.*?\}\}`).ReplaceAllString(regexp.QuoteMeta(strings.TrimSpace(line)), ".*")
		all = append(all, regexp.MustCompile("^"+pattern+"$"))
	}
	return all
}

// The chart reports all problems at once.
func TestAllProblemsAreReported(t *testing.T) {
	t.Parallel()
	got := problems(t, "{tls: {mode: existingSecret}, ports: {admin: 9443}, crdsFrom: [{name: a}]}")
	if len(got) != 3 {
		t.Errorf("problems: %q", got)
	}
}

// The error for a file that is not YAML names the file.
func TestUnreadableFilesAreNamed(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"rules.a: not YAML of an object, give the text of a file with --set-file: ": "rules: {a: 'kind: [Conversion'}",
		"crds: b.yaml: not YAML of an object, give":                                 "{rules: {a: 'kind: Conversion'}, crds: {b: '- not an object'}}",
	} {
		if _, err := chart.Render(values(t, text), nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
