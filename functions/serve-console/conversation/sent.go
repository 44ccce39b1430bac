package conversation

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/words/legible"
)

// sentRow sums the model calls of one answer.
type sentRow struct {
	At            time.Time
	Model, Prompt string
	Path          string // address of the prompt; empty if it was not stored
}

type sentListPage struct {
	Back  string
	Calls []sentRow
}

// used returns a conversation that the viewer may read, and its model calls.
func (c *Pages) used(r *http.Request, v *web.Viewer) (aggregate.Ref, []*aggregate.Use, error) {
	a, err := c.Subject(r, v, c.page())
	if err != nil {
		return aggregate.Ref{}, nil, err
	}
	rows, err := c.Conversations.Uses(r.Context(), v.Tenant, a.Ref().ID)
	uses := make([]*aggregate.Use, len(rows))
	for i := range rows {
		uses[i] = &rows[i]
	}
	return a.Ref(), uses, err
}

// listSent lists a conversation's model calls for administrators.
func (c *Pages) listSent(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	of, uses, err := c.used(r, v)
	if err != nil {
		return err
	}
	slices.SortStableFunc(uses, func(x, y *aggregate.Use) int { return y.CreatedAt.Compare(x.CreatedAt) })
	back := "/console/sessions/" + of.ID
	p := sentListPage{Back: back}
	for _, u := range uses[:min(len(uses), web.MostCalls)] {
		row := sentRow{At: u.CreatedAt, Model: legible.OneLine(u.Model), Prompt: legible.OneLine(u.Prompt)}
		if web.WasKept(u) {
			row.Path = back + "/sent/" + u.ID
		}
		p.Calls = append(p.Calls, row)
	}
	words := v.Texts("sent")
	return c.Show(w, r, v, web.Document{Title: words.Say("title"), Here: "agents", Data: p}, "sentlist.html")
}

// showSent shows administrators the prompt of one answer.
func (c *Pages) showSent(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	of, uses, err := c.used(r, v)
	if err != nil {
		return err
	}
	return c.ShowKept(w, r, v, of, uses, "/console/sessions/"+of.ID+"/sent", "conversation", func(u *aggregate.Use) (string, error) {
		return c.answered(r.Context(), of, u)
	})
}

// answered returns what the agent said after these calls, what it proposed and the request that it wrote.
func (c *Pages) answered(ctx context.Context, of aggregate.Ref, u *aggregate.Use) (string, error) {
	if u.Made == "" {
		return "", nil
	}
	m, err := c.Conversations.Message(ctx, of.Tenant, of.ID, u.Made)
	if err != nil {
		return "", err
	}
	parts := []string{m.Content}
	if m.ActionID != "" {
		a, err := c.Conversations.Load(ctx, of)
		if err != nil {
			return "", err
		}
		for _, x := range a.Actions {
			if x.ActionID != m.ActionID {
				continue
			}
			proposed, err := c.Results.Open(ctx, of, x.Payload)
			if err != nil {
				return "", err
			}
			parts = append(parts, string(x.ActionType)+" "+legible.MaskJSON(string(proposed)))
		}
	}
	if m.HandOver != nil {
		parts = append(parts, m.HandOver.Text)
	}
	return strings.TrimSpace(strings.Join(parts, "\n\n")), nil
}
