package cli

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var today = regexp.MustCompile(`on \d{4}-\d\d-\d\d`)

// migrating returns a cluster whose Engines are stored in v1beta1.
func migrating(t *testing.T) *testCluster {
	t.Helper()
	c := newCluster(t)
	c.Put(t, enginesPath, "helm", strings.NewReplacer(
		`"storage":false`, `"storage":true,"deprecated":true,"deprecationWarning":"use v1"`, `"storage":true`, `"storage":false`,
		`"scope":`, `"conversion":{"strategy":"Webhook"},"scope":`,
	).Replace(enginesCRD))
	for _, name := range []string{"one", "two"} {
		c.Put(t, "/apis/example.com/v1/namespaces/a/engines/"+name, "editor", `{"apiVersion":"example.com/v1beta1","kind":"Engine","metadata":{"namespace":"a","name":"`+name+`",
			"annotations":{"conversion.webhookd.io/v1beta1.spec.x":"{\"value\":1}"}},"spec":{"a":1,"b":1,"c":1,"color":"red","d":1,"e":1,"power":1}}`)
	}
	return c
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	c := migrating(t)
	command := strings.Fields("migrate engines.example.com --to v1 --remove v1beta1 --settle 0s")
	dated := func(s string) string { return today.ReplaceAllString(s, "on DAY") }

	const plan = `engines.example.com (Engine.example.com): 2 objects
  stored in    v1beta1
  managers     v1beta1: editor wrote 2 objects, last on DAY
  lost fields  v1beta1: editor will not own .spec.a, .spec.b, .spec.c, .spec.d, .spec.e and 1 more
  step 1       store objects in v1 when they are written: set storage in spec.versions
  step 2       write each object once, so that it is stored in v1
  step 3       remove v1beta1 from status.storedVersions, since no object is stored in it
  step 4       stop serving v1beta1: set served to false in spec.versions (asks first)
  step 5       put entries of v1beta1 in metadata.managedFields under v1 (asks first)
  step 6       remove v1beta1 from spec.versions (asks first)
  step 7       remove the kept values of v1beta1: 2 of .spec.x (asks first)
`
	got := c.run(t, append(command, "--dry-run")...)
	if diff := cmp.Diff(result{Stdout: plan}, result{got.Code, dated(got.Stdout), got.Stderr}); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	got = c.run(t, command...)
	const stopped = `webhookd: an API server without --request-timeout gives a request 1m0s, and may store an object in another version until then: --settle 0s
webhookd: store objects in v1 when they are written: set storage in spec.versions
webhookd: 2 of 2 objects written at v1
webhookd: remove v1beta1 from status.storedVersions, since no object is stored in it
webhookd: next: stop serving v1beta1: set served to false in spec.versions
webhookd:   clients that still read or apply at v1beta1 will get the error 404; it can be served again
webhookd:   change it where the CRD comes from, too: it was written by helm
webhookd: stopped before this step; nothing is lost, run it again to go on
hint: --yes takes each step without a question
`
	if diff := cmp.Diff(result{Code: 1, Stdout: plan, Stderr: stopped}, result{got.Code, dated(got.Stdout), got.Stderr}); diff != "" {
		t.Errorf("without an answer (-want +got):\n%s", diff)
	}
	got = c.run(t, append(command, "--yes")...)
	const end = `webhookd: 2 of 2 objects no longer have annotations of v1beta1
webhookd: engines.example.com: all objects are stored in one version, and nothing names a version that is gone
webhookd: to do by hand: remove v1beta1 from the CRD where it comes from, then from webhookd's rules and its copy of the CRD; print policies
webhookd: of webhookd crd guard again. With one version left, the CRD needs no webhook: set spec.conversion to strategy: None
`
	if got.Code != 0 || !strings.HasSuffix(got.Stderr, end) {
		t.Errorf("%+v", got)
	}
	got = c.run(t, append(command, "--dry-run")...)
	if want := "webhookd: neither the CRD nor managedFields have a version v1beta1: engines.example.com\n"; got.Code != 0 || got.Stderr != want {
		t.Errorf("of a version that is gone: %+v", got)
	}
	got = c.run(t, "migrate", "engines.example.com")
	if got.Code != 0 || !strings.Contains(got.Stdout, "steps        none: nothing is left to do\n") {
		t.Errorf("%+v", got)
	}
}

func TestMigrateRefuses(t *testing.T) {
	t.Parallel()
	c := migrating(t)
	for args, want := range map[string]string{
		"":                            "webhookd: give the name of one CRD, such as crontabs.example.com\n",
		"engines":                     "webhookd: \"engines\": not the name of a CRD, write PLURAL.GROUP such as crontabs.example.com\n",
		"others.example.com":          "webhookd: others.example.com: there is no such CRD\n",
		"engines.example.com --to v3": "webhookd: engines.example.com: there is no version \"v3\", choose one of v1beta1, v1\n",
		"engines.example.com --settle -1s --writes-per-second 0": "webhookd: --writes-per-second 0: no writes, write a number above 0\n" +
			"webhookd: --settle -1s: not a time to wait, write a duration such as 70s\n",
		"engines.example.com --remove v1beta1": "webhookd: engines.example.com: v1beta1 cannot be removed, since objects are to be stored in it: name another version with --to\n",
	} {
		if got := c.run(t, append([]string{"migrate"}, strings.Fields(args)...)...); got.Code == 0 || got.Stderr != want || got.Stdout != "" {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

// guardMessage is that of a policy of webhookd crd guard annotations.
const guardMessage = "ValidatingAdmissionPolicy 'webhookd-kept-values.engines.example.com' denied request: only webhookd changes these annotations"

// The plan names a policy that refuses the last step, and the run stops before it, with one line.
// Both policies do: the one that refuses, and the one that puts the annotations back.
func TestMigrateUnderAGuard(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		admit func(live, changed *unstructured.Unstructured) *apierrors.StatusError
		want  string
	}{
		"validate": {
			func(_, changed *unstructured.Unstructured) *apierrors.StatusError {
				return apierrors.NewInvalid(changed.GroupVersionKind().GroupKind(), changed.GetName(), field.ErrorList{field.Invalid(nil, nil, guardMessage)})
			},
			guardMessage,
		},
		"restore": {
			func(live, changed *unstructured.Unstructured) *apierrors.StatusError {
				changed.SetAnnotations(live.GetAnnotations())
				return nil
			},
			"the change was taken back when it was written\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := migrating(t)
			c.Admit = func(_ string, live, changed *unstructured.Unstructured) *apierrors.StatusError {
				if maps.Equal(live.GetAnnotations(), changed.GetAnnotations()) {
					return nil
				}
				return tt.admit(live, changed)
			}
			command := strings.Fields("migrate engines.example.com --to v1 --remove v1beta1 --settle 0s --yes")
			got := c.run(t, append(command, "--dry-run")...)
			if got.Code != 0 || !strings.Contains(got.Stdout, "  guard        step 7 would be refused now: ") || !strings.Contains(got.Stdout, tt.want) ||
				!strings.HasSuffix(got.Stdout, "or delete the policy\n") {
				t.Errorf("plan: %+v", got)
			}
			got = c.run(t, command...)
			if got.Code != 1 || !strings.Contains(got.Stderr, "webhookd: engines.example.com: the next step would be refused: ") ||
				!strings.HasSuffix(got.Stderr, "or delete the policy, and run this again\n") || strings.Contains(got.Stderr, "next: remove the kept") {
				t.Errorf("run: %+v", got)
			}
			c.Admit = nil
			if got := c.run(t, command...); got.Code != 0 || !strings.Contains(got.Stderr, "2 of 2 objects no longer have annotations of v1beta1\n") {
				t.Errorf("without the policy: %+v", got)
			}
		})
	}
}

// --yes does not lose values that came after the plan.
func TestMigrateLosesNoValuesThatWereNotPlanned(t *testing.T) {
	t.Parallel()
	c := migrating(t)
	const engine = "/apis/example.com/v1/namespaces/a/engines/"
	for _, name := range []string{"one", "two"} {
		c.Change(t, engine+name, func(o *unstructured.Unstructured) { o.SetAnnotations(nil) })
	}
	came := false
	c.Admit = func(path string, _, changed *unstructured.Unstructured) *apierrors.StatusError {
		if path == engine+"one" && !came {
			came = true
			changed.SetAnnotations(map[string]string{"conversion.webhookd.io/v1beta1.spec.y": `{"value":1}`})
		}
		return nil
	}
	command := strings.Fields("migrate engines.example.com --to v1 --remove v1beta1 --settle 0s --yes")
	got := c.run(t, command...)
	const end = `webhookd: next: remove the kept values of v1beta1: 1 of .spec.y
webhookd:   these values are then lost; webhookd kept shows them
webhookd: stopped before this step; nothing is lost, run it again to go on
hint: the plan did not have this step, so --yes does not take it
`
	if got.Code != 1 || !strings.HasSuffix(got.Stderr, end) || strings.Contains(got.Stdout, ".spec.y") {
		t.Errorf("%+v", got)
	}
	if got := c.run(t, command...); got.Code != 0 || !strings.Contains(got.Stdout, "  step 1       remove the kept values of v1beta1: 1 of .spec.y (asks first)\n") {
		t.Errorf("once the plan has it: %+v", got)
	}
}
