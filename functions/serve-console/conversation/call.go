package conversation

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

// call fills in what a call of a tool would do: its line, and all of its arguments. A pull request has words of its
// own for these.
func (t *loaded) call(x *conversation.Action, p conversation.Payload, out *actionRow, locale string) {
	if x.Status == conversation.ActionPending {
		out.Notes = card.CallNotes(t.is.Conversation, p, locale)
	}
	if p.Push != nil {
		return
	}
	out.Tool, out.ToolKind = legible.OneLine(p.Tool), card.CallKind(p.Access, locale)
	var b strings.Builder
	for _, piece := range explain.StepLines(locale, []task.Step{card.CalledStep(p)})[0] {
		b.WriteString(piece.Text)
	}
	out.Does, out.Arguments.Text = legible.Spelled(b.String()), legible.Spelled(indented([]byte(p.Arguments)))
}

// indented writes JSON in lines.
func indented(text []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}

// resultOf returns what the agent was given of a call's result, as the page shows it. Without it the page shows the rest.
func (c *Pages) resultOf(ctx context.Context, ref aggregate.Ref, x *conversation.Action) string {
	if x.CallResult == nil {
		return ""
	}
	text, err := c.Results.Open(ctx, ref, *x.CallResult)
	if err == nil {
		var r conversation.CallResult
		if r, err = conversation.ReadCallResult(text); err == nil {
			return legible.Spelled(indented(r.Value))
		}
	}
	slog.WarnContext(ctx, "what a tool returned is not shown", "session_id", ref.ID, "err", err)
	return ""
}
