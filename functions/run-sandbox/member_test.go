//go:build linux

package main

import (
	"context"
	"strings"
	"testing"

	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// boxOf runs each order in a box of one level.
type boxOf struct {
	t *testing.T
	l level
}

func (b boxOf) Run(_ context.Context, o isolated.Order, onLine func(isolated.Line) error) (isolated.End, error) {
	got := run(b.t, b.l, o)
	for _, l := range got.lines {
		if err := onLine(l); err != nil {
			return got.end, err
		}
	}
	return got.end, got.err
}

// A contest member's script can only return text: it gets no files and leaves none.
func TestAMembersScriptGivesTextAndKeepsNothing(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		members := round.Isolated(boxOf{t, l}, "")
		const script = "echo $((6*7)); ls; echo secret > kept.txt"
		for range 2 {
			got := expect.Value(members.Run(t.Context(), script))(t)
			if !strings.HasPrefix(got, "42\n") || strings.Contains(got, "kept.txt") || !strings.HasSuffix(got, "exit code: 0") {
				t.Errorf("%q", got)
			}
		}
	})
}
