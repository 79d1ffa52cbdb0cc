package chart_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/chart"
)

// The section on changing the mode names an existing Deployment, an existing mode, and the Secrets
// that pods mount.
func TestAnotherModeNamesExistingObjects(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join(chart.Dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, way, _ := strings.Cut(string(readme), "\n### Another mode\n")
	way, _, _ = strings.Cut(way, "\n## ")
	found := func(expression string) []string {
		matches := regexp.MustCompile(expression).FindAllStringSubmatch(way, -1)
		all := make([]string, 0, len(matches))
		for _, match := range matches {
			all = append(all, match[1])
		}
		if len(all) == 0 {
			t.Errorf("nothing there: %s", expression)
		}
		return all
	}
	mode := found(`--set tls\.mode=(\w+)`)[0]
	r := render(t, values(t, "tls: {mode: "+mode+"}"), nil)
	for _, name := range found(`deployment/([\w-]+)`) {
		object(t, r, "Deployment", name)
	}
	for _, name := range found(`get secret ([\w-]+)`) {
		if !strings.Contains(r["server/deployment.yaml"], "secretName: "+name+"\n") {
			t.Errorf("the pods of %s do not mount %s", mode, name)
		}
	}
	for _, suffix := range found("`NAME(-[\\w-]+)`") {
		mounted := false
		for _, mode := range []string{"helm", "certManager", "selfManaged"} {
			r := render(t, values(t, "tls: {mode: "+mode+"}"), nil)
			mounted = mounted || strings.Contains(r["server/deployment.yaml"], "secretName: "+chart.ReleaseName+suffix+"\n")
		}
		if !mounted {
			t.Errorf("no pods mount %s", suffix)
		}
	}
	cleared := values(t, "{tls: {mode: "+mode+", existingSecret: ''}}")
	render(t, cleared, nil) // what --set tls.existingSecret= makes of it
}

// Each value has a comment, or is part of a value that has one.
func TestEveryValueIsDocumented(t *testing.T) {
	t.Parallel()
	documented, err := chart.Documented()
	if err != nil {
		t.Fatal(err)
	}
	defaults, err := chart.Defaults()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, v := range documented {
		if v.Text == "" || v.Section == "" {
			t.Errorf("%s has no text or no section", v.Name())
		}
		known[v.Name()] = true
	}
	var check func(prefix string, mapping map[string]any)
	check = func(prefix string, mapping map[string]any) {
		for key, value := range mapping {
			name := prefix + key
			if known[name] {
				continue
			}
			if below, is := value.(map[string]any); is && len(below) > 0 {
				check(name+".", below)
				continue
			}
			t.Errorf("no comment: %s", name)
		}
	}
	check("", defaults)
}
