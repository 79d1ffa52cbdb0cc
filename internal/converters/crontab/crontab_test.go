package crontab_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/crontab"
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

// In these it takes an annotation.
func TestHostPortWithStash(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, from, in, field, stash string }{
		{"port alone", parted, `"port":"80"`, `"hostPort":":80"`, `{"port":"80"}`},
		{"a host like host:port", parted, `"host":"a:80"`, `"hostPort":"a:80"`, `{"host":"a:80"}`},
		{"a port with a colon", parted, `"host":"a","port":"b:c"`, `"hostPort":"a:b:c"`, `{"host":"a","port":"b:c"}`},
		{"a port that is a number", parted, `"host":"a","port":80`, `"hostPort":"a:80"`, `{"host":"a","port":80}`},
		{"both null", parted, `"host":null,"port":null`, `"hostPort":null`, `{"host":null,"port":null}`},
		{"host is an object", parted, `"host":{"a":1.10}`, ``, `{"host":{"a":1.10}}`},
		{"hostPort is a number", joined, `"hostPort":80`, ``, `{"hostPort":80}`},
		{"the other version's fields", joined, `"hostPort":"a:1","host":"x"`, `"host":"a","port":"1"`, `{"hostPort":"a:1","host":"x"}`},
		{"the other version's field", parted, `"hostPort":"x"`, ``, `{"hostPort":"x"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			to := map[string]string{joined: parted, parted: joined}[test.from]
			quoted, err := json.Marshal(test.stash)
			if err != nil {
				t.Fatal(err)
			}
			want := `"metadata":{"annotations":{"` + converters.StashAnnotation(test.from) + `":` + string(quoted) + `}}`
			if test.field != "" {
				want += "," + test.field
			}
			there := convert(t, test.in, test.from, to)
			if !same(t, there, want) {
				t.Errorf("there: %s, want %s", there, want)
			}
			if back := convert(t, there, to, test.from); !same(t, back, test.in) {
				t.Errorf("back: %s, want %s", back, test.in)
			}
		})
	}
}

func TestAnEditWinsOverTheStash(t *testing.T) {
	t.Parallel()
	there := convert(t, `"port":"80"`, parted, joined)
	edited := strings.Replace(there, `":80"`, `"localhost:81"`, 1)
	if edited == there {
		t.Fatalf("nothing to edit in %s", there)
	}
	if got, want := convert(t, edited, joined, parted), `"host":"localhost","port":"81"`; !same(t, got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Every combination of what each of the three fields may be, in both directions.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	values := []string{"", "null", `""`, `"a"`, `"::1"`, `"a:1"`, `"[::1]:2"`, "1.10", `{"a":null}`}
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
		{"annotations that are none", `{"metadata":{"annotations":[]},"port":"80"}`, "is an array, not an object: .metadata.annotations"},
		{
			"a stash of more than 128 KiB", `{"port":"` + strings.Repeat("x", 128<<10) + `"}`,
			"what only v1 can say has 131083 bytes and an annotation keeps 131072, make its fields smaller: " +
				`.metadata.annotations["conversion.webhookd.io/v1"]`,
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
