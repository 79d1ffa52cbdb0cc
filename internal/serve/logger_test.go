package serve

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

func TestLinesAreShort(t *testing.T) {
	t.Parallel()
	long := func(part string) string { return strings.Repeat(part, 20_000) }
	tests := map[string]struct {
		message string
		fields  []zap.Field
		cut     []string // fields that are cut; the message is msg
		long    bool     // the line may be longer
	}{
		"short":                      {message: "review failed", fields: []zap.Field{zap.String("error", "no port")}},
		"as long as a line may be":   {message: strings.Repeat("m", maxLine-len(emptyLine))},
		"one byte longer":            {message: strings.Repeat("m", maxLine-len(emptyLine)+1), cut: []string{"msg"}},
		"long message":               {message: long("m"), fields: []zap.Field{zap.String("kind", "K.a")}, cut: []string{"msg"}},
		"long error":                 {message: "m", fields: []zap.Field{zap.String("uid", "1"), zap.String("error", long("e"))}, cut: []string{"error"}},
		"both are long":              {message: long("m"), fields: []zap.Field{zap.String("error", long("e"))}, cut: []string{"msg", "error"}},
		"control characters":         {message: long("\x01\n\"\\"), cut: []string{"msg"}},
		"invalid UTF-8":              {message: "m", fields: []zap.Field{zap.String("error", long("\xff\xc3"))}, cut: []string{"error"}},
		"wide characters":            {message: "m", fields: []zap.Field{zap.String("error", long("é€🙂"))}, cut: []string{"error"}},
		"replacement characters":     {message: "m", fields: []zap.Field{zap.String("error", long("\ufffd\u2028"))}, cut: []string{"error"}},
		"a stack is whole":           {message: "m", fields: []zap.Field{zap.String("stack", long("s"))}, long: true},
		"a stack of bytes is whole":  {message: "m", fields: []zap.Field{zap.ByteString("stack", []byte(long("s")))}, long: true},
		"a list is whole":            {message: "m", fields: []zap.Field{zap.Strings("findings", []string{long("f")})}, long: true},
		"a long error with a stack":  {message: "m", fields: []zap.Field{zap.String("error", long("e")), zap.String("stack", long("s"))}, cut: []string{"error"}, long: true},
		"a long error with a number": {message: "m", fields: []zap.Field{zap.Int("objects", 5), zap.String("error", long("e"))}, cut: []string{"error"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			entry := newLogger(zapcore.AddSync(&out), zapcore.InfoLevel, Console{}).Check(zapcore.InfoLevel, tt.message)
			entry.Time = time.Unix(0, 0)
			entry.Write(tt.fields...)
			line := out.String()
			if len(line) > maxLine && !tt.long {
				t.Errorf("%d bytes", len(line))
			}
			if len(tt.cut) == 1 && !tt.long && len(line) < maxLine/3 {
				t.Errorf("only %d bytes, though more is missing", len(line))
			}
			var got map[string]any
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			whole := map[string]string{"msg": tt.message}
			for _, f := range tt.fields {
				if f.Type == zapcore.StringType {
					whole[f.Key] = f.String
				}
			}
			missing := 0
			for _, name := range tt.cut {
				text := got[name].(string)
				short, found := strings.CutSuffix(text, cutMark)
				if !found || strings.Contains(whole[name], cutMark) {
					t.Errorf("%s does not say that it was cut: %s", name, text)
				}
				if utf8.ValidString(whole[name]) {
					if !strings.HasPrefix(whole[name], short) {
						t.Errorf("%s is not the beginning of what it was: %s", name, text)
					}
					missing += len(whole[name]) - len(short)
				}
			}
			if got["cut"] == nil && tt.cut != nil || got["cut"] != nil && missing > 0 && got["cut"] != float64(missing) {
				t.Errorf("cut is %v, %d bytes are missing", got["cut"], missing)
			}
			if tt.cut == nil && (got["cut"] != nil || got["msg"] != tt.message) {
				t.Errorf("the line is cut: %s", line)
			}
		})
	}
}

// emptyLine is a line without a message.
const emptyLine = `{"level":"info","ts":"1970-01-01T00:00:00Z","msg":""}` + "\n"
