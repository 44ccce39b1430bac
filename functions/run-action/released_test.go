package main

import (
	"fmt"
	"testing"

	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store/storetest"
)

// The checks before a claim are made again before a second claim, so that nothing is executed half prepared.
func TestAnActionThatWasReleasedIsPreparedAgain(t *testing.T) {
	w := approved(t, storetest.Start(t), conversation.ShellCommand, command)
	w.box.err = fmt.Errorf("no room: %w", isolated.ErrNotBegun)
	if _, err := w.handle(); err == nil {
		t.Fatal("it has begun")
	}
	w.Sandbox = nil // it was switched off meanwhile
	expect.Value(w.handle())(t)
	if x := w.action(); x.Status != conversation.ActionFailed || x.Error != reasonSandboxOff || x.Outcome != "" || w.box.ran != 0 {
		t.Errorf("%+v after %d runs", x, w.box.ran)
	}
}
