package main

import (
	"context"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/review"
)

// A reviewLog writes a line for each review. Its fields are reused.
type reviewLog struct {
	logger *zap.Logger
	fields sync.Pool
}

func newReviewLog(logger *zap.Logger) *reviewLog {
	l := &reviewLog{logger: logger}
	l.fields.New = func() any { return new([10]zapcore.Field) }
	return l
}

// outcome returns the level and the message of a review's line.
func outcome(r *review.Result) (zapcore.Level, string) {
	switch {
	case r.Rejected != nil:
		return zapcore.WarnLevel, "body rejected"
	case r.Message != "":
		return zapcore.WarnLevel, "review failed"
	}
	return zapcore.InfoLevel, "review done"
}

func (l *reviewLog) reviewDone(_ context.Context, r review.Result) { l.write(&r) }

func (l *reviewLog) write(r *review.Result) {
	level, message := outcome(r)
	entry := l.logger.Check(level, message)
	if entry == nil {
		return
	}
	if !r.At.IsZero() {
		entry.Time = r.At
	}
	all := l.fields.Get().(*[10]zapcore.Field) //nolint:forcetypeassert // New's
	fields := all[:0]
	fields = append(fields, zap.String("uid", r.UID))
	if r.Pair != (review.Pair{}) {
		fields = append(fields, zap.String("kind", r.Pair.Kind), zap.String("from", r.Pair.From), zap.String("to", r.Pair.To))
	}
	fields = append(fields,
		zap.Int("objects", r.Objects), zap.Int("failed", r.Failed),
		zap.Int("bytesIn", r.BytesIn), zap.Int("bytesOut", r.BytesOut),
		zap.Int64("durationMicros", r.Duration.Microseconds()))
	switch {
	case r.Rejected != nil:
		fields = append(fields, zap.String("error", r.Rejected.Error()))
	case r.Message != "":
		fields = append(fields, zap.String("error", r.Message))
	}
	entry.Write(fields...)
	clear(all[:]) // lets go of the strings
	l.fields.Put(all)
}

func (l *reviewLog) panicked(_ context.Context, p review.Panic) {
	l.logger.Error("converter panicked",
		zap.String("uid", p.UID),
		zap.String("kind", p.Pair.Kind), zap.String("from", p.Pair.From), zap.String("to", p.Pair.To),
		zap.String("panic", p.Type), zap.String("stack", p.Stack))
}

func (l *reviewLog) stuck(kind string, more int) {
	if more > 0 {
		l.logger.Error("converter does not return, its review was answered without it", zap.String("kind", kind))
		return
	}
	l.logger.Warn("converter has returned long after its deadline", zap.String("kind", kind))
}

func (l *reviewLog) costLimited(pair review.Pair, objects int) {
	l.logger.Warn("expression reached its cost limit, make it cheaper or what it reads smaller",
		zap.String("kind", pair.Kind), zap.String("from", pair.From), zap.String("to", pair.To), zap.Int("objects", objects))
}
