package dashboard_test

import (
	"strings"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// failures are conversions that go wrong, each in another way.
type failures struct {
	*traffic

	distrustful                                     map[string]*apiclient.Converter // whose CRDs have the caBundle of another CA
	large, tooLarge, expensive, unknownField, plain *unstructured.Unstructured
}

func newFailures(c *traffic) *failures {
	c.t.Helper()
	widget := func(value string, path ...string) *unstructured.Unstructured {
		return with(c.t, objectOf(c.t, "widget", "git.v1"), value, path...)
	}
	revision := []string{"spec", "source", "git", "revision"}
	return &failures{
		traffic:     c,
		distrustful: c.converters(tlstest.NewCA(c.t, "another").PEM),
		large:       widget(strings.Repeat("r", 60_000), revision...),
		tooLarge:    widget(strings.Repeat("r", 300_000), revision...), // of annotations
		expensive:   with(c.t, objectOf(c.t, "crontab-rules", "basic.v1beta1"), strings.Repeat("h", 3_000_000), "hostPort"),

		unknownField: widget("x", "spec", "newField"),
		plain:        objectOf(c.t, "labels", "phone.v1"),
	}
}

// all converts each object once.
func (f *failures) all() {
	f.t.Helper()
	f.succeed(stream{example: "widget", object: "large kept value", to: "v1alpha1"}, f.large)
	f.succeed(stream{example: "widget", object: "unknown field", to: "v1beta1"}, f.unknownField)
	f.fail(f.kinds, "widget", f.tooLarge, "v1alpha1", "bytes of annotations")
	f.fail(f.kinds, "crontab-rules", f.expensive, "v1", "bytes of annotations") // the expression has no result, so its input is kept
	f.fail(f.distrustful, "labels", f.plain, "v1alpha1", "certificate signed by unknown authority")
}

func (f *failures) fail(converters map[string]*apiclient.Converter, example string, object *unstructured.Unstructured, to, want string) {
	f.t.Helper()
	if _, err := converters[example].To(object, to); err == nil || !strings.Contains(err.Error(), want) {
		f.t.Errorf("%s to %s: %.300v, want an error with %q", example, to, err, want)
	}
}
