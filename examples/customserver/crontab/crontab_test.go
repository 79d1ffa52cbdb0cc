package crontab_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/examples/customserver/crontab"
	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/jsondoc"
	"github.com/crdconvert/webhookd/internal/roundtrip"
)

const (
	joined = "v1beta1"
	parted = "v1"
)

// convert returns object, given without its braces, after a conversion.
func convert(t *testing.T, object, from, to string) string {
	t.Helper()
	obj, err := jsondoc.ParseObject([]byte("{" + object + "}"))
	if err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	kind := crontab.Kind("example.com", joined, parted)
	if err := kind.Convert(t.Context(), obj, from, to); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(obj.Text()), "{"), "}")
}

// same compares as JSON; metadata without anything in it is as good as none.
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

// In these the one form says all that the other does.
func TestHostPort(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, joined, parted string }{
		{"the documentation's", `"hostPort":"localhost:1234"`, `"host":"localhost","port":"1234"`},
		{"neither", ``, ``},
		{"null", `"hostPort":null`, `"host":null`},
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
		{"other fields", `"spec":{"b":1.10,"a":1e21},"hostPort":"a:1"`, `"spec":{"b":1.10,"a":1e21},"host":"a","port":"1"`},
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

// In these it takes annotations.
func TestHostPortIsKept(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, from, in, field string }{
		{"port alone", parted, `"port":"80"`, `"hostPort":":80"`},
		{"a host like host:port", parted, `"host":"a:80"`, `"hostPort":"a:80"`},
		{"a port with a colon", parted, `"host":"a","port":"b:c"`, `"hostPort":"a:b:c"`},
		{"both null", parted, `"host":null,"port":null`, `"hostPort":null`},
		{"the other version's fields", joined, `"hostPort":"a:1","host":"x"`, `"host":"a","port":"1"`},
		{"the other version's field", parted, `"hostPort":"x"`, ``},
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

// Neither version has a number there: a port comes back as the text that it is, whatever somebody keeps.
func TestNumbers(t *testing.T) {
	t.Parallel()
	there := convert(t, `"host":"a","port":80`, parted, joined)
	if shown := withoutKept(t, there); !same(t, shown, `"hostPort":"a:80"`) {
		t.Errorf("there: %s", shown)
	}
	if back := convert(t, there, joined, parted); !same(t, back, `"host":"a","port":"80"`) {
		t.Errorf("back: %s", back)
	}
}

// withoutKept returns an object without annotations, all of which must be webhookd's.
func withoutKept(t *testing.T, object string) string {
	t.Helper()
	v := decode(t, object)
	metadata, _ := v["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	for name := range annotations {
		if !keep.IsOwn(name) {
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

// Host and port are one text in the other version: what was kept of either is not mixed with what comes of another text.
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

// Every combination of what each of the three fields may be, in both directions.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	values := []string{"", "null", `""`, `"a"`, `":"`, `"::1"`, `"a:1"`, `"[::1]"`, `"[::1]:2"`}
	kind := crontab.Kind("example.com", joined, parted)
	suite := roundtrip.Suite{Kind: &kind, Seed: roundtrip.DefaultSeed}
	for _, version := range kind.Versions {
		err := suite.Check(t.Context(), func(yield func([]byte) bool) {
			for _, hostPort := range values {
				for _, host := range values {
					for _, port := range values {
						object := `{"apiVersion":"example.com/` + version + `","kind":"CronTab"`
						for name, value := range map[string]string{"hostPort": hostPort, "host": host, "port": port} {
							if value != "" {
								object += `,"` + name + `":` + value
							}
						}
						if !yield([]byte(object + "}")) {
							return
						}
					}
				}
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestFailsOnlyWhereAnObjectCannotBeKept(t *testing.T) {
	t.Parallel()
	kind := crontab.Kind("example.com", joined, parted)
	for _, test := range []struct{ name, object, want string }{
		{"metadata that is none", `{"metadata":1,"port":"80"}`, "is a number, not an object: .metadata"},
		{
			"more than the annotations may have", `{"port":["` + strings.Repeat("x", 256<<10) + `"]}`,
			"what only v1 can say takes 262188 bytes of annotations, which may have 262144 with the 0 of others: " +
				"get the object at v1 and make these fields smaller there: .port",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			obj, err := jsondoc.ParseObject([]byte(test.object))
			if err != nil {
				t.Fatal(err)
			}
			if err = kind.Convert(t.Context(), obj, parted, joined); err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}
