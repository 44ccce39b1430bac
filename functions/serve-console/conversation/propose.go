package conversation

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/words/legible"
)

// ownForm is the form in which a person proposes an action themself, as it was typed.
type ownForm struct {
	conversation.Own
	Types  []ownType
	Labels map[string]string
	Wrong  map[string]string
	Open   bool // something was typed
	// Key is made when the form is opened: sent twice, it proposes once.
	Key string
}

type ownType struct {
	Value, Text string
	Chosen      bool
}

// maxOwnForm bounds what is shown again of a form that was refused, in characters.
const maxOwnForm = 40_000

// own offers the form while no action is open: what the conversation's agent may propose, a person may.
func (p *conversationPage) own(t loaded, v *web.Viewer) {
	def, known := agent.Find(t.defs, t.is.Conversation.AgentID)
	if t.is.Conversation.Status == conversation.Closed || t.is.Current() != nil || !known {
		if p.Own != nil && p.Own.Open && p.Typed == "" { // what was typed is not lost
			p.Typed = p.Own.Content
		}
		p.Own = nil
		return
	}
	if p.Own == nil {
		p.Own = &ownForm{Own: conversation.Own{Type: conversation.ShellCommand}, Key: aggregate.NewID()}
	}
	p.Own.Labels = map[string]string{}
	for _, f := range conversation.OwnFields {
		p.Own.Labels[string(f)] = f.Called(v.Locale)
	}
	for _, x := range agent.OwnTypes {
		if def.May(x) {
			p.Own.Types = append(p.Own.Types, ownType{string(x), agent.Called(v.Locale)[x], x == p.Own.Type})
		}
	}
	if p.Own.Types == nil {
		p.Own = nil
	}
}

// propose takes the form. What is wrong is said at its field, and what was typed stays.
func (c *Pages) propose(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	a, err := c.Subject(r, v, c.page())
	if err != nil {
		return err
	}
	typed := func(f conversation.OwnField) string {
		return strings.ReplaceAll(r.PostFormValue("own_"+string(f)), "\r\n", "\n")
	}
	own := conversation.Own{
		Type: conversation.ActionType(typed(conversation.OwnType)), Path: typed(conversation.OwnPath),
		Content: typed(conversation.OwnContent), Seconds: typed(conversation.OwnSeconds),
		Summary: typed(conversation.OwnSummary),
	}
	key := r.PostFormValue("own_key")
	if !aggregate.ValidID(key) {
		key = aggregate.NewID()
	}
	ctx, cancel := context.WithTimeout(r.Context(), subject.Within)
	defer cancel()
	click := c.Click(v, a.Ref(), a.Ref().ID)
	verdict := c.Maker().Propose(ctx, click, key, own)
	if verdict.Err == nil || errors.Is(verdict.Err, aggregate.ErrNotFound) && verdict.Of == nil {
		return c.Decided(w, r, v, c.page(), click, subject.Wanted{}, verdict, "propose_action")
	}
	t, err := c.load(r.Context(), v, a.Ref(), nil)
	if err != nil {
		return err
	}
	own.Content = legible.First(own.Content, maxOwnForm)
	p := conversationPage{Own: &ownForm{Own: own, Key: key, Open: true, Wrong: map[string]string{}}}
	status, _ := subject.NotDone(r, v, subject.Wanted{}, verdict.Err)
	var wrong decide.ErrTyped
	if errors.As(verdict.Err, &wrong) {
		for _, f := range wrong.Faults {
			p.Own.Wrong[string(f.Field)] = cmp.Or(p.Own.Wrong[string(f.Field)], f.Sentence(v.Locale))
			p.Problem = strings.TrimSpace(p.Problem + "\n" + f.Sentence(v.Locale))
		}
	} else {
		p.Problem = t.refused(verdict.Err, v.Locale)
	}
	return c.showPage(w, r, v, t, p, status)
}
