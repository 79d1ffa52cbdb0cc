package serve

import (
	"errors"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// StackOf returns a log field with the stack if the error is a recovered panic.
func StackOf(err error) []zap.Field {
	if failed, ok := errors.AsType[*ruleset.PanicError](err); ok {
		return []zap.Field{zap.ByteString("stack", failed.Stack)}
	}
	return nil
}
