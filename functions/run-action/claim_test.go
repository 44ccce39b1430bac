package main

import (
	"context"
	"testing"
	"time"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store/large"
)

// slowFiles takes its time to keep what a command left.
type slowFiles struct {
	*archives
	w *world
}

func (s slowFiles) Take(ctx context.Context, of large.VersionsOf, action string) (string, error) {
	s.w.now = s.w.now.Add(time.Minute)
	return s.archives.Take(ctx, of, action)
}

func testLateTime(t *testing.T, w *world) {
	over := w.now.Add(time.Second)
	w.box.running = func() {
		w.Cancel()
		w.now = over
	}
	w.box.end, w.Files = isolated.End{Version: "x"}, slowFiles{w.archives, w}
	w.archives.uploaded = &files.Tree{}
	expect.Value(w.handle())(t)
	x := w.action()
	expect.Must(t, x.Late != nil && w.now.After(over), "%+v at %v", x, w.now)
	expect.That(t, x.Late.At.Equal(over), "it ended at %v, not at %v", over, x.Late.At)
}
