package serve

import (
	"math"
	"slices"
	"unicode/utf8"

	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
)

const (
	// maxLine bounds a line of the log in bytes, its end included. What clients bring about is cut to fit. Stacks and lists are
	// not counted: they have the text of the program, of rules and of the configuration, and no client makes them longer.
	maxLine = 1 << 10
	// cutMark ends a text that was cut.
	cutMark = "…"
	// cutField says how many bytes of texts are missing. It takes so many bytes of a line at the most.
	cutField     = "cut"
	cutFieldSize = len(`,"` + cutField + `":` + "9223372036854775807")
)

// A shortEncoder keeps the lines of another encoder short: it cuts the longest texts of a line that is longer than maxLine.
type shortEncoder struct{ zapcore.Encoder }

// Clone implements zapcore.Encoder.
func (e shortEncoder) Clone() zapcore.Encoder { return shortEncoder{e.Encoder.Clone()} }

// EncodeEntry implements zapcore.Encoder.
func (e shortEncoder) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	line, err := e.Encoder.EncodeEntry(entry, fields)
	if err != nil || line.Len() <= maxLine {
		return line, err
	}
	counted, err := e.Encoder.EncodeEntry(entry, slices.DeleteFunc(slices.Clone(fields), isUnbounded))
	if err != nil {
		line.Free()
		return nil, err
	}
	excess := counted.Len() - maxLine
	counted.Free()
	if excess <= 0 {
		return line, nil
	}
	line.Free()
	return e.Encoder.EncodeEntry(shorten(entry, fields, excess+cutFieldSize))
}

// isUnbounded is true of stacks and lists.
func isUnbounded(f zapcore.Field) bool {
	return f.Key == "stack" || f.Type == zapcore.ArrayMarshalerType
}

// shorten cuts the longest texts of an entry, so that its line has so many bytes less.
func shorten(entry zapcore.Entry, fields []zapcore.Field, excess int) (zapcore.Entry, []zapcore.Field) {
	fields = slices.Clone(fields) // which are reused
	texts := []*string{&entry.Message}
	for i := range fields {
		if f := &fields[i]; f.Type == zapcore.StringType && !isUnbounded(*f) {
			texts = append(texts, &f.String)
		}
	}
	lengths, room := make([]int, len(texts)), -excess
	for i, text := range texts {
		lengths[i] = escapedLen(*text)
		room += lengths[i]
	}
	most, missing := share(slices.Clone(lengths), room), 0
	for i, text := range texts {
		if lengths[i] > most {
			short := cut(*text, most)
			missing += len(*text) - len(short)
			*text = short + cutMark
		}
	}
	return entry, append(fields, zap.Int(cutField, missing))
}

// share returns how long each of some texts may be, so that together they are no longer than room. It sorts the lengths.
func share(lengths []int, room int) int {
	slices.Sort(lengths)
	for i, length := range lengths {
		each := room / (len(lengths) - i)
		if length > each {
			return each
		}
		room -= length
	}
	return math.MaxInt
}

// cut returns the longest beginning of a text, up to the end of a character, that takes no more than size bytes of a line
// together with a cutMark behind it.
func cut(text string, size int) string {
	used := len(cutMark)
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		if used += escapedRune(r, width); used > size {
			return text[:i]
		}
		i += width
	}
	return text
}

// escapedLen returns how many bytes of a line a text takes, without quotes.
func escapedLen(text string) int {
	length := 0
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		length += escapedRune(r, width)
		i += width
	}
	return length
}

// escapedRune returns how many bytes zap's encoder makes of a character.
func escapedRune(r rune, width int) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t':
		return len(`\n`)
	case r < ' ', r == utf8.RuneError && width == 1:
		return len(`\u0000`)
	}
	return width
}
