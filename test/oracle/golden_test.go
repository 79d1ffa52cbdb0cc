package oracle_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
)

// noMetadata is what the client makes of an object whose metadata is null, whatever the answer is.
const noMetadata = "invalid metadata of type <nil> in input object"

const goldenDir = "../../testdata/conversionreviews"

// notDriven are the goldens whose request the API server's client cannot send, and why. The tests
// of internal/review answer them.
func notDriven() map[string]string {
	return map[string]string{
		"duplicate-deep":               "the API server holds objects in maps",
		"empty-list":                   "the client makes no call for no objects",
		"null-list":                    "the client makes no call for no objects",
		"missing-list":                 "the client makes no call for no objects",
		"failed-desired-without-group": "each CRD has a group",
		"failed-no-desired":            "the client always sets it",
		"failed-duplicate-metadata":    "the API server holds objects in maps",
		"failed-duplicate-name":        "the API server holds objects in maps",
		"failed-each-named":            "one of its objects is null",
		"failed-no-kind":               "the API server holds no object without a kind",
		"failed-no-objects":            "the API server sends nothing but objects",
		"failed-no-version":            "the API server holds no object without a version",
		"failed-objects-no-list":       "the client always sends a list",
		"failed-other-group":           "the client refuses objects of another group itself",
		"rejected-duplicate-uid":       "the client encodes a Go struct",
		"rejected-empty-uid":           "the client makes a uid for each call",
		"rejected-long-uid":            "the client makes a uid for each call",
		"rejected-kind":                "the client sends nothing but reviews",
		"rejected-lone-surrogate":      "the API server replaces it when it decodes the object",
		"rejected-no-json":             "the client encodes valid JSON",
		"rejected-no-request":          "the client always sets it",
		"rejected-no-uid":              "the client makes a uid for each call",
		"rejected-review-version":      "the client refuses to send another version itself",
		"rejected-trailing-data":       "the client sends one document",
	}
}

// A golden is a request whose objects the client can send, and the answer.
type golden struct {
	review    string // v1 or v1beta1
	desired   schema.GroupVersion
	objects   []*unstructured.Unstructured
	converted []*unstructured.Unstructured
	message   string // of a failure
}

// An unsendableError says what of a request the client cannot send.
type unsendableError string

// Error implements error.
func (e unsendableError) Error() string { return string(e) }

// TestGoldens holds that the objects of each golden, sent by the client, come back as the golden
// says, but for the metadata that the client restores, and that its message is what the user reads.
func TestGoldens(t *testing.T) {
	t.Parallel()
	requests, err := filepath.Glob(filepath.Join(goldenDir, "*.request.json"))
	if err != nil || len(requests) == 0 {
		t.Fatalf("no goldens: %v: %s", err, goldenDir)
	}
	w := serve(t, tlstest.NewCA(t, "oracle"), nil)
	left := notDriven()
	for _, file := range requests {
		name := strings.TrimSuffix(filepath.Base(file), ".request.json")
		reason, listed := left[name]
		delete(left, name)
		g, err := readGolden(file)
		var unsendable unsendableError
		switch {
		case errors.As(err, &unsendable) && !listed:
			t.Errorf("%s is neither driven nor listed in notDriven: the client cannot send %s", name, unsendable)
		case errors.As(err, &unsendable):
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case listed:
			t.Errorf("%s is listed in notDriven, yet the client can send it: %s", name, reason)
		default:
			for ref, h := range map[string]apiclient.Hook{"service": w.byService(g.review), "URL": w.byURL(g.review)} {
				t.Run(name+" "+ref, func(t *testing.T) {
					t.Parallel()
					g.drive(t, w.client().Converter(t, g.objects[0].GroupVersionKind().GroupKind(), g.versions(), h))
				})
			}
		}
	}
	for name := range left {
		t.Errorf("there is no golden of this name, take it out of notDriven: %s", name)
	}
}

// drive sends the objects one by one and, where there are several or the message is to be read, as
// a list.
func (g *golden) drive(t *testing.T, c *apiclient.Converter) {
	t.Helper()
	if g.message == "" {
		for i, in := range g.objects {
			g.driveSingle(t, c, i, in)
		}
	}
	if len(g.objects) > 1 {
		g.driveList(t, c)
	} else if g.message != "" {
		_, err := c.To(g.objects[0], g.desired.Version)
		g.checkFailure(t, g.objects[0], err)
	}
}

func (g *golden) driveSingle(t *testing.T, c *apiclient.Converter, i int, in *unstructured.Unstructured) {
	t.Helper()
	got, err := c.To(in, g.desired.Version)
	want, problem := g.restored(i, in)
	if len(in.Object) == 2 {
		// Nothing but apiVersion and kind: the client converts it itself.
		want, problem = in.DeepCopy(), ""
		want.SetAPIVersion(g.desired.String())
	}
	if problem != "" {
		checkError(t, err, fmt.Sprintf("conversion webhook for %v returned invalid metadata: %s", in.GroupVersionKind(), problem))
		return
	}
	if err != nil {
		t.Errorf("object %d: %v", i, err)
		return
	}
	if diff := cmp.Diff(want.Object, content(t, got)); diff != "" {
		t.Errorf("object %d (-golden +got):\n%s", i, diff)
	}
}

func (g *golden) driveList(t *testing.T, c *apiclient.Converter) {
	t.Helper()
	in := list(g.desired.String(), g.objects[0].GetKind(), g.objects...)
	got, err := c.To(in, g.desired.Version)
	if g.message != "" {
		g.checkFailure(t, in, err)
		return
	}
	want := list(g.desired.String(), g.objects[0].GetKind(), g.objects...)
	sent := -1
	for i, u := range g.objects {
		if g.done(u) {
			continue
		}
		sent++
		restored, problem := g.restored(i, u)
		if problem != "" {
			checkError(t, err, fmt.Sprintf("conversion webhook for %v returned invalid metadata in object at index %d: %s",
				in.GroupVersionKind(), sent, problem))
			return
		}
		want.Items[i] = *restored
	}
	if err != nil {
		t.Errorf("list: %v", err)
		return
	}
	if diff := cmp.Diff(runtime.Object(want), got); diff != "" {
		t.Errorf("list (-golden +got):\n%s", diff)
	}
}

// restored is the golden's object with the metadata that the client gives it: that of the source,
// with the labels and annotations of the answer. The problem is what the client makes of null.
func (g *golden) restored(i int, in *unstructured.Unstructured) (want *unstructured.Unstructured, problem string) {
	if g.done(in) {
		return in, ""
	}
	meta, _ := runtime.DeepCopyJSONValue(in.Object["metadata"]).(map[string]any)
	if _, found := in.Object["metadata"]; found && meta == nil {
		return nil, noMetadata
	}
	if meta == nil {
		meta = map[string]any{}
	}
	want = g.converted[i].DeepCopy()
	answered, _ := want.Object["metadata"].(map[string]any)
	for _, name := range []string{"labels", "annotations"} {
		if meta[name] = answered[name]; meta[name] == nil {
			delete(meta, name)
		}
	}
	want.Object["metadata"] = meta
	return want, ""
}

func (g *golden) checkFailure(t *testing.T, in runtime.Object, err error) {
	t.Helper()
	want := fmt.Sprintf("conversion webhook for %v failed: %s", in.GetObjectKind().GroupVersionKind(), g.message)
	offset := regexp.MustCompile(`: byte \d+$`) // the client's body is not the golden's
	if offset.MatchString(want) && err != nil {
		want = offset.ReplaceAllString(want, offset.FindString(err.Error()))
	}
	checkError(t, err, want)
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("the user reads\n%v\nwant\n%s", err, want)
	}
}
