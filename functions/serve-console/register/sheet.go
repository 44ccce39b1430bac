package register

import (
	"cmp"
	"net/http"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	domain "ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
)

// sheetData is a decision as it is printed on A4.
type sheetData struct {
	Number, Task, Title, Text, By, Rule, State string
	Revision, Round                            int
	Asked, Settled, Begun                      time.Time
	Policy                                     string
	Steps                                      []string
	Boxes                                      []box
	AskedHash, Opened, Acts                    string
	Prove                                      string
	Printed                                    time.Time
	PrintedBy                                  string
}

// box is a stage with its stamps.
type box struct {
	Name   string
	Why    string // of a stage that was left out
	Stamps []stamp
}

type stamp struct {
	Hand, For string
	At        time.Time
}

func (c *Pages) sheet(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
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
	x := found[0]
	a, err := c.Store.Load(r.Context(), domain.RefOf(v.Tenant, x.TaskID))
	if err != nil {
		return err
	}
	g := a.GateAt(x.GateKey)
	if g == nil {
		return aggregate.ErrNotFound
	}
	ids := []string{a.Head.Requester, v.User}
	for _, s := range g.Given() {
		ids = append(ids, s.By, s.OnBehalfOf)
	}
	names := c.Names(slackapi.For(r.Context(), v.Tenant), v, ids...)
	called := func(id string) string { return card.OneLine(cmp.Or(names[id], id)) }
	words := v.Texts("register")
	d := sheetData{
		Number: x.String(), Task: x.TaskID, By: called(a.Head.Requester), Rule: card.OneLine(x.Rule.Name), Revision: x.Rule.Revision,
		Round: x.Round, Settled: x.SettledAt, Begun: x.BegunAt, State: words.In("states", state(a.Head.Ended)),
		AskedHash: g.Asked, Opened: circulation.RouteHash(g.Circulating()), Acts: circulation.Hash(g.Acts),
		Prove:   "go run ./infra/audit prove -tenant " + v.Tenant + " " + x.TaskID,
		Printed: c.Now(), PrintedBy: called(v.User), Boxes: boxes(g, called),
	}
	fill(&d, a, x)
	return c.Show(w, r, v, web.Document{Title: words.Say("sheet", "number", d.Number), Here: "register", Data: d},
		"register-sheet.html")
}

// fill adds what was asked for and decided.
func fill(d *sheetData, a *domain.Aggregate, x domain.Numbered) {
	if a.Task != nil {
		d.Title, d.Asked = card.OneLine(a.Task.Title), a.Task.CreatedAt
	}
	if a.Request != nil {
		d.Text = a.Request.Text
	}
	for _, p := range a.Processes {
		if p.Version != x.ProcessVersion {
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
}

// boxes returns the stages of a route with who stamped.
func boxes(g *aggregate.Gate, called func(string) string) (out []box) {
	st := circulation.Walk(g.Circulating())
	for _, s := range st.Stages {
		b := box{Name: card.OneLine(s.Name), Why: s.LeftOut}
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
