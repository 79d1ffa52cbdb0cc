package crontab_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/conversiontest"
	"github.com/crdconvert/webhookd/examples/crds"
	"github.com/crdconvert/webhookd/examples/custom-server/crontab"
)

const (
	joined = "v1beta1"
	parted = "v1"
)

func kind() conversion.Kind { return conversion.Must(crontab.Kind(crds.CronTabs, joined)) }

// convert returns object, given without its braces, apiVersion and kind, after a conversion.
func convert(t *testing.T, object, from, to string) string {
	t.Helper()
	obj, err := conversion.ParseObject([]byte(`{"apiVersion":"example.com/` + from + `","kind":"CronTab"` + comma(object) + object + "}"))
	if err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	if err := kind().Convert(t.Context(), obj, to); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	text := strings.TrimPrefix(string(obj.JSON()), `{"apiVersion":"example.com/`+to+`","kind":"CronTab"`)
	return strings.TrimPrefix(strings.TrimSuffix(text, "}"), ",")
}

func comma(object string) string {
	if object == "" {
		return ""
	}
	return ","
}

// same compares JSON. Empty metadata equals absent metadata.
func same(t *testing.T, a, b string) bool {
	t.Helper()
	return cmp.Equal(decode(t, a), decode(t, b))
}

func decode(t *testing.T, object string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte("{"+object+"}"), &v); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	if meta, ok := v["metadata"].(map[string]any); ok && len(meta) == 0 {
		delete(v, "metadata")
	}
	return v
}

// Here both forms express the same.
func TestHostPort(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, joined, parted string }{
		{"the documentation's", `"hostPort":"localhost:1234"`, `"host":"localhost","port":"1234"`},
		{"neither", ``, ``},
		{"IPv4", `"hostPort":"127.0.0.1:80"`, `"host":"127.0.0.1","port":"80"`},
		{"IPv6", `"hostPort":"[::1]:80"`, `"host":"::1","port":"80"`},
		{"IPv6 alone", `"hostPort":"::1"`, `"host":"::1"`},
		{"IPv6 alone in brackets", `"hostPort":"[::1]"`, `"host":"[::1]"`},
		{"no colon", `"hostPort":"localhost"`, `"host":"localhost"`},
		{"empty", `"hostPort":""`, `"host":""`},
		{"a colon alone", `"hostPort":":"`, `"host":"","port":""`},
		{"no host", `"hostPort":":80"`, `"host":"","port":"80"`},
		{"no port", `"hostPort":"localhost:"`, `"host":"localhost","port":""`},
		{"several colons", `"hostPort":"a:b:80"`, `"host":"a:b:80"`},
		{"brackets around no colon", `"hostPort":"[a]:80"`, `"host":"[a]","port":"80"`},
		{"half a bracket", `"hostPort":"[a:b:80"`, `"host":"[a:b:80"`},
		{"escapes", `"hostPort":"h\"\\\u0000é:p<"`, `"host":"h\"\\\u0000é","port":"p<"`},
		{"other fields", `"spec":{"replicas":2,"image":"a"},"hostPort":"a:1"`, `"spec":{"replicas":2,"image":"a"},"host":"a","port":"1"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := convert(t, test.joined, joined, parted); !same(t, got, test.parted) {
				t.Errorf("parted: %s, want %s", got, test.parted)
			}
			if got := convert(t, test.parted, parted, joined); !same(t, got, test.joined) {
				t.Errorf("joined: %s, want %s", got, test.joined)
			}
		})
	}
}

// Here annotations are needed.
func TestHostPortIsKept(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, from, in, field string }{
		{"port alone", parted, `"port":"80"`, `"hostPort":":80"`},
		{"a host like host:port", parted, `"host":"a:80"`, `"hostPort":"a:80"`},
		{"a port with a colon", parted, `"host":"a","port":"b:c"`, `"hostPort":"a:b:c"`},
		{"the other version's fields", joined, `"hostPort":"a:1","host":"x"`, `"host":"a","port":"1"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			to := map[string]string{joined: parted, parted: joined}[test.from]
			there := convert(t, test.in, test.from, to)
			if shown := withoutKept(t, there); !same(t, shown, test.field) {
				t.Errorf("there: %s, want %s", shown, test.field)
			}
			if same(t, there, test.field) {
				t.Errorf("nothing is kept in %s", there)
			}
			if back := convert(t, there, to, test.from); !same(t, back, test.in) {
				t.Errorf("back: %s, want %s", back, test.in)
			}
		})
	}
}

// withoutKept removes the annotations of an object, which must all be webhookd's.
func withoutKept(t *testing.T, object string) string {
	t.Helper()
	v := decode(t, object)
	metadata, _ := v["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	for name := range annotations {
		if !strings.HasPrefix(name, "conversion.webhookd.io/") {
			t.Errorf("annotation %s", name)
		}
	}
	delete(metadata, "annotations")
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(text), "{"), "}")
}

// Host and port are one text in the other version: a kept value of one is not mixed with values
// from an edited text.
func TestAnEditWinsOverWhatIsKept(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ kept, was, now, want string }{
		{`"port":"80"`, `":80"`, `"localhost:81"`, `"host":"localhost","port":"81"`},
		{`"host":"a","port":"b:c"`, `"a:b:c"`, `"x:y:z"`, `"host":"x:y:z"`},
		{`"host":"a:80"`, `"a:80"`, `"b:80"`, `"host":"b","port":"80"`},
	} {
		there := convert(t, test.kept, parted, joined)
		edited := strings.Replace(there, `"hostPort":`+test.was, `"hostPort":`+test.now, 1)
		if edited == there {
			t.Fatalf("nothing to edit in %s", there)
		}
		if got := convert(t, edited, joined, parted); !same(t, got, test.want) {
			t.Errorf("%s, edited to %s: got %s, want %s", test.kept, test.now, got, test.want)
		}
	}
}

// Every combination of values of the three fields, in both directions.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	values := []string{"", `""`, `"a"`, `":"`, `"::1"`, `"a:1"`, `"[::1]"`, `"[::1]:2"`}
	samples := make([][]byte, 0, 2*len(values)*len(values)*len(values))
	for _, version := range []string{joined, parted} {
		for _, hostPort := range values {
			for _, host := range values {
				for _, port := range values {
					object := `{"apiVersion":"example.com/` + version + `","kind":"CronTab"`
					for name, value := range map[string]string{"hostPort": hostPort, "host": host, "port": port} {
						if value != "" && (name == "hostPort") == (version == joined) {
							object += `,"` + name + `":` + value
						}
					}
					samples = append(samples, []byte(object+"}"))
				}
			}
		}
	}
	slices.SortFunc(samples, bytes.Compare)
	conversiontest.Laws(t, kind(), crds.CronTabs, &conversiontest.Options{Samples: slices.CompactFunc(samples, bytes.Equal)})
}

func TestFailsOnlyWhereAnObjectCannotBeKept(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, object, want string }{
		{"metadata that is none", `"metadata":1,"port":"80"`, "is a number, not an object: .metadata"},
		{
			"more than the annotations may have", `"port":"80","host":["` + strings.Repeat("x", 256<<10) + `"]`,
			"get the object at v1 and make these fields smaller there: .host",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			obj, err := conversion.ParseObject([]byte(`{"apiVersion":"example.com/v1","kind":"CronTab",` + test.object + `}`))
			if err != nil {
				t.Fatal(err)
			}
			if err := kind().Convert(t.Context(), obj, joined); err == nil || !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}
