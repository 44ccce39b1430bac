package web

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// Piece is a part of a line. While people are asked, a person's has their id, since anybody may choose any name.
type Piece struct {
	Text, ID string
	Planned  bool // no words of Ringi's: it stands in an element of its own
}

// Effect is what one call does, as the template "effect" draws it.
type Effect struct {
	Orders   string // the numbers of its steps; empty: it is no step of a plan
	Amount   string // that it moves; empty: none, or another place has it
	Sentence []Piece
	Text     []Piece // that people will get
	Rest     []Argument
	Warning  string // why it matters that the effect is final
	Checked  string // that it is asked once more before it runs
}

// Argument is one argument, a part of one, a row of a list, or several rows.
type Argument struct {
	Name, Value []Piece
	Rows        *Table // nil: it has a value
	Aside       bool   // it stands below what matters more
}

// ValueChange is one value. What has no pieces was not there, or isn't any more.
type ValueChange struct{ Name, Was, Is []Piece }

// Sum is what steps do as a whole, as the template "sum" draws it.
type Sum struct {
	Words         Texts
	Amount        string  // empty: no money moves
	Nothing       []Piece // says that the steps only read
	Writes, Reads []Effect
}

// Effect returns an effect's drawing.
func (r Reader) Effect(e explain.Effect) Effect {
	out := Effect{Sentence: append(r.Line(e.Sentence), Piece{Text: e.Unpriced(r.Locale)}),
		Text: r.Line(e.Words), Rest: r.rest(e.Rest)}
	if e.Access != aggregate.Read {
		out.Amount = r.money(e.Amount)
	}
	if !r.Settled {
		out.Warning = e.Warning(r.Locale)
	}
	return out
}

// rest draws arguments, those that are rows of one list as a table.
func (r Reader) rest(all []explain.Argument) (out []Argument) {
	for len(all) > 0 {
		list, n := explain.Rows(all)
		if n == 0 {
			x := all[0]
			out, all = append(out, Argument{Name: r.Line(x.Name), Value: r.Line(x.Value), Aside: x.Aside}), all[1:]
			continue
		}
		var alike []Argument
		t := &Table{Columns: []Column{{"#", true}}}
		for _, row := range all[:n] {
			t.Rows = append(t.Rows, []string{row.Number()})
		}
		for i, c := range all[0].Cells {
			if said := explain.Alike(r.Locale, all[:n], i, 0); said.Value != nil {
				alike = append(alike, Argument{Name: r.Line(said.Name), Value: r.Line(said.Value)})
				continue
			}
			t.Columns = append(t.Columns, Column{explain.Plain(c.Name), c.Numeric()})
			for at, row := range all[:n] {
				cell := row.Cells[i].Value
				t.Rows[at] = append(t.Rows[at], Joined(r.Line(cell), func(p Piece) string { return p.Text }, ""))
			}
		}
		out, all = append(append(out, Argument{Name: r.Line(list), Rows: t}), alike...), all[n:]
	}
	return out
}

// ToolBeside is the name of a tool beside what it does, "" of one of Ringi's: what they do is said in words.
func ToolBeside(name string) string {
	if _, own := tenancy.OwnToolNamed(name); own {
		return ""
	}
	return language.OneLine(name)
}

// money writes what is moved, "" unless that is known.
func (r Reader) money(a rules.Amount) string {
	if a == rules.Nothing() || !a.Known() {
		return ""
	}
	return explain.Money(r.Locale, a)
}

// Sum returns the drawing of all that steps do: the write that is told first, the others, and what is read.
func (r Reader) Sum(steps []task.Step) Sum {
	out, sum := Sum{Words: TextsOf("common", r.Locale)}, explain.SumUp(r.Locale, steps)
	of := func(e explain.Effect) Effect {
		is := r.Effect(e)
		if len(steps) > 1 {
			is.Orders = strconv.Itoa(e.Order)
		}
		for _, s := range steps {
			if e.Order == s.Order {
				is.Checked = cmp.Or(is.Checked, explain.Check(r.Locale, s, false))
			}
		}
		return is
	}
	out.Amount = r.money(sum.Amount)
	if sum.Final {
		if sum.Amount.Known() {
			sum.Lead.Amount = rules.Nothing() // it is within the sum
		}
		out.Writes = append(out.Writes, of(sum.Lead))
	} else {
		out.Nothing = r.Line(sum.Says())
	}
	out.Writes, out.Reads = append(out.Writes, Each(sum.Then, of)...), Each(sum.Reads, of)
	return out
}

// Changes returns what differs from the version before.
func (r Reader) Changes(all []explain.Change) []ValueChange {
	return Each(all, func(c explain.Change) ValueChange {
		return ValueChange{r.Line(c.Name), r.Line(c.Was), r.Line(c.Is)}
	})
}

// ReadPayload returns an action's complete payload, or explain.ErrMalformedForm if it doesn't fit its type.
func ReadPayload(ctx context.Context, c *Site, ref aggregate.Ref, x *conversation.Action) (
	p conversation.Payload, err error) {
	text, err := c.Results.Open(ctx, ref, x.Payload)
	if err != nil {
		return p, err
	}
	p, problems := conversation.ReadKept(x.ActionType, text)
	if len(problems) > 0 {
		err = fmt.Errorf("action %s: %s: %w", x.ActionID, problems[0], explain.ErrMalformedForm)
	}
	return p, err
}

// Briefly returns the beginning of a line, without the ids by which the row's page tells people of one name apart.
func (r Reader) Briefly(pieces []explain.Piece) (out []Piece) {
	left := mostBrief
	for _, p := range r.Line(pieces) {
		if left <= 0 {
			return append(out, Piece{Text: "…"})
		}
		p.Text, p.ID = language.Beginning(p.Text, left), ""
		left -= utf8.RuneCountInString(p.Text)
		out = append(out, p)
	}
	return out
}

// Line returns pieces as pages draw them, in the template "line".
func (r Reader) Line(pieces []explain.Piece) (out []Piece) {
	for _, p := range pieces {
		is := Piece{Text: r.Named(p.Text, r.Person), Planned: p.Kind == explain.Value || p.Kind == explain.Person}
		if p.Kind == explain.Person {
			if is.Text = r.Person(p.Text); !r.Settled {
				is.ID = language.OneLine(p.Text)
			}
		}
		out = append(out, is)
	}
	return out
}

// Entry is a line of the audit log about a subject.
type Entry struct {
	ID           string
	At           time.Time
	By           string // empty for the system
	Action, Name string // the action in words, and its name in the log
	On, Resource string // what the action doesn't name, in words: what it is about; and the resource's id
	Briefly      string // the most telling details
	Details      []explain.LogDetail

	// Of the whole log.
	Path  string // of what it is about, if nothing is said of that before the entry
	Whose string
	ByID  string // tells apart people who chose the same name, or Ringi's
	Asked bool   // they asked for it, and Ringi did it
}

// EntriesOf formats audit entries in words; person and agent return names.
func EntriesOf(log []aggregate.AuditEntry, words explain.LogWords, person, agent func(id string) string) (out []Entry) {
	for _, e := range log {
		x := Entry{ID: e.ID, At: e.Timestamp, Action: language.OneLine(words.Did(e)),
			Name: language.OneLine(string(e.Action)), Resource: language.OneLine(e.ResourceID),
			Briefly: Mentions(words.Briefly(e, person), person)}
		if of := words.Subject(e); of != "" {
			x.On = language.OneLine(words.Resource(e.ResourceType) + ": " + of)
		}
		switch e.ActorType {
		case aggregate.ActorUser:
			x.By = person(e.ActorID)
		case aggregate.ActorAgent:
			x.By = agent(e.ActorID)
		}
		x.Details = Each(words.Details(e, person), func(d explain.LogDetail) explain.LogDetail {
			return explain.LogDetail{Name: language.OneLine(d.Name), Text: Mentions(language.ForeignLine(d.Text), person)}
		})
		out = append(out, x)
	}
	return out
}

// Quoted is a message beside another one: that it forwards, or of the thread before it.
type Quoted struct {
	By, Where, Text string
	At              time.Time
	Cut             bool
}

// Quoted draws a forwarded message. Of its channel Slack may have said only the id.
func (r Reader) Quoted(q aggregate.Quoted) Quoted {
	out := Quoted{language.ForeignLine(q.Name), language.ForeignLine(q.Where), r.Named(card.Prose(q.Text), r.Person),
		q.At, q.Cut}
	if aggregate.IsPerson(q.User) {
		out.By = r.Person(q.User)
	}
	id, is := strings.CutPrefix(q.Where, "<#")
	if id, _, _ = strings.Cut(strings.TrimSuffix(id, ">"), "|"); is && r.ChannelOf != nil {
		out.Where = language.ForeignLine(r.ChannelOf(id))
	}
	return out
}

// SurfaceOf returns what says why something is refused, and who may, with these names of people and channels.
func SurfaceOf(v *Viewer, person, channel func(id string) string) explain.Surface {
	return explain.Surface{Locale: v.Locale, Marks: marks{person, channel}}
}

// marks formats people, channels and times in sentences as plain text, which templates escape.
type marks struct {
	person, channel func(id string) string
}

func (m marks) Person(id string) string  { return strings.ReplaceAll(m.person(id), " ", "\u00a0") }
func (m marks) Group(id string) string   { return m.person(id) }
func (m marks) Channel(id string) string { return m.channel(id) }
func (m marks) Time(t time.Time) string  { return Minute(t) }

func (m marks) Text(s string, most int) string {
	return language.OneLine(language.Beginning(strings.Join(strings.Fields(s), " "), most))
}
