package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnknownVariablesAreWarnings(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, in{env: []string{
		"WEBHOOKD_MAX_BODI=1Mi",
		"WEBHOOKD_max_body=1Mi",
		"WEBHOOKD_COLOUR=blue",
		"WEBHOOKD_TLS_DIRECTORY=/tls",
		"WEBHOOKD_=",
		"webhookd_listen=:1",
		"PATH=/bin",
		"OTHER_WEBHOOKD_LISTEN=:1",
		"not a pair",
	}})
	want := []string{
		"unknown environment variable WEBHOOKD_ is ignored",
		"unknown environment variable WEBHOOKD_COLOUR is ignored",
		"unknown environment variable WEBHOOKD_MAX_BODI is ignored: did you mean WEBHOOKD_MAX_BODY?",
		"unknown environment variable WEBHOOKD_TLS_DIRECTORY is ignored: did you mean WEBHOOKD_TLS_DIR?",
		"unknown environment variable WEBHOOKD_max_body is ignored: did you mean WEBHOOKD_MAX_BODY?",
	}
	if diff := cmp.Diff(want, l.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// The kubelet sets these for Services called webhookd and webhookd-admin.
func TestServiceLinksGiveNoWarnings(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, in{env: []string{
		"WEBHOOKD_SERVICE_HOST=10.0.0.1",
		"WEBHOOKD_SERVICE_PORT=443",
		"WEBHOOKD_SERVICE_PORT_HTTPS=443",
		"WEBHOOKD_PORT=tcp://10.0.0.1:443",
		"WEBHOOKD_PORT_443_TCP=tcp://10.0.0.1:443",
		"WEBHOOKD_PORT_443_TCP_PROTO=tcp",
		"WEBHOOKD_ADMIN_PORT_8080_TCP_ADDR=10.0.0.1",
	}})
	if len(l.Warnings) != 0 {
		t.Errorf("warnings: %q", l.Warnings)
	}
	l = mustLoad(t, in{env: []string{"WEBHOOKD_PORT=9443"}})
	if len(l.Warnings) != 1 {
		t.Errorf("a port that the kubelet would not set: warnings %q, want one", l.Warnings)
	}
}

func TestLastVariableWins(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, in{env: []string{"WEBHOOKD_PATH=/a", "WEBHOOKD_PATH=/b"}})
	if l.Config.Path != "/b" {
		t.Errorf("path %q, want /b", l.Config.Path)
	}
}
