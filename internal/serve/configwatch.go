package serve

import (
	"bytes"
	"context"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/config"
	"github.com/crdconvert/webhookd/internal/panics"
)

// configPoll is the time between two readings of the configuration file. Its content is compared, so
// that it makes no difference whether a ConfigMap's link was swapped or a file edited.
const configPoll = 5 * time.Second

// A configWatch follows the configuration file and takes over what may change while running.
type configWatch struct {
	loaded   config.Loaded
	level    zap.AtomicLevel
	want     func(config.LogReviews)
	logger   *zap.Logger
	reloaded func(error) // counts a change

	text    []byte // that was looked at last
	failure string // that was told last
}

// run ends with ctx.
func (w *configWatch) run(ctx context.Context) {
	if w.loaded.File == "" {
		return
	}
	ticker := time.NewTicker(configPoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.look()
		}
	}
}

// look reads the file and tells, once, what has become of it.
func (w *configWatch) look() {
	if err := panics.Survive(w.reload); err != nil {
		w.fail(err, StackOf(err)...)
	}
}

func (w *configWatch) reload() {
	text, err := config.ReadFile(w.loaded.File)
	if err == nil && bytes.Equal(text, w.text) {
		return
	}
	w.text = text
	next, restart, err := w.loaded.Reload(func(string) ([]byte, error) { return text, err })
	if err != nil {
		w.fail(err)
		return
	}
	w.failure = ""
	w.reloaded(nil)
	wanted := next.Config.LogReviews
	var changed []string
	var values []zap.Field
	before, after := w.level.Level(), zapLevel(next.Config.LogLevel)
	if after != before {
		changed, values = append(changed, "log-level"), append(values, zap.Stringer("logLevel", after))
	}
	if wanted != w.loaded.Config.LogReviews {
		changed, values = append(changed, "log-reviews"), append(values, zap.String("logReviews", string(wanted)))
		w.want(wanted)
	}
	w.loaded = next
	fields := []zap.Field{zap.Strings("needRestart", restart)}
	if len(changed) > 0 {
		fields = append(append(fields, zap.Strings("changed", changed)), values...)
	}
	// The line is told at the more talkative of the two levels.
	w.level.SetLevel(min(before, after))
	w.logger.Info("configuration file read again", fields...)
	w.level.SetLevel(after)
}

// fail counts and tells, once, what is wrong.
func (w *configWatch) fail(err error, fields ...zap.Field) {
	if w.failure == err.Error() {
		return
	}
	w.failure = err.Error()
	w.reloaded(err)
	w.logger.Error("configuration file cannot be used, the configuration is kept",
		append(fields, zap.Strings("errors", strings.Split(err.Error(), "\n")))...)
}
