package serve

import (
	"errors"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/panics"
)

// StackOf returns the field of the log that an error has, if it was a panic.
func StackOf(err error) []zap.Field {
	if failed, ok := errors.AsType[*panics.Error](err); ok {
		return []zap.Field{zap.ByteString("stack", failed.Stack)}
	}
	return nil
}
