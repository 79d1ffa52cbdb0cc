package serve

import (
	"errors"
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// newLogger returns a logger that writes one JSON object per line to w, or lines for people.
// docs/reference/logs.md describes the fields, which never hold content of an object. Who logs a
// text that a client can choose bounds it.
func newLogger(w zapcore.WriteSyncer, level zapcore.LevelEnabler, console Console) *zap.Logger {
	format := zapcore.EncoderConfig{
		TimeKey:     "ts",
		LevelKey:    "level",
		MessageKey:  "msg",
		LineEnding:  zapcore.DefaultLineEnding,
		EncodeLevel: zapcore.LowercaseLevelEncoder,
		EncodeTime: func(t time.Time, enc zapcore.PrimitiveArrayEncoder) {
			zapcore.RFC3339NanoTimeEncoder(t.UTC(), enc)
		},
		EncodeDuration: zapcore.StringDurationEncoder,
	}
	if !console.On {
		return zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(format), w, level))
	}
	format.EncodeTime = zapcore.TimeEncoderOfLayout(time.TimeOnly)
	format.EncodeLevel = zapcore.CapitalLevelEncoder
	if console.Colors {
		format.EncodeLevel = zapcore.CapitalColorLevelEncoder
	}
	format.ConsoleSeparator = "  "
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(format), w, level))
}

// A Console says whether the log is for people, and findings are printed as check prints them.
type Console struct{ On, Colors bool }

// A findingsPrinter prints the findings of a set.
type findingsPrinter func(*ruleset.Set)

// printer returns a function that prints findings as check does, or nil if the log is for programs.
func (c Console) printer(w io.Writer) findingsPrinter {
	if !c.On {
		return nil
	}
	format := finding.Text
	if c.Colors {
		format = finding.Color
	}
	return func(set *ruleset.Set) { _ = set.Render(w, format) } // as a lost log line
}

// zapLevel converts a level of the configuration, which has zap's names.
func zapLevel(l config.LogLevel) zapcore.Level {
	level, err := zapcore.ParseLevel(string(l))
	if err != nil {
		return zapcore.InfoLevel // unreachable: config checks it
	}
	return level
}

// StackOf returns a log field with the stack if the error is a recovered panic.
func StackOf(err error) []zap.Field {
	if failed, ok := errors.AsType[*ruleset.PanicError](err); ok {
		return []zap.Field{zap.ByteString("stack", failed.Stack)}
	}
	return nil
}
