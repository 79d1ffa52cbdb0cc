package scenario

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// relayCRD is that of the kind that only rules convert.
func relayCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return ParseCRD(t, string(embedded(t, "crds")["relays."+rulesGroup+".yaml"]))
}

// relay is an object of fields that all versions have in some way.
func relay() specimen {
	return specimen{crd: "relays." + rulesGroup, at: map[string]specimenAt{
		"v1alpha1": {
			before: `"spec":{"image":"a","size":1,"host":"localhost","port":"1234","rate":10,"mode":"all"}`,
			after:  `"spec":{"image":"a","size":9007199254740993,"host":"example.com","port":"8080","mode":"none"}`,
			jsonPatch: `[{"op":"test","path":"/spec/host","value":"localhost"},
				{"op":"replace","path":"/spec/host","value":"example.com"},
				{"op":"replace","path":"/spec/port","value":"8080"},{"op":"replace","path":"/spec/size","value":9007199254740993},
				{"op":"remove","path":"/spec/rate"},{"op":"replace","path":"/spec/mode","value":"none"}]`,
			mergePatch: `{"spec":{"size":1,"host":"localhost","port":"1234","rate":10,"mode":"all"}}`,
		},
		"v1beta1": {
			before: `"spec":{"image":"a","size":1,"hostPort":"localhost:1234","rate":10,"applyMode":"Always"}`,
			after:  `"spec":{"image":"a","size":9007199254740993,"hostPort":"example.com:8080","applyMode":"Dry"}`,
			jsonPatch: `[{"op":"test","path":"/spec/hostPort","value":"localhost:1234"},
				{"op":"replace","path":"/spec/hostPort","value":"example.com:8080"},
				{"op":"replace","path":"/spec/size","value":9007199254740993},
				{"op":"remove","path":"/spec/rate"},{"op":"replace","path":"/spec/applyMode","value":"Dry"}]`,
			mergePatch: `{"spec":{"size":1,"hostPort":"localhost:1234","rate":10,"applyMode":"Always"}}`,
		},
		"v1": {
			before: `"spec":{"image":"a","replicas":1,"upstream":{"host":"localhost","port":"1234"},` +
				`"limits":{"rate":10},"policy":"Apply"}`,
			after: `"spec":{"image":"a","replicas":9007199254740993,"upstream":{"host":"example.com","port":"8080"},` +
				`"policy":"Preview"}`,
			jsonPatch: `[{"op":"test","path":"/spec/upstream/port","value":"1234"},
				{"op":"replace","path":"/spec/upstream","value":{"host":"example.com","port":"8080"}},
				{"op":"replace","path":"/spec/replicas","value":9007199254740993},
				{"op":"remove","path":"/spec/limits"},{"op":"replace","path":"/spec/policy","value":"Preview"}]`,
			mergePatch: `{"spec":{"replicas":1,"upstream":{"host":"localhost","port":"1234"},` +
				`"limits":{"rate":10},"policy":"Apply"}}`,
		},
	}}
}

// relayFields returns members of Relays by version, with what others cannot say among them.
func relayFields() map[string][]string {
	const spec = `"spec":{FIELDS"image":"EDIT"}`
	return map[string][]string{
		"v1alpha1": with(spec, ``, `"size":0`, `"size":9223372036854775807,"rate":-9223372036854775808`,
			`"host":"a"`, `"port":"1"`, `"host":"a","port":"1"`, `"host":"","port":""`, `"host":"a:b","port":"c"`,
			`"mode":"all"`, `"mode":"none"`, `"mode":"manual"`, `"note":""`, `"note":"<é&>\u0000\u2028"`,
			`"size":1,"host":"a","port":"1","rate":1,"mode":"manual","note":"x"`),
		"v1beta1": with(spec, ``, `"hostPort":""`, `"hostPort":":"`, `"hostPort":"localhost"`, `"hostPort":"localhost:"`,
			`"hostPort":":80"`, `"hostPort":"[::1]:80"`, `"hostPort":"a:b:80"`, `"hostPort":"<é&>:\u0000\u2028"`,
			`"applyMode":"Always"`, `"applyMode":"Dry"`, `"size":1,"hostPort":"a:1","rate":1,"applyMode":"Dry"`),
		"v1": with(spec, ``, `"upstream":{}`, `"upstream":{"host":"a"}`, `"upstream":{"port":"1"}`,
			`"upstream":{"host":"a","port":"1"}`, `"upstream":{"host":"","port":""}`,
			`"upstream":{"host":"a:b","port":"c:d"}`,
			`"limits":{}`, `"limits":{"rate":0}`, `"limits":{"burst":9007199254740993}`, `"limits":{"rate":1,"burst":0}`,
			`"policy":"Apply"`, `"policy":"Preview"`,
			`"replicas":1,"upstream":{"host":"a","port":"1"},"limits":{"rate":1,"burst":2},"policy":"Preview"`),
	}
}
