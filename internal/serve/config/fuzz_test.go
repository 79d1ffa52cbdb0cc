package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/serve/config"
)

// FuzzLoadFile loads any text. Nothing may panic; an error has no empty lines; what loads can be
// dumped, and the dump loads to the same configuration.
func FuzzLoadFile(f *testing.F) {
	var all strings.Builder
	for key, s := range samples() {
		f.Add(key + ": " + s.file + "\n")
		all.WriteString(key + ": " + s.flag + "\n")
	}
	f.Add(all.String())
	for _, text := range []string{
		"", "---\n", "{}", "- a", "a: &a [*a]", "<<: *x", "? {a: b}\n: c", "listen: !!binary aGk=", "listen: |\n  :1\n",
		"path: /a\npath: /b", "client-ca-file: /c\nclient-names: [a, 'b,c', \"\\u2028\"]", "max-body: 1e999999999", "tls-dir: \"\\x00\"",
		"drain-delay: 9223372036854775807ns", "%YAML 1.2\n---\n", "\ufeffpath: /a", "tls-dir: 2001-01-01", "{path: /a, listen: ':1'}",
		"path: /a # x\r\nlisten: :1\r\n", "tls-dir: >-\n  a\n  b\n", "1: 2", "\xff", "a:\n\t- b", "max-body: 0o777",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := load(t, in{file: text})
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if line == "" {
					t.Errorf("empty line in %q", err)
				}
			}
			return
		}
		again, err := config.Load(nil, []string{"WEBHOOKD_CONFIG=dump"}, files(map[string]string{"dump": dumpYAML(t, l)}))
		if err != nil {
			t.Fatalf("the dump does not load: %v\n%s", err, dumpYAML(t, l))
		}
		if diff := cmp.Diff(l.Config, again.Config); diff != "" {
			t.Errorf("the dump differs (-first +again):\n%s", diff)
		}
	})
}
