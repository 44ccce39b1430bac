package conversation

import (
	"net/http"
	"slices"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/words/legible"
)

// sentRow is what one answer's calls of a model came to.
type sentRow struct {
	At            time.Time
	Model, Prompt string
	Path          string // of what was sent; empty where it was not kept
}

type sentListPage struct {
	Back  string
	Calls []sentRow
}

// conversationOf is a session that the viewer may read.
func (c *Pages) conversationOf(r *http.Request, v *web.Viewer) (*conversation.Aggregate, error) {
	a, err := c.Subject(r, v, c.page())
	if err != nil {
		return nil, err
	}
	return a.(*conversation.Aggregate), nil // as its ref says
}

// listSent lists the calls of models of a conversation, for administrators.
func (c *Pages) listSent(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	a, err := c.conversationOf(r, v)
	if err != nil {
		return err
	}
	uses, err := c.Conversations.Uses(r.Context(), v.Tenant, a.Head.SessionID)
	if err != nil {
		return err
	}
	slices.SortStableFunc(uses, func(x, y aggregate.Use) int { return y.CreatedAt.Compare(x.CreatedAt) })
	back := "/console/sessions/" + a.Head.SessionID
	p := sentListPage{Back: back}
	for _, u := range uses[:min(len(uses), web.MostCalls)] {
		row := sentRow{At: u.CreatedAt, Model: legible.OneLine(u.Model), Prompt: legible.OneLine(u.Prompt)}
		if web.WasKept(&u) {
			row.Path = back + "/sent/" + u.ID
		}
		p.Calls = append(p.Calls, row)
	}
	words := v.Texts("sent")
	return c.Show(w, r, v, web.Document{Title: words.Say("title"), Here: "agents", Data: p}, "sentlist.html")
}

// showSent shows what a model was sent for one answer, to administrators.
func (c *Pages) showSent(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	a, err := c.conversationOf(r, v)
	if err != nil {
		return err
	}
	uses, err := c.Conversations.Uses(r.Context(), v.Tenant, a.Head.SessionID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(uses, func(u aggregate.Use) bool { return u.ID == r.PathValue("use") })
	if i < 0 || !uses[i].Kept() {
		return aggregate.ErrNotFound
	}
	return c.ShowKept(w, r, v, a.Ref(), &uses[i], "/console/sessions/"+a.Head.SessionID+"/sent", "conversation")
}
