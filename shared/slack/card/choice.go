package card

import (
	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// The action ids of the buttons that say what a message is meant to be.
const (
	TakeAsAnswer  = "take_as_answer"
	TakeAsReason  = "take_as_reason"
	TakeAsRequest = "take_as_request"
)

// choice asks whether a message in the thread of a waiting gate is the answer to its question, a request, or a reason to
// reject.
func (d drawing) choice(c *task.Choice) face {
	w := d.w
	gate := w.gateOf(c.Gate)
	said, fits := d.reason()
	asks := w.ChoiceAsks
	if c.GateOver {
		asks = w.ChoiceGateOver
	}
	f := face{w.ChoiceText, blue, nil}.with(section(fill(asks, "title", w.besideOf(c), "gate", gate))).with(said...)
	answer, style := d.a.Answerable(), slack.StylePrimary
	if answer {
		style = ""
	}
	buttons := []slack.BlockElement{button(w.ChoiceRequest, TakeAsRequest, c.ID, style)}
	switch {
	case c.GateOver:
		fits = false
	case c.Gate.Ruled:
		fits = false
		if answer {
			f = f.with(contextLine(w.ChoiceQuestion))
		}
		f = f.with(contextLine(w.ChoiceByCard))
	case !fits:
		f = f.with(contextLine(fill(w.ChoiceNoReason, "max", aggregate.MaxReason)))
	case c.Gate.Kind == task.CardStep:
		f = f.with(contextLine(w.ChoiceEnds))
	}
	if fits {
		reject := button(fill(w.ChoiceReason, "gate", gate), TakeAsReason, d.said(c), slack.StyleDanger)
		buttons = append([]slack.BlockElement{reject}, buttons...)
	}
	if answer {
		buttons = append([]slack.BlockElement{button(w.ChoiceAnswer, TakeAsAnswer, d.said(c), slack.StylePrimary)}, buttons...)
	}
	if r := d.a.Request; (answer || fits) && len(r.Files)+r.MoreFiles+len(r.Forwarded) > 0 {
		f = f.with(contextLine(w.ChoiceWords))
	}
	return f.with(divider(), d.chooses(c.Terms, answer, fits), d.actions(buttons...),
		contextLine(fill(w.TaskID, "task", or(code(d.taskID(), maxID), "?"))))
}

// said names a choice with what its message says, so that nobody's words change between reading and clicking.
func (d drawing) said(c *task.Choice) string { return c.ID + "/" + d.a.Request.Saying() }

// chooses says until when a message's author may use it as an answer, approvers as a reason for their rejection, and they
// and its author may make it a request.
func (d drawing) chooses(t aggregate.Terms, asAnswer, asReason bool) slack.Block {
	surface, o := d.w.surface(), d.a.Request.Origin()
	who := surface.Approvers(d.settings, o)
	var lines []string
	if asAnswer {
		lines = append(lines, fill(d.w.WhoAnswers, "who", surface.Marks.Person(o.User)))
	}
	if asReason {
		lines = append(lines, fill(d.w.WhoMakesReason, "who", who))
	}
	lines = append(lines, fill(d.w.WhoMakesRequest, "who", surface.Either(o.User, who)))
	if t.DecideBy != nil {
		lines = append(lines, fill(d.w.DecideBy, "when", when(*t.DecideBy)))
	}
	return contextLine(lines...)
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

func (w *words) besideOf(c *task.Choice) string {
	return Titled(or(inline(c.Gate.Title, maxHeader), w.Untitled), c.Gate.Later)
}

func (w *words) gateOf(b task.ThreadGate) string {
	switch b.Kind {
	case task.CardProcess:
		return fill(w.ChoiceProcess, "version", b.Version)
	case task.CardStep:
		return fill(w.StepNumber, "step", b.Version)
	}
	return fill(w.ChoicePrompt, "version", b.Version)
}
