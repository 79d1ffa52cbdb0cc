package config_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/serve/config"
)

func TestProblems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   in
		want []string // lines
	}{
		"unknown key": {
			in{file: "listen: :1\nmax-bodi: 1Mi\n"},
			[]string{`file webhookd.yaml:2: unknown key "max-bodi": did you mean "max-body"?`},
		},
		"unknown keys with letters swapped": {
			in{file: "lsiten: :1\nptah: /x\npprfo: true\n"},
			[]string{
				`file webhookd.yaml:1: unknown key "lsiten": did you mean "listen"?`,
				`file webhookd.yaml:2: unknown key "ptah": did you mean "path"?`,
				`file webhookd.yaml:3: unknown key "pprfo": did you mean "pprof"?`,
			},
		},
		"unknown keys in other spellings": {
			in{file: "Listen: :1\ndrainDelay: 2m\ntls_dir: /tls\ntls: {dir: /tls}\nlevel: info\n"},
			[]string{
				`file webhookd.yaml:1: unknown key "Listen": did you mean "listen"?`,
				`file webhookd.yaml:2: unknown key "drainDelay": did you mean "drain-delay"?`,
				`file webhookd.yaml:3: unknown key "tls_dir": did you mean "tls-dir"?`,
				`file webhookd.yaml:4: unknown key "tls": did you mean "tls-dir"?`,
				`file webhookd.yaml:5: unknown key "level": did you mean "log-level"?`,
			},
		},
		"unknown key like no other": {
			in{file: "colour: blue\n"},
			[]string{`file webhookd.yaml:1: unknown key "colour": the keys are listed in docs/reference/configuration.md`},
		},
		"file names another": {
			in{file: "config: other.yaml\n"},
			[]string{`file webhookd.yaml:1: unknown key "config": a file cannot name another, use the flag --config`},
		},
		"repeated key": {
			in{file: "path: /a\nlisten: :1\npath: /b\n"},
			[]string{`path (file webhookd.yaml:3): repeated: remove one, the other is in line 1`},
		},
		"anchor": {
			in{file: "path: /a\nclient-names: [&a x, *a]\n"},
			[]string{`file webhookd.yaml:2: anchors and aliases are not supported: write the value itself`},
		},
		"merge key": {
			in{file: "<<: {path: /a}\n"},
			[]string{`file webhookd.yaml:1: unknown key "<<": the keys are listed in docs/reference/configuration.md`},
		},
		"complex key": {
			in{file: "? [a]\n: b\n"},
			[]string{`file webhookd.yaml:1: a key is not a word: write lines of KEY: VALUE`},
		},
		"list for a single value": {
			in{file: "listen: [':1', ':2']\n"},
			[]string{`listen (file webhookd.yaml:1): not a single value: write one address`},
		},
		"mapping, null and tag for a single value": {
			in{file: "max-body: {mib: 1}\ndrain-delay:\npprof: !!str true\n"},
			[]string{
				`max-body (file webhookd.yaml:1): not a single value: write one size`,
				`drain-delay (file webhookd.yaml:2): not a single value: write one duration`,
				`pprof (file webhookd.yaml:3): not a single value: write one boolean`,
			},
		},
		"single value for a list": {
			in{file: "client-names: a\n"},
			[]string{`client-names (file webhookd.yaml:1): not a list of names: write it as [NAME, NAME]`},
		},
		"list with null": {
			in{file: "client-names: [a, ~]\n"},
			[]string{`client-names (file webhookd.yaml:1): not a list of names: write it as [NAME, NAME]`},
		},
		"a tab": {
			in{file: "log-level:\n\tinfo\n"},
			[]string{`file webhookd.yaml:2: not YAML: found character that cannot start any token: indent with spaces, not tabs`},
		},
		"not YAML": {
			in{file: "path: /a\nlisten: [\n"},
			[]string{`file webhookd.yaml:2: not YAML: did not find expected node content`},
		},
		"not UTF-8": {
			in{file: "path: /\xff\n"},
			[]string{`file webhookd.yaml: not YAML: invalid leading UTF-8 octet`},
		},
		"list at the root": {
			in{file: "- listen\n"},
			[]string{`file webhookd.yaml:1: not a list of settings: write lines of KEY: VALUE`},
		},
		"two documents": {
			in{file: "path: /a\n---\npath: /b\n"},
			[]string{`file webhookd.yaml: more than one YAML document: keep one`},
		},
		"too large": {
			in{file: strings.Repeat("#", config.MaxFile+1)},
			[]string{`file webhookd.yaml: larger than 1 MiB: remove everything that is not configuration`},
		},
		"file missing, by flag": {
			in{args: []string{"--config=missing.yaml"}},
			[]string{`config (flag --config): missing.yaml: file does not exist: write the file or leave config out`},
		},
		"file missing, by environment, with a bad value": {
			in{env: []string{"WEBHOOKD_CONFIG=missing.yaml", "WEBHOOKD_LISTEN=9443"}},
			[]string{
				`config (env WEBHOOKD_CONFIG): missing.yaml: file does not exist: write the file or leave config out`,
				`listen (env WEBHOOKD_LISTEN): not an address: write HOST:PORT or :PORT with a port from 0 to 65535, such as 127.0.0.1:8080`,
			},
		},
		"malformed value of every kind, from every source": {
			in{
				file: "listen: localhost\nmax-body: 128MB\nlog-level: verbose\nclient-names: ['']\n",
				env:  []string{"WEBHOOKD_PPROF=on", "WEBHOOKD_CLIENT_CA_FILE=a\nb", `WEBHOOKD_CLIENT_NAMES="a`},
				args: []string{"--drain-delay=2", "--path=crdconvert", "--log-format=xml"},
			},
			[]string{
				`listen (file webhookd.yaml:1): not an address: write HOST:PORT or :PORT with a port from 0 to 65535, such as 127.0.0.1:8080`,
				`max-body (file webhookd.yaml:2): not a size: write bytes as a number, or with a unit, such as 128Mi or 1Gi`,
				`log-level (file webhookd.yaml:3): not one of the choices: write debug, info, warn or error`,
				`client-names (file webhookd.yaml:4): not a name: write the common name or DNS name of a certificate`,
				`client-ca-file (env WEBHOOKD_CLIENT_CA_FILE): not a path of a file: write one without control characters`,
				`client-names (env WEBHOOKD_CLIENT_NAMES): not a list: write names with commas between them`,
				`pprof (env WEBHOOKD_PPROF): not a boolean: write true or false`,
				`path (flag --path): not a plain URL path: write letters, digits and -._~ between slashes, such as /crdconvert`,
				`drain-delay (flag --drain-delay): not a duration: write a number with a unit, such as 15s or 2m`,
				`log-format (flag --log-format): not one of the choices: write auto, json or console`,
			},
		},
		"empty variables": {
			in{env: []string{"WEBHOOKD_LOG_LEVEL=", "WEBHOOKD_DRAIN_DELAY=", "WEBHOOKD_TLS_DIR="}},
			[]string{
				`drain-delay (env WEBHOOKD_DRAIN_DELAY): not a duration: write a number with a unit, such as 15s or 2m`,
				`log-level (env WEBHOOKD_LOG_LEVEL): not one of the choices: write debug, info, warn or error`,
			},
		},
		"longer than kube-apiserver waits": {
			in{args: []string{"--request-timeout=31s"}},
			[]string{`request-timeout (flag --request-timeout): too large: write at most 30s (kube-apiserver gives up after 30s)`},
		},
		"negative": {
			in{args: []string{"--drain-delay=-1s", "--max-body=-1"}},
			[]string{
				`max-body (flag --max-body): not a size: write bytes as a number, or with a unit, such as 128Mi or 1Gi`,
				`drain-delay (flag --drain-delay): too small: write at least 0s`,
			},
		},
		"path of the health check": {
			in{file: "path: /readyz/\n"},
			[]string{`path (file webhookd.yaml:1): /readyz is the health check's: write another path, such as /crdconvert`},
		},
		"both sources of the certificate": {
			in{env: []string{"WEBHOOKD_TLS_DIR=/tls"}, args: []string{"--self-signed"}},
			[]string{`self-signed (flag --self-signed): not possible together with tls-dir (env WEBHOOKD_TLS_DIR): set only one of the two`},
		},
		"client certificates and a certificate that is made": {
			in{file: "client-ca-file: ca.crt\n", args: []string{"--self-signed"}},
			[]string{`client-ca-file (file webhookd.yaml:1): not possible together with self-signed (flag --self-signed): set only one of the two`},
		},
		"settings without what they need": {
			in{file: "client-names: [a]\nrules: /rules\n"},
			[]string{
				`rules (file webhookd.yaml:2): of no use without crds (default): set crds to the CRDs that the rules are about`,
				`client-names (file webhookd.yaml:1): of no use without client-ca-file (default): set client-ca-file, or leave client-names out`,
			},
		},
		"sizes that contradict each other": {
			in{
				file: "max-body: 512Ki\nmemory-limit: 64Mi\n",
				env:  []string{"WEBHOOKD_MAX_IN_FLIGHT_BYTES=64Mi"},
			},
			[]string{
				`max-in-flight-bytes (env WEBHOOKD_MAX_IN_FLIGHT_BYTES): not below memory-limit (file webhookd.yaml:2): write 60 % of that or less`,
			},
		},
		"budget below one body": {
			in{args: []string{"--max-in-flight-bytes=170Mi"}},
			[]string{`max-in-flight-bytes (flag --max-in-flight-bytes): too small for one body of max-body (default), which may take three quarters of it: raise it, or lower max-body`},
		},
		"bad value that a flag overrides": {
			in{file: "path: nowhere\n", args: []string{"--path=/here"}},
			[]string{`path (file webhookd.yaml:1): not a plain URL path: write letters, digits and -._~ between slashes, such as /crdconvert`},
		},
		"no rule is applied to a bad value": {
			in{file: "client-ca-file: [a]\nclient-names: [a]\n"},
			[]string{`client-ca-file (file webhookd.yaml:1): not a single value: write one path of a file or folder`},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, tt.in)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(tt.want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAddressesAndPaths(t *testing.T) {
	t.Parallel()
	bad := map[string][]string{
		"listen": {"", "9443", ":", ":x", ":65536", ":-1", "[::1", "::1:80", "a b:1", "host_name:1", "x\n:1", ":09443x"},
		"path":   {"", "x", "/", "//", "/a//b", "/a?b", "/a#b", "/{x}", "/*", "/a/../b", "/.", "/a b", "/\u00e9", "https://x/y", "/readyz", "/a//"},
	}
	good := map[string][]string{
		"listen": {":0", "0.0.0.0:9443", "[::]:9443", "[fe80::1%eth0]:1", "webhook.example.com:65535"},
		"path":   {"/crdconvert/", "/v1/convert", "/a.b_c~d-e", "/readyz/x"},
	}
	for key, texts := range bad {
		for _, text := range texts {
			if _, err := load(t, in{args: []string{"--" + key + "=" + text}}); err == nil {
				t.Errorf("%s %q: no error", key, text)
			}
		}
	}
	for key, texts := range good {
		for _, text := range texts {
			if _, err := load(t, in{args: []string{"--" + key + "=" + text}}); err != nil {
				t.Errorf("%s %q: %v", key, text, err)
			}
		}
	}
}

func TestForServe(t *testing.T) {
	t.Parallel()
	const missing = `tls-dir: no certificate to serve with: set it to a folder with tls.crt and tls.key (--tls-dir DIR), or for local use self-signed (--self-signed)`
	tests := map[string]struct {
		in   in
		want string
	}{
		"neither":              {in{}, missing},
		"folder":               {in{args: []string{"--tls-dir=/tls"}}, ""},
		"self-signed":          {in{args: []string{"--self-signed"}}, ""},
		"another problem":      {in{args: []string{"--path=x"}}, missing},
		"key is misspelt":      {in{file: "tls_dir: /tls\n"}, ""},
		"file is missing":      {in{args: []string{"--config=missing.yaml"}}, ""},
		"bad self-signed":      {in{args: []string{"--self-signed=maybe"}}, ""},
		"both, Load says that": {in{args: []string{"--self-signed", "--tls-dir=/tls"}}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := load(t, tt.in)
			got := ""
			if err := l.ForServe(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestProblemIsTyped(t *testing.T) {
	t.Parallel()
	_, err := load(t, in{args: []string{"--config=missing.yaml"}})
	var p *config.Error
	if !errors.As(err, &p) || p.Key != "config" || p.Origin.Source != config.FromFlag {
		t.Errorf("got %#v, want a problem of the flag config", p)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cause of %v is lost", err)
	}
}

func TestManyProblemsAreCut(t *testing.T) {
	t.Parallel()
	_, err := load(t, in{file: strings.Repeat("x: 1\n", 100)})
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 21 || lines[20] != "file webhookd.yaml: may have more problems: fix these first" {
		t.Errorf("got %d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}

func TestValuesAreNotQuoted(t *testing.T) {
	t.Parallel()
	const canary = "canary-41c9"
	for _, k := range config.Keys() {
		if k.Kind == config.File || k.Kind == config.Names {
			continue // any text is valid
		}
		for _, in := range []in{
			{file: k.Name + ": " + canary + "\n"},
			{env: []string{k.Env() + "=" + canary}},
			{args: []string{"--" + k.Name + "=" + canary}},
		} {
			_, err := load(t, in)
			if err == nil || strings.Contains(err.Error(), canary) {
				t.Errorf("%s: error %v, want one without the value", k.Name, err)
			}
		}
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), fileName)
	if _, err := config.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: error %v", err)
	}
	if err := os.WriteFile(name, make([]byte, config.MaxFile+100), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := config.ReadFile(name)
	if err != nil || len(text) != config.MaxFile+1 {
		t.Errorf("read %d bytes, error %v, want %d", len(text), err, config.MaxFile+1)
	}
}
