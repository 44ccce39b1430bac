package conversation_test

import (
	"testing"

	"ringi/functions/serve-console/conversation"
	"ringi/functions/serve-console/web"
	domain "ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

func TestWhereFilesCameFromIsShown(t *testing.T) {
	words := web.TextsOf("conversation", "en")
	s := domain.Source{Name: "shop", Repository: "acme/shop", State: domain.SourceWanted, Path: "a b|c>"}
	expect.Has(t, conversation.SourceOf(words, s, "en").State, "waiting")
	expect.Same(t, "", s.URL())
	s.Commit, s.State = "3f2c1ab9d2c1", domain.SourceThere
	s.Left, s.More = []domain.LeftOut{{Path: "model.bin", Why: domain.LeftLFS}}, 3
	x := conversation.SourceOf(words, s, "en")
	expect.Same(t, "acme/shop@3f2c1ab", x.Short)
	expect.Same(t, "https://github.com/acme/shop/tree/3f2c1ab9d2c1/a%20b%7Cc%3E", x.URL)
	expect.Same(t, "Left out (4)", x.LeftCount)
	expect.Same(t, "model.bin (Git LFS)\nand 3 more", x.Left)
	s.State, s.Error = domain.SourceFailed, domain.ReasonSourceTooLarge
	expect.Has(t, conversation.SourceOf(words, s, "en").State, "too large")
}
