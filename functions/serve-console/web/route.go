package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// Reader is for whom pages draw what steps do, and where a gate under a rule stands: the stages of its route in their
// order, who is asked, who stamped, and how it ended. Everything of a route follows from circulation.Walk.
type Reader struct {
	// ChannelOf returns the name of a channel by its id; nil: it is shown as it is.
	ChannelOf func(id string) string
	Locale    string
	Person    func(id string) string // by name
	Settled   bool                   // nobody is asked any more: it isn't said what can't be undone once they approve
	Channel   string                 // name of the channel in which it was asked
}

// GateRoute is where a gate under a rule stands.
type GateRoute struct {
	Words    Texts
	Rule     string
	Revision int
	Number   string // that the decision got when it began to run
	Round    int    // from 1; 0: it isn't counted
	Carried  string // a sentence about the stamps of the round before
	Note     string // a sentence in the place of stages
	Unknown  bool   // it can't be walked: nobody can tell where it stands
	Stages   []Stage
	Told     string // the channel or group that is told at the end
	Now      *Stage // the stage that is asked; nil: none is
}

// Stage is one stage of a route.
type Stage struct {
	Name               string
	Mark, State, Badge string // the mark never stands without the state, which says it in words
	Need               string // how many of its people
	Count              string // how many of several stamps are given
	Owed               string // how many further stamps, of the stage that is asked
	Waiting            string // what who hasn't spoken there still owes
	Present            bool
	People             []Person
	Stamps             []RouteAct
	End                *RouteAct // that sent it back or denied it here
}

// Person is one of a stage's people.
type Person struct {
	Name, Via string
	Owes      bool // a stamp, now
	Stamped   bool
}

// RouteAct is what somebody did.
type RouteAct struct {
	By      string // a stand-in with whose
	At      time.Time
	Surface string
	Text    string
}

// drawing is a route that is being drawn.
type drawing struct {
	Reader
	explain.Route
	words Texts
}

// walk begins the drawing of a gate's route.
func (r Reader) walk(g *aggregate.Gate, over bool) *drawing {
	on := SurfaceOf(&Viewer{Locale: r.Locale}, r.Person, func(string) string { return r.Channel })
	return &drawing{Reader: r, words: TextsOf("route", r.Locale),
		Route: on.Route(g, !over && g.Status == aggregate.PendingApproval, aggregate.Origin{}, tenancy.Settings{})}
}

// Route returns where a gate stands, nil for one without a rule. over: what the gate belongs to has ended.
func (r Reader) Route(g *aggregate.Gate, over bool) *GateRoute {
	d := r.walk(g, over)
	if d.ByClick {
		return nil
	}
	out := &GateRoute{Words: d.words, Rule: d.RuleName()}
	if x := g.Terms.Rule; x != nil {
		out.Revision = x.Revision
	}
	switch {
	case g.Route == nil && g.Status != aggregate.PendingApproval:
		if g.Status == aggregate.Generating && !over {
			out.Note = d.words.Say("looking")
		}
	case d.Refused != nil:
		out.Note, out.Unknown = d.Words.Unknown, true
	default:
		d.draw(out)
	}
	return out
}

// Stamped names who stamped a gate, stage by stage, also under no rule, whose stage has no name.
func (r Reader) Stamped(g *aggregate.Gate) (out []Stage) {
	d, st := r.walk(g, true), circulation.Walk(g.Circulating())
	for _, s := range st.Stages {
		if len(s.Stamps) > 0 {
			out = append(out, Stage{Name: explain.Given(s.Name), Stamps: Each(s.Stamps, d.act)})
		}
	}
	return out
}

func (d *drawing) draw(out *GateRoute) {
	out.Stages = make([]Stage, len(d.Stages))
	for i := range out.Stages {
		if out.Stages[i] = d.stage(i); out.Stages[i].Present {
			out.Now = &out.Stages[i]
		}
	}
	out.Note = d.LeftOut()
	if id := d.Gate.Route.Tells; id != "" {
		if out.Told = d.line(id); d.ChannelOf != nil && !aggregate.IsGroup(id) {
			out.Told = d.line(d.ChannelOf(id))
		}
	}
}

var badges = map[explain.Standing]string{explain.Done: "badge-good", explain.Present: "badge-wait",
	explain.SentBack: "badge-bad", explain.Denied: "badge-bad"}

// stage draws the stage with this index.
func (d *drawing) stage(i int) Stage {
	s, is := &d.Stages[i], d.Is(i)
	out := Stage{Name: cmp.Or(explain.Given(s.Name), d.Name(s)), Present: is == explain.Present, Mark: is.Mark(),
		State: d.Words.States[is], Badge: badges[is], Waiting: d.words.Say("owes"), Need: d.Need(s),
		Stamps: Each(s.Stamps, d.act)}
	if s.Need > 1 {
		out.Count = fmt.Sprintf("%d/%d", s.Need-s.Owed, s.Need)
	}
	owes := d.State.Owes()
	for _, p := range s.People {
		out.People = append(out.People, Person{Name: d.Person(p.User), Via: d.Via(p.Via),
			Owes:    out.Present && slices.Contains(owes, p),
			Stamped: slices.ContainsFunc(s.Stamps, func(a *circulation.Act) bool { return a.Principal.User == p.User })})
	}
	if is == explain.SentBack || is == explain.Denied {
		end := d.act(d.Last)
		out.End = &end
	}
	if out.Present {
		out.Owed = d.words.Say("owed", "n", s.Owed)
	}
	return out
}

// After says of a route which round it walks, and whose stamps of the round before don't count any more.
func (r Reader) After(out *GateRoute, g *aggregate.Gate, rounds explain.Rounds) {
	if d := r.walk(g, true); rounds.Before != nil {
		d.Rounds = rounds
		out.Round, out.Carried = rounds.Round, d.Carried()
	}
}

// act returns what somebody did.
func (d *drawing) act(a *circulation.Act) RouteAct {
	return RouteAct{By: d.Hand(a), At: a.At, Surface: d.words.In("surface", a.Surface), Text: card.Prose(a.Text)}
}

// mostName is how many characters of a name that an administrator gave are shown.
const mostName = 120

// line returns a name in one line, with what hides spelled out.
func (d *drawing) line(name string) string {
	return cmp.Or(language.OneLine(language.Beginning(name, mostName)), explain.RouteOf(d.Locale).NoName)
}

// Via says by what a route found somebody, as package rules writes it. What it doesn't know is shown as it is.
func (r Reader) Via(how string) string {
	d := drawing{Reader: r, words: TextsOf("route", r.Locale)}
	at := strings.LastIndex(how, " of ")
	if at < 0 {
		group, is := strings.CutPrefix(how, "group ")
		switch {
		case is:
			return d.words.Say("via_group", "group", d.line(group))
		case how == "named by the rule":
			return d.words.Say("via_name")
		case how == task.ViaStamped:
			return d.words.Say("via_stamped")
		case how == "":
			return ""
		}
		return d.line(how)
	}
	of := how[at+len(" of "):]
	level, above := strings.CutPrefix(how[:at], "manager ")
	post, over := strings.CutPrefix(how[:at], "over ")
	key := map[bool]string{true: "via_over", false: "via_position"}[over]
	switch {
	case level == "1" && above:
		return d.words.Say("via_manager", "who", d.Person(of))
	case above:
		return d.words.Say("via_above", "n", level, "who", d.Person(of))
	case post == "head":
		return d.words.Say(map[bool]string{true: "via_overhead", false: "via_head"}[over], "department", d.line(of))
	}
	return d.words.Say(key, "position", d.line(post), "department", d.line(of))
}
