package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// walked is what a receipt claims of a gate under a rule: each text byte for byte as its hash is sealed.
type walked struct {
	Asked  string   `json:"asked"`  // JSON: what is asked, the rule and the route
	Opened string   `json:"opened"` // JSON: the gate as it opened, without acts
	Acts   []string `json:"acts"`   // JSON each, the oldest first
}

// walkOf returns the claim of a gate, nil if it is under no rule or never opened. asked is the text whose hash is
// stamped.
func walkOf(g *aggregate.Gate, asked string) *walked {
	if !g.Ruled() || g.Route == nil {
		return nil
	}
	c := g.Circulating()
	w := &walked{Asked: asked, Opened: circulation.OpenedText(c), Acts: []string{}}
	for _, act := range c.Acts {
		w.Acts = append(w.Acts, circulation.ActText(act))
	}
	return w
}

// onRoute says of each kind of act how the entry that records it ends, and what its hand did. The entry of the one that
// settled the gate ends with "approved", that of how it opened with "routed".
var onRoute = map[circulation.Kind]struct{ ending, did string }{
	circulation.Stamp: {"stamped", "stamped by"}, circulation.TakeBack: {"taken_back", "stamp taken back by"},
	circulation.SendBack: {"rejected", "sent back by"}, circulation.GiveBack: {"returned", "returned by"},
	circulation.Deny: {"denied", "denied by"}, circulation.Stand: {"reassigned", "successor named by"},
	circulation.Ask: {"questioned", "questioned by"}, circulation.Answer: {"answered", "answered by"},
	circulation.Add: {"added", "another one asked for by"}, circulation.Dissent: {"dissented", "objected to by"},
}

// routeEndings are how entries that record what is done on a gate end.
var routeEndings = func() []string {
	out := []string{"routed", "approved"}
	for _, kind := range onRoute {
		out = append(out, kind.ending)
	}
	return out
}()

// walking holds a claim about one gate under a rule against its sealed entries.
type walking struct {
	*proving
	*walked
	name    string // of what is asked
	of      string // process, step or action
	entries []entry
	gate    circulation.Gate
	rule    circulation.Rule
}

// walk checks the claim about the gate of a resource, of one step if that is not empty. want is what its stamps have to
// be on; an empty member may be anything.
func (p *proving) walk(name string, w *walked, of, resource, step string, want ...string) {
	k := &walking{proving: p, walked: w, name: name, of: of}
	ruled := false
	for _, ending := range routeEndings {
		for _, e := range p.all(of+"."+ending, resource) {
			if e.details.Step == step {
				k.entries = append(k.entries, e)
				ruled = ruled || ending == "routed" || e.details.Asked != "" || e.details.RouteHash != ""
			}
		}
	}
	slices.SortStableFunc(k.entries, func(a, b entry) int { return strings.Compare(a.Timestamp, b.Timestamp) })
	switch {
	case w == nil:
		p.wrongIf(ruled, "%s: people were asked under a rule, and the route is left out", name)
		return
	case len(k.entries) == 0 || k.entries[0].Action != of+".routed":
		p.wrong("%s: no entry says that people were asked under a rule", name)
		return
	}
	if k.opened(want) && k.acted() {
		k.stands()
	}
}

// opened compares the beginning of the walk with its entry, and with what had to be asked.
func (k *walking) opened(want []string) bool {
	d, found := k.entries[0].details, len(k.found)
	var route json.RawMessage
	var what []string
	asked, opened := [3]any{&what, &k.rule, &route}, struct{ Route json.RawMessage }{}
	for text, into := range map[string][]any{k.Asked: {&asked}, k.Opened: {&k.gate, &opened}} {
		for _, v := range into {
			err := json.Unmarshal([]byte(text), v)
			k.wrongIf(err != nil, "%s: its route can't be read: %v", k.name, err)
		}
	}
	k.wrongIf(aggregate.HashOf(k.Asked) != d.Asked || k.gate.AskedSum != d.Asked,
		"%s: what is said to be stamped is not what was: the sealed hash is %s", k.name, d.Asked)
	k.wrongIf(aggregate.HashOf(k.Opened) != d.RouteHash,
		"%s: the route is not the one that was opened: the sealed hash is %s", k.name, d.RouteHash)
	k.wrongIf(string(route) != string(opened.Route), "%s: another route was stamped than the one that was walked",
		k.name)
	k.wrongIf(k.gate.Rule == nil || *k.gate.Rule != k.rule, "%s: it opened by another rule than was stamped", k.name)
	k.wrongIf(d.rule() != k.rule, "%s: the rule is said to be %+v, its entry says %+v", k.name, k.rule, d.rule())
	fits := len(what) == len(want)
	for i := range want {
		fits = fits && (want[i] == "" || want[i] == what[i])
	}
	k.wrongIf(!fits, "%s: something else was stamped: %q", k.name, what)
	k.wrongIf(len(k.gate.Acts) > 0, "%s: its gate is said to open with acts", k.name)
	if len(k.found) > found {
		return false
	}
	k.names()
	return true
}

// names says by which rule and whom the gate asks.
func (k *walking) names() {
	k.say("  %s: under the rule %s (%s), revision %d", k.name, k.rule.Name, k.rule.ID, k.rule.Revision)
	k.say("    asked since %s for %d hours a stage, good for %d days once it is settled",
		aggregate.TimeText(k.gate.AskedAt), k.gate.Hours, k.gate.Days)
	k.say("    stamped is sha256 %s, the route is sha256 %s", aggregate.HashOf(k.Asked), aggregate.HashOf(k.Opened))
	for _, p := range k.gate.Askers {
		k.say("    asked for by %s", named(p))
	}
	r := k.gate.Route
	if r == nil {
		return
	}
	for i := range r.Stages {
		k.asks(i+1, &r.Stages[i])
	}
	for _, c := range r.Carried {
		left := ""
		if c.LeftOut != "" {
			left = ", left out, " + c.LeftOut
		}
		k.say("    after stage %d, as in round %d: %s, to %s, added by %s%s", c.After, c.Round, named(c.To), c.As,
			named(c.By), left)
	}
	k.say("    hands of different people: at least %d", r.Hands)
	for _, p := range r.Readers {
		k.say("    told afterwards: %s", named(p))
	}
}

// asks says whom a stage of the route asks.
func (k *walking) asks(number int, s *circulation.Stage) {
	if s.LeftOut != "" {
		k.say("    stage %d, %s: left out, %s", number, s.Name, s.LeftOut)
		return
	}
	if s.Mode == circulation.ModeChannel {
		k.say("    stage %d, %s: one stamp of the channel", number, s.Name)
		return
	}
	above := ""
	if s.Filled != "" {
		above = ", above it: " + s.Filled
	}
	if s.As == circulation.AsConsult {
		above += ", consulted"
	}
	if s.Dissent == circulation.ObjectionRaised {
		above += ", who stands over them is asked after an objection"
	}
	if s.NoStandIns {
		above += ", nobody stands in for them"
	}
	if s.ReadAfter {
		above += ", read afterwards by whom it is stamped for"
	}
	if s.Once {
		above += ", nobody again who was asked after an objection"
	}
	if s.Minutes {
		above += ", with minutes"
	}
	if s.Secretary > 0 {
		above += fmt.Sprintf(" of part %d", s.Secretary)
	}
	k.say("    stage %d, %s: stamps of %d of these %d people%s", number, s.Name, s.Need, len(s.People), above)
	first := 0
	for _, part := range s.Parts {
		k.say("      of people %d to %d: %d", first+1, first+part.N, part.Of)
		first += part.N
	}
	for _, p := range s.People {
		k.say("      %s", named(p))
	}
	for _, p := range s.Over {
		k.say("      over them: %s", named(p))
	}
}

// acted compares each act with its own entry: there is one for each, in this order, and no other.
func (k *walking) acted() bool {
	found := len(k.found)
	k.wrongIf(len(k.entries) != len(k.Acts)+1, "%s: %d acts are said to be done on its route, %d entries say so",
		k.name,
		len(k.Acts), len(k.entries)-1)
	for i, text := range k.Acts {
		var act circulation.Act
		if err := json.Unmarshal([]byte(text), &act); err != nil {
			k.wrong("%s: act %d can't be read: %v", k.name, i+1, err)
			continue
		}
		k.gate.Acts = append(k.gate.Acts, act)
		if i+1 >= len(k.entries) {
			continue
		}
		e, d := k.entries[i+1], k.entries[i+1].details
		ending := strings.TrimPrefix(e.Action, k.of+".")
		fits := ending == onRoute[act.Kind].ending || ending == "approved" && act.Gives()
		k.wrongIf(!fits || e.ActorID != act.Hand.User ||
			e.Timestamp != aggregate.TimeText(act.At) || d.Stage != act.Stage || d.Asked != k.gate.AskedSum,
			"%s: act %d is said to be a %s of %s, its entry says %s of %s", k.name, i+1, act.Kind, act.Hand.User,
			e.Action, e.ActorID)
		k.wrongIf(aggregate.HashOf("["+strings.Join(k.Acts[:i+1], ",")+"]") != d.ActsHash,
			"%s: act %d, or one before it, is not what was done: the sealed hash is %s", k.name, i+1, d.ActsHash)
	}
	return len(k.found) == found
}

// stands walks the acts along the route, and compares what stands of them with the entry of the settlement.
func (k *walking) stands() {
	st := circulation.Walk(k.gate)
	if st.Refused != nil {
		k.wrong("%s: act %d could not be done: %s", k.name, st.Refused.Act, st.Refused.Why)
		return
	}
	last, first := k.entries[len(k.entries)-1], k.entries[0].details
	approved := last.Action == k.of+".approved"
	k.wrongIf(st.Settled != approved, "%s: its route is settled: %t, its entry says %s", k.name, st.Settled,
		last.Action)
	if d := last.details; approved {
		k.wrongIf(d.RouteHash != first.RouteHash || d.rule() != k.rule || d.Stamps != len(st.Stamps()),
			"%s: the entry of its settlement names another rule, route or number of stamps", k.name)
	}
	for i := range k.gate.Acts {
		k.say("    %s", done(&k.gate.Acts[i]))
	}
	if st.Settled {
		k.say("    settled by %d stamps", len(st.Stamps()))
	}
}

// done says what an act did, by whom and for whom, and what was looked up for it.
func done(act *circulation.Act) string {
	text := fmt.Sprintf("%s, stage %d: %s %s", aggregate.TimeText(act.At), act.Stage, onRoute[act.Kind].did, named(act.Hand))
	if act.Principal.User != act.Hand.User {
		text += " for " + named(act.Principal)
	}
	if d := act.Found.Delegation; d != nil {
		text += fmt.Sprintf(", by the row %s of the delegation, revision %d", d.Key, d.Rev)
		if len(d.Rules) > 0 {
			text += ", for the rules " + strings.Join(d.Rules, ", ")
		}
	}
	if a := act.Found.Admin; a != nil {
		text += fmt.Sprintf(", by the row %s of the administrator, revision %d", a.Key, a.Rev)
	}
	if act.Found.Channel != "" {
		text += ", as a member of " + act.Found.Channel
	}
	if act.Found.Answers {
		text += ", who answers for the key"
	}
	if act.Found.Org != "" {
		text += ", in the organisation " + act.Found.Org
	}
	if act.For != nil && act.To != nil {
		text += fmt.Sprintf(": %s in the place of %s", named(*act.To), named(*act.For))
	}
	if act.For == nil && act.To != nil {
		text += fmt.Sprintf(": %s, to %s", named(*act.To), act.As)
	}
	if m := act.Meeting; m != nil {
		carried := map[bool]string{true: "carried", false: "not carried"}[m.Carried]
		text += fmt.Sprintf(", with minutes of %s, %s, present %s", m.Held, carried, strings.Join(m.Present, ", "))
		for _, x := range [][2]string{{"minutes", m.Minutes}, {"kept at", m.Reference}} {
			if x[1] != "" {
				text += ", " + x[0] + ": " + x[1]
			}
		}
	}
	if act.Text != "" {
		text += ": " + act.Text
	}
	return text
}

// named says who somebody is, and how the route found them.
func named(p circulation.Person) string {
	more := slices.DeleteFunc([]string{p.Person, p.Via}, func(text string) bool { return text == "" })
	if len(more) == 0 {
		return p.User
	}
	return p.User + " (" + strings.Join(more, ", ") + ")"
}
