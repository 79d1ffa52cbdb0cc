package apiserver_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

const checked = `
spec:
  type: object
  required: [name]
  x-kubernetes-validations: [{rule: "!has(self.low) || !has(self.high) || self.low <= self.high", message: low is above high}]
  properties:
    name: {type: string, minLength: 2}
    low: {type: integer, default: 1}
    high: {type: integer, nullable: true}
    tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
    ports:
      type: array
      x-kubernetes-list-type: map
      x-kubernetes-list-map-keys: [port, protocol]
      items:
        type: object
        required: [port]
        properties: {port: {type: integer}, protocol: {type: string, default: TCP}}
    open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {closed: {type: object, properties: {a: {type: string}}}}}
    any: {type: object, additionalProperties: true}
    mode: {type: string, enum: [a, b]}
    when: {type: string, format: date-time}
    size: {x-kubernetes-int-or-string: true}
    pod: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
`

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := utiljson.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPruneAndDefault(t *testing.T) {
	t.Parallel()
	v := crdschematest.Version(t, checked[1:])
	for _, test := range []struct{ name, object, pruned, defaulted string }{
		{"an empty one", `{}`, `{}`, `{}`},
		{"metadata stays", `{"apiVersion":"a/v1","kind":"K","metadata":{"unknown":1},"x":1}`, `{"apiVersion":"a/v1","kind":"K","metadata":{"unknown":1}}`, `{"apiVersion":"a/v1","kind":"K","metadata":{"unknown":1}}`},
		{"a fragment", `{"spec":null}`, `{}`, `{}`},
		{"defaults", `{"spec":{"ports":[{"port":1}]}}`, `{"spec":{"ports":[{"port":1}]}}`, `{"spec":{"low":1,"ports":[{"port":1,"protocol":"TCP"}]}}`},
		{"nulls", `{"spec":{"name":null,"low":null,"high":null,"tags":[null]}}`, `{"spec":{"low":null,"high":null,"tags":[null]}}`, `{"spec":{"low":1,"high":null,"tags":[null]}}`},
		{"unknown fields", `{"spec":{"x":1,"low":2,"open":{"x":{"y":1},"closed":{"a":"b","x":1}}}}`, `{"spec":{"low":2,"open":{"x":{"y":1},"closed":{"a":"b"}}}}`, `{"spec":{"low":2,"open":{"x":{"y":1},"closed":{"a":"b"}}}}`},
		{"fields in a map of anything", `{"spec":{"low":2,"any":{"a":1,"b":{"c":1},"d":[{"e":1}]}}}`, `{"spec":{"low":2,"any":{"a":1,"b":{},"d":[{}]}}}`, `{"spec":{"low":2,"any":{"a":1,"b":{},"d":[{}]}}}`},
		{"metadata in an embedded resource", `{"spec":{"low":2,"pod":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"n","unknown":1,"labels":7},"x":1}}}`, `{"spec":{"low":2,"pod":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"n"},"x":1}}}`, `{"spec":{"low":2,"pod":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"n"},"x":1}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			obj := decode(t, test.object)
			v.Prune(obj)
			if diff := cmp.Diff(decode(t, test.pruned), obj); diff != "" {
				t.Error("pruned:", diff)
			}
			v.Default(obj)
			if diff := cmp.Diff(decode(t, test.defaulted), obj); diff != "" {
				t.Error("defaulted:", diff)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	v := crdschematest.Version(t, checked[1:])
	for _, test := range []struct{ name, object, want string }{
		{"nothing wrong", `{"spec":{"name":"ab","low":1,"high":2,"tags":["a","b"],"size":"5%"}}`, ""},
		{"no spec", `{}`, ""},
		{"required", `{"spec":{}}`, "spec.name: Required value"},
		{"type", `{"spec":{"name":7}}`, "spec.name: Invalid value: \"integer\": spec.name in body must be of type string: \"integer\""},
		{"null", `{"spec":{"name":"ab","low":null}}`, "spec.low: Invalid value: \"null\": spec.low in body must be of type integer: \"null\""},
		{"length", `{"spec":{"name":"a"}}`, "spec.name: Invalid value: \"a\": spec.name in body should be at least 2 chars long"},
		{"enum", `{"spec":{"name":"ab","mode":"c"}}`, "spec.mode: Unsupported value: \"c\": supported values: \"a\", \"b\""},
		{"format", `{"spec":{"name":"ab","when":"now"}}`, "spec.when: Invalid value: \"now\": spec.when in body must be of type date-time: \"now\""},
		{"int or string", `{"spec":{"name":"ab","size":1.5}}`, "spec.size: Invalid value"},
		{"set", `{"spec":{"name":"ab","tags":["a","a"]}}`, "spec.tags[1]: Duplicate value: \"a\""},
		{"keys", `{"spec":{"name":"ab","ports":[{"port":1,"protocol":"x"},{"port":1,"protocol":"x"}]}}`, "spec.ports[1]: Duplicate value"},
		{"a rule", `{"spec":{"name":"ab","low":2,"high":1}}`, "spec: Invalid value: low is above high"},
		{"embedded", `{"spec":{"name":"ab","pod":{"kind":"Pod"}}}`, "spec.pod.apiVersion: Required value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			errs := v.Validate(decode(t, test.object))
			switch {
			case test.want == "" && len(errs) > 0:
				t.Error(errs.ToAggregate())
			case test.want != "" && (len(errs) == 0 || !strings.HasPrefix(errs[0].Error(), test.want)):
				t.Errorf("errors %v, want %s", errs, test.want)
			}
		})
	}
}

func TestValidateIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	v := crdschematest.Version(t, checked[1:])
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			obj := map[string]any{"spec": map[string]any{"name": "ab", "low": int64(2), "high": int64(1)}}
			v.Prune(obj)
			v.Default(obj)
			if len(v.Validate(obj)) != 1 {
				t.Error("not one error")
			}
		})
	}
	group.Wait()
}
