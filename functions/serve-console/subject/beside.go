package subject

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
)

// says reports whether an act along a route needs words, beside those that end it.
func says(act aggregate.Act) bool { return slices.Contains(card.RouteActs, circulation.Kind(act)) }

func (x Tried) routeAct() card.RouteAct {
	x.said.Kind, x.said.Type, x.said.Hash, x.said.Text = circulation.Kind(x.Act), x.Kind, x.Hash, x.reason
	return x.said
}

// choices are the full members of the workspace whom the viewer may add at a gate: nobody without Slack.
func (c *Acts) choices(ctx context.Context, x Asking, t *Turn) (out []web.Choice) {
	if s := t.st.CurrentStage(); !t.Mine || s == nil || s.Mode != circulation.ModePeople {
		return nil
	}
	return slices.DeleteFunc(c.full(ctx, x.Viewer.Team, "nobody can be added"), func(u web.Choice) bool {
		return u.Value == x.Viewer.User || slices.ContainsFunc(t.g.Askers, circulation.Person{User: u.Value}.Is)
	})
}

// full returns the full members of a workspace. Without Slack there are none, and the log says what follows.
func (c *Acts) full(ctx context.Context, team, without string) (out []web.Choice) {
	m, err := c.Roster.Of(ctx, c.Listing, team, c.Now())
	if err != nil {
		slog.WarnContext(ctx, without, "err", err)
		return nil
	}
	for _, u := range m.People {
		if m.Rule(u) == "" {
			out = append(out, web.Choice{Value: u.ID, Text: cmp.Or(u.Name, u.ID)})
		}
	}
	return out
}

// beside returns the buttons beside a decision: the answer of whose request it is, and of whoever is asked a question,
// somebody else, and the objection of who is only consulted.
func (x Asking) beside(t *Turn, o aggregate.Offer) (out []Button) {
	q, s := t.st.Open(), t.st.CurrentStage()
	if t.st.Refused != nil || s == nil {
		return nil
	}
	button := func(act aggregate.Act) *Button {
		b := Button{Offer: o, Stage: t.st.Present, Label: t.words.In("do", act), Lead: t.words.In("lead", act),
			Reason: t.words.In("label", act), Hint: t.words.Say("reason_hint")}
		b.Act = act
		out = append(out, b)
		return &out[len(out)-1]
	}
	if q != nil && slices.ContainsFunc(append(slices.Clip(t.g.Askers), t.g.Answers), circulation.Person{User: x.Viewer.User}.Is) {
		asked := t.act(q.Asked)
		b := button(aggregate.ActAnswer)
		b.Lead = t.words.Say("asked_by", "who", asked.By, "text", card.OneLine(asked.Text))
		b.Hidden = []web.Choice{{Text: "question", Value: strconv.Itoa(len(t.st.Questions))}}
	}
	switch {
	case !t.Mine:
		return out
	case s.As == circulation.AsConsult:
		button(aggregate.ActDissent).Lead += card.DissentThen(x.Viewer.Locale, s)
	}
	if q == nil && len(t.st.Questions) < circulation.MaxQuestions {
		button(aggregate.ActAsk)
	}
	if len(t.choices) > 0 {
		one := func(f web.Field) web.Field {
			f.ID, f.Required = f.Name+"-"+o.ID, true
			return f
		}
		to := web.Select("to", t.words.Say("added"), t.words.Say("choose_whom"), x.offered(t))
		as := web.Select("role", t.words.Say("added_as"), "", web.Each(
			[]circulation.As{circulation.AsConsult, circulation.AsApprove}, func(role circulation.As) web.Choice {
				return web.Choice{Value: string(role), Text: t.words.In("roles", role)}
			}))
		fields := []web.Field{one(to), one(as)}
		if t.g.Route.Org != "" {
			post := one(web.Field{Name: "post", Label: t.words.Say("added_post"), Most: card.MaxPost,
				Hint: t.words.Say("added_post_hint"), HintID: "hint-post-" + o.ID})
			fields[0].Required, post.Required = false, false
			fields = []web.Field{fields[0], post, fields[1]}
		}
		button(aggregate.ActAdd).Fields = fields
	}
	return out
}

// offered are whom the viewer may add: first whom the rule names for that.
func (x Asking) offered(t *Turn) (out []web.Choice) {
	rest := slices.Clone(t.choices)
	for _, o := range t.st.Offered() {
		i := slices.IndexFunc(rest, func(c web.Choice) bool { return c.Value == o.To.User })
		if i < 0 {
			continue
		}
		rest[i].Text = t.words.Say("offered", "who", rest[i].Text, "when",
			web.Joined(o.When, card.OneLine, t.words.Say("and")))
		out, rest = append(out, rest[i]), slices.Delete(rest, i, i+1)
	}
	return append(out, rest...)
}

// back returns the button by which a policy or steps are returned to whoever asked, if they can be.
func (x Asking) back(o aggregate.Offer) []Button {
	a, is := x.Of.(*task.Aggregate)
	if !is {
		return nil
	}
	form, may := card.ReturnOf(a, o.ID, x.Viewer.Locale, x.Surface.Marks.Person)
	if !may {
		return nil
	}
	b := x.button(o)
	b.Label, b.Lead, b.Class, b.Hint = form.Label, form.Lead, "", x.Viewer.Texts("route").Say("reason_hint")
	b.Act = aggregate.ActGiveBack
	return []Button{b}
}

// Typed puts what the viewer typed for an act that was refused into its form alone.
func Typed(all []Button, x Tried, typed string) []Button {
	tried := x.Act
	for i := range all {
		if b := &all[i]; b.Act == tried && x.said.Meeting != nil {
			b.again(x.said.Meeting, typed)
		} else if is := func(way Button) bool { return way.Act == tried }; is(*b) && b.Ways == nil ||
			slices.ContainsFunc(b.Ways, is) {
			b.Typed = typed
		}
	}
	return all
}

// Question is a question to whose request it is, and its answer, if there is one.
type Question struct {
	Asked    RouteAct
	Answered *RouteAct
}

// questions returns what was asked at the stage with this number.
func (d *drawing) questions(number int) (out []Question) {
	for _, q := range d.st.Questions {
		if q.Asked.Stage != number {
			continue
		}
		x := Question{Asked: d.act(q.Asked)}
		if q.Answered != nil {
			answered := d.act(q.Answered)
			x.Answered = &answered
		}
		out = append(out, x)
	}
	return out
}

// called is what a stage is called: one that people added by who is asked there.
func (d *drawing) called(s *circulation.StageState) string {
	if s.By == nil {
		return d.line(s.Name)
	}
	people := s.People
	if s.LeftOut != "" {
		people = []circulation.Person{*s.By.To}
	}
	who := web.Joined(people, func(p circulation.Person) string { return d.Person(p.User) }, d.words.Say("middot"))
	if s.By.Kind == circulation.Dissent {
		return d.words.Say("raised", "who", who)
	}
	return d.words.In("added_stage", s.By.As, "who", who)
}

// Called returns what the stage with this number is called.
func (r Reader) Called(g *aggregate.Gate, number int) string {
	d := r.walk(g)
	if number < 1 || number > len(d.st.Stages) {
		return ""
	}
	return d.called(&d.st.Stages[number-1])
}

// Apart parts from the buttons those by which a viewer ends the subject, or withdraws what asks for a decision: they
// don't stand beside the decision. Those that the viewer can't use are left out.
func Apart(all []Button, asks bool) (here, others []Button) {
	for _, b := range all {
		ends := b.Act == task.ActCancelTask || b.Act == conversation.ActClose
		if !ends && !(asks && b.Act == conversation.ActCancel) {
			here = append(here, b)
		} else if b.Class = ""; b.No == "" {
			others = append(others, b)
		}
	}
	return here, others
}
