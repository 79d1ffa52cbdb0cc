package controlplane_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// migrateCommand removes a version with webhookd migrate, as a user who has the rights that
// docs/how-to/remove-an-old-version.md lists, and no other. A guard protects kept values until it
// lets the user's group remove them.
func migrateCommand(t *testing.T, p *plane.Plane) {
	t.Helper()
	e := byService(t, p)
	w := backupsWebhookd(t, e)
	m := install(t, e, w, backups(t), `{spec: {hostPort: "localhost:80", keep: Manual, timeout: 90s}}`)
	admin := p.Kubectl(t, p.Token(plane.Admin))
	page := readFile(t, filepath.Join(webhook.Root(t), "docs", "how-to", "remove-an-old-version.md"))
	admin.Write(t, "role.yaml", strings.NewReplacer("crontabs.example.com", m.Name, "[crontabs]", "["+m.Plural+"]", "[example.com]", "["+m.Group+"]").
		Replace(codeBlocks(page)["yaml"][0]))
	admin.Run(t, "apply", "-f", "role.yaml")
	admin.Run(t, "create", "serviceaccount", "migrator")
	admin.Run(t, "create", "clusterrolebinding", "migrator", "--clusterrole=migrate-crontabs", "--serviceaccount=default:migrator")
	user := p.Kubectl(t, strings.TrimSpace(admin.Run(t, "create", "token", "migrator")))
	const lost = "remove the kept values of v1beta1: %d of .spec.keep, %[1]d of .spec.timeout (asks first)\n"
	m.store(t, e, func() {
		plan := admin.Shell(t, "webhookd migrate "+m.Name+" --to v1 --remove v1beta1 --dry-run", webhookFolder(t))
		if want := "  step 7       " + fmt.Sprintf(lost, each); !strings.Contains(plan, want) || strings.Contains(plan, "guard") {
			t.Errorf("before the storage version is set, the plan does not say %q:\n%s", want, plan)
		}
	})
	p.StartControllers(t)
	guard := "webhookd crd guard annotations --crd " + m.Name
	admin.Shell(t, guard+" | kubectl apply -f -; "+guard+" --allow-group system:serviceaccounts:default > let.yaml", webhookFolder(t))

	command := "webhookd migrate " + m.Name + " --to v1 --remove v1beta1 --settle 2s --yes"
	run := func(flags string, want ...string) {
		t.Helper()
		got := user.Shell(t, command+flags+" || true", webhookFolder(t))
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s does not say %q:\n%s", flags, text, got)
			}
		}
	}
	scenario.Eventually(t, "the API server to know the guard", func() bool {
		return strings.Contains(user.Shell(t, command+" --dry-run", webhookFolder(t)), "  guard  ")
	})
	run(" --dry-run", "50 objects\n",
		fmt.Sprintf(lost, 2*each), "guard        step 6 would be refused now: ", "only webhookd changes these annotations", "lost fields  v1beta1: controlplane.test will not own .spec.hostPort, .spec.keep, .spec.timeout\n", "step 1       write each object once, so that it is stored in v1\n")
	m.MustConvert(t, w, each, func() {
		run("", "50 of 50 objects written at v1", "no longer name v1beta1 in managedFields", "remove v1beta1 from spec.versions\n",
			": the next step would be refused: ", "only webhookd changes these annotations", "or delete the policy, and run this again\n")
	})
	if diff := cmp.Diff(map[string]int{"example.com/v1": 2 * each}, m.storedAt(t)); diff != "" {
		t.Errorf("versions of %s in etcd after the migration (-want +got):\n%s", m.Name, diff)
	}
	if diff := cmp.Diff([]string{"v1"}, storedVersions(t, e, m.Resource)); diff != "" {
		t.Errorf("status.storedVersions (-want +got):\n%s", diff)
	}
	admin.Run(t, "apply", "-f", "let.yaml")
	scenario.Eventually(t, "the guard to let the user remove kept values", func() bool {
		return strings.Contains(user.Shell(t, command+" || true", webhookFolder(t)), "nothing names a version that is gone")
	})
	w.Terminate()
	w.Wait()
	list, err := m.At("v1").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 2*each {
		t.Fatalf("%d objects: %v", len(list.Items), err)
	}
	after := m.objects(t)
	for name, before := range m.before {
		metadata, _ := before["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		for key := range annotations {
			if strings.Contains(key, "webhookd.io/v1beta1.") {
				delete(annotations, key)
			}
		}
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
		if diff := cmp.Diff(before, after[name]); diff != "" {
			t.Errorf("%s without webhookd (-before the migration +after):\n%s", name, diff)
		}
	}
}
