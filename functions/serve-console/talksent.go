package main

import (
	"net/http"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/words/legible"
)

// callsOfPage is how many of a conversation's calls of models are listed, the newest first.
const callsOfPage = 200

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

// sessionRead is a session that the viewer may read.
func (c *Console) sessionRead(r *http.Request, v *viewer) (*conversation.Aggregate, error) {
	a, err := c.subject(r, v, c.sessionPage())
	if err != nil {
		return nil, err
	}
	return a.(*conversation.Aggregate), nil // as its ref says
}

// listTalkSent lists the calls of models of a conversation, for administrators.
func (c *Console) listTalkSent(w http.ResponseWriter, r *http.Request, v *viewer) error {
	a, err := c.sessionRead(r, v)
	if err != nil {
		return err
	}
	uses, err := c.Sessions.Uses(r.Context(), v.Tenant, a.Head.SessionID)
	if err != nil {
		return err
	}
	slices.SortStableFunc(uses, func(x, y aggregate.Use) int { return y.CreatedAt.Compare(x.CreatedAt) })
	back := "/console/sessions/" + a.Head.SessionID
	p := sentListPage{Back: back}
	for _, u := range uses[:min(len(uses), callsOfPage)] {
		row := sentRow{At: u.CreatedAt, Model: legible.OneLine(u.Model), Prompt: legible.OneLine(u.Prompt)}
		if wasKept(&u) {
			row.Path = back + "/sent/" + u.ID
		}
		p.Calls = append(p.Calls, row)
	}
	words := v.texts("sent")
	return c.show(w, r, v, document{Title: words.Say("title"), Here: "agents", Data: p}, "sentlist.html")
}

// showTalkSent shows what a model was sent for one answer, to administrators.
func (c *Console) showTalkSent(w http.ResponseWriter, r *http.Request, v *viewer) error {
	a, err := c.sessionRead(r, v)
	if err != nil {
		return err
	}
	uses, err := c.Sessions.Uses(r.Context(), v.Tenant, a.Head.SessionID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(uses, func(u aggregate.Use) bool { return u.ID == r.PathValue("use") })
	if i < 0 || !uses[i].Kept() {
		return aggregate.ErrNotFound
	}
	return c.showKept(w, r, v, a.Ref(), &uses[i], "/console/sessions/"+a.Head.SessionID+"/sent", "conversation")
}
