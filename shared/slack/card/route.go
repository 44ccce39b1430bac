package card

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/explain"
)

// Limits of the parts of a gate's path, in units.
const (
	maxStage = 40  // of a rule's name
	maxNotes = 300 // of a note below whose turn it is
	maxNamed = 10  // people whom a line mentions; further ones are counted
)

// routed draws where a gate stands.
type routed struct {
	drawing
	explain.Route
	copies     []*aggregate.Card    // of the gate's card
	plain      bool                 // it moves no money that a mark could say
	step       bool                 // it is of a step that waits before it runs: a rejection sends nothing back
	said       bool                 // the card says what money moves
	unreadable bool                 // nobody can approve what nobody can read
	ending     string               // who is told how it ends; empty: the card doesn't say
	leads      []slack.BlockElement // to what else people could pick
}

func (d drawing) route(g *aggregate.Gate, open bool, o aggregate.Origin) routed {
	return routed{drawing: d, Route: d.w.surface().Route(g, open, o, d.settings)}
}

func (d drawing) looking() slack.Block { return contextLine(explain.RouteOf(d.w.Locale).Looking) }

// passed returns the path of a gate that is over: nothing without a rule, or with a route that this release can't read.
func (r routed) passed() []string {
	if len(r.Stages) == 0 {
		return nil
	}
	return []string{r.path()}
}

func (r routed) path() string {
	text := r.Words.Path
	switch {
	case r.Settled && r.Number != "":
		text = r.Words.PathNumbered
	case r.Settled:
		text = r.Words.PathDone
	case r.Round > 1:
		text = r.Words.PathAgain
	}
	return cut(fill(text, "path", r.Path(maxPath-maxStage), "round", r.Round, "number", r.Number), maxPath)
}

// waits says whose turn it is and until when, along a rule's route or by the settings now, and below it the notes and
// what else people have to know. Of a route that this release can't read it says only that. The copy of somebody who is
// asked says that they are: it doesn't change with what others stamp.
func (r routed) waits(notes ...string) []slack.Block {
	s := r.CurrentStage()
	switch {
	case r.Refused != nil:
		return []slack.Block{contextLine(append(notes, r.Words.Unknown)...)}
	case s == nil:
		turn, more := r.bySettings()
		return append(sectioned(turn), contextOf(append(notes, more, r.then()))...)
	}
	amount := ""
	if !r.said {
		amount = r.Amount(r.plain)
	}
	if r.copy != nil {
		return append(sectioned(r.yours(s)+r.until(s.DecideBy)), contextOf(append(notes, amount, r.then()))...)
	}
	turn := fill(r.Words.Now, "owes", r.Owes(), "who", r.Owing(maxNamed))
	left, alone := r.left()
	if alone {
		turn = r.Words.NowNobody
	}
	lines := append([]string{turn + r.until(s.DecideBy) + left}, r.Away(r.around(s), r.gone)...)
	denies := map[bool]string{true: r.Words.OneStops, false: r.Words.OneDenies}[r.step]
	if r.Further > 0 {
		denies = r.Words.OneSendsBack
	}
	notes = append(notes, amount, r.path(), cut(r.LeftOut(), maxNotes), r.then(),
		fill(r.Words.Rule, "rule", r.RuleName())+" · "+denies, cut(r.AskedToo(), maxNotes), cut(r.carried(), maxNotes))
	return append(sectioned(strings.Join(lines, "\n")), contextOf(notes)...)
}

// then says what comes of a route's last stamp beside what is approved.
func (r routed) then() string {
	var all []string
	if rule := r.Gate.Terms.Rule; rule != nil && rule.Numbered && !r.step && (r.a == nil || r.a.Matter() == nil) {
		all = append(all, r.Words.Numbers)
	}
	if to := r.Gate.Route; to != nil && to.Tells != "" && !(aggregate.IsGroup(to.Tells) && r.Of.ChannelType == "im") {
		text := map[bool]string{true: r.Words.TellsGroup, false: r.Words.Tells}[aggregate.IsGroup(to.Tells)]
		all = append(all, fill(text, "who", "<#"+to.Tells+">"))
	}
	return strings.Join(saying(append(all, r.ending)), " · ")
}

// yours says to the person of a copy that they are asked, or for whom they may stamp.
func (r routed) yours(s *circulation.StageState) string {
	stage := r.Name(s)
	if n := len(r.State.Stages); n > 1 { // whether a stamp is the last
		stage = fill(r.Words.Place, "stage", stage, "n", r.State.Present, "all", n)
	}
	if need := r.Need(s); need != "" {
		stage += " (" + need + ")"
	}
	if r.copy.For == nil {
		return fill(r.Words.Yours, "stage", stage)
	}
	who := slices.DeleteFunc(r.State.Owes(),
		func(p circulation.Person) bool { return !slices.Contains(r.copy.For, p.User) })
	return fill(r.Words.YoursFor, "stage", stage, "principal", r.People(who, maxNamed))
}

// around are the stand-ins who count while a stage is asked.
func (r routed) around(s *circulation.StageState) []circulation.StandIn {
	return slices.DeleteFunc(slices.Clone(r.StandIns), func(x circulation.StandIn) bool {
		return !r.now.Before(x.Ends) || s.DecideBy != nil && !x.Begins.Before(*s.DecideBy)
	})
}

func (r routed) bySettings() (turn, note string) {
	turn, note, somebody := r.Turn()
	if r.unreadable {
		note = ""
	}
	if somebody {
		turn = fill(r.Words.NowAny, "who", turn)
	}
	return turn + r.until(r.Gate.Terms.DecideBy), note
}

func (r routed) until(by *time.Time) string {
	if by == nil {
		return ""
	}
	return "\n" + fill(r.w.DecideBy, "when", when(*by))
}

// carried says of a version that was made after a rejection whose stamps it doesn't have, and how often it may be sent
// back.
func (r routed) carried() string {
	if r.Before == nil {
		return ""
	}
	return strings.Join(saying([]string{r.Carried(), fill(r.Words.SendBacks, "n", r.Further)}), " · ")
}

// once is a line about a rejection without who and when, if the path says that.
func (r routed) once(line string) string {
	mark, _, _ := strings.Cut(line, " ")
	if _, why, said := strings.Cut(line, " · "); said && r.Ended() != "" {
		return mark + " " + why
	}
	return line
}

// gone reports whether somebody whom the present stage asks has left, and nobody stands in for them now: people were
// looked up again, or Slack said so when their copy was to be sent, by an error of conversations.open
// (https://docs.slack.dev/reference/methods/conversations.open).
func (r routed) gone(user string) bool {
	left := r.a != nil && slices.Contains(r.a.Head.Left, user) ||
		slices.ContainsFunc(r.copies, func(c *aggregate.Card) bool {
			return c.Stage == r.State.Present && c.User == user && c.State == aggregate.CardUnreachable &&
				(c.Refusal == "user_not_found" || c.Refusal == "user_disabled")
		})
	return left && !circulation.Stood(r.StandIns, user, r.now)
}

// left says who has left if the stage that is asked waits for their stamp. alone: nobody else is asked.
func (r routed) left() (line string, alone bool) {
	s, owes := r.CurrentStage(), r.State.Owes()
	if r.copy != nil || s == nil || s.Mode == circulation.ModeChannel {
		return "", false
	}
	able := slices.DeleteFunc(slices.Clone(owes), func(p circulation.Person) bool { return r.gone(p.User) })
	if len(able) >= s.Owed || len(able) == len(owes) {
		return "", false
	}
	who := slices.DeleteFunc(owes, func(p circulation.Person) bool { return slices.Contains(able, p) })
	link := ""
	if r.Console != "" {
		link = fmt.Sprintf(" (<%s/stand-ins|%s>)", r.Console, r.Words.SetStandIn)
	}
	return "\n" + fill(r.Words.Left, "stage", r.Name(s), "who", r.People(who, maxNamed), "link", link), len(able) == 0
}

// copied says which copy of a gate under a rule is drawn, if one is.
func (d *drawing) copied(c *aggregate.Card) {
	if c.User != "" && c.Stage > 0 {
		d.copy = c
	}
}

// resting returns what a copy says whose person owes nothing at its stage, and its colour: "" for a copy that asks, and
// for one of the stage at which the gate was decided, which shows the end as the card does.
func (r routed) resting() (line, colour string) {
	c := r.copy
	if c == nil || c.Stage > len(r.Stages) {
		return "", ""
	}
	last := r.State.Present
	if r.Last != nil {
		last = r.Last.Stage
	}
	if c.Stage == last && (!r.Open || Owes(r.State, c)) {
		return "", ""
	}
	for _, act := range r.Stages[c.Stage-1].Stamps {
		if act.Principal.User == c.User || act.Hand.User == c.User {
			return fill(r.w.ApprovedBy, "who", r.Hand(act), "when", when(act.At)), green
		}
	}
	return r.Words.Closed, grey
}

// Owes reports whether a copy's person, or one for whom they stand in, is asked for a stamp now, in this state of the
// gate.
func Owes(st circulation.State, c *aggregate.Card) bool {
	return c.Stage != 0 && c.Stage == st.Present && slices.ContainsFunc(st.Owes(), func(p circulation.Person) bool {
		return p.User == c.User || slices.Contains(c.For, p.User)
	})
}

// last names the last stage if people are asked at it after the one that is asked now, else it returns "".
func (r routed) last() string {
	for i, s := range slices.Backward(r.Stages) {
		switch {
		case i+1 == r.State.Present:
			return ""
		case s.Owed > 0:
			return r.Name(&s)
		}
	}
	return ""
}

// inDialog draws the whole route for a dialog's foot: where each stage stands.
func (r routed) inDialog() (out []slack.Block) {
	if len(r.Stages) == 0 {
		return nil
	}
	lines := []string{fill(r.Words.Rule, "rule", r.RuleName())}
	for i := range r.Stages {
		lines = append(lines, cut(r.Stage(i), maxPath))
	}
	return contextOf(append(lines, cut(r.LeftOut(), maxNotes))) // of at most 10 elements, by rules.MaxStages
}
