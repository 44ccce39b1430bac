package circulation_test

import (
	"slices"
	"strings"

	"ringi/shared/domain/circulation"
)

// admits says whether one more act may follow those of a gate, which before counts.
func admits(g circulation.Gate, before *oracle, act circulation.Act) bool {
	if !alone(g, act) || act.Stage > len(before.stages) || before.settled() || before.ends > 0 {
		return false
	}
	with := before
	if slices.ContainsFunc(everybody(g, []circulation.Act{act}), func(p circulation.Person) bool { return p.Person != "" }) {
		with = counted(g, g.Acts, act) // people may turn out to be one
	}
	return with.lets(act, before.present()) &&
		(act.Ends() || counted(g, append(g.Acts[:len(g.Acts):len(g.Acts)], act)).legal())
}

// lets says whether the acts before, by their sum, let one more be made while a stage is present.
func (o *oracle) lets(act circulation.Act, present int) bool {
	n, hand, principal := name(act.Stage), o.known(act.Hand), o.known(act.Principal)
	own, d := hand == principal, act.Found.Delegation
	if s := o.stage(act.Stage); s.Mode == circulation.ModeSettings && act.Kind != circulation.Stand && act.Kind != back {
		by := act.Found.Allowed
		return by != nil && act.Meeting == nil && by.As != "" && own && act.Stage == present &&
			(act.Kind == sendBack || act.Kind == giveBack || act.Kind == stamp && (by.Self || !asks(hand)))
	}
	switch {
	case act.Kind == circulation.Answer:
		stamped := slices.ContainsFunc(o.order, func(n int) bool { return o.in[name(n)][hand] })
		return (asks(hand) || act.Found.Answers) && !(act.Found.Answers && stamped) && own && o.open != nil && act.Stage == o.open.Stage && !joins(o.g, act)
	case act.Kind == circulation.Ask && (o.open != nil || o.questions == circulation.MaxQuestions):
		return false
	case asks(hand) || asks(principal):
		return act.Ends() && act.Meeting == nil && own && act.Stage == present &&
			o.stage(present).As != circulation.AsConsult && o.aside(act.Stage, hand) && !o.in[n][hand]
	}
	switch act.Kind {
	case circulation.Stand:
		old, to, found := o.known(*act.For), o.known(*act.To), act.Found
		return !o.full(act.Stage) && o.stage(act.Stage).Mode == circulation.ModePeople && own && hand != old && hand != to &&
			!asks(to) && o.on[n][old] && !o.in[n][old] && !o.on[n][to] && found.Admin != nil && found.Admin.Key != "" &&
			found.Admin.Rev > 0 && found.Resolved != "" && found.Resolved == act.To.Via
	case back:
		return true
	}
	if act.Stage != present || o.in[n][principal] || (act.Kind == stamp || act.Kind == dissent) && o.in[n][hand] {
		return false
	}
	s := o.stage(act.Stage)
	if consult := s.As == circulation.AsConsult; consult && act.Ends() || !consult && act.Kind == dissent ||
		act.Kind == add && !o.addable(act, hand, principal) {
		return false
	}
	last := o.owed(act.Stage) == 1
	records := s.Minutes && o.on[n][principal] && (s.Secretary == 0 || o.part[n][principal] == s.Secretary-1)
	if has := act.Meeting != nil; has && (!records || o.filed[n]) ||
		act.Kind == stamp && s.Minutes && !o.filed[n] && !has && (last || s.Secretary > 0 && records) {
		return false
	}
	if s.Mode == circulation.ModeChannel {
		return own && act.Found.Channel != ""
	}
	if part := o.part[n][principal]; !o.on[n][principal] || o.has[n][part] == partsOf(s)[part].Of || s.NoStandIns && !own {
		return false
	}
	key := act.Hand.User + "#" + act.Principal.User + "#"
	if o.g.Route.Org != "" {
		key = act.Hand.Person + "#" + act.Principal.Person + "#"
	}
	return own || d != nil && d.Rev > 0 && strings.HasPrefix(d.Key, key) &&
		(len(d.Rules) == 0 || slices.Contains(d.Rules, o.g.Rule.ID))
}

// addable says whether somebody is one whom a hand may have asked next for a principal.
func (o *oracle) addable(act circulation.Act, hand, principal string) bool {
	to := o.known(*act.To)
	for i := range o.stages {
		if n := name(i + 1); o.in[n][to] || !o.full(i+1) && o.on[n][to] {
			return false
		}
	}
	return o.stage(act.Stage).Mode == circulation.ModePeople && !asks(to) && to != hand && to != principal &&
		act.Found.Resolved != "" && act.Found.Resolved == act.To.Via && o.added < circulation.MaxAdded
}

// owed returns how many stamps a stage owes.
func (o *oracle) owed(i int) (owed int) {
	for n, part := range partsOf(o.stage(i)) {
		owed += part.Of - o.has[name(i)][n]
	}
	return owed
}

// aside says whether a stage names an asker, as people were known when the gate opened.
func (o *oracle) aside(stage int, asker string) bool {
	then := known(o.g, nil)
	if stage > len(o.g.Route.Stages) {
		return false
	}
	return slices.ContainsFunc(o.stage(stage).People, func(p circulation.Person) bool {
		return o.known(p) == asker && asks(then(p)) && hasRow(o.g, p)
	})
}

// alone says whether an act is one that somebody may make at all.
func alone(g circulation.Gate, act circulation.Act) bool {
	who := []circulation.Person{act.Hand, act.Principal}
	if act.To != nil {
		who = append(who, *act.To)
	}
	for _, p := range who {
		if p.User == "" || !hasRow(g, p) {
			return false
		}
	}
	as := act.As == circulation.AsApprove || act.As == circulation.AsConsult
	if act.Found.Answers && act.Kind != answer {
		return false
	}
	if m := act.Meeting; m != nil && (m.Carried != (act.Kind == stamp) || act.Kind != stamp && act.Kind != deny ||
		m.Fault(act.At) != "") || as != (act.Kind == add) {
		return false
	}
	return slices.Contains(circulation.Kinds, act.Kind) && act.Form == circulation.Form && act.Hash == g.AskedSum && act.Stage >= 1 && (g.Route.Org == "" || act.Kind == back || act.Found.Org != "")
}

// answered counts the stamps that stand of who was asked after an objection at later stages, too, that ask nobody
// twice.
func (o *oracle) answered(acts []circulation.Act) {
	ahead := map[int][]circulation.Person{} // who stands in such stamps, by stage
	for _, i := range o.given {
		act, then := acts[i], known(o.g, acts[:i+1])
		if o.stages[act.Stage-1].raised == 0 || then(act.Hand) != then(act.Principal) {
			continue
		}
		for _, n := range o.order[slices.Index(o.order, act.Stage)+1:] {
			there := func(p circulation.Person) bool { return then(p) == then(act.Hand) }
			if s := o.stage(n); !s.Once || s.LeftOut != "" || slices.ContainsFunc(ahead[n], there) ||
				!slices.ContainsFunc(seated(o.g, s, acts[:i], n), there) {
				continue
			}
			ahead[n] = append(ahead[n], act.Hand)
			in, hand := o.in[name(n)], o.known(act.Hand)
			o.sound = o.sound && !in[hand]
			in[hand], o.all[hand] = true, true
			o.has[name(n)][0]++
		}
	}
}

// takeBack removes the stamp that the last act takes back, as people were known then.
func (o *oracle) takeBack(acts []circulation.Act) {
	act, then := acts[len(acts)-1], known(o.g, acts)
	at := slices.IndexFunc(o.given, func(i int) bool {
		a := acts[i]
		return a.Stage == act.Stage && then(a.Hand) == then(act.Hand) && then(a.Principal) == then(act.Principal)
	})
	if o.sound = o.sound && at >= 0; at >= 0 {
		o.given = slices.Delete(o.given, at, at+1)
	}
}

func with(set map[string]bool, who string) map[string]bool {
	out := map[string]bool{who: true}
	for w := range set {
		out[w] = true
	}
	return out
}
