package subject

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
)

// Meeting is the minutes that came with a stamp or a denial.
type Meeting struct{ Line, Present, Minutes, Reference string }

func (d *drawing) meeting(m *circulation.Meeting) *Meeting {
	if m == nil {
		return nil
	}
	_, _, carried := card.MinutesWords(d.Locale)
	resolved := carried[card.Carried[0]]
	if !m.Carried {
		resolved = carried[card.Carried[1]]
	}
	return &Meeting{Line: d.words.Say("meeting", "held", d.line(m.Held), "carried", resolved),
		Present: strings.Join(web.Each(m.Present, d.Person), d.words.Say("middot")),
		Minutes: card.Prose(m.Minutes), Reference: card.OneLine(m.Reference)}
}

// records reports whether the viewer may record minutes now: as one of those who do, or for one of the stage's people.
func (x Asking) records(t *Turn) bool {
	s, is := t.st.CurrentStage(), circulation.Person{User: x.Viewer.User}.Is
	return t.Mine && s.Minutes && s.Recorded() == nil &&
		(slices.ContainsFunc(s.Records(), is) || !slices.ContainsFunc(s.People, is))
}

// minutes returns the button by which the viewer records minutes, if they may and it is known who is in the workspace.
func (x Asking) minutes(t *Turn, o aggregate.Offer) []Button {
	if !x.records(t) || len(t.everybody) == 0 {
		return nil
	}
	labels, hints, resolved := card.MinutesWords(x.Viewer.Locale)
	field := func(name string, f web.Field) web.Field {
		f.Name, f.ID, f.Label, f.Hint = name, name+"-"+o.ID, cmp.Or(f.Label, labels[name]), hints[name]
		if f.HintID = ""; f.Hint != "" {
			f.HintID = "hint-" + f.ID
		}
		return f
	}
	today := t.now.In(tenancy.Zone()).Format(time.DateOnly)
	carried := web.Each(card.Carried, func(v string) web.Choice { return web.Choice{Value: v, Text: resolved[v]} })
	carried = append([]web.Choice{{Text: t.words.Say("choose_whom")}}, carried...)
	b := Button{Offer: o, Stage: t.st.Present, Label: t.words.In("do", string(card.Minutes)),
		Lead: t.words.In("lead", string(card.Minutes))}
	b.Act = aggregate.Act(card.Minutes)
	b.Fields = []web.Field{
		field(card.HeldBlock, web.Field{Value: today, Type: "date", Required: true}),
		field(card.PresentBlock, web.Field{Choices: t.everybody, Many: true, Required: true}),
		field(card.CarriedBlock, web.Field{Choices: carried, Required: true}),
		field(card.MinutesBlock, web.Field{Rows: "6", Most: circulation.MaxMinutes}),
		field(card.ReferenceBlock, web.Field{Most: circulation.MaxReference}),
		field("reason", web.Field{Label: t.words.In("label", string(card.Minutes)), Rows: "3", Most: circulation.MaxText}),
	}
	return []Button{b}
}

// everyone returns the full members of the workspace, of whom minutes say who was there: nobody without Slack.
func (c *Acts) everyone(ctx context.Context, x Asking, t *Turn) []web.Choice {
	if t.st.CurrentStage() == nil || !x.records(t) {
		return nil
	}
	return c.full(ctx, x.Viewer.Team, "minutes can't say who was there")
}

// again puts what was typed into the fields of minutes that were refused.
func (b *Button) again(m *circulation.Meeting, reason string) {
	typed := map[string]string{card.HeldBlock: m.Held, card.MinutesBlock: m.Minutes, card.ReferenceBlock: m.Reference,
		"reason": reason}
	resolved := card.Carried[1]
	if m.Carried {
		resolved = card.Carried[0]
	}
	b.Typed = cmp.Or(reason, m.Held) // the form is open
	for i := range b.Fields {
		f := &b.Fields[i]
		f.Value = cmp.Or(typed[f.Name], f.Value)
		f.Choices = slices.Clone(f.Choices)
		for j := range f.Choices {
			v := f.Choices[j].Value
			f.Choices[j].Chosen = f.Name == card.PresentBlock && slices.Contains(m.Present, v) ||
				f.Name == card.CarriedBlock && v == resolved
		}
	}
}

// read says when a stamp was read by those for whom it was given, or that it is to be; "" if by nobody.
func (d *drawing) read(act *circulation.Act) string {
	var all []string
	for _, of := range d.st.ReadAfter() {
		if of.Act != act {
			continue
		}
		said := d.words.Say("read_not")
		for _, x := range d.Reads {
			if x.Of(d.gate, of) {
				said = d.words.Say("read_at", "when", x.ReadAt.In(tenancy.Zone()).Format(time.DateOnly))
			}
		}
		all = append(all, said)
	}
	return strings.Join(all, d.words.Say("middot"))
}
