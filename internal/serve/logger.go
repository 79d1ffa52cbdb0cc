package serve

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/config"
)

// newLogger returns a logger that writes one JSON object per line to w. docs/reference/logs.md
// describes the fields, which never hold content of an object. A line has at most maxLine bytes.
func newLogger(w zapcore.WriteSyncer, level zapcore.LevelEnabler) *zap.Logger {
	encoder := zapcore.NewJSONEncoder(zapcore.EncoderConfig{
		TimeKey:     "ts",
		LevelKey:    "level",
		MessageKey:  "msg",
		LineEnding:  zapcore.DefaultLineEnding,
		EncodeLevel: zapcore.LowercaseLevelEncoder,
		EncodeTime: func(t time.Time, enc zapcore.PrimitiveArrayEncoder) {
			zapcore.RFC3339NanoTimeEncoder(t.UTC(), enc)
		},
		EncodeDuration: zapcore.StringDurationEncoder,
	})
	return zap.New(zapcore.NewCore(shortEncoder{encoder}, w, level))
}

// zapLevel converts a level of the configuration, which has zap's names.
func zapLevel(l config.LogLevel) zapcore.Level {
	level, err := zapcore.ParseLevel(string(l))
	if err != nil {
		return zapcore.InfoLevel // unreachable: config checks it
	}
	return level
}
