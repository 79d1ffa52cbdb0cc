package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/serve/config"
)

// sample holds a value for each source, and other flags that the key needs to be valid. The
// flag's value is the default where there is one: a flag that is set to it still wins.
type sample struct {
	file, env, flag string
	needs           []string
}

func samples() map[string]sample {
	return map[string]sample{
		"listen":              {file: ":1001", env: "127.0.0.1:1002", flag: ":9443"},
		"admin-listen":        {file: `"[::1]:1001"`, env: "localhost:1002", flag: ":8080"},
		"path":                {file: "/a", env: "/b/c", flag: "/crdconvert"},
		"rules":               {file: "/rules/a", env: "/rules/b", flag: "/rules/c", needs: []string{"--crds=/crds"}},
		"wait-for-rules":      {file: "true", env: "false", flag: "true"},
		"rules-transition":    {file: "0s", env: "1h30m", flag: "10m"},
		"crds":                {file: "/crds/a", env: "/crds/b", flag: "/crds/c"},
		"tls-dir":             {file: "/tls/a", env: "/tls/b", flag: "/tls/c"},
		"self-signed":         {file: "true", env: "true", flag: "false"},
		"client-ca-file":      {file: "/a.crt", env: "/b.crt", flag: "/c.crt"},
		"client-names":        {file: "[a, b]", env: "c,d", flag: "e", needs: []string{"--client-ca-file=/ca"}},
		"max-body":            {file: "1Mi", env: "1Gi", flag: "128Mi"},
		"max-in-flight-bytes": {file: "1Gi", env: "2Gi", flag: "0"},
		"memory-limit":        {file: "512Mi", env: "1536Mi", flag: "0"},
		"request-timeout":     {file: "10s", env: "20s", flag: "30s"},
		"drain-delay":         {file: "0s", env: "5m", flag: "15s"},
		"shutdown-timeout":    {file: "1s", env: "10m", flag: "30s"},
		"log-level":           {file: "debug", env: "warn", flag: "info"},
		"log-reviews":         {file: "none", env: "all", flag: "failures"},
		"log-format":          {file: "json", env: "console", flag: "auto"},
		"pprof":               {file: "true", env: "true", flag: "false"},
	}
}

// TestPrecedence sets every key in every combination of file, environment and flag.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	all := samples()
	for _, k := range config.Keys() {
		s, ok := all[k.Name]
		if !ok {
			t.Errorf("no sample for %s", k.Name)
		}
		for bits := range 8 {
			file, env, flag := bits&1 != 0, bits&2 != 0, bits&4 != 0
			t.Run(fmt.Sprintf("%s/file=%t,env=%t,flag=%t", k.Name, file, env, flag), func(t *testing.T) {
				t.Parallel()
				in := in{args: slices.Clone(s.needs)}
				want, origin := k.Default, "default"
				if file {
					in.file = "# a comment\n" + k.Name + ": " + s.file + "\n"
					want, origin = s.file, "file webhookd.yaml:2"
				}
				if env {
					in.env = []string{k.Env() + "=" + s.env}
					want, origin = s.env, "env "+k.Env()
				}
				if flag {
					in.args = append(in.args, "--"+k.Name+"="+s.flag)
					want, origin = s.flag, "flag --"+k.Name
				}
				got := setting(t, mustLoad(t, in), k.Name)
				if diff := cmp.Diff(normal(k, want), k2text(got)); diff != "" {
					t.Errorf("value (-want +got):\n%s", diff)
				}
				if got.Origin.String() != origin {
					t.Errorf("origin %q, want %q", got.Origin, origin)
				}
			})
		}
	}
}

func k2text(s config.Setting) string { return s.Text + strings.Join(s.List, ",") }

// normal writes a sample as the dump does.
func normal(k config.Key, text string) string {
	switch {
	case k.Kind == config.Names:
		return strings.NewReplacer("[", "", "]", "", " ", "").Replace(text)
	case text == "1500ms":
		return "1.5s"
	}
	return strings.Trim(text, `"`)
}

func TestFlagForms(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, in{args: []string{
		"--pprof", "--client-ca-file", "ca.crt",
		"--client-names", `a,"b, Inc."`, "--client-names=c",
	}})
	if !l.Config.PProf {
		t.Error("--pprof without a value is not true")
	}
	if diff := cmp.Diff([]string{"a", "b, Inc.", "c"}, l.Config.ClientNames); diff != "" {
		t.Errorf("client-names (-want +got):\n%s", diff)
	}
	l = mustLoad(t, in{
		env:  []string{"WEBHOOKD_CLIENT_NAMES=a", "WEBHOOKD_TLS_DIR=/tls"},
		args: []string{"--client-names=", "--tls-dir="},
	})
	if len(l.Config.ClientNames) != 0 || l.Config.TLSDir != "" {
		t.Errorf("flags set to nothing do not clear: %q, %q", l.Config.ClientNames, l.Config.TLSDir)
	}
}

func TestFileFromEnvironment(t *testing.T) {
	t.Parallel()
	read := files(map[string]string{"a.yaml": "path: /a", "b.yaml": "path: /b"})
	env := []string{"WEBHOOKD_CONFIG=a.yaml"}
	l, err := config.Load(nil, env, read)
	if err != nil || l.Config.Path != "/a" || l.File != "a.yaml" {
		t.Errorf("got path %q of file %q, error %v", l.Config.Path, l.File, err)
	}
	l, err = config.Load(flags(t, "--config=b.yaml"), env, read)
	if err != nil || l.Config.Path != "/b" || l.File != "b.yaml" {
		t.Errorf("with the flag: got path %q of file %q, error %v", l.Config.Path, l.File, err)
	}
	l, err = config.Load(flags(t, "--config="), env, read)
	if err != nil || l.Config.Path != "/crdconvert" || l.File != "" {
		t.Errorf("with an empty flag: got path %q of file %q, error %v", l.Config.Path, l.File, err)
	}
}

func TestEmptyFiles(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"\n", "# nothing\n", "---\n", "{}", "null\n", "--- # x\n...\n"} {
		l, err := load(t, in{file: text})
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(config.Default(), l.Config); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestPathLosesTrailingSlash(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"/convert/": "/convert", "/a/b": "/a/b"} {
		if got := mustLoad(t, in{args: []string{"--path=" + text}}).Config.Path; got != want {
			t.Errorf("path %q became %q, want %q", text, got, want)
		}
	}
}
