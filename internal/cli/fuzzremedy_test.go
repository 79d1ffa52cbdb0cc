//go:build !race

// This converts for long on one goroutine, where there is nothing for the race detector.

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRemediesOfDefaultsWork writes what fuzz says until all laws hold.
func TestRemediesOfDefaultsWork(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file, crd := filepath.Join(folder, "rules.yaml"), filepath.Join(folder, "crd.yaml")
	rules := strings.Split(remedyRules, "\n")
	if err := os.WriteFile(crd, []byte(remedyCRD()), 0o600); err != nil {
		t.Fatal(err)
	}
	add := regexp.MustCompile(`(?m)^remedy: add the rule (\{.*\}), or give \S+ and \S+ the same default in the CRD$`)
	write := regexp.MustCompile(`(?m)^remedy: write (.*) into .*rules\.yaml:(\d+):\d+: rule \d+.*, or give \S+ and \S+ the same default in the CRD$`)
	got := []string{}
	for range 10 {
		if err := os.WriteFile(file, []byte(strings.Join(rules, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		Run(t.Context(), "", exampleKinds(), []string{"webhookd", "fuzz", "--rules", file, "--crd", crd, "-n", "60", "--seed", "1"}, nil, strings.NewReader(""), &out, &out)
		if strings.Contains(out.String(), "all laws hold") {
			break
		}
		if m := add.FindStringSubmatch(out.String()); m != nil {
			got = append(got, "add "+m[1])
			rules = append(rules[:len(rules)-1], "    - "+m[1], "")
		} else if m := write.FindStringSubmatch(out.String()); m != nil {
			line, err := strconv.Atoi(m[2])
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, "write "+m[1])
			rules[line-1] = strings.TrimSuffix(rules[line-1], "}") + ", " + m[1] + "}"
		} else {
			t.Fatalf("no remedy that can be written after %v:\n%s", got, out.String())
		}
	}
	want := []string{
		"add {spoke: .spec.box, hub: .spec.box, defaultFrom: schema}",
		"write defaultFrom: schema",
		"add {spoke: '.spec.ports[].protocol', hub: '.spec.ports[].protocol', defaultFrom: schema}",
		"add {spoke: .spec.box.mode, hub: .spec.box.mode, defaultFrom: schema}",
		"write defaultFrom: schema",
		"add {spoke: .spec.server.zone, hub: .spec.server.zone, defaultFrom: schema}",
		"write defaultFrom: schema",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, strings.Join(rules, "\n"))
	}
}

const remedyRules = `apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata: {name: widgets.example.com}
spec:
  hub: v1
  ruleSets:
    Server:
    - {spoke: .host, hub: .address}
  versions:
  - name: v1beta1
    rules:
    - {spoke: .spec.range.low, hub: .spec.range.from}
    - {spoke: ".spec.params{name}.kind", hub: ".spec.params[name].value.mode"}
    - {spoke: .spec.server, hub: .spec.server, use: Server}
    - {spoke: {a: .spec.pair.a, b: .spec.pair.b}, hub: {a: .spec.pair.x, b: .spec.pair.z}}
`

func remedyCRD() string {
	return widgetCRD(`
      range: {type: object, properties: {low: {type: integer}}}
      ports: {type: array, items: {type: object, properties: {protocol: {type: string}}}}
      params: {type: object, additionalProperties: {type: object, properties: {kind: {type: string}}}}
      server: {type: object, properties: {host: {type: string, default: "a: b"}, zone: {type: string}}}
      pair: {type: object, properties: {a: {type: string}, b: {type: string}}}
      box: {type: object, properties: {size: {type: integer}, mode: {type: string}}}
`, `
      range: {type: object, properties: {from: {type: integer, default: 5}}}
      ports: {type: array, items: {type: object, properties: {protocol: {type: string, default: TCP}}}}
      params: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {
        name: {type: string}, value: {type: object, properties: {mode: {type: string, default: x}}}}}}
      server: {type: object, properties: {address: {type: string}, zone: {type: string, default: eu}}}
      pair: {type: object, properties: {x: {type: string, default: u}, z: {type: string}}}
      box: {type: object, default: {}, properties: {size: {type: integer}, mode: {type: string, default: open}}}
`)
}
