package card

import (
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// Limits of the parts of a gate's path, in units.
const (
	maxUnfolded = 300 // of a path as people see it; a longer one has its settled stages in one place
	maxStage    = 40  // of a stage's or a rule's name
	maxStamps   = 3   // named at a stage
	maxNotes    = 300
)

// routed draws where a gate under a rule stands.
type routed struct {
	drawing
	texts      *routeWords
	gate       *aggregate.Gate
	st         circulation.State
	open       bool              // people are asked now
	brief      bool              // nobody is named at the stage that is asked
	copies     []*aggregate.Card // of the gate's card
	origin     aggregate.Origin
	number     string // that the decision got when it began to run
	plain      bool   // it moves no money that a mark could say
	step       bool   // it is of a step that waits before it runs: a rejection sends nothing back
	said       string // the amount that the card says
	unreadable bool   // nobody can approve what nobody can read
	remade     bool   // the card says why the version was made, if it has room for that
	rounds
}

// rounds are the versions before a gate that were sent back.
type rounds struct {
	round   int             // 1, or one more for each of them
	before  *aggregate.Gate // the last one; nil: there is none
	from    int             // number of the version that was made of it
	further int             // how many versions may be made after it
}

// route returns where a gate stands. The result is empty for a gate without a rule.
func (d drawing) route(g *aggregate.Gate, open bool) routed {
	r := routed{drawing: d, texts: routeWordsOf.In(d.w.Locale), gate: g, open: open}
	if g.Ruled() && (open || g.Route != nil) { // what waits without a route is of a later release's form
		r.st = circulation.Walk(g.Circulating())
	}
	return r
}

func (d drawing) routeOf(v *version) routed {
	r := d.route(&v.gate, v.gate.Status == aggregate.PendingApproval && d.a.Head.Ended == nil)
	r.rounds, r.copies, r.remade, r.step = v.rounds, d.a.CopiesOf(v.key), v.since != "", v.kind == task.CardStep
	r.unreadable = v.sum.Unreadable() != ""
	if v.told() {
		r.said = explain.Money(d.w.Locale, v.sum.Amount)
	}
	if v.kind == task.CardProcess {
		r.number = d.a.NumberOf(v.version)
	}
	if d.a.Request != nil {
		r.origin = d.a.Request.Origin()
	}
	return r
}

func roundsOf(all []*task.Process) rounds {
	r := rounds{round: 1}
	for i, p := range all[:len(all)-1] {
		if !p.Gate.Ruled() || p.Gate.Route == nil {
			continue
		}
		if st := circulation.Walk(p.Gate.Circulating()); st.Ended() == circulation.SendBack {
			r = rounds{round: r.round + 1, before: &all[i].Gate, from: all[i+1].Version}
		}
	}
	return r
}

func (d drawing) looking() slack.Block { return contextLine(routeWordsOf.In(d.w.Locale).Looking) }

// otherRule says of a step's gate that its arguments are under another rule than the steps were, and that people are
// asked from the first stage of that.
func (d drawing) otherRule(g *task.StepGate) []slack.Block {
	e := aggregate.Find(d.a.Executions, task.ExecutionKey(g.ProcessVersion, g.Attempt))
	if e == nil || g.Terms.Rule == nil || d.a.ProcessOf(e) == nil {
		return nil
	}
	settled := d.a.Settled(e)
	if settled == nil || settled.Rule.ID == g.Terms.Rule.ID {
		return nil
	}
	return []slack.Block{contextLine(fill(routeWordsOf.In(d.w.Locale).OtherRule,
		"steps", or(inline(settled.Rule.Name, maxStage), d.w.None), "rule", d.ruleName(&g.Gate)))}
}

func (d drawing) ruleName(g *aggregate.Gate) string {
	if g.Terms.Rule == nil {
		return d.w.None
	}
	return or(inline(g.Terms.Rule.Name, maxStage), d.w.None)
}

// passed returns the path of a gate that is over: nothing without a rule, or with a route that this release can't read.
func (r routed) passed() []string {
	if len(r.st.Stages) == 0 {
		return nil
	}
	return []string{r.path()}
}

// onRoute says whose turn a gate under a rule is, with notes of which all but the path have maxPath units at most.
func (r routed) onRoute() (turn string, notes []string) {
	denies := r.texts.OneDenies
	if r.step {
		denies = r.texts.OneStops
	}
	lines := []string{r.path(), fill(r.texts.Rule, "rule", r.ruleName(r.gate)) + " · " + denies}
	room := maxPath - units(lines[1])
	if amount := r.amount(); amount != "" {
		lines, room = append([]string{amount}, lines...), room-units(amount)
	}
	for _, line := range []string{r.askers(), r.carried()} {
		if line = cut(line, maxNotes); units(line) <= room-maxPath/2 {
			lines, room = append(lines, line), room-units(line)
		}
	}
	left, alone := r.left()
	if alone {
		return r.texts.NowNobody + r.until(r.st.CurrentStage().DecideBy) + left, lines
	}
	return r.now(room) + left, lines
}

// amount says what the rules saw of the amount, or nothing if no money is moved or the card has said it.
func (r routed) amount() string {
	seen := r.gate.Seen
	if seen == nil || seen.Amount == "" && r.plain || seen.Amount == "0" && seen.Currency == "" {
		return ""
	}
	amount := rules.Amount{Value: rules.Decimal(seen.Amount), Currency: seen.Currency, Why: rules.Why(seen.Why)}
	money := explain.Money(r.w.Locale, amount)
	text := r.texts.Amount
	switch {
	case !amount.Known() && seen.ByAmount:
		text = r.texts.AmountUnknown + r.texts.AmountCounts
	case amount.Unmarked():
		return ""
	case !amount.Known():
		text = r.texts.AmountUnknown
	case money == r.said:
		return ""
	}
	return fill(text, "amount", inline(money, maxStage))
}

// path draws the stages in their order. If they are too long, the settled ones are counted, and then also those who
// stamped at the present one.
func (r routed) path() string {
	line := r.joined(r.stages())
	if seenUnits(line) > maxUnfolded || units(line) > maxPath-maxStage {
		line = r.folded(r.stages())
	}
	if units(line) > maxPath-maxStage {
		r.brief = true
		line = r.folded(r.stages())
	}
	text := r.texts.Path
	switch {
	case r.copy != nil && r.open:
		text = "{path}"
	case r.st.Settled && r.number != "":
		text = r.texts.PathNumbered
	case r.st.Settled:
		text = r.texts.PathDone
	case r.round > 1:
		text = r.texts.PathAgain
	}
	return cut(fill(text, "path", line, "round", r.round, "number", r.number), maxPath)
}

// joined puts stages in their order. Where a copy leaves its own one out, it tells the settled from the later ones.
func (r routed) joined(parts []string) string {
	own := slices.Index(parts, "")
	if own < 0 {
		return strings.Join(parts, " → ")
	}
	var out []string
	if own > 0 {
		out = append(out, fill(r.texts.SoFar, "path", strings.Join(parts[:own], " → ")))
	}
	if later := parts[own+1:]; len(later) > 0 {
		out = append(out, fill(r.texts.Next, "path", strings.Join(later, " → ")))
	}
	return strings.Join(out, " · ")
}

func (r routed) stages() []string {
	var parts []string
	for i := range r.st.Stages {
		parts = append(parts, r.stage(i))
	}
	return parts
}

// last names the last stage if people are asked at it after the one that is asked now, else it returns "".
func (r routed) last() string {
	for i := len(r.st.Stages) - 1; i >= 0; i-- {
		switch s := &r.st.Stages[i]; {
		case i+1 == r.st.Present:
			return ""
		case s.Owed > 0:
			return r.nameOf(s)
		}
	}
	return ""
}

func (r routed) stage(i int) string {
	s, w := &r.st.Stages[i], r.texts
	name := r.nameOf(s)
	switch {
	case r.st.Ended() != "" && r.st.Last.Stage == i+1:
		text := w.SentBack
		if r.st.Ended() == circulation.Deny {
			text = w.Denied
		}
		return fill(text, "stage", name, "who", r.hand(r.st.Last)+" "+when(r.st.Last.At))
	case s.Owed == 0:
		return fill(w.Done, "stage", name, "who", r.stamps(i))
	case r.open && r.st.Present == i+1:
		return r.present(i, name)
	}
	return fill(w.Later, "stage", r.needs(s, name))
}

// present draws the stage that is asked. A copy leaves it out: others' stamps at it don't change a copy, whose section
// says what the stage asks.
func (r routed) present(i int, name string) string {
	s := &r.st.Stages[i]
	switch {
	case r.copy != nil:
		return ""
	case s.Need == 1:
		return fill(r.texts.Present, "stage", name)
	}
	text := fill(r.texts.Progress, "stage", name, "given", len(s.Stamps), "need", s.Need)
	if len(s.Stamps) > 0 && !r.brief {
		text += fill(r.texts.Given, "who", r.stamps(i))
	}
	return text
}

// needs adds to a stage's name how many of its people have to stamp.
func (r routed) needs(s *circulation.StageState, name string) string {
	if len(s.People) < 2 {
		return name
	}
	text := r.texts.Needs
	if s.Need == len(s.People) {
		text = r.texts.NeedsAll
	}
	return fill(text, "stage", name, "people", len(s.People), "need", s.Need)
}

// stamps names who stamped at a stage, and when the last one did while people are asked.
func (r routed) stamps(i int) string {
	s, hands := &r.st.Stages[i], []string{}
	for _, act := range s.Stamps[:min(len(s.Stamps), maxStamps)] {
		hands = append(hands, r.hand(act))
	}
	text := r.texts.others(strings.Join(hands, r.texts.And), len(s.Stamps)-len(hands))
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
		if s := &r.st.Stages[i]; s.Owed == 0 {
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
	return r.joined(out)
}

// first names whose hand gave the first of some stamps, and counts the other people.
func (r routed) first(acts []*circulation.Act) string {
	who := map[string]bool{}
	for _, act := range acts {
		who[act.Hand.User] = true
	}
	return r.texts.others(r.hand(acts[0]), len(who)-1)
}

// hand names who acted. A stand-in is named before whom they stood in for, since the other order reads either way.
func (r routed) hand(act *circulation.Act) string {
	if act.Hand.User == act.Principal.User {
		return r.w.mention(act.Hand.User)
	}
	return fill(r.texts.StandIn, "hand", r.w.mention(act.Hand.User), "principal", r.w.mention(act.Principal.User))
}

// called is what a stage is called.
func (r routed) called(s *circulation.StageState) string {
	return or(inline(s.Name, maxStage), r.w.None)
}

// seenUnits counts what people see of a line: of times and people about what Slack shows in their place.
func seenUnits(s string) (n int) {
	const ofTime, ofPerson = 16, 8
	for {
		before, rest, found := strings.Cut(s, "<")
		n += units(before)
		if !found {
			return n
		}
		if n += ofPerson; strings.HasPrefix(rest, "!date") {
			n += ofTime - ofPerson
		}
		_, s, _ = strings.Cut(rest, ">")
	}
}
