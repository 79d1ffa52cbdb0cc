package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/serve/config"
)

func dumpYAML(t *testing.T, l config.Loaded) string {
	t.Helper()
	var b strings.Builder
	if err := l.Effective().WriteYAML(&b); err != nil {
		t.Fatalf("WriteYAML: %v", err)
	}
	return b.String()
}

func TestDumpAsYAML(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, in{
		file: "client-ca-file: /ca.crt\nclient-names: [a, 'b, Inc.', 'null', '#']\n",
		env:  []string{"WEBHOOKD_DRAIN_DELAY=3m"},
		args: []string{"--pprof", "--tls-dir=/a: b # c"},
	})
	got := dumpYAML(t, l)
	for _, want := range []string{
		"listen: :9443 # default\n",
		"tls-dir: '/a: b # c' # flag --tls-dir\n",
		"client-names: [a, 'b, Inc.', \"null\", '#'] # file webhookd.yaml:2\n",
		"drain-delay: 3m # env WEBHOOKD_DRAIN_DELAY\n",
		"pprof: true # flag --pprof\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "\n"); n != len(config.Keys()) {
		t.Errorf("%d lines, want one for each of %d keys", n, len(config.Keys()))
	}
}

// What is dumped can be fed back and means the same.
func TestDumpRoundTrip(t *testing.T) {
	t.Parallel()
	for key, s := range samples() {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			first := mustLoad(t, in{file: key + ": " + s.file + "\n", args: s.needs})
			second := mustLoad(t, in{file: dumpYAML(t, first)})
			if diff := cmp.Diff(first.Config, second.Config); diff != "" {
				t.Errorf("(-first +second):\n%s", diff)
			}
			for k, o := range second.Origins {
				if o.Source != config.FromFile {
					t.Errorf("%s comes from %s, want the dumped file", k, o)
				}
			}
		})
	}
}

func TestDumpAsText(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, in{env: []string{"WEBHOOKD_CLIENT_NAMES=a,b", "WEBHOOKD_CLIENT_CA_FILE=/ca.crt"}, args: []string{"--max-body=1Gi"}})
	var b strings.Builder
	if err := l.Effective().WriteText(&b); err != nil {
		t.Fatalf("WriteText: %v", err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != len(config.Keys())+1 {
		t.Errorf("%d lines, want a head and one for each of %d keys", len(lines), len(config.Keys()))
	}
	want := map[string]string{
		"KEY":          "KEY VALUE ORIGIN",
		"tls-dir":      "tls-dir - default",
		"client-names": "client-names a,b env WEBHOOKD_CLIENT_NAMES",
		"max-body":     "max-body 1Gi flag --max-body",
	}
	for _, line := range lines {
		fields := strings.Fields(line)
		if w, ok := want[fields[0]]; ok && strings.Join(fields, " ") != w {
			t.Errorf("got %q, want the columns of %q", line, w)
		}
	}
}

// A file's name can't forge a line of the dump.
func TestOriginStaysOnItsLine(t *testing.T) {
	t.Parallel()
	name := "a\npprof: true"
	l, err := config.Load(flags(t, "--config="+name), nil, files(map[string]string{name: "path: /x"}))
	if err != nil {
		t.Fatal(err)
	}
	if got := dumpYAML(t, l); !strings.Contains(got, `path: /x # file "a\npprof: true":1`+"\n") {
		t.Errorf("got:\n%s", got)
	}
}
