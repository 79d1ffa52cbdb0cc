package scenario

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Lossless sends the text of objects with values of all sorts, creates them at each version, reads
// and updates them at each other one, and compares what comes back, and what etcd holds, with what
// the API server makes of the same text where no webhook is involved: that is the only loss there
// is.
func Lossless(t *testing.T, e *Env) {
	t.Helper()
	w := e.Webhookd(t)
	w.AllowLog("Go types") // lack the fields that the CRD lets anybody make
	control := e.Install(t, controlCRD(t), w)
	for _, name := range []string{"crontabs.example.com", "databases.example.com"} {
		crd := e.CRD(t, name)
		keepUnknown(crd)
		s := e.subject(t, crd, w)
		for _, created := range s.Served {
			s.run(name+" created at "+created, func(s subject) { keepsAllValues(s, control, created) })
		}
	}
}

// A value is a JSON value as a user sends it.
type value struct {
	name, sent string
	// read is how it comes back, where the API server changes it. It does so without a webhook as
	// well.
	read string
}

// values are those that a user sends in a field that no schema knows.
func values() []value {
	return []value{
		{name: "aboveFloat", sent: "9007199254740993"},
		{name: "biggest", sent: "9223372036854775807"},
		{name: "smallest", sent: "-9223372036854775808"},
		{name: "zero", sent: "0"},
		{name: "ratio", sent: "0.1"},
		{name: "tiny", sent: "1e-7"},
		{name: "odd", sent: "3.141592653589793"},
		// The API server reads a number that is not an int64 as a float64 and writes it as short as
		// it can.
		{name: "trailingZero", sent: "1.10", read: "1.1"},
		{name: "wholeFloat", sent: "1.0", read: "1"},
		{name: "exponent", sent: "1.5e10", read: "15000000000"},
		{name: "large", sent: "1e21", read: "1e+21"},
		{name: "aboveInt64", sent: "18446744073709551615", read: "18446744073709552000"},
		{name: "false", sent: "false"},
		{name: "null", sent: "null"},
		{name: "nulls", sent: `[null,{"a":null},[null]]`},
		{name: "empty", sent: `["",[],{}]`},
		{name: "emptyText", sent: `""`},
		{name: "emptyList", sent: `[]`},
		{name: "emptyObject", sent: `{}`},
		{name: "html", sent: `"<a href='x'>&amp;</a>"`},
		{name: "escapes", sent: `"\u003c\"\\\/\b\f\n\r\t\u0000\u001f\u007f\u2028\u2029"`},
		{name: "unicode", sent: `"héllo 世界 \ud83d\ude00 e\u0301 \ufeff"`},
		{name: "names", sent: `{"b":1,"a":2,"A":3,"":4,"a.b/c":5,"<&>":6,"世":7,"metadata":{},"apiVersion":"x"}`},
		{name: "order", sent: `[3,1,2,1]`},
		{name: "yes", sent: `"yes"`},
		{name: "nested", sent: strings.Repeat(`{"a":[`, 5) + "9007199254740993" + strings.Repeat(`]}`, 5)},
	}
}

// allValues returns spec with the values below a field that no schema knows.
func allValues(text func(value) string) string {
	all := values()
	members := make([]string, 0, len(all))
	for _, v := range all {
		members = append(members, `"`+v.name+`":`+text(v))
	}
	return `"spec":{"engine":"postgres-17","extra":{` + strings.Join(members, ",") + `}}`
}

func sentText(v value) string { return v.sent }

func readText(v value) string {
	if v.read != "" {
		return v.read
	}
	return v.sent
}

// keepUnknown makes spec keep fields that no schema knows, at each version.
func keepUnknown(crd *apiextensionsv1.CustomResourceDefinition) {
	keep := true
	for i := range crd.Spec.Versions {
		properties := crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties
		spec := properties["spec"]
		spec.XPreserveUnknownFields = &keep
		properties["spec"] = spec
	}
}

// controlCRD is a CRD of one version, so that nothing is ever converted.
func controlCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return ParseCRD(t, `{metadata: {name: controls.control.example.com}, spec: {group: control.example.com,
		scope: Namespaced, names: {plural: controls, singular: control, kind: Control, listKind: ControlList},
		versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object,
			properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}]}}`)
}

// keepsAllValues creates an object at a version, and the same one where nothing is converted, and
// edits it at each other version.
func keepsAllValues(s subject, control *Resource, created string) {
	name := s.Plural + "-created-at-" + created
	c := s
	c.Resource = control
	c.send("POST", "v1", "", c.text("v1", name, allValues(sentText)))
	want := c.send("GET", "v1", name, "")
	s.sameValues("the API server alone", "{"+allValues(readText)+"}", want)

	s.sameSpec("the answer to create", want, s.send("POST", created, "", s.text(created, name, allValues(sentText))))
	s.sameSpec("what etcd holds", string(c.storedText(name)), string(s.storedText(name)))
	engine := `"engine":"postgres-17"`
	for _, other := range s.Served {
		read := s.send("GET", other, name, "")
		s.sameSpec("the object at "+other, want, read)
		edit := strings.NewReplacer(engine, `"engine":"written at `+other+`"`)
		engine = `"engine":"written at ` + other + `"`
		s.send("PUT", other, name, edit.Replace(read))
		want = edit.Replace(want)
		s.sameSpec("the object at "+created+" after an update at "+other, want, s.send("GET", created, name, ""))
	}
	stored := strings.Replace(string(c.storedText(name)), `"engine":"postgres-17"`, engine, 1)
	s.sameSpec("what etcd holds in the end", stored, string(s.storedText(name)))
}

// sameSpec compares the text of spec, byte for byte.
func (s subject) sameSpec(what, want, got string) {
	s.t.Helper()
	if diff := cmp.Diff(member(s.t, want, "spec"), member(s.t, got, "spec")); diff != "" {
		s.t.Errorf("spec of %s (-want +got):\n%s", what, diff)
	}
}

// sameValues compares the values of spec, numbers by their text.
func (s subject) sameValues(what, want, got string) {
	s.t.Helper()
	decode := func(text string) (v any) {
		d := json.NewDecoder(strings.NewReader(member(s.t, text, "spec")))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			s.t.Fatalf("%s: %v", what, err)
		}
		return v
	}
	if diff := cmp.Diff(decode(want), decode(got)); diff != "" {
		s.t.Errorf("spec of %s (-want +got):\n%s", what, diff)
	}
}

// send sends the text of an object, if there is one, and returns that of the answer.
func (s subject) send(verb, version, name, text string) string {
	s.t.Helper()
	path := s.Path(version)
	if name != "" {
		path += "/" + name
	}
	request := s.raw.Verb(verb).RequestURI(path)
	if text != "" {
		request = request.SetHeader("Content-Type", "application/json").Body([]byte(text))
	}
	answer, err := request.DoRaw(s.t.Context())
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", verb, path, err, answer)
	}
	return string(bytes.TrimSpace(answer))
}

// member returns the text of a member of an object.
func member(t *testing.T, object, name string) string {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &members); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	return string(members[name])
}
