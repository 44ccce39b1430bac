package conversation

import (
	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/words/legible"
)

// call fills in what a call of a tool would do, with its arguments, for which a pull request has words of its own.
func (t *loaded) call(x *conversation.Action, p conversation.Payload, out *actionRow, locale string) {
	switch {
	case p.Push == nil:
		out.Effect, out.ToolKind = effectOf(p, locale, t.person), explain.CallKind(p.Access, locale)
		out.Exactly = legible.Spelled(web.Indented(p.Arguments))
	case x.Status == conversation.ActionPending:
		out.Notes = t.surface.PushNotes(t.is.Conversation, x)
	}
}

// effectOf returns the drawing of a call.
func effectOf(p conversation.Payload, locale string, person func(id string) string) *subject.Effect {
	by := subject.Reader{Locale: locale, Person: person}
	e := by.Effect(explain.EffectOf(locale, explain.CalledStep(p), nil, nil))
	return &e
}

// pullRequest is what a page says of an action that opens a pull request. Title and Body are the agent's.
type pullRequest struct {
	explain.Pull
	URL     string // of the pull request, or of a branch without one
	There   string // what the address is
	Looking string // somebody had it looked, or why the last look came to nothing
}

func pullOf(x *conversation.Action, p conversation.Payload, words web.Texts, locale string) *pullRequest {
	if x.Pushed == nil {
		return nil
	}
	is, _ := explain.PullOf(x, p, locale)
	is.Title, is.Body = legible.Spelled(is.Title), legible.Spelled(is.Body)
	out := &pullRequest{Pull: is, URL: x.Pushed.URL()}
	switch {
	case x.Pushed.Number > 0:
		out.There = words.Say("pull_there", "n", x.Pushed.Number)
	case out.URL != "":
		out.There = words.Say("branch_there")
	}
	switch {
	case x.Pushed.Look != nil:
		out.Looking = words.Say("looking")
	case x.Pushed.Unseen != "":
		out.Looking = explain.ActionReason(locale, x.Pushed.Unseen, "")
	}
	return out
}
