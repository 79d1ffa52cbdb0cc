package serve

import (
	"slices"
	"unicode/utf8"

	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
)

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
