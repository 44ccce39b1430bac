package card

import (
	"unicode/utf8"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
)

// NoRequest is a note to whoever wrote in the thread of a request that waits for people: it is no request of its own.
// Its button opens the dialog in which that request is rejected, with their words in it.
func NoRequest(a *task.Aggregate, words, locale string) (text string, blocks []slack.Block) {
	w, asks := wordsOf.In(locale), askWordsOf.In(locale)
	open, _ := a.OpenGate()
	hash, stage := a.AskedHash(open.ID), 0
	if g := a.GateWith(open.ID); g.Ruled() {
		stage = circulation.Walk(g.Circulating()).Present
	}
	value := ident(open.ID) + "/" + hash
	if utf8.RuneCountInString(words) <= aggregate.MaxReason {
		value += "/" + words
	}
	text = fill(w.NoRequest, "title", titleOf(a, asks, "{text}")) + "\n" + w.Elsewhere
	return text, []slack.Block{section(text), slack.NewActionBlock(shownID(a.Head.TaskID, stage, hash),
		button(w.Reject, "reject_"+string(open.Kind), value, slack.StyleDanger))}
}

// Elsewhere is a note to whoever replied in direct messages without a mention, where nothing waits.
func Elsewhere(locale string) string {
	return wordsOf.In(locale).NotRead + "\n" + wordsOf.In(locale).Elsewhere
}

// EditNote is a note to whoever edited the message of their request.
func EditNote(locale string) string { return wordsOf.In(locale).EditNote }

// worded puts words into the field for a rejection's reason.
func worded(view slack.ModalViewRequest, words string) slack.ModalViewRequest {
	for _, b := range view.Blocks.BlockSet {
		in, is := b.(*slack.InputBlock)
		if !is || in.BlockID != ReasonBlock {
			continue
		}
		if field, is := in.Element.(*slack.PlainTextInputBlockElement); is {
			field.InitialValue = words
		}
	}
	return view
}
