package conversation

import (
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/conversation"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

// pullRequest is what a page says of an action that opens a pull request. Title and Body are the agent's.
type pullRequest struct {
	card.Pull
	URL     string // of the pull request, or of a branch without one
	There   string // what the address is
	Looking string // somebody had it looked, or why the last look came to nothing
}

func pullOf(x *conversation.Action, p conversation.Payload, words web.Texts, locale string) *pullRequest {
	if x.Pushed == nil {
		return nil
	}
	is, _ := card.PullOf(x, p, locale)
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
		out.Looking = card.ActionReason(locale, x.Pushed.Unseen, "")
	}
	return out
}
