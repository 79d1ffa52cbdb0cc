package serve

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/config"
)

// newLogger returns a logger that writes one JSON object a line to w. Its fields are described in
// docs/reference/logs.md; none ever holds content of an object. A line has maxLine bytes at the most.
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

// zapLevel translates the level of the configuration, whose names are zap's.
func zapLevel(l config.LogLevel) zapcore.Level {
	level, err := zapcore.ParseLevel(string(l))
	if err != nil {
		return zapcore.InfoLevel // config has checked it
	}
	return level
}
