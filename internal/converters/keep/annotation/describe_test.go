package annotation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ what, name, text, want, paths string }{
		{"a value", "v1.spec.mode", `{"value":"Manual","inputs":"a"}`, `v1: .spec.mode = "Manual"`, ".spec.mode"},
		{"what was not there", "v1.spec.mode", `{"absent":true,"inputs":"a"}`, `v1: .spec.mode was absent`, ".spec.mode"},
		{
			"fields of an element", "v1.spec.ports.protocol--khezz10r11j5",
			`{"value":"UDP","path":["spec","ports",{"name":"dns","port":53},"protocol"]}`, `v1: .spec.ports[name=dns,port=53].protocol = "UDP"`, ".spec.ports[].protocol",
		},
		{
			"keys that need quotes", "v1.metadata.labels.a-b--oucosfkmq65d", `{"value":"c","path":["metadata","labels","a/b"]}`,
			`v1: .metadata.labels["a/b"] = "c"`, `.metadata.labels["a/b"]`,
		},
		{"an order", "v1.spec.ports", `{"order":[{"name":"b"},{"name":"a"}],"inputs":"a"}`, `v1: .spec.ports: the order of its elements`, ".spec.ports"},
		{
			"elements with the same keys", "v1.spec.ports", `{"order":[{"name":"b"}],"added":[{"after":0,"value":{"name":"b"}}],"inputs":"a"}`,
			`v1: .spec.ports: the order of its elements, .spec.ports[] = {"name":"b"}`, ".spec.ports, .spec.ports[]",
		},
		{
			"elements without keys", "v1.spec.hosts",
			`{"list":{"length":2,"elements":{"1":{"was":"b","kept":[{"value":true,"path":["tls"]}],"alike":"c"}},"added":[{"after":1,"value":{"name":"x"}}]}}`,
			`v1: .spec.hosts[1].tls = true, .spec.hosts[] = {"name":"x"}`, ".spec.hosts[].tls, .spec.hosts[]",
		},
		{
			"several in one", "v1.spec", `{"parts":[{"value":1,"path":["a"]},{"absent":true,"path":["b","c"],"inputs":"a"}]}`,
			`v1: .spec.a = 1, .spec.b.c was absent`, ".spec.a, .spec.b.c",
		},
		{"nothing of webhookd's", "v1.spec", `{"values":1}`, `v1: `, ""},
	} {
		t.Run(test.what, func(t *testing.T) {
			t.Parallel()
			got := annotation.Describe("conversion.webhookd.io/"+test.name, test.text)
			lines, paths := make([]string, 0, len(got.Values)), make([]string, 0, len(got.Values))
			for _, value := range got.Values {
				lines, paths = append(lines, value.Line), append(paths, value.Path)
			}
			if diff := cmp.Diff(test.want, got.Version+": "+strings.Join(lines, ", ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.paths, strings.Join(paths, ", ")); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
	if got := annotation.Describe("example.com/v1.spec", `{"value":1}`); got.Version != "" || got.Values != nil {
		t.Errorf("another's annotation: %v", got)
	}
}
