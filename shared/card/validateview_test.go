package card_test

import (
	"fmt"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/card"
	"ringi/shared/task"
)

func TestEveryLimitOfAView(t *testing.T) {
	valid := func(edit func(v *slack.ModalViewRequest, in *slack.InputBlock, e *slack.PlainTextInputBlockElement)) slack.ModalViewRequest {
		v := card.RejectionModal(task.CardPrompt, "id", "task", "en")
		in := v.Blocks.BlockSet[1].(*slack.InputBlock)
		edit(&v, in, in.Element.(*slack.PlainTextInputBlockElement))
		return v
	}
	type view = slack.ModalViewRequest
	type input = slack.InputBlock
	type field = slack.PlainTextInputBlockElement
	for _, tc := range []struct {
		name    string
		n       int
		pointer string
		edit    func(n int) func(*view, *input, *field)
	}{
		{"title", 24, "/title/text", func(n int) func(*view, *input, *field) {
			return func(v *view, _ *input, _ *field) { v.Title = plain(x(n)) }
		}},
		{"submit", 24, "/submit/text", func(n int) func(*view, *input, *field) {
			return func(v *view, _ *input, _ *field) { v.Submit = plain(x(n)) }
		}},
		{"close", 24, "/close/text", func(n int) func(*view, *input, *field) {
			return func(v *view, _ *input, _ *field) { v.Close = plain(x(n)) }
		}},
		{"private_metadata", 3000, "/private_metadata", func(n int) func(*view, *input, *field) {
			return func(v *view, _ *input, _ *field) { v.PrivateMetadata = x(n) }
		}},
		{"callback_id", 255, "/callback_id", func(n int) func(*view, *input, *field) {
			return func(v *view, _ *input, _ *field) { v.CallbackID = x(n) }
		}},
		{"external_id", 255, "/external_id", func(n int) func(*view, *input, *field) {
			return func(v *view, _ *input, _ *field) { v.ExternalID = x(n) }
		}},
		{"blocks", 100, "/blocks", func(n int) func(*view, *input, *field) {
			return func(v *view, _ *input, _ *field) {
				v.Blocks.BlockSet = many(n, func(int) slack.Block { return slack.NewDividerBlock() })
			}
		}},
		{"label", 2000, "/blocks/1/label/text", func(n int) func(*view, *input, *field) {
			return func(_ *view, in *input, _ *field) { in.Label = plain(x(n)) }
		}},
		{"hint", 2000, "/blocks/1/hint/text", func(n int) func(*view, *input, *field) {
			return func(_ *view, in *input, _ *field) { in.Hint = plain(x(n)) }
		}},
		{"placeholder", 150, "/blocks/1/element/placeholder/text", func(n int) func(*view, *input, *field) {
			return func(_ *view, _ *input, e *field) { e.Placeholder = plain(x(n)) }
		}},
		{"input action_id", 255, "/blocks/1/element/action_id", func(n int) func(*view, *input, *field) {
			return func(_ *view, _ *input, e *field) { e.ActionID = x(n) }
		}},
		{"initial_value", 3000, "/blocks/1/element/initial_value", func(n int) func(*view, *input, *field) {
			return func(_ *view, _ *input, e *field) { e.InitialValue = x(n) }
		}},
		{"max_length", 3000, "/blocks/1/element/max_length", func(n int) func(*view, *input, *field) {
			return func(_ *view, _ *input, e *field) { e.MaxLength = n }
		}},
		{"min_length", 3000, "/blocks/1/element/min_length", func(n int) func(*view, *input, *field) {
			return func(_ *view, _ *input, e *field) { e.MinLength = n }
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := card.ValidateView(valid(tc.edit(tc.n))); err != nil {
				t.Errorf("%d are refused: %v", tc.n, err)
			}
			refused(t, card.ValidateView(valid(tc.edit(tc.n+1))), tc.pointer+": ", fmt.Sprint(tc.n))
		})
	}
	for name, tc := range map[string]struct {
		edit    func(v *view, in *input, e *field)
		pointer string
	}{
		"an input without submit": {func(v *view, _ *input, _ *field) { v.Submit = nil }, "/submit"},
		"no title":                {func(v *view, _ *input, _ *field) { v.Title = nil }, "/title"},
		"a title that formats":    {func(v *view, _ *input, _ *field) { v.Title = mrkdwn("x") }, "/title/type"},
		"not a modal":             {func(v *view, _ *input, _ *field) { v.Type = "home" }, "/type"},
		"no element":              {func(_ *view, in *input, _ *field) { in.Element = nil }, "/blocks/1/element/type"},
		"too large": {func(v *view, _ *input, _ *field) {
			v.Blocks.BlockSet = many(90, func(int) slack.Block { return slack.NewSectionBlock(mrkdwn(x(3000)), nil, nil) })
		}, "250000 bytes"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, card.ValidateView(valid(tc.edit)), tc.pointer) })
	}
}
