package serve

import (
	"bytes"
	"context"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/internal/serve/panics"
)

// configPoll is the interval at which the configuration file is read. The content is compared, so a
// swapped ConfigMap link and an edited file work alike.
const configPoll = 5 * time.Second

// A configWatch follows the configuration file and applies keys that may change while running.
type configWatch struct {
	loaded   config.Loaded
	level    zap.AtomicLevel
	want     func(config.LogReviews)
	logger   *zap.Logger
	reloaded func(error) // counts a change

	text    []byte // last content
	failure string // last logged failure
}

// run follows the file until ctx ends.
func (w *configWatch) run(ctx context.Context) {
	if w.loaded.File != "" {
		every(ctx, configPoll, w.look)
	}
}

// look reads the file, and logs a change or failure once.
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
	// Log at the lower of the two levels.
	w.level.SetLevel(min(before, after))
	w.logger.Info("configuration file read again", fields...)
	w.level.SetLevel(after)
}

// fail counts and logs a failure once.
func (w *configWatch) fail(err error, fields ...zap.Field) {
	if w.failure == err.Error() {
		return
	}
	w.failure = err.Error()
	w.reloaded(err)
	w.logger.Error("configuration file cannot be used, the configuration is kept",
		append(fields, zap.Strings("errors", strings.Split(err.Error(), "\n")))...)
}
