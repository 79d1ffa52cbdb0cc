package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
  versions     v1beta1 (storage), v1
  stored in    v1beta1
  managers     v1beta1: editor wrote 2 objects, last on DAY
  lost fields  v1beta1: editor will not own .spec.a, .spec.b, .spec.c, .spec.d, .spec.e and 1 more
  kept values  of v1beta1: in 2 objects
  step 1       store objects in v1 when they are written: set storage in spec.versions
  step 2       write each object once, so that it is stored in v1
  step 3       remove v1beta1 from status.storedVersions, since no object is stored in it
  step 4       stop serving v1beta1: set served to false in spec.versions (asks first)
  step 5       put entries of v1beta1 in metadata.managedFields under v1 (asks first)
  step 6       remove v1beta1 from spec.versions (asks first)
  step 7       remove annotations in which webhookd keeps values of v1beta1 (asks first)
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
			"webhookd: --settle -1s: not a time to wait\n",
		"engines.example.com --remove v1beta1": "webhookd: engines.example.com: v1beta1 cannot be removed, since objects are to be stored in it: name another version with --to\n",
	} {
		if got := c.run(t, append([]string{"migrate"}, strings.Fields(args)...)...); got.Code == 0 || got.Stderr != want || got.Stdout != "" {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func TestUsageOfVersions(t *testing.T) {
	t.Parallel()
	c := migrating(t)
	status := strings.Fields("crd status --name engines.example.com --usage")
	got := c.run(t, status...)
	for _, want := range []string{
		"  versions     v1beta1 (storage, deprecated), v1\n  warning      v1beta1: use v1\n", "  objects      2\n",
		"  managers     v1beta1: editor wrote 2 objects, last on ",
	} {
		if !strings.Contains(got.Stdout, want) {
			t.Errorf("does not say %q:\n%s%s", want, got.Stdout, got.Stderr)
		}
	}
	got = c.run(t, append(status, "-o", "json")...)
	if !strings.Contains(got.Stdout, `"manager": "editor"`) || !strings.Contains(got.Stdout, `"deprecationWarning": "use v1"`) {
		t.Error(got.Stdout)
	}
	if got := c.run(t, "crd", "status", "--usage"); got.Code != 2 {
		t.Errorf("%+v", got)
	}
}
