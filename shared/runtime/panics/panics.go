// Package panics turns a panic into an error, and logs where it happened without what it said.
package panics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
)

// Err stands for a panic; what it said may hold content.
var Err = errors.New("panic")

// Recover, when deferred, turns a panic into Err and logs where it happened:
// the runtime's own words, of any other panic only the type.
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
	*err = Err
}
