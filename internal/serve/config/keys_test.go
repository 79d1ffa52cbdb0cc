package config_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/serve/config"
)

func TestDefault(t *testing.T) {
	t.Parallel()
	want := config.Config{
		Listen: ":9443", AdminListen: ":8080", Path: "/crdconvert", RulesTransition: 10 * time.Minute,
		ClientNames:    []string{},
		MaxBody:        128 << 20,
		RequestTimeout: 30 * time.Second,
		DrainDelay:     15 * time.Second, ShutdownTimeout: 30 * time.Second,
		LogLevel: config.LogInfo, LogReviews: config.LogFailedReviews, LogFormat: config.LogAuto,
	}
	if diff := cmp.Diff(want, config.Default()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := config.Load(nil, nil, nil); err != nil {
		t.Errorf("the defaults are not valid: %v", err)
	}
}

// Every key has its field and every field its key, so that neither can be forgotten.
func TestKeysAreTheFields(t *testing.T) {
	t.Parallel()
	keys := config.Keys()
	names, fields := make([]string, 0, len(keys)), make([]string, 0, len(keys))
	for _, k := range keys {
		names = append(names, k.Name)
		if strings.Trim(k.Name, "abcdefghijklmnopqrstuvwxyz-") != "" {
			t.Errorf("%s is not kebab-case", k.Name)
		}
		if k.Usage == "" || strings.HasSuffix(k.Usage, ".") || strings.Contains(k.Usage, "`") {
			t.Errorf("%s: usage %q, want one sentence without full stop and back quotes", k.Name, k.Usage)
		}
	}
	for field := range reflect.TypeFor[config.Config]().Fields() {
		fields = append(fields, field.Tag.Get("mapstructure"))
	}
	slices.Sort(names)
	slices.Sort(fields)
	if diff := cmp.Diff(names, fields); diff != "" {
		t.Errorf("keys and fields differ (-keys +fields):\n%s", diff)
	}
}

func TestFlagsShowTheDefaults(t *testing.T) {
	t.Parallel()
	usage := flags(t).FlagUsages()
	for _, want := range []string{
		"--config file", "--tls-dir dir", "--rules path", "--client-names names", "--log-level level", "0, the default: ", "(default :9443)", "--max-body size", "(default 128Mi)", "(default 15s)", "--self-signed  ",
		"0: there are no other replicas", "debug, info, warn or error (default info)",
	} {
		if !strings.Contains(usage, want) {
			t.Errorf("%q is not in:\n%s", want, usage)
		}
	}
	if strings.Contains(usage, "(default 0)") || strings.Contains(usage, "(default false)") {
		t.Errorf("zero values are shown as defaults:\n%s", usage)
	}
}

// The bounds themselves are allowed, and what lies beyond them is not.
func TestBounds(t *testing.T) {
	t.Parallel()
	tests := map[string][2]string{ // below, above
		"max-body":            {"65535", "1073741825"},
		"max-in-flight-bytes": {"1048575", "1025Gi"},
		"memory-limit":        {"1Mi", "17Ti"},
		"request-timeout":     {"1999ms", "30001ms"},
		"rules-transition":    {"59s", "25h"},
		"drain-delay":         {"-1s", "301s"},
		"shutdown-timeout":    {"0s", "11m"},
	}
	beyond := func(key, text string) bool {
		_, err := load(t, in{args: []string{"--" + key + "=" + text}})
		start := key + " (flag --" + key + "): too "
		return err != nil && (strings.Contains(err.Error(), start+"small: write") || strings.Contains(err.Error(), start+"large: write"))
	}
	for _, k := range config.Keys() {
		outside, ok := tests[k.Name]
		if !ok {
			if k.Min+k.Max != "" {
				t.Errorf("no test for the bounds of %s", k.Name)
			}
			continue
		}
		for _, text := range outside {
			if !beyond(k.Name, text) {
				t.Errorf("%s %s: allowed, want it out of bounds", k.Name, text)
			}
		}
		for _, text := range []string{k.Min, k.Max} {
			if text != "" && beyond(k.Name, text) {
				t.Errorf("%s %s: out of bounds, want it allowed", k.Name, text)
			}
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	good := map[string]config.Bytes{
		"0": 0, "1": 1, "1023": 1023, "128Mi": 128 << 20, "1Gi": 1 << 30, "1.5Gi": 3 << 29, "1k": 1000, "128M": 128e6,
		"2T": 2e12, "9223372036854775806": 1<<63 - 2,
	}
	for text, want := range good {
		got, err := config.ParseBytes(text)
		if err != nil || got != want {
			t.Errorf("%q: got %d, error %v, want %d", text, got, err, want)
		}
		again, err := config.ParseBytes(got.String())
		if err != nil || again != got {
			t.Errorf("%q: written as %q, which reads as %d, error %v", text, got, again, err)
		}
	}
	for _, text := range []string{
		"", " 1", "-1", "+1", "1 Mi", "1MB", "1mi", "128m", "0.5", "1.1Ki", "1e3", "1E", "1e999999999", "Mi", "0x10", "1_000",
		"9223372036854775807", "9223372036854775808", "9999999999999999999Ti", "12345678901234567890123", "\u0661",
	} {
		if got, err := config.ParseBytes(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
	if got := config.Bytes(128 << 20).String(); got != "128Mi" {
		t.Errorf("got %s, want 128Mi", got)
	}
}
