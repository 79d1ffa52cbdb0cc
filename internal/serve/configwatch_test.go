package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/serve/config"
)

// Each state of the file is logged once, however often it is read.
func TestConfigWatch(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	level := zap.NewAtomicLevel()
	var reloads []bool
	var levels []zapcore.Level
	var wanted []config.LogReviews
	lines := logged(t, zapcore.DebugLevel, func(logger *zap.Logger) {
		const first = "log-level: info\n"
		write(first)
		loaded, err := config.Load(nil, []string{"WEBHOOKD_CONFIG=" + file}, config.ReadFile)
		if err != nil {
			t.Fatal(err)
		}
		w := &configWatch{
			loaded: loaded, level: level, logger: logger, text: []byte(first),
			want:     func(which config.LogReviews) { wanted = append(wanted, which) },
			reloaded: func(err error) { reloads = append(reloads, err == nil) },
		}
		look := func() {
			for range 3 {
				w.look()
			}
			levels = append(levels, level.Level())
		}
		look()
		write("log-level: debug\nlisten: :8443\n")
		look()
		write("log-level: shout\n")
		look()
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		look()
		write("log-level: warn\n")
		look()
		write("log-level: warn\nlog-reviews: all\n")
		look()
		write("log-level: info\n")
		look()
	})
	for _, line := range lines {
		delete(line, "errors")
	}
	want := []map[string]any{
		{
			"level": "info", "msg": "configuration file read again",
			"changed": []any{"log-level"}, "logLevel": "debug", "needRestart": []any{"listen"},
		},
		{"level": "error", "msg": "configuration file cannot be used, the configuration is kept"},
		{"level": "error", "msg": "configuration file cannot be used, the configuration is kept"},
		{
			"level": "info", "msg": "configuration file read again",
			"changed": []any{"log-level"}, "logLevel": "warn", "needRestart": []any{},
		},
		{
			"level": "info", "msg": "configuration file read again",
			"changed": []any{"log-reviews"}, "logReviews": "all", "needRestart": []any{},
		},
		{
			"level": "info", "msg": "configuration file read again", "needRestart": []any{},
			"changed": []any{"log-level", "log-reviews"}, "logLevel": "info", "logReviews": "failures",
		},
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]bool{true, false, false, true, true, true}, reloads); diff != "" {
		t.Errorf("counted: %s", diff)
	}
	wantLevels := []zapcore.Level{zapcore.InfoLevel, zapcore.DebugLevel, zapcore.DebugLevel, zapcore.DebugLevel, zapcore.WarnLevel, zapcore.WarnLevel, zapcore.InfoLevel}
	if diff := cmp.Diff(wantLevels, levels); diff != "" {
		t.Errorf("levels: %s", diff)
	}
	if diff := cmp.Diff([]config.LogReviews{config.LogAllReviews, config.LogFailedReviews}, wanted); diff != "" {
		t.Errorf("reviews: %s", diff)
	}
}

func TestConfigWatchPolls(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("log-level: info\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		loaded, err := config.Load(nil, []string{"WEBHOOKD_CONFIG=" + file}, config.ReadFile)
		if err != nil {
			t.Fatal(err)
		}
		level := zap.NewAtomicLevel()
		w := &configWatch{loaded: loaded, level: level, logger: zap.NewNop(), reloaded: func(error) {}}
		go w.run(t.Context())
		if err := os.WriteFile(file, []byte("log-level: error\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		advance(configPoll)
		if level.Level() != zapcore.ErrorLevel {
			t.Errorf("level is %s after %s", level.Level(), configPoll)
		}
	})
}

func TestWithoutAFileNothingIsWatched(t *testing.T) {
	t.Parallel()
	w := &configWatch{}
	w.run(t.Context()) // would never return
	if strings.TrimSpace(w.failure) != "" {
		t.Error(w.failure)
	}
}
