package legible_test

import (
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

// Beside another text only what that text has nowhere is marked.
func TestALineThatOnlyMovedIsNoDifference(t *testing.T) {
	got := legible.Beside("order\nask first\n\npay", "ask first\norder\norder")
	expect.Same(t, got, []legible.Line{{Text: "order"}, {Text: "ask first"}, {}, {Text: "pay", Alone: true}})
}
