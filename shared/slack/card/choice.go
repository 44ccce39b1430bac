package card

import (
	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// The action ids of the two buttons that say what a message is meant to be.
const (
	TakeAsReason  = "take_as_reason"
	TakeAsRequest = "take_as_request"
)

// choice asks whether a message in the thread of a waiting gate is a request or a reason to reject.
func (d drawing) choice(c *task.Choice) face {
	w := d.w
	gate := w.gateOf(c.Beside)
	said, fits := d.reason()
	asks := w.ChoiceAsks
	if c.GateOver {
		asks = w.ChoiceGateOver
	}
	f := face{w.ChoiceText, blue, nil}.with(
		section(fill(asks, "title", or(inline(c.Beside.Title, maxHeader), w.Untitled), "gate", gate)),
	).with(said...)
	buttons := []slack.BlockElement{button(w.ChoiceRequest, TakeAsRequest, c.ID, slack.StylePrimary)}
	switch {
	case c.GateOver:
		fits = false
	case !fits:
		f = f.with(contextLine(fill(w.ChoiceNoReason, "max", aggregate.MaxReason)))
	case c.Beside.Kind == task.CardStep:
		f = f.with(contextLine(w.ChoiceEnds))
	}
	if fits {
		buttons = append([]slack.BlockElement{button(fill(w.ChoiceReason, "gate", gate), TakeAsReason, c.ID,
			slack.StyleDanger)}, buttons...)
	}
	return f.with(
		divider(),
		d.chooses(c.Terms, fits),
		d.actions(buttons...),
		contextLine(fill(w.TaskID, "task", or(code(d.taskID(), maxID), "?"))),
	)
}

// reason shows the complete message as a possible reason for a rejection. fits is false if the message can't be one
// (see aggregate.CheckReason); then only its beginning is shown.
func (d drawing) reason() (said []slack.Block, fits bool) {
	text, words := "", ""
	if d.a.Request != nil {
		text, words = d.a.Request.Text, d.a.Request.Words(d.w.Locale)
	}
	if _, err := aggregate.CheckReason(text); err != nil {
		return sectioned(fill(d.w.ChoiceSaid, "text", or(inline(words, maxDetail), d.w.None))), false
	}
	for _, page := range pages(unformatted(text, len(text)), maxSection-20) { // leaves room for the quotation mark
		said = append(said, section(fill(d.w.ChoiceSaid, "text", bounded(page, maxSection-10))))
	}
	if len(said) == 0 { // the text has no visible character
		return sectioned(fill(d.w.ChoiceSaid, "text", d.w.None)), false
	}
	return said, true
}

func (w *words) gateOf(b task.Beside) string {
	switch b.Kind {
	case task.CardProcess:
		return fill(w.ChoiceProcess, "version", b.Version)
	case task.CardStep:
		return fill(w.StepNumber, "step", b.Version)
	}
	return fill(w.ChoicePrompt, "version", b.Version)
}

// became says who decided what the message is, and how.
func (d drawing) became(c *task.Choice) string {
	return fill(d.w.ChoiceBecame, "who", d.w.mention(c.DecidedBy), "gate", d.w.gateOf(c.Beside),
		"when", whenSet(c.DecidedAt))
}
