package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/serve/config"
)

func TestReload(t *testing.T) {
	t.Parallel()
	const first = "log-level: info\nmax-body: 64Mi\nclient-ca-file: /ca.crt\nclient-names: [a]\n"
	tests := map[string]struct {
		in      in
		file    string
		level   config.LogLevel
		reviews config.LogReviews // failures where it is empty
		restart []string
		err     string
	}{
		"nothing changed": {
			in: in{file: first}, file: first, level: config.LogInfo,
		},
		"log level": {
			in: in{file: first}, file: strings.Replace(first, "info", "debug", 1), level: config.LogDebug,
		},
		"log level removed": {
			in: in{file: strings.Replace(first, "info", "debug", 1)}, file: strings.TrimPrefix(first, "log-level: info\n"), level: config.LogInfo,
		},
		"log level set by a flag": {
			in: in{file: first, args: []string{"--log-level=warn"}}, file: strings.Replace(first, "info", "debug", 1), level: config.LogWarn,
		},
		"reviews that are logged": {
			in: in{file: first}, file: first + "log-reviews: all\n", level: config.LogInfo, reviews: config.LogAllReviews,
		},
		"other keys": {
			in: in{file: first}, file: "client-ca-file: /ca.crt\nclient-names: [a, b]\nlisten: :1\nlog-level: error\n",
			level: config.LogError, restart: []string{"listen", "client-names", "max-body"},
		},
		"other key that the environment decides": {
			in: in{file: first, env: []string{"WEBHOOKD_MAX_BODY=1Gi"}}, file: strings.Replace(first, "64Mi", "2Mi", 1), level: config.LogInfo,
		},
		"same value written otherwise": {
			in: in{file: first}, file: strings.Replace(first, "64Mi", "65536Ki", 1), level: config.LogInfo,
		},
		"bad file": {
			in: in{file: first}, file: "log-level: debug\nmax-body: 1\n", level: config.LogInfo,
			err: "max-body (file webhookd.yaml:2): too small: write at least 64Ki",
		},
		"missing file": {
			in: in{file: first}, level: config.LogInfo,
			err: "config (file webhookd.yaml): webhookd.yaml: file does not exist: write the file or leave config out",
		},
		"no file": {
			in: in{}, file: "log-level: debug\n", level: config.LogInfo,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := mustLoad(t, tt.in)
			disk := map[string]string{}
			if tt.file != "" {
				disk[fileName] = tt.file
			}
			next, restart, err := before.Reload(files(disk))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.err {
				t.Errorf("error %q, want %q", got, tt.err)
			}
			if diff := cmp.Diff(tt.restart, restart); diff != "" {
				t.Errorf("restart (-want +got):\n%s", diff)
			}
			want := before.Config
			want.LogLevel = tt.level
			if tt.reviews != "" {
				want.LogReviews = tt.reviews
			}
			if diff := cmp.Diff(want, next.Config); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
		})
	}
}

// A key that waits for a restart is named each time, until the file is as it was.
func TestReloadTwice(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, in{file: "path: /a\n"})
	for range 2 {
		next, restart, err := l.Reload(files(map[string]string{fileName: "log-level: warn\npath: /b\n"}))
		if err != nil || len(restart) != 1 || next.Config.Path != "/a" {
			t.Fatalf("restart %q, path %q, error %v", restart, next.Config.Path, err)
		}
		if o := next.Origins["log-level"].String(); o != "file webhookd.yaml:1" {
			t.Errorf("log-level comes from %s", o)
		}
		l = next
	}
	if _, restart, err := l.Reload(files(map[string]string{fileName: "path: /a\n"})); err != nil || len(restart) != 0 {
		t.Errorf("restart %q, error %v", restart, err)
	}
}
