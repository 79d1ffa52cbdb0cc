package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// LosslessFields has objects whose fields the versions do not share: big numbers, null, empty and
// absent ones, and what the other versions cannot say. Each is created at a version, updated at
// each other one, and is the same again when it is read at its own.
func LosslessFields(t *testing.T, e *Env) {
	t.Helper()
	w := e.Webhookd(t)
	crontab, database := e.CRD(t, "crontabs.example.com"), e.CRD(t, "databases.example.com")
	nullable(crontab)
	crontabs, databases := e.subject(t, crontab, w), e.subject(t, database, w)
	for _, version := range crontabs.Served {
		crontabs.run("CronTab of "+version, func(s subject) {
			for i, fields := range crontabFields()[version] {
				s.comesBack(version, i, fields, "image")
			}
		})
	}
	for _, version := range databases.Served {
		databases.run("Database of "+version, func(s subject) {
			for i, fields := range databaseFields()[version] {
				s.comesBack(version, i, fields, "engine")
			}
		})
	}
	if e.rules == nil { // by a rule nothing needs to be kept
		crontabs.run("an edit wins over what is kept", editWins)
	}
	stable := e.subject(t, e.CRD(t, "crontabs.stable.example.com"), w)
	stable.run("null where the schema allows none", nullIsDropped)
}

// crontabFields returns members of CronTabs by version.
func crontabFields() map[string][]string {
	const spec = `"spec":{"image":"EDIT"}`
	// Values of all sorts in a field that no schema knows.
	const extra = `"extra":{"numbers":[9007199254740993,-9223372036854775808,0,0.1,1e-7,3.141592653589793,1.10,1e21,18446744073709551615],` +
		`"nulls":[false,null,{"a":null},[null],"",[],{}],"texts":["<a href='x'>&amp;</a>","\u003c\"\\\/\b\f\n\r\t\u0000\u001f\u007f\u2028\u2029",` +
		`"héllo 世界 \ud83d\ude00 e\u0301 \ufeff"],"names":{"b":1,"a":2,"A":3,"":4,"a.b/c":5,"<&>":6,"世":7,"metadata":{},"apiVersion":"x"}}`
	return map[string][]string{
		"v1beta1": with(`FIELDS`+spec,
			``, extra, `"hostPort":null`, `"hostPort":""`, `"hostPort":":"`, `"hostPort":"localhost"`,
			`"hostPort":"localhost:"`, `"hostPort":":80"`,
			`"hostPort":"[::1]:80"`, `"hostPort":"::1"`, `"hostPort":"a:b:80"`, `"hostPort":"<é&>:\u0000\u2028"`),
		"v1": with(`FIELDS`+spec,
			``, extra, `"host":null`, `"port":null`, `"host":null,"port":null`, `"host":""`, `"port":""`,
			`"host":"","port":""`, `"host":"a"`,
			`"port":"80"`, `"host":null,"port":"80"`, `"host":"a","port":null`, `"host":"a:80"`, `"host":"::1","port":"80"`,
			`"host":"a","port":"b:c"`, `"host":"<é&>","port":"\u0000\u2028"`),
	}
}

// databaseFields returns members of Databases by version. The CRD that is compiled in allows no
// null.
func databaseFields() map[string][]string {
	const spec = `"spec":{FIELDS"engine":"EDIT"}`
	numbers := func(name string) []string {
		return with(spec, ``, name+`:0`, name+`:9007199254740993`, name+`:9223372036854775807`,
			name+`:-9223372036854775808`)
	}
	policies := with(spec,
		`"backupPolicy":{}`, `"backupPolicy":{"schedule":""}`, `"backupPolicy":{"retentionDays":0}`,
		`"backupPolicy":{"retentionDays":9007199254740993}`,
		`"backupPolicy":{"schedule":"<é&>","retentionDays":9223372036854775807}`)
	return map[string][]string{
		"v1alpha1": append(numbers(`"storageGB"`), with(spec, `"backup":""`, `"backup":"<é&>"`)...),
		"v1beta1":  append(numbers(`"storageGB"`), policies...),
		"v1":       append(numbers(`"storageGiB"`), policies...),
	}
}

// with puts each of the fields into members, and a comma behind it if it is there.
func with(members string, fields ...string) []string {
	all := make([]string, 0, len(fields))
	for _, f := range fields {
		if f != "" {
			f += ","
		}
		all = append(all, strings.Replace(members, "FIELDS", f, 1))
	}
	return all
}

// comesBack creates an object at a version, edits a field of spec at each other one, and wants all
// else to be as it was when the object is read at its own version again.
func (s subject) comesBack(version string, number int, members, field string) {
	s.t.Helper()
	name := fmt.Sprintf("%s-%d", version, number)
	s.create(version, name, members)
	s.wants(version, name, members)
	for _, other := range s.Served {
		obj := s.read(other, name)
		edited := "written at " + other
		if err := unstructured.SetNestedField(obj.Object, edited, "spec", field); err != nil {
			s.t.Fatalf("%s at %s: %v", name, other, err)
		}
		s.update(other, obj)
		s.wants(version, name, strings.Replace(members, "EDIT", edited, 1))
		if version == s.Storage {
			s.storedAs(version, name, strings.Replace(members, "EDIT", edited, 1))
		}
		s.keepsNothing(name)
	}
	if s.t.Failed() {
		s.t.Fatalf("that was %s with %s", name, members)
	}
}

// keepsNothing holds that etcd has nothing kept of the version that it stores: that is in its
// fields.
func (s subject) keepsNothing(name string) {
	s.t.Helper()
	for place, value := range keptIn(s.t, s.Stored(s.t, name)) {
		if of, _, _ := strings.Cut(place, "."); of == s.Storage {
			s.t.Errorf("etcd holds %s at %s and keeps %s: %s", name, s.Storage, place, value)
		}
	}
}

// editWins changes, at a version that cannot say all of it, what an annotation keeps as well.
func editWins(s subject) {
	s.create("v1", "edited", `"port":"80"`)
	obj := s.read("v1beta1", "edited")
	if diff := cmp.Diff(map[string]string{"v1.host": "null"}, keptIn(s.t, obj)); diff != "" {
		s.t.Errorf("kept of a port alone at v1beta1 (-want +got):\n%s", diff)
	}
	s.wants("v1beta1", "edited", `"hostPort":":80"`)
	obj.Object["hostPort"] = "localhost:81"
	s.update("v1beta1", obj)
	s.storedAs("v1", "edited", `"host":"localhost","port":"81"`)
	s.keeps("edited", nil)
}

// nullIsDropped shows what the API server does itself: a null that the schema does not allow is as
// good as absent.
func nullIsDropped(s subject) {
	s.create("v1", "null", `"spec":{"image":null}`)
	s.storedAs("v2", "null", `"spec":{}`)
	s.wants("v1", "null", `"spec":{}`)
}

// nullable allows null in each field below the top of an object and below spec.
func nullable(crd *apiextensionsv1.CustomResourceDefinition) {
	for i := range crd.Spec.Versions {
		root := crd.Spec.Versions[i].Schema.OpenAPIV3Schema
		for name, p := range root.Properties {
			if name != "spec" && name != "status" {
				p.Nullable = true
				root.Properties[name] = p
			}
		}
		allowNull(root.Properties["spec"].Properties)
	}
}

func allowNull(properties map[string]apiextensionsv1.JSONSchemaProps) {
	for name, p := range properties {
		p.Nullable = true
		allowNull(p.Properties)
		properties[name] = p
	}
}
