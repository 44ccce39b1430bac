package boot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
)

// Err stands for a panic, whose message may contain content.
var ErrPanic = errors.New("panic")

// Recover, when deferred, turns a panic into Err and logs its place: for a runtime error with its message, for other
// panics only with their type.
func Recover(ctx context.Context, err *error, about ...any) {
	p := recover()
	if p == nil {
		return
	}
	said := fmt.Sprintf("%T", p)
	if r, ok := p.(runtime.Error); ok {
		said = r.Error()
	}
	slog.With(about...).ErrorContext(ctx, "panic", "panic", said, "stack", string(debug.Stack()))
	*err = ErrPanic
}
