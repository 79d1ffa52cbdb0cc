package config_test

import (
	"testing"
	"time"
)

// A server with a self-signed certificate has no drain-delay, unless one was asked for.
func TestDefaultsOfALocalServer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in     in
		want   time.Duration
		origin string
	}{
		"in a cluster":                 {in{args: []string{"--tls-dir=/tls"}}, 15 * time.Second, "default"},
		"self-signed by a flag":        {in{args: []string{"--self-signed"}}, 0, "default"},
		"self-signed by the env":       {in{env: []string{"WEBHOOKD_SELF_SIGNED=1"}}, 0, "default"},
		"self-signed by the file":      {in{file: "self-signed: true\n"}, 0, "default"},
		"not self-signed after all":    {in{file: "self-signed: true\n", args: []string{"--self-signed=false"}}, 15 * time.Second, "default"},
		"the usual, asked for":         {in{args: []string{"--self-signed", "--drain-delay=15s"}}, 15 * time.Second, "flag --drain-delay"},
		"another, asked for by env":    {in{args: []string{"--self-signed"}, env: []string{"WEBHOOKD_DRAIN_DELAY=1s"}}, time.Second, "env WEBHOOKD_DRAIN_DELAY"},
		"another, asked for by file":   {in{file: "self-signed: true\ndrain-delay: 2s\n"}, 2 * time.Second, "file webhookd.yaml:2"},
		"none, asked for in a cluster": {in{args: []string{"--drain-delay=0s"}}, 0, "flag --drain-delay"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := mustLoad(t, tt.in)
			if got := l.Config.DrainDelay; got != tt.want {
				t.Errorf("drain-delay %s, want %s", got, tt.want)
			}
			if got := l.Origins["drain-delay"].String(); got != tt.origin {
				t.Errorf("origin %s, want %s", got, tt.origin)
			}
		})
	}
}
