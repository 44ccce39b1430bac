package subject

import (
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/slack/card"
)

// Reader is for whom routes are drawn.
type RouteReader struct {
	Locale  string
	Person  func(id string) string // by name
	Channel string                 // name of the channel in which it was asked
	// ChannelOf returns the name of a channel by its id; nil: it is shown as it is.
	ChannelOf func(id string) string
	// Named returns the name for the id of a user group or the code of a department; nil: they are shown as they are.
	Named func(id string) string
	// Successor returns where the reader names who takes a person's place at a stage; nil: the reader names nobody.
	Successor func(stage int, user string) string
}

// Route is where a gate under a rule stands.
type Route struct {
	Words    web.Texts
	Rule     string
	Revision int
	Number   string // that the decision got when it began to run
	Round    int    // from 1; 0: it isn't counted
	Carried  string // a sentence about the stamps of the round before
	Note     string // a sentence in the place of the stages
	Unknown  bool   // it can't be walked: nobody can tell where it stands
	Stages   []Stage
	Hands    int // how many different people have to stamp; 0: the stages say it
	Readers  []string
	Asked    string // hash that the stamps are on, of what is asked, the rule and the route
	Opened   string // hash of whom it asks, whose request it is, since when and for how long
	Acts     string // hash of what people did
	Now      *Stage // the stage that is asked; nil: none is
}

// Stage is one stage of a route.
type Stage struct {
	Number             int
	Name               string
	Mark, State, Badge string // the mark never stands without the state, which says it in words
	Need               string // how many of its people
	Owed               string // how many further stamps, of the stage that is asked
	Why                string // of a stage that is left out
	Present            bool
	People             []Person
	Stamps, TakenBack  []RouteAct
	Successors         []Successor
	Opened, DecideBy   time.Time // of the stage that is asked
	End                *RouteAct // that sent it back or denied it here
}

// Person is one of a stage's people.
type Person struct {
	Name, Via string
	Owes      bool   // a stamp, now
	Successor string // address of the page on which a successor is named; empty: the reader names none
}

// Act is what somebody did.
type RouteAct struct {
	By      string // a stand-in with whose
	At      time.Time
	Surface string
	Text    string
}

// Successor is who stands in whose place.
type Successor struct {
	Old, New string
	RouteAct
}

// drawing is a route that is being drawn.
type drawing struct {
	RouteReader
	words web.Texts
	gate  *aggregate.Gate
	g     circulation.Gate
	st    circulation.State
	open  bool // people are asked
}

// Route returns where a gate stands, nil for one without a rule. over: what the gate belongs to has ended.
func (r RouteReader) Route(g *aggregate.Gate, over bool) *Route {
	if !g.Ruled() {
		return nil
	}
	d := drawing{RouteReader: r, words: web.TextsOf("route", r.Locale), gate: g, g: g.Circulating()}
	d.open = !over && g.Status == aggregate.PendingApproval
	out := &Route{Words: d.words, Rule: d.words.Say("no_name")}
	if x := g.Terms.Rule; x != nil {
		out.Rule, out.Revision = d.line(x.Name), x.Revision
	}
	if g.Route == nil && g.Status != aggregate.PendingApproval {
		if g.Status == aggregate.Generating && !over {
			out.Note = d.words.Say("looking")
		}
		return out
	}
	if d.st = circulation.Walk(d.g); d.st.Refused != nil {
		out.Note, out.Unknown = d.words.Say("unknown"), true
		return out
	}
	d.draw(out)
	return out
}

func (d *drawing) draw(out *Route) {
	for i := range d.st.Stages {
		out.Stages = append(out.Stages, d.stage(i))
	}
	for i := range out.Stages {
		if out.Stages[i].Present {
			out.Now = &out.Stages[i]
		}
	}
	if d.g.Route.Hands > 1 {
		out.Hands = d.g.Route.Hands
	}
	for _, p := range d.g.Route.Readers {
		out.Readers = append(out.Readers, d.Person(p.User))
	}
	out.Asked, out.Opened = d.gate.Asked, circulation.RouteHash(d.g)
	if len(d.g.Acts) > 0 {
		out.Acts = circulation.Hash(d.g.Acts)
	}
}

// After says of a route which round it walks, and whose stamps of the round before don't count any more.
func (r RouteReader) After(out *Route, round int, before *aggregate.Gate) {
	if out == nil || before == nil {
		return
	}
	var names []string
	st := circulation.Walk(before.Circulating())
	for _, act := range st.Stamps() {
		if name := r.Person(act.Hand.User); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	out.Round, out.Carried = round, out.Words.Say("none_carried", "round", round-1)
	if len(names) > 0 {
		out.Carried = out.Words.Say("not_carried", "round", round-1, "who", strings.Join(names, out.Words.Say("and")))
	}
}

// SentBack reports whether a gate under a rule was sent back, so that the next version walks another round.
func SentBack(g *aggregate.Gate) bool {
	if g.Route == nil || len(g.Acts) == 0 {
		return false
	}
	st := circulation.Walk(g.Circulating())
	return st.Ended() == circulation.SendBack
}

// act returns what somebody did. A stand-in is named before whom they stand in for: the other order reads either way.
func (d *drawing) act(a *circulation.Act) RouteAct {
	out := RouteAct{By: d.Person(a.Hand.User), At: a.At, Surface: d.words.In("surface", a.Surface),
		Text: card.Prose(a.Text)}
	if a.Principal.User != a.Hand.User {
		out.By = d.words.Say("stand_in", "hand", out.By, "principal", d.Person(a.Principal.User))
	}
	return out
}
