package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStashLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, stash, want string }{
		{"values", `{"spec":{"mode":"Manual","limits":{"a":1}}}`, `.spec.limits.a = 1, .spec.mode = "Manual"`},
		{"what was not there", `{"spec":{"mode":null}}`, `.spec.mode was absent`},
		{"nulls that were", `{"spec":{"mode":{"":null}}}`, `.spec.mode = null`},
		{"values that the schema does not know", `{"mode":{"":"x","unchecked":true}}`, `.mode = "x"`},
		{"values of a union", `{"src":{"":{"a":1},"as":".git"}}`, `.src = {"a":1}`},
		{"fields of what was not there", `{"spec":{"":null,"as":null}}`, `.spec was absent, .spec.as was absent`},
		{"fields of a first element", `{"spec":{"":{"name":"x"},"min":1}}`, `.spec.min = 1`},
		{"elements", `{"items":{"[name=a]":{"b":1},"[0]":2,"[]":"a b"}}`, `.items[0] = 2, .items[name=a].b = 1`},
		{"empty objects", `{"spec":{}}`, `.spec = {}`},
		{"keys that need quotes", `{"metadata":{"labels":{"a/b":"c"}}}`, `.metadata.labels["a/b"] = "c"`},
		{"an object that was not there", `{"spec":{"":null,"min":1}}`, `.spec was absent, .spec.min = 1`},
		{"all", `{"a":1,"":{"a":1,"b":2}}`, `the whole object, which returns unless somebody edits it, .a = 1`},
		{"what is no object", `7`, ` = 7`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(stashLines("", []byte(test.stash)), ", ")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
