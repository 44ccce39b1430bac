package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

// call fills in what a call of a tool would do, with its arguments, for which a pull request has words of its own.
func (t *loaded) call(x *conversation.Action, p conversation.Payload, out *actionRow, locale string) {
	switch {
	case p.Push == nil:
		out.Effect, out.ToolKind = effectOf(p, locale, t.person), card.CallKind(p.Access, locale)
	case x.Status == conversation.ActionPending:
		out.Notes = card.PushNotes(t.is.Conversation, x, locale)
	}
}

// effectOf returns the drawing of a call.
func effectOf(p conversation.Payload, locale string, person func(id string) string) *subject.Effect {
	by := subject.Reader{Locale: locale, Person: person}
	e := by.Effect(explain.EffectOf(locale, card.CalledStep(p), nil, nil))
	return &e
}

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

// asItIs is the address of one text of an action's payload, byte by byte. The page itself spells what people stamp.
func asItIs(path string, action, text int) string {
	return fmt.Sprintf("%s/actions/%d/%d", path, action, text)
}

// payloadTexts lists the texts of a payload: the script, or the files' changes, or the words of a command.
func payloadTexts(p conversation.Payload) []string {
	switch {
	case len(p.Argv) > 0:
		return p.Argv
	case len(p.Changes) > 0:
		return differences(p.Changes)
	case p.Tool != "":
		return []string{p.Arguments}
	}
	return []string{p.Script}
}

// differences writes each change as a unified difference.
func differences(changes []files.Change) []string {
	return web.Each(changes, func(c files.Change) string { return string(c.Unified()) })
}

// showAsItIs sends one text of an action's payload as it is, to whoever may read the page.
func (c *Pages) showAsItIs(w http.ResponseWriter, r *http.Request, v *web.Viewer, x *conversation.Action) error {
	p, err := subject.ReadPayload(r.Context(), c.Site, conversation.RefOf(v.Tenant, x.SessionID), x)
	if err != nil {
		return err
	}
	return sendText(w, r, fmt.Sprintf("action-%d", x.Number), payloadTexts(p))
}

// showBecame sends the change of one path by an action that has ended, as it is.
func (c *Pages) showBecame(w http.ResponseWriter, r *http.Request, v *web.Viewer, x *conversation.Action) error {
	became := c.became(r.Context(), conversation.RefOf(v.Tenant, x.SessionID), x)
	return sendText(w, r, fmt.Sprintf("changes-%d", x.Number), differences(became))
}

// asked returns the action that an address names by its number, to whoever may read the page.
func (c *Pages) asked(r *http.Request, v *web.Viewer) (*conversation.Action, error) {
	a, err := c.Subject(r, v, c.page())
	if err != nil {
		return nil, err
	}
	number, _ := strconv.Atoi(r.PathValue("number"))
	all, err := c.archived(r.Context(), a.(*conversation.Aggregate))
	for _, x := range all {
		if x.Number == number {
			return x, nil
		}
	}
	return nil, cmp.Or(err, fmt.Errorf("action %d: %w", number, aggregate.ErrNotFound))
}

// sendText sends one of texts, by its number from 1.
func sendText(w http.ResponseWriter, r *http.Request, name string, texts []string) error {
	text, _ := strconv.Atoi(r.PathValue("text"))
	if text < 1 || text > len(texts) {
		return fmt.Errorf("text %d of %d: %w", text, len(texts), aggregate.ErrNotFound)
	}
	return inline(w, fmt.Sprintf(`; filename="%s-%d.txt"`, name, text), []byte(texts[text-1]))
}

// ownForm is the form in which a person proposes a command themself, as it was typed.
type ownForm struct {
	Command, Called string
	Wrong           []web.Fault
	Open            bool // something was typed
}

// maxOwnForm bounds what is shown again of a form that was refused, in characters.
const maxOwnForm = 40_000

// own offers the form while no action is open: what the conversation's agent may propose, a person may.
func (p *conversationPage) own(t loaded, v *web.Viewer) {
	def, _ := agent.Find(t.defs, t.is.Conversation.AgentID)
	if t.is.Conversation.Status == conversation.Closed || t.is.Current() != nil || !def.May(conversation.ShellCommand) {
		if p.Own != nil && p.Own.Open && p.Typed == "" { // what was typed is not lost
			p.Typed = p.Own.Command
		}
		p.Own = nil
		return
	}
	if p.Own == nil {
		p.Own = &ownForm{}
	}
	p.Own.Called = conversation.OwnCommandCalled(v.Locale)
}

// propose takes the form. What is wrong is said at its field, and what was typed stays.
func (c *Pages) propose(w http.ResponseWriter, r *http.Request, v *web.Viewer, a decide.Subject) error {
	command := strings.ReplaceAll(r.PostFormValue("own_command"), "\r\n", "\n")
	ctx, cancel := context.WithTimeout(r.Context(), subject.Within)
	defer cancel()
	click := c.Click(v, a.Ref(), a.Ref().ID)
	verdict := c.Maker().Propose(ctx, click, command)
	if verdict.Err == nil || errors.Is(verdict.Err, aggregate.ErrNotFound) && verdict.Subject == nil {
		return c.Decided(w, r, v, c.page(), click, subject.Tried{}, verdict, "propose_action")
	}
	t, err := c.load(r, v)
	if err != nil {
		return err
	}
	p := conversationPage{Own: &ownForm{Command: legible.First(command, maxOwnForm), Open: true}}
	status, _ := subject.NotDone(r, v, subject.Tried{}, verdict.Err)
	var wrong decide.ErrTyped
	if errors.As(verdict.Err, &wrong) {
		p.Problem = wrong.Fault.Sentence(v.Locale)
		p.Own.Wrong = []web.Fault{{Text: p.Problem}}
	} else {
		p.Problem = t.refused(verdict.Err, v.Locale)
	}
	return c.showPage(w, r, v, t, p, status)
}
