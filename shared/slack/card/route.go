package card

import (
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// Limits of the parts of a gate's path, in units.
const (
	maxUnfolded = 300 // of a path as people see it; a longer one has its settled stages in one place
	maxStage    = 40  // of a stage's or a rule's name
	maxStamps   = 3   // named at a stage
	maxNotes    = 300 // of the reason for a successor
)

// routed draws where a gate under a rule stands. Everything follows from circulation.Walk.
type routed struct {
	drawing
	texts  *routeWords
	gate   *aggregate.Gate
	st     circulation.State
	open   bool              // people are asked now
	brief  bool              // nobody is named at the stage that is asked
	copies []*aggregate.Card // of the gate's card
	origin aggregate.Origin
	rounds
}

// rounds are the versions before a gate that were sent back.
type rounds struct {
	round  int             // 1, or one more for each of them
	before *aggregate.Gate // the last one; nil: there is none
	from   int             // number of the version that was made of it
}

// route returns where a gate stands. The result is empty for a gate without a rule.
func (d drawing) route(g *aggregate.Gate, open bool) routed {
	r := routed{drawing: d, texts: routeWordsOf.In(d.w.Locale), gate: g, open: open}
	if g.Ruled() && (open || g.Route != nil) { // what waits without a route is of a later release's form
		r.st = circulation.Walk(g.Circulating())
	}
	return r
}

// routeOf is route for a version of a task.
func (d drawing) routeOf(v *version) routed {
	r := d.route(&v.gate, v.status == aggregate.PendingApproval && d.a.Head.Ended == nil)
	r.rounds, r.copies = v.rounds, d.a.CopiesOf(v.key)
	if d.a.Request != nil {
		r.origin = d.a.Request.Origin()
	}
	return r
}

// roundsOf returns the rounds of the last of some versions.
func roundsOf(all []*task.Process) rounds {
	r := rounds{round: 1}
	for i, p := range all[:len(all)-1] {
		if !p.Gate.Ruled() || p.Gate.Route == nil {
			continue
		}
		if st := circulation.Walk(p.Gate.Circulating()); st.Ended() == circulation.SendBack {
			r = rounds{r.round + 1, &all[i].Gate, all[i+1].Version}
		}
	}
	return r
}

// looking says that people are being looked up for a gate whose rule is known.
func (d drawing) looking(g *aggregate.Gate) slack.Block {
	return contextLine(fill(routeWordsOf.In(d.w.Locale).Looking, "rule", d.ruleName(g)))
}

func (d drawing) ruleName(g *aggregate.Gate) string {
	if g.Terms.Rule == nil {
		return d.w.None
	}
	return or(inline(g.Terms.Rule.Name, maxStage), d.w.None)
}

// passed returns the path of a gate that is over, for the block that says how it ended: nothing for a gate without a
// rule, or with a route that this release can't read.
func (r routed) passed() []string {
	if len(r.st.Stages) == 0 {
		return nil
	}
	return []string{r.path()}
}

// waiting returns the lines in the place of who may decide: the path, who is asked until when, and what else people
// have to know. The lines after the path have at most maxPath units together.
func (r routed) waiting() []string {
	if r.st.Refused != nil {
		return []string{r.texts.Unknown}
	}
	var notes []string
	room := maxPath
	for _, line := range []string{r.left(), r.carried(), r.successor()} {
		if line = cut(line, maxNotes); line != "" && units(line) <= room-maxPath/2 {
			notes, room = append(notes, line), room-units(line)
		}
	}
	return append([]string{r.path(), r.now(room)}, notes...)
}

// path draws the stages in their order. If they are too long, the settled ones are counted, and then also those who
// stamped at the present one.
func (r routed) path() string {
	line := strings.Join(r.stages(), " → ")
	if seenUnits(line) > maxUnfolded || units(line) > maxPath-maxStage {
		line = r.folded(r.stages())
	}
	if units(line) > maxPath-maxStage {
		r.brief = true
		line = r.folded(r.stages())
	}
	text := r.texts.Path
	switch {
	case r.st.Settled:
		text = r.texts.PathDone
	case r.round > 1:
		text = r.texts.PathAgain
	}
	return cut(fill(text, "path", line, "round", r.round), maxPath)
}

func (r routed) stages() []string {
	parts := make([]string, len(r.st.Stages))
	for i := range parts {
		parts[i] = r.stage(i)
	}
	return parts
}

// stage draws one stage of the path, with its mark and its word.
func (r routed) stage(i int) string {
	s, w := &r.st.Stages[i], r.texts
	name := or(inline(s.Name, maxStage), r.w.None)
	switch {
	case s.LeftOut != "":
		why, known := w.LeftOut[s.LeftOut]
		if !known {
			why = inline(s.LeftOut, maxStage)
		}
		return fill(w.Skipped, "stage", name, "why", why)
	case r.st.Ended() != "" && r.st.Last.Stage == i+1:
		text := w.SentBack
		if r.st.Ended() == circulation.Deny {
			text = w.Denied
		}
		return fill(text, "stage", name, "who", r.hand(r.st.Last)+" "+when(r.st.Last.At))
	case s.Owed == 0:
		return fill(w.Done, "stage", name, "who", r.stamps(s))
	case r.open && r.st.Present == i+1:
		return r.present(s, name)
	}
	return fill(w.Later, "stage", r.needs(s, name))
}

// present draws the stage that is asked. Others' stamps at it don't change a person's copy.
func (r routed) present(s *circulation.StageState, name string) string {
	switch {
	case r.copy != nil:
		return fill(r.texts.Present, "stage", r.needs(s, name))
	case s.Need == 1:
		return fill(r.texts.Present, "stage", name)
	}
	text := fill(r.texts.Progress, "stage", name, "given", len(s.Stamps), "need", s.Need)
	if len(s.Stamps) > 0 && !r.brief {
		text += fill(r.texts.Given, "who", r.stamps(s))
	}
	return text
}

// needs adds to a stage's name how many of its people have to stamp.
func (r routed) needs(s *circulation.StageState, name string) string {
	if len(s.People) < 2 {
		return name
	}
	return fill(r.texts.Needs, "stage", name, "people", len(s.People), "need", s.Need)
}

// stamps names who stamped at a stage, and when the last one did while people are asked.
func (r routed) stamps(s *circulation.StageState) string {
	var hands []string
	for _, act := range s.Stamps[:min(len(s.Stamps), maxStamps)] {
		hands = append(hands, r.hand(act))
	}
	text := strings.Join(hands, r.texts.And)
	if more := len(s.Stamps) - len(hands); more > 0 {
		text = fill(r.texts.Others, "who", text, "n", more)
	}
	if r.open && len(s.Stamps) > 0 {
		text += " " + when(s.Stamps[len(s.Stamps)-1].At)
	}
	return text
}

// folded counts the settled stages and who stamped at them; parts are all stages as they are drawn else.
func (r routed) folded(parts []string) string {
	var out []string
	var acts []*circulation.Act
	n, at := 0, 0
	for i := range r.st.Stages {
		if s := &r.st.Stages[i]; s.LeftOut == "" && s.Owed == 0 {
			if n++; n == 1 {
				at = len(out)
				out = append(out, "")
			}
			acts = append(acts, s.Stamps...)
			continue
		}
		out = append(out, parts[i])
	}
	if n > 0 {
		out[at] = fill(r.texts.Folded, "n", n, "who", r.first(acts))
	}
	return strings.Join(out, " → ")
}

// first names whose hand gave the first of some stamps, and counts the other people.
func (r routed) first(acts []*circulation.Act) string {
	who := map[string]bool{}
	for _, act := range acts {
		who[act.Hand.User] = true
	}
	if len(who) < 2 {
		return r.hand(acts[0])
	}
	return fill(r.texts.Others, "who", r.hand(acts[0]), "n", len(who)-1)
}

// hand names who acted. A stand-in is named before whom they stood in for, since the other order reads either way.
func (r routed) hand(act *circulation.Act) string {
	if act.Hand.User == act.Principal.User {
		return r.called(act.Hand.User)
	}
	return fill(r.texts.StandIn, "hand", r.called(act.Hand.User), "principal", r.called(act.Principal.User))
}

// now says who is asked, until when, by which rule, and that one of them can reject. It has at most room units.
func (r routed) now(room int) string {
	s := r.st.Asked()
	var rest []string
	if s.DecideBy != nil {
		rest = append(rest, fill(r.w.DecideBy, "when", when(*s.DecideBy)))
	}
	rest = append(rest, fill(r.texts.Rule, "rule", r.ruleName(r.gate)), r.texts.OneDenies)
	tail, stage := " · "+strings.Join(rest, " · "), or(inline(s.Name, maxStage), r.w.None)
	owes := r.st.Owes(&circulation.Gate{Route: r.gate.Route})
	text := r.texts.NowSome
	switch {
	case r.copy != nil:
		owes = []circulation.Person{{User: r.copy.User}}
		text = r.texts.Now
	case s.Mode == circulation.ModeChannel:
		at := aggregate.Origin{Channel: r.origin.Channel}
		who := r.w.surface().Approvers(tenancy.Settings{}, at)
		return cut(fill(r.texts.NowOne, "stage", stage, "who", who), room-units(tail)) + tail
	case len(owes) == 1:
		text = r.texts.Now
	case s.Owed == len(owes):
		text = r.texts.NowAll
	case s.Owed == 1:
		text = r.texts.NowOne
	}
	words := func(who string) string { return fill(text, "stage", stage, "who", who, "n", s.Owed) }
	return words(r.asked(owes, room-units(tail)-units(words("")))) + tail
}

// asked mentions people, so that Slack tells them, and counts those who don't fit.
func (r routed) asked(people []circulation.Person, room int) string {
	more := func(text string, n int) string {
		if n == 0 {
			return text
		}
		return fill(r.texts.Others, "who", text, "n", n)
	}
	text := ""
	for i, p := range people {
		longer := strings.TrimPrefix(text+" "+r.w.mention(p.User), " ")
		if text != "" && (i == maxNamed || units(more(longer, len(people))) > room) {
			return more(text, len(people)-i)
		}
		text = longer
	}
	return text
}

// maxNamed is how many people a line mentions; further ones are counted.
const maxNamed = 10

// carried says of a version that was made after a rejection whose stamps it doesn't have.
func (r routed) carried() string {
	if r.before == nil {
		return ""
	}
	was := circulation.Walk(r.before.Circulating())
	text := r.texts.NoneCarried
	if acts := was.Stamps(); len(acts) > 0 {
		text = fill(r.texts.NotCarried, "who", r.hands(acts), "round", r.round-1)
	}
	return fill(text, "round", r.round-1) + " · " +
		fill(r.texts.MadeFrom, "version", r.from, "who", r.called(r.before.RejectedBy))
}

// hands names who gave these stamps, each once; further ones are counted.
func (r routed) hands(acts []*circulation.Act) string {
	var names []string
	for _, act := range acts {
		if name := r.called(act.Hand.User); !strings.Contains("\n"+strings.Join(names, "\n")+"\n", "\n"+name+"\n") {
			names = append(names, name)
		}
	}
	if more := len(names) - maxStamps; more > 0 {
		return fill(r.texts.Others, "who", strings.Join(names[:maxStamps], r.texts.And), "n", more)
	}
	return strings.Join(names, r.texts.And)
}

// successor says who stands in whose place at a stage, by whom and why; of several the latest.
func (r routed) successor() string {
	if len(r.st.Stands) == 0 {
		return ""
	}
	act := r.st.Stands[len(r.st.Stands)-1]
	text := func(reason string) string {
		return fill(r.texts.Successor, "stage", inline(r.st.Stages[act.Stage-1].Name, maxStage), "old", r.called(act.For.User),
			"new", r.called(act.To.User), "who", r.called(act.Hand.User), "reason", reason)
	}
	return text(inline(act.Text, max(maxNotes-units(text("")), len(ellipsis))))
}

// left says who can't stamp any more because they have left, if the stage waits for them: as Slack said when their copy
// was to be sent.
func (r routed) left() string {
	s, gone := r.st.Asked(), ""
	if r.copy != nil || s.Mode == circulation.ModeChannel {
		return ""
	}
	owes := r.st.Owes(&circulation.Gate{Route: r.gate.Route})
	able := len(owes)
	for _, c := range r.copies {
		for _, p := range owes {
			if c.Stage == r.st.Present && c.User == p.User && Gone(c) {
				able, gone = able-1, p.User
			}
		}
	}
	if able >= s.Owed {
		return ""
	}
	return fill(r.texts.Left, "stage", or(inline(s.Name, maxStage), r.w.None), "who", r.called(gone))
}

// uncopied says how many further people of the stage that is asked got no message.
func (r routed) uncopied() []string {
	var now []*aggregate.Card
	for _, c := range r.copies {
		if c.Stage == r.st.Present {
			now = append(now, c)
		}
	}
	if r.copy != nil {
		return nil
	}
	return r.drawing.uncopied(now)
}

// Gone reports whether Slack said of a copy's person that they have left: errors of conversations.open
// (https://docs.slack.dev/reference/methods/conversations.open).
func Gone(c *aggregate.Card) bool {
	return c.State == aggregate.CardUnreachable && (c.Refusal == "user_not_found" || c.Refusal == "user_disabled")
}

// called names somebody without telling them: by the name that was looked up, else as somebody who acted is named on
// every card.
func (d drawing) called(user string) string {
	if name := inline(d.names[user], maxStage); name != "" {
		return name
	}
	return d.w.mention(user)
}

// seenUnits counts what people see of a line: of times and people about what Slack shows in their place.
func seenUnits(s string) (n int) {
	const shown = 8
	for {
		before, rest, found := strings.Cut(s, "<")
		n += units(before)
		if !found {
			return n
		}
		_, s, _ = strings.Cut(rest, ">")
		n += shown
	}
}

// blockID is the block_id by which a click names its task or conversation and, of a gate under a rule, the stage that
// the person saw.
func blockID(id string, stage int) string {
	if id = ident(id); stage > 0 {
		id += "/" + strconv.Itoa(stage)
	}
	return id
}

// Subject reads a block_id that a button names: a task or conversation, and a stage, which is 0 for a gate without a
// rule. ok is false if the stage is written in a way that no card writes it.
func Subject(block string) (id string, stage int, ok bool) {
	id, n, there := strings.Cut(block, "/")
	if !there {
		return id, 0, true
	}
	stage, err := strconv.Atoi(n)
	return id, stage, err == nil && stage > 0 && strconv.Itoa(stage) == n
}
