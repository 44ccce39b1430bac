package card

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
)

// waits says whose turn it is and until when, along a rule's route or by the settings now, and below it the notes and
// what else people have to know. Of a route that this release can't read it says only that.
func (r routed) waits(notes ...string) []slack.Block {
	if r.st.Refused != nil {
		return []slack.Block{contextLine(append(notes, r.texts.Unknown)...)}
	}
	turn, lines := r.bySettings, r.uncopied()
	if r.gate.Ruled() {
		turn = r.onRoute
	}
	text, more := turn()
	return append([]slack.Block{section(text + r.standsIn())}, contextOf(slices.Concat(notes, more, lines))...)
}

// standsIn says on the card in the thread who stamps for those whose turn it is while they are away, with dates.
func (r routed) standsIn() (lines string) {
	s, n, now := r.st.CurrentStage(), 0, r.drawing.now
	if r.copy != nil || s == nil {
		return ""
	}
	g := r.gate.Circulating()
	date := func(at time.Time) string { return tenancy.DateOf(at.In(tenancy.Zone())).String() }
	left := func(p circulation.Person) bool { // nobody stands in for who has left
		return slices.ContainsFunc(r.copies, func(c *aggregate.Card) bool { return c.User == p.User && Gone(c) })
	}
	for _, x := range r.st.StoodFor(&g, r.StandIns) {
		if !left(x.Principal) && now.Before(x.Ends) && (s.DecideBy == nil || x.Begins.Before(*s.DecideBy)) && n < maxNamed/2 {
			n++
			lines += "\n" + fill(r.texts.StandsIn, "hand", r.w.mention(x.Hand.User), "principal", r.w.mention(x.Principal.User),
				"from", date(x.Begins), "until", date(x.Ends.Add(-time.Second)))
		}
	}
	return lines
}

func (r routed) bySettings() (turn string, notes []string) {
	var askers []string
	for _, p := range r.gate.Askers {
		askers = append(askers, p.User)
	}
	turn, note, somebody := r.w.surface().Turn(r.settings, r.origin, askers...)
	if r.unreadable {
		note = ""
	}
	if somebody {
		turn = fill(r.texts.NowAny, "who", turn)
	}
	return turn + r.until(r.gate.Terms.DecideBy), []string{note}
}

func (r routed) until(by *time.Time) string {
	if by == nil {
		return ""
	}
	return "\n" + fill(r.w.DecideBy, "when", when(*by))
}

// now says who is asked, and until when; on a copy, that its person is. It has at most room units.
func (r routed) now(room int) string {
	s := r.st.CurrentStage()
	due, stage := r.until(s.DecideBy), r.called(s)
	owes, text := r.st.Owes(), r.texts.NowSome
	switch {
	case r.copy != nil && r.copy.For != nil:
		who := slices.DeleteFunc(owes, func(p circulation.Person) bool { return !slices.Contains(r.copy.For, p.User) })
		return fill(r.texts.YoursFor, "stage", r.needs(s, stage), "principal", r.asked(who, maxNotes)) + due
	case r.copy != nil:
		return fill(r.texts.Yours, "stage", r.needs(s, stage)) + due
	case s.Mode == circulation.ModeChannel:
		return fill(r.texts.NowMember, "stage", stage, "who", r.members()) + due
	case len(owes) == 1:
		text = r.texts.Now
	case s.Owed == len(owes):
		text = r.texts.NowAll
	case s.Need == 1:
		text = r.texts.NowOne
	}
	words := func(who string) string { return fill(text, "stage", stage, "who", who, "n", s.Owed) }
	return words(r.asked(owes, room-units(due)-units(words("")))) + due
}

// askers names who else asked, filled in the form or picked the draft.
func (r routed) askers() string {
	if len(r.gate.Askers) < 2 {
		return ""
	}
	text := func(who string) string { return fill(r.texts.Askers, "who", who) }
	return text(r.asked(r.gate.Askers[1:], maxNotes-units(text(""))))
}

func (r routed) members() string {
	return r.w.surface().Approvers(tenancy.Settings{}, aggregate.Origin{Channel: r.origin.Channel})
}

// asked mentions people, so that Slack tells them, and counts those who don't fit.
func (r routed) asked(people []circulation.Person, room int) string {
	text := ""
	for i, p := range people {
		longer := strings.TrimPrefix(text+" "+r.w.mention(p.User), " ")
		if text != "" && (i == maxNamed || units(r.texts.others(longer, len(people))) > room) {
			return r.texts.others(text, len(people)-i)
		}
		text = longer
	}
	return text
}

const maxNamed = 10 // people whom a line mentions; further ones are counted

// carried says of a version that was made after a rejection whose stamps it doesn't have.
func (r routed) carried() string {
	if r.before == nil {
		return ""
	}
	was := circulation.Walk(r.before.Circulating())
	text := r.texts.NoneCarried
	if acts := was.Stamps(); len(acts) > 0 {
		text = fill(r.texts.NotCarried, "who", r.texts.hands(acts, r.w.mention), "round", r.round-1)
	}
	text = fill(text, "round", r.round-1) + " · "
	if !r.remade {
		text += fill(r.texts.MadeFrom, "version", r.from, "who", r.w.mention(r.before.RejectedBy)) + " · "
	}
	return text + fill(r.texts.SendBacks, "n", r.further)
}

// sendBacks says how often a version that is made after this one, which was sent back, may be sent back.
func (r routed) sendBacks(n int) []string {
	if r.st.Ended() != circulation.SendBack {
		return nil
	}
	return []string{fill(r.texts.SendBacks, "n", max(n, 0))}
}

// hands names who gave these stamps, each once; further ones are counted.
func (w *routeWords) hands(acts []*circulation.Act, called func(user string) string) string {
	var names []string
	for _, act := range acts {
		if name := called(act.Hand.User); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return w.others(strings.Join(names[:min(len(names), maxStamps)], w.And), len(names)-maxStamps)
}

// others adds to people who are named how many further ones there are, if any.
func (w *routeWords) others(named string, n int) string {
	if n <= 0 {
		return named
	}
	return fill(w.Others, "who", named, "n", n)
}

// left says who has left, as Slack said when their copy was to be sent, or answers for the key of the agent that asks,
// if the stage waits for their stamp. alone: nobody else is asked.
func (r routed) left() (line string, alone bool) {
	s, gone := r.st.CurrentStage(), ""
	if r.copy != nil || s == nil || s.Mode == circulation.ModeChannel {
		return "", false
	}
	owes := r.st.Owes()
	able := len(owes)
	for _, c := range r.copies {
		for _, p := range owes {
			if c.Stage == r.st.Present && c.User == p.User && Gone(c) {
				able, gone = able-1, p.User
			}
		}
	}
	if able >= s.Owed {
		return "", false
	}
	text, link := r.texts.Left, ""
	if r.Console != "" {
		link = fmt.Sprintf(" (<%s/stand-ins|%s>)", r.Console, r.texts.SetStandIn)
	}
	who := r.w.mention(gone)
	return "\n" + fill(text, "stage", r.called(s), "who", who, "link", link), able == 0
}

// uncopied says how many further people of the stage that is asked got no message.
func (r routed) uncopied() []string {
	if r.copy != nil {
		return nil
	}
	for _, c := range r.copies {
		if c.Stage == r.st.Present && c.Others > 0 {
			return []string{fill(askWordsOf.In(r.w.Locale).CopiesLeft, "n", c.Others)}
		}
	}
	return nil
}

// Gone reports whether Slack said of a copy's person that they have left: errors of conversations.open
// (https://docs.slack.dev/reference/methods/conversations.open).
func Gone(c *aggregate.Card) bool {
	return c.State == aggregate.CardUnreachable && (c.Refusal == "user_not_found" || c.Refusal == "user_disabled")
}

// whom is a line's part about the stage that is asked, for lists: how many stamps it owes, and whose.
func (r routed) whom(w *askWords) string {
	s := r.st.CurrentStage()
	if s == nil {
		return ""
	}
	who := r.members()
	if s.Mode != circulation.ModeChannel {
		who = r.asked(r.st.Owes(), maxListTitle)
	}
	return fill(w.WaitsFor, "who", r.owes(s)+" "+who)
}

func (r routed) owes(s *circulation.StageState) string {
	return fill(r.texts.Owes, "stage", r.called(s), "n", s.Owed)
}

// dueOf returns until when a gate is asked, or the present stage of its route; nil: without end.
func dueOf(g *aggregate.Gate) *time.Time {
	if !g.Ruled() {
		return g.Terms.DecideBy
	}
	st := circulation.Walk(g.Circulating())
	if s := st.CurrentStage(); s != nil {
		return s.DecideBy
	}
	return nil
}

// copied says which copy of a gate under a rule is drawn, if one is.
func (d *drawing) copied(c *aggregate.Card, all []*aggregate.Card) {
	if c.User == "" || c.Stage == 0 {
		return
	}
	d.copy, d.hint = c, !slices.ContainsFunc(all, func(other *aggregate.Card) bool {
		return other.User == c.User && other.Stage > 0 && other.CreatedAt.Before(c.CreatedAt)
	})
}

// hints says below the first copy to a person that nothing but its button approves.
func (r routed) hints() []string {
	if !r.hint {
		return nil
	}
	return []string{r.texts.OnlyButton}
}

// resting returns what a copy says whose person owes nothing at its stage, and its colour: "" for a copy that asks, and
// for one of the stage at which the gate was decided, which shows the end as the card does.
func (r routed) resting() (line, colour string) {
	c := r.copy
	if c == nil || c.Stage > len(r.st.Stages) {
		return "", ""
	}
	last := r.st.Present
	if r.st.Last != nil {
		last = r.st.Last.Stage
	}
	if c.Stage == last && (!r.open || Owes(r.st, c)) {
		return "", ""
	}
	for _, act := range r.st.Stages[c.Stage-1].Stamps {
		if r.is(&act.Principal) || r.is(&act.Hand) {
			return fill(r.w.ApprovedBy, "who", r.hand(act), "when", when(act.At)), green
		}
	}
	return r.texts.Closed, grey
}

// is reports whether somebody is the person of the copy.
func (r routed) is(who *circulation.Person) bool {
	return who.User == r.copy.User
}

// Owes reports whether a copy's person, or one for whom they stand in, is asked for a stamp now, in this state of the
// gate.
func Owes(st circulation.State, c *aggregate.Card) bool {
	return c.Stage != 0 && c.Stage == st.Present && slices.ContainsFunc(st.Owes(), func(p circulation.Person) bool {
		return p.User == c.User || slices.Contains(c.For, p.User)
	})
}

func (r routed) nameOf(s *circulation.StageState) string {
	return r.called(s)
}
