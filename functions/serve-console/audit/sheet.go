package audit

import (
	"cmp"
	"net/http"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/domain/circulation"
	domain "ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

type sheetData struct {
	line
	Begun                   time.Time
	Text, Policy            string
	Steps                   []string
	Action, Tool, Payload   string // of an agent's action: what it is, and the hash of all that it does
	Boxes                   []box
	AskedHash, Opened, Acts string
	Prove                   string
	Printed                 time.Time
	PrintedBy               string
}

// box is a stage with its stamps.
type box struct {
	Name   string
	Why    string // it was left out, or others stamped in the place of who is named
	Stamps []stamp
}

type stamp struct {
	Hand, For string
	At        time.Time
}

func (c *RegisterPages) sheet(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	number, ok := domain.ParseNumber(r.PathValue("number"))
	if !ok {
		return aggregate.ErrNotFound
	}
	found, err := c.Store.Numbers(r.Context(), v.Tenant, number.Year, number.Key(), 1)
	if err != nil {
		return err
	}
	if len(found) == 0 || found[0].N != number.N {
		return aggregate.ErrNotFound
	}
	rows, err := c.Store.DecisionLines(r.Context(), v.Tenant, found)
	if err != nil {
		return err
	}
	lines, err := c.lines(r.Context(), v, rows)
	if err != nil {
		return err
	}
	x, g := &rows[0], &rows[0].Gate
	if !g.Ruled() { // of a conversation that is erased, or not answered
		return aggregate.ErrNotFound
	}
	d := sheetData{}
	if x.Action == nil {
		if err := c.fill(r, &d, x, v); err != nil {
			return err
		}
	}
	ids := append(domain.Mentioned(d.Text+"\n"+d.Policy), v.User)
	for _, s := range g.Given() {
		ids = append(ids, s.By, s.OnBehalfOf)
	}
	names := c.Names(slackapi.For(r.Context(), v.Tenant), v, ids...)
	called := func(id string) string { return card.OneLine(cmp.Or(names[id], id)) }
	d.line, d.Begun = lines[0], x.Decision.BegunAt
	d.Text, d.Policy = web.Mentions(card.Prose(d.Text), called), web.Mentions(card.Prose(d.Policy), called)
	d.AskedHash, d.Opened, d.Acts = g.AskedSum, circulation.RouteHash(g.Circulating()), circulation.Hash(g.Acts)
	d.Prove = chain.ProofCommand(v.Tenant, lines[0].ID)
	d.Printed, d.PrintedBy, d.Boxes = c.Now(), called(v.User), boxes(g, called, v.Texts("route"))
	if x.Action != nil {
		d.Action, d.Tool, d.Payload = string(x.Action.ActionType), card.OneLine(x.Action.Tool), x.Action.Payload.Hash()
	}
	title := v.Texts("register").Say("sheet", "number", d.Number)
	return c.Show(w, r, v, web.Document{Title: title, Here: "register", Data: d}, "audit/sheet")
}

// fill adds what was asked for and decided.
func (c *RegisterPages) fill(r *http.Request, d *sheetData, x *store.RegisteredTask, v *web.Viewer) error {
	a, err := c.Store.Load(r.Context(), domain.RefOf(v.Tenant, x.Decision.TaskID))
	if err != nil {
		return err
	}
	if a.Request != nil {
		d.Text = a.Request.Words(v.Locale)
	}
	for _, p := range a.Processes {
		if p.Version != x.Decision.ProcessVersion {
			continue
		}
		for _, s := range p.Steps {
			d.Steps = append(d.Steps, card.OneLine(s.Name()))
		}
		for _, policy := range a.Prompts {
			if policy.ID == p.PromptID {
				d.Policy = policy.Content
			}
		}
	}
	return nil
}

// boxes returns the stages of a route with who stamped.
func boxes(g *aggregate.Gate, called func(string) string, words web.Texts) (out []box) {
	st := circulation.Walk(g.Circulating())
	for _, s := range st.Stages {
		b := box{Name: card.OneLine(s.Name), Why: words.In("filled", s.Filled)}
		if s.LeftOut != "" {
			b.Why = words.In("why", s.LeftOut)
		}
		for _, act := range s.Stamps {
			m := stamp{Hand: called(act.Hand.User), At: act.At}
			if act.Principal.User != act.Hand.User {
				m.For = called(act.Principal.User)
			}
			b.Stamps = append(b.Stamps, m)
		}
		out = append(out, b)
	}
	return out
}
