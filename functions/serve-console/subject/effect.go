package subject

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"unicode/utf8"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/legible"
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
	Tool     string
	Sentence []Piece
	Text     []Piece // that people will get
	Rest     []Argument
	Warning  string // why it matters that the effect is final
	Checked  string // that it is asked once more before it runs
}

// Argument is one argument, a part of one, or a row of a list.
type Argument struct{ Name, Value []Piece }

// Changes are what a version of steps does otherwise than the one before it.
type Changes struct {
	Words web.Texts
	All   []Change
}

// Change is one value. What has no pieces was not there, or isn't any more.
type Change struct{ Name, Was, Is []Piece }

// Sum is what steps do as a whole, as the template "sum" draws it.
type Sum struct {
	Words         web.Texts
	Amount        string  // empty: no money moves
	Nothing       []Piece // says that the steps only read
	Writes, Reads []Effect
}

// Effect returns an effect's drawing.
func (r Reader) Effect(e explain.Effect) Effect {
	out := Effect{Tool: legible.OneLine(e.Tool), Sentence: r.Line(e.Sentence),
		Text: r.Line(e.Words), Rest: web.Each(e.Rest, func(a explain.Argument) Argument {
			return Argument{r.Line(a.Name), r.Line(a.Value)}
		})}
	if e.Access != aggregate.Read {
		out.Amount = r.money(e.Amount)
	}
	if !r.Settled {
		out.Warning = e.Warning(r.Locale)
	}
	return out
}

// money writes what is moved, "" if nobody said that any is.
func (r Reader) money(a rules.Amount) string {
	if a == rules.Nothing() || a.Unmarked() {
		return ""
	}
	return explain.Money(r.Locale, a)
}

// Sum returns the drawing of all that steps do: the write that is told first, the others, and what is read.
func (r Reader) Sum(steps []task.Step) Sum {
	out, sum := Sum{Words: web.TextsOf("common", r.Locale)}, explain.SumUp(r.Locale, steps)
	of := func(e explain.Effect) Effect {
		is := r.Effect(e)
		is.Orders = strconv.Itoa(e.Order)
		for _, s := range steps {
			if e.Order == s.Order {
				is.Checked = cmp.Or(is.Checked, explain.Check(r.Locale, s, false))
			}
		}
		return is
	}
	out.Amount = r.money(sum.Amount)
	if sum.Final {
		sum.Lead.Amount = rules.Nothing() // it is within the sum
		out.Writes = append(out.Writes, of(sum.Lead))
	} else {
		out.Nothing = r.Line(sum.Says())
	}
	out.Writes, out.Reads = append(out.Writes, web.Each(sum.Then, of)...), web.Each(sum.Reads, of)
	return out
}

// Changes returns what differs from the version before, nil if nothing does.
func (r Reader) Changes(all []explain.Change) *Changes {
	if len(all) == 0 {
		return nil
	}
	return &Changes{web.TextsOf("common", r.Locale), web.Each(all,
		func(c explain.Change) Change { return Change{r.Line(c.Name), r.Line(c.Was), r.Line(c.Is)} })}
}

// ReadPayload returns an action's complete payload, or explain.ErrMalformedForm if it doesn't fit its type.
func ReadPayload(ctx context.Context, c *web.Site, ref aggregate.Ref, x *conversation.Action) (
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

// Apart tells calls apart as briefly as lists do: by the tool, or where nobody said what it does, by the arguments,
// whose sentence names the tool.
func (r Reader) Apart(e explain.Effect) []Piece {
	if e.Act != "" {
		return []Piece{{Text: legible.Beginning(legible.OneLine(e.Tool), mostBrief), Planned: true}}
	}
	return r.Briefly(e.Unsaid())
}

// mostBrief is how many characters of a line a list shows.
const mostBrief = 200

// Briefly returns the beginning of a line, without the ids by which the row's page tells people of one name apart.
func (r Reader) Briefly(pieces []explain.Piece) (out []Piece) {
	left := mostBrief
	for _, p := range r.Line(pieces) {
		if left <= 0 {
			return append(out, Piece{Text: "…"})
		}
		p.Text, p.ID = legible.Beginning(p.Text, left), ""
		left -= utf8.RuneCountInString(p.Text)
		out = append(out, p)
	}
	return out
}

// Line returns pieces as pages draw them, in the template "line".
func (r Reader) Line(pieces []explain.Piece) (out []Piece) {
	for _, p := range pieces {
		is := Piece{Text: p.Text, Planned: p.Kind == explain.Value || p.Kind == explain.Person}
		if p.Kind == explain.Person {
			if is.Text = r.Person(p.Text); !r.Settled {
				is.ID = legible.OneLine(p.Text)
			}
		}
		out = append(out, is)
	}
	return out
}
