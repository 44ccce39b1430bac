package card_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
)

// pulling returns a conversation of a source in which a pull request waits.
func pulling(t *testing.T, ci agent.CI) *onThread {
	t.Helper()
	c := begunConversation(t)
	commit := strings.Repeat("c0", 20)
	c.Aggregate.Conversation.Source = &conversation.Source{Name: "shop", Repository: "acme/shop", RepositoryID: 7, Commit: commit,
		State: conversation.SourceThere}
	was := expect.Value((&conversation.Tree{}).Apply([]conversation.File{{Path: "a.py", Content: "1\n"}}))(t)
	is := expect.Value((&conversation.Tree{}).Apply([]conversation.File{{Path: "a.py", Content: "2\u202e\n"}}))(t)
	base := ""
	p := conversation.Payload{Tool: "open_pull_request", Arguments: `{"title":"Mend it","body":"*why* <@U1>\n` + "```" + `"}`}
	p.Base, p.Changes = &base, conversation.Commit{SHA: commit}.Changes(was, is)
	sh := aggregate.HashOf("x")
	p.Changes = append([]conversation.FileChange{{Path: "run.sh", Was: &conversation.Side{Mode: "100644", SHA256: sh},
		Is: &conversation.Side{Mode: "100755", SHA256: sh}}}, p.Changes...)
	p.Push = &conversation.Push{Source: "shop", Repository: "acme/shop", RepositoryID: 7, Commit: commit, Into: "main", CI: ci}
	p.Called = conversation.Called{ToolVersion: strings.Repeat("a", 64), Access: aggregate.Write}
	proposal := proposed(conversation.ToolCall, p)
	proposal.Tool, proposal.Access, proposal.Push = p.Tool, p.Access, p.Push
	return c.says("", proposal)
}

func (c *onThread) drawn(locale string) (text string, m card.Message) {
	c.t.Helper()
	m = c.shown(conversation.CardAction, locale)
	if err := cardtest.Check(m); err != nil {
		c.t.Fatal(err)
	}
	return string(expect.Value(json.Marshal(m))(c.t)), m
}

// What pushing sets going comes first, then where it goes, then all that changes: what a list hides before the rest.
func TestAPullRequestBeginsWithWhatPushingSetsGoing(t *testing.T) {
	for ci, says := range map[agent.CI]map[string]string{
		agent.CIRun:  {"ja": "CI がシークレットを使って動きます", "en": "Pushing runs this repository's CI with its secrets"},
		agent.CISkip: {"ja": "Actions はスキップするよう", "en": "asks GitHub Actions to skip this push. Other CI may run"},
	} {
		for locale, first := range says {
			c := pulling(t, ci)
			text, _ := c.drawn(locale)
			branch := c.Actions[0].Pushed.Branch
			at := 0
			for _, part := range []string{first, "acme/shop", "c0c0c0c0c0c0", branch, "Mend it", "*why* ", "run.sh", "a.py", "⟨U+202E⟩", card.ApproveAction} {
				i := strings.Index(text[at:], part)
				expect.Must(t, i >= 0, "%s %s: %q is not there, or too early, in %s", ci, locale, part, text)
				at += i
			}
			expect.That(t, strings.Index(text, first) < strings.Index(text, "失敗しているテスト"), "the agent's words come first")
			expect.That(t, !strings.Contains(text, "<@U1>"), "a body mentions people: %s", text)
		}
	}
}

func (c *onThread) ends(change func(x *conversation.Action)) *onThread {
	c.t.Helper()
	x := *c.Actions[0]
	pushed := *x.Pushed
	x.Pushed = &pushed
	change(&x)
	c.Actions[0] = &x
	return c
}

func TestAPullRequestSaysWhatIsThere(t *testing.T) {
	at := begunAt
	c := pulling(t, agent.CISkip).ends(func(x *conversation.Action) {
		x.Status, x.Pushed.Number, x.Pushed.There, x.CompletedAt = conversation.ActionSucceeded, 4, true, &at
	})
	text, _ := c.drawn("en")
	expect.Has(t, text, `https://github.com/acme/shop/pull/4|acme/shop#4`)

	c = pulling(t, agent.CISkip).ends(func(x *conversation.Action) {
		x.Status, x.Error, x.Pushed.There, x.CompletedAt = conversation.ActionFailed, conversation.ReasonBranchAlone, true, &at
	})
	text, _ = c.drawn("en")
	expect.Has(t, text, "https://github.com/acme/shop/tree/ringi/")
	expect.Has(t, text, "GitHub didn't open the pull request")
	expect.That(t, !strings.Contains(text, card.CheckAction), "a known result has a button to check")
}

func TestALostPullRequestHasAButtonToCheck(t *testing.T) {
	at := begunAt
	lost := func(x *conversation.Action) {
		x.Status, x.Outcome, x.Error, x.CompletedAt = conversation.ActionFailed, conversation.OutcomeUnknown, conversation.ReasonUnknown, &at
		x.Pushed.Commit = strings.Repeat("d", 40)
	}
	for locale, says := range map[string]string{"ja": "🔎 確認する", "en": "🔎 Check"} {
		text, _ := pulling(t, agent.CISkip).ends(lost).drawn(locale)
		expect.That(t, strings.Contains(text, card.CheckAction) && strings.Contains(text, says), "%s", text)
	}
	c := pulling(t, agent.CISkip).ends(lost).ends(func(x *conversation.Action) { x.Pushed.Look = &conversation.Look{By: "U_SATO", At: at} })
	text, _ := c.drawn("en")
	expect.That(t, !strings.Contains(text, card.CheckAction) && strings.Contains(text, "is checking"), "%s", text)
	c = pulling(t, agent.CISkip).ends(lost).ends(func(x *conversation.Action) { x.Pushed.Unseen = conversation.ReasonPushUnseen })
	text, _ = c.drawn("en")
	expect.That(t, strings.Contains(text, card.CheckAction) && strings.Contains(text, "we couldn't check"), "%s", text)
}

// A push that is withdrawn may have made its branch, and so have set CI going. Its card doesn't say that nothing was done.
func TestAWithdrawnPullRequestSaysWhatIsThere(t *testing.T) {
	c := pulling(t, agent.CIRun)
	x, at := c.Actions[0], c.now
	x.Status, x.CancelReason, x.CancelledBy = conversation.ActionCancelled, conversation.ReasonWithdrawn, "U_SATO"
	x.StartedAt, x.CompletedAt, x.Pushed.There = &at, &at, true
	x.Late = &conversation.Result{Status: conversation.ActionFailed, Error: conversation.ReasonBranchAlone}
	text, _ := c.drawn("en")
	expect.That(t, strings.Contains(text, "The branch exists") && !strings.Contains(text, "had no effect"), "%s", text)
}
