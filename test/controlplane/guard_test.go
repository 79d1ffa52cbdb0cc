package controlplane_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/cluster/crdguard"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// guard has the API server keep clients from changing kept values, by what `webhookd crd guard
// annotations` prints, in both modes and with either version stored. A user who may do everything
// with the objects but write their status tries to; and all that others do goes on.
func guard(t *testing.T, p *plane.Plane) {
	t.Helper()
	p.StartControllers(t)
	team := newTeam(t, p, "guarded", "machines", "guard.example.com")
	for _, mode := range []crdguard.Mode{crdguard.Validate, crdguard.Restore} {
		t.Run(string(mode), func(t *testing.T) {
			e := byService(t, p)
			r := e.Install(t, machinesCRD(t), machinesWebhookd(t, e))
			r.Namespace = team.namespace
			g := &guarded{Resource: r, team: team, env: e, mode: mode}
			defer g.policies(t, "annotations", "--mode="+string(mode))()
			for _, storage := range []string{"v1beta1", "v1"} {
				t.Run("stored at "+storage, func(t *testing.T) {
					if storage != r.Storage {
						g.migrate(t, storage)
					}
					t.Run("attacks", g.attacks)
					t.Run("manifests", g.manifests)
					t.Run("ordinary writes", g.ordinary)
				})
			}
			if mode == crdguard.Validate {
				t.Run("page", g.exportPage)
			}
			t.Run("controllers", g.controllers)
			t.Run("keys of others", g.keysOfOthers)
			t.Run("allowed group", g.allowedGroup)
		})
	}
}

// A team is a namespace with two users: one may do everything with objects of a kind but write
// their status, the other one may write nothing else.
type team struct {
	plane            *plane.Plane
	namespace        string
	admin            *plane.Client
	editor, reporter string // tokens
}

func newTeam(t *testing.T, p *plane.Plane, namespace, plural, group string) *team {
	t.Helper()
	p.MakeNamespace(t, namespace, nil)
	m := &team{plane: p, namespace: namespace, admin: p.Kubectl(t, p.Token(plane.Admin))}
	user := func(name, resource, verbs string) string {
		m.admin.Run(t, "-n", namespace, "create", "serviceaccount", name)
		m.admin.Write(t, "role.yaml", `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: `+name+`},
			rules: [{apiGroups: [`+group+`], resources: [`+resource+`], verbs: [`+verbs+`]}]}`)
		m.admin.Run(t, "-n", namespace, "create", "-f", "role.yaml") // kubectl create role wants to see the kind
		m.admin.Run(t, "-n", namespace, "create", "rolebinding", name, "--role="+name, "--serviceaccount="+namespace+":"+name)
		return strings.TrimSpace(m.admin.Run(t, "-n", namespace, "create", "token", name))
	}
	m.editor = user("editor", plural, `"*"`)
	m.reporter = user("reporter", plural+"/status", "get, update, patch")
	return m
}

// kubectl is a kubectl of one of the team's users, in the team's namespace.
func (m *team) kubectl(t *testing.T, token string) *plane.Client {
	t.Helper()
	client := m.plane.Kubectl(t, token)
	client.Run(t, "config", "set-context", "--current", "--namespace="+m.namespace)
	return client
}

// A guarded kind has policies.
type guarded struct {
	*scenario.Resource
	*team

	env  *scenario.Env
	mode crdguard.Mode
}

// as returns a client at a version that has a token.
func (g *guarded) as(t *testing.T, token, version string) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(g.plane.ConfigOf(token))
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(g.GVR(version)).Namespace(g.namespace)
}

// policies applies what `webhookd crd guard` prints of the CRD, waits until it is in force, and
// returns what removes it again.
func (g *guarded) policies(t *testing.T, args ...string) (remove func()) {
	t.Helper()
	printed := "kubectl get crd " + g.Name + " -o yaml | webhookd crd guard " + strings.Join(args, " ") + " -f - > policies.yaml\n"
	g.admin.Shell(t, printed+"kubectl apply -f policies.yaml", webhookFolder(t))
	scenario.Succeeds(t, "the policies", func() error { return g.inForce(t, true) })
	return func() {
		g.admin.Run(t, "delete", "-f", "policies.yaml")
		scenario.Succeeds(t, "the policies to go", func() error { return g.inForce(t, false) })
	}
}

// inForce asks by a dry run whether status can be forged when an object is made. For some seconds
// after there is a kind, the API server answers each request that a MutatingAdmissionPolicy is for
// with 503.
func (g *guarded) inForce(t *testing.T, want bool) error {
	t.Helper()
	other := "v1" // than the one stored: webhookd does not see this object
	if g.Storage == other {
		other = "v1beta1"
	}
	obj := g.Object(t, g.Storage, "dry-run", "{}")
	obj.SetAnnotations(map[string]string{statusKey(other): keptValue("forged")})
	got, err := g.At(g.Storage).Create(t.Context(), obj, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil && !apierrors.IsInvalid(err) {
		return err
	}
	if is := err != nil || got.GetAnnotations()[statusKey(other)] == ""; is != want {
		return fmt.Errorf("in force: %v", is)
	}
	return nil
}

// make makes an object that has each field, and the kept values of the other version at each
// version.
func (g *guarded) make(t *testing.T, name string) {
	t.Helper()
	g.Create(t, "v1", name, `{spec: {size: 1, replicas: 1, v1Only: owner}}`)
	patch(t, g.At("v1"), name, `{"status":{"ready":"yes","replicas":1,"v1Only":"node"}}`, "status")
	patch(t, g.At("v1beta1"), name, `{"spec":{"v1beta1Only":"mode"}}`)
	patch(t, g.At("v1beta1"), name, `{"status":{"v1beta1Only":"note"}}`, "status")
	want := map[string]string{"v1": "owner node", "v1beta1": "mode note"}
	if diff := cmp.Diff(want, g.own(t, name)); diff != "" {
		t.Fatalf("fields of one version (-want +got):\n%s", diff)
	}
}

func patch(t *testing.T, client dynamic.ResourceInterface, name, patch string, subresource ...string) {
	t.Helper()
	if _, err := client.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresource...); err != nil {
		t.Fatal(err)
	}
}

// own returns what each version alone says, of spec and of status.
func (g *guarded) own(t *testing.T, name string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, version := range []string{"v1", "v1beta1"} {
		obj := g.Get(t, version, name)
		spec, _, _ := unstructured.NestedString(obj.Object, "spec", ownField(version))
		status, _, _ := unstructured.NestedString(obj.Object, "status", ownField(version))
		all[version] = spec + " " + status
	}
	return all
}

// statuses returns the bytes of the status at each version, and of what etcd keeps of that of the
// other one.
func (g *guarded) statuses(t *testing.T, name string) map[string]string {
	t.Helper()
	stored := g.Stored(t, name)
	kept := maps.Clone(stored.GetAnnotations())
	maps.DeleteFunc(kept, func(key, _ string) bool { return !strings.HasPrefix(key, "status.conversion.webhookd.io/") })
	all := map[string]string{"stored": textOf(t, stored.Object["status"]), "kept": textOf(t, kept)}
	for _, version := range []string{"v1", "v1beta1"} {
		all[version] = textOf(t, g.Get(t, version, name).Object["status"])
	}
	return all
}

func textOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// otherOf is the version that is not this one.
func otherOf(version string) string {
	if version == "v1" {
		return "v1beta1"
	}
	return "v1"
}

// refused holds that a request was refused in validate mode, with the key in the message, and
// passed in restore mode.
func (g *guarded) refused(t *testing.T, err error, keys ...string) {
	t.Helper()
	switch {
	case g.mode == crdguard.Restore && err != nil:
		t.Errorf("refused: %v", err)
	case g.mode == crdguard.Restore:
	case !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "only webhookd "):
		t.Errorf("not refused by the policy: %v", err)
	case !slices.ContainsFunc(keys, func(key string) bool { return strings.Contains(err.Error(), key) }):
		t.Errorf("the message names none of %q: %v", keys, err)
	}
}

// migrate has another version stored, and each object rewritten by the controller.
func (g *guarded) migrate(t *testing.T, storage string) {
	t.Helper()
	g.make(t, "migrated")
	before := g.own(t, "migrated")
	statuses := g.statuses(t, "migrated")
	g.env.UpdateCRD(t, g.Name, func(crd *apiextensionsv1.CustomResourceDefinition) { scenario.SetStorage(t, crd, storage) })
	g.Storage = storage
	(&migrant{Resource: g.Resource}).migrate(t, g.plane)
	if err := g.plane.Kube(t).StoragemigrationV1().StorageVersionMigrations().Delete(t.Context(), g.Plural, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if stored := g.Stored(t, "migrated").GetAPIVersion(); stored != g.Group+"/"+storage {
		t.Errorf("stored at %s after the migration to %s", stored, storage)
	}
	if diff := cmp.Diff(before, g.own(t, "migrated")); diff != "" {
		t.Errorf("after the migration (-before +after):\n%s", diff)
	}
	after := g.statuses(t, "migrated")
	for _, version := range []string{"v1", "v1beta1"} {
		if diff := cmp.Diff(statuses[version], after[version]); diff != "" {
			t.Errorf("status at %s after the migration (-before +after):\n%s", version, diff)
		}
	}
}
