package config_test

import (
	"io/fs"
	"testing"

	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/serve/config"
)

// in is what a test writes into each source.
type in struct {
	file string // content; empty: no file
	env  []string
	args []string
}

const fileName = "webhookd.yaml"

// load runs Load as the command does.
func load(t *testing.T, in in) (config.Loaded, error) {
	t.Helper()
	args := in.args
	if in.file != "" {
		args = append([]string{"--config=" + fileName}, args...)
	}
	return config.Load(flags(t, args...), in.env, files(map[string]string{fileName: in.file}))
}

func mustLoad(t *testing.T, in in) config.Loaded {
	t.Helper()
	l, err := load(t, in)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return l
}

func flags(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	set := pflag.NewFlagSet("webhookd", pflag.ContinueOnError)
	config.Flags(set)
	if err := set.Parse(args); err != nil {
		t.Fatalf("parsing flags: %v", err)
	}
	return set
}

// files replaces the disk.
func files(contents map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		text, ok := contents[name]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return []byte(text), nil
	}
}

// setting returns the effective setting of a key.
func setting(t *testing.T, l config.Loaded, key string) config.Setting {
	t.Helper()
	for _, s := range l.Effective() {
		if s.Key.Name == key {
			return s
		}
	}
	t.Fatalf("no setting %s", key)
	return config.Setting{}
}
