package cli

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/internal/cli/voice"
)

// Every input of the GitHub Action reaches the script, which reads nothing else, and actions are
// pinned.
func TestAction(t *testing.T) {
	t.Parallel()
	var action struct {
		Inputs map[string]struct{ Description string }
		Runs   struct {
			Using string
			Steps []struct {
				Uses, Shell, Run string
				Env              map[string]string
			}
		}
	}
	decode(t, "../../action.yml", &action)
	if action.Runs.Using != "composite" {
		t.Errorf("the action is %q", action.Runs.Using)
	}
	env := map[string]string{}
	for _, step := range action.Runs.Steps {
		maps.Copy(env, step.Env)
		if step.Uses != "" && !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(step.Uses) {
			t.Errorf("not pinned to a commit: %s", step.Uses)
		}
		if step.Run != "" && step.Shell != "sh" || strings.Contains(step.Run, "${{") {
			t.Errorf("a step without sh, or with an expression in its text: %s", step.Run)
		}
	}
	script := read(t, "../../contrib/ci/run")
	for name, input := range action.Inputs {
		variable := strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		if env[variable] != "${{ inputs."+name+" }}" || input.Description == "" || !strings.Contains(script, "${"+variable+":") {
			t.Errorf("the input %s does not reach the script", name)
		}
	}
	if info, err := os.Stat("../../contrib/ci/run"); err != nil || info.Mode()&0o111 == 0 {
		t.Error("the script cannot be executed", err)
	}
}

// The hooks of pre-commit are commands of webhookd with flags that it has.
func TestPreCommitHooks(t *testing.T) {
	t.Parallel()
	var hooks []struct{ ID, Entry, Language string }
	decode(t, "../../.pre-commit-hooks.yaml", &hooks)
	var found []string
	for _, hook := range hooks {
		args := strings.Fields(hook.Entry)
		if args[0] != "webhookd" || hook.Language != "golang" {
			t.Errorf("%s: %+v", hook.ID, hook)
			continue
		}
		cmd, _, err := newRootCommand(&voice.Program{}).Find(args[1:])
		if err != nil {
			t.Errorf("%s: %v", hook.ID, err)
			continue
		}
		found = append(found, cmd.Name())
	}
	if want := []string{"check", "test", "rewrite"}; !slices.Equal(found, want) {
		t.Errorf("hooks of %v, want %v", found, want)
	}
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, file)), into); err != nil {
		t.Fatal(err)
	}
}
