package agents

import (
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

// Exported for the tests of the pages.
const (
	SaidOfPage = saidOfPage
	RowsOfPage = rowsOfPage
)

func TestWhereFilesCameFromIsShown(t *testing.T) {
	words := web.TextsOf("conversation", "en")
	s := conversation.Source{Name: "shop", Repository: "acme/shop", State: conversation.SourceWanted, Path: "a b|c>"}
	expect.Has(t, sourceOf(words, s, "en").State, "waiting")
	expect.Same(t, "", s.URL())
	s.Commit, s.State = "3f2c1ab9d2c1", conversation.SourceThere
	s.Left, s.More = []string{"model.bin"}, 3
	x := sourceOf(words, s, "en")
	expect.Same(t, "acme/shop@3f2c1ab", x.Short)
	expect.Same(t, "https://github.com/acme/shop/tree/3f2c1ab9d2c1/a%20b%7Cc%3E", x.URL)
	expect.Same(t, "Left out (4)", x.LeftCount)
	expect.Same(t, "model.bin\nand 3 more", x.Left)
	s.State, s.Error = conversation.SourceFailed, conversation.ReasonSourceTooLarge
	expect.Has(t, sourceOf(words, s, "en").State, "too large")
}
