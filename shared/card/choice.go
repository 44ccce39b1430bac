package card

import (
	"github.com/slack-go/slack"

	"ringi/shared/task"
)

// The ids of the two buttons that say what a message is meant to be.
const (
	TakeAsReason  = "take_as_reason"
	TakeAsRequest = "take_as_request"
)

// choice asks what a message is meant to be that was written where a gate waits.
func (d drawing) choice(c *task.Choice) face {
	w, said := d.w, ""
	if d.a.Request != nil {
		said = inline(d.a.Request.Text, maxDetail)
	}
	gate := w.gateOf(c.Beside)
	f := face{w.ChoiceText, blue, nil}.with(
		section(fill(w.ChoiceAsks, "title", or(inline(c.Beside.Title, maxHeader), w.Untitled), "gate", gate)),
		section(fill(w.ChoiceSaid, "text", or(said, w.None))),
	)
	if c.Beside.Kind == task.CardStep {
		f = f.with(contextLine(w.ChoiceEnds))
	}
	return f.with(
		divider(),
		d.waits(c.Terms),
		d.actions(
			button(fill(w.ChoiceReason, "gate", gate), TakeAsReason, c.ID, slack.StyleDanger),
			button(w.ChoiceRequest, TakeAsRequest, c.ID, slack.StylePrimary),
		),
		contextLine(fill(w.TaskID, "task", or(code(d.taskID(), maxID), "?"))),
	)
}

// gateOf names a version, or a step, in a few words.
func (w *words) gateOf(b task.Beside) string {
	switch b.Kind {
	case task.CardProcess:
		return fill(w.ChoiceProcess, "version", b.Version)
	case task.CardStep:
		return fill(w.StepNumber, "step", b.Version)
	}
	return fill(w.ChoicePrompt, "version", b.Version)
}

// became says what a message was taken for, and by whom.
func (d drawing) became(c *task.Choice) string {
	return fill(d.w.ChoiceBecame, "who", d.w.mention(c.DecidedBy), "gate", d.w.gateOf(c.Beside), "when", whenSet(c.DecidedAt))
}
