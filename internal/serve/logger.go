package serve

import (
	"errors"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// newLogger returns a logger that writes one JSON object per line to w, or lines for people.
// docs/reference/logs.md describes the fields, which never hold content of an object. A line has at
// most maxLine bytes.
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
		return zap.New(zapcore.NewCore(shortEncoder{zapcore.NewJSONEncoder(format)}, w, level))
	}
	format.EncodeTime = zapcore.TimeEncoderOfLayout(time.TimeOnly)
	format.EncodeLevel = zapcore.CapitalLevelEncoder
	if console.Colors {
		format.EncodeLevel = zapcore.CapitalColorLevelEncoder
	}
	format.ConsoleSeparator = "  "
	return zap.New(zapcore.NewCore(shortEncoder{zapcore.NewConsoleEncoder(format)}, w, level))
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

const (
	// maxLine bounds a log line in bytes, including its end. Longer texts are cut to fit. Stacks
	// and lists do not count: they come from the program, the rules and the configuration, so
	// clients cannot make them longer.
	maxLine = 1 << 10
	// cutMark ends a text that has been cut.
	cutMark = "…"
)

// A shortEncoder wraps an encoder, and cuts the longest texts of lines that exceed maxLine.
type shortEncoder struct{ zapcore.Encoder }

// Clone implements zapcore.Encoder.
func (e shortEncoder) Clone() zapcore.Encoder { return shortEncoder{e.Encoder.Clone()} }

// EncodeEntry implements zapcore.Encoder.
func (e shortEncoder) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	line, err := e.Encoder.EncodeEntry(entry, fields)
	if err != nil || line.Len() <= maxLine {
		return line, err
	}
	bounded, err := e.Encoder.EncodeEntry(entry, slices.DeleteFunc(slices.Clone(fields), isUnbounded))
	if err != nil {
		return nil, err
	}
	limit := maxLine + line.Len() - bounded.Len()
	bounded.Free()
	for most := maxLine; err == nil && line.Len() > limit && most > 0; most /= 2 {
		line.Free()
		line, err = e.Encoder.EncodeEntry(shorten(entry, fields, most))
	}
	return line, err
}

// isUnbounded reports whether a field is a stack or a list.
func isUnbounded(f zapcore.Field) bool {
	return f.Key == "stack" || f.Type == zapcore.ArrayMarshalerType
}

// shorten cuts the texts of an entry to most bytes each, and adds the number of missing bytes.
func shorten(entry zapcore.Entry, fields []zapcore.Field, most int) (zapcore.Entry, []zapcore.Field) {
	missing := 0
	cut := func(text string) string {
		end := most
		if len(text) <= end {
			return text
		}
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		missing += len(text) - end
		return text[:end] + cutMark
	}
	fields = slices.Clone(fields) // the caller reuses them
	entry.Message = cut(entry.Message)
	for i := range fields {
		if f := &fields[i]; f.Type == zapcore.StringType && !isUnbounded(*f) {
			f.String = cut(f.String)
		}
	}
	return entry, append(fields, zap.Int("cut", missing))
}

// StackOf returns a log field with the stack if the error is a recovered panic.
func StackOf(err error) []zap.Field {
	if failed, ok := errors.AsType[*ruleset.PanicError](err); ok {
		return []zap.Field{zap.ByteString("stack", failed.Stack)}
	}
	return nil
}
