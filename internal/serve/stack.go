package serve

import (
	"errors"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/serve/panics"
)

// StackOf returns a log field with the stack if the error is a recovered panic.
func StackOf(err error) []zap.Field {
	if failed, ok := errors.AsType[*panics.Error](err); ok {
		return []zap.Field{zap.ByteString("stack", failed.Stack)}
	}
	return nil
}
