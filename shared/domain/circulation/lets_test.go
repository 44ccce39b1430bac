package circulation_test

import (
	"slices"
	"strings"

	"ringi/shared/domain/circulation"
)

// admits says whether one more act may follow those of a gate, which before counts.
func admits(g circulation.Gate, before *oracle, act circulation.Act) bool {
	if !alone(g, act) || act.Stage > len(g.Route.Stages) || before.settled() || before.ends > 0 {
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
	if s := o.stage(act.Stage); s.Mode == circulation.ModeSettings && act.Kind != circulation.Stand {
		by := act.Found.Allowed
		return by != nil && by.As != "" && own && act.Stage == present &&
			(act.Kind == sendBack || act.Kind == giveBack || act.Kind == stamp && (by.Self || !asks(hand)))
	}
	if asks(hand) || asks(principal) {
		return act.Ends() && own && act.Stage == present && o.aside(act.Stage, hand) && !o.in[n][hand]
	}
	if act.Kind == circulation.Stand {
		old, to, found := o.known(*act.For), o.known(*act.To), act.Found
		return !o.full(act.Stage) && o.stage(act.Stage).Mode == circulation.ModePeople && own && hand != old && hand != to &&
			!asks(to) && o.on[n][old] && !o.in[n][old] && !o.on[n][to] && found.Admin != nil && found.Admin.Key != "" &&
			found.Admin.Rev > 0 && found.Resolved != "" && found.Resolved == act.To.Via
	}
	if act.Stage != present || o.in[n][principal] || act.Kind == stamp && o.in[n][hand] {
		return false
	}
	s := o.stage(act.Stage)
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

// aside says whether a stage names an asker, as people were known when the gate opened.
func (o *oracle) aside(stage int, asker string) bool {
	then := known(o.g, nil)
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
	return slices.Contains(circulation.Kinds, act.Kind) && act.Form == circulation.Form && act.Hash == g.AskedSum && act.Stage >= 1 && (g.Route.Org == "" || act.Found.Org != "")
}

func with(set map[string]bool, who string) map[string]bool {
	out := map[string]bool{who: true}
	for w := range set {
		out[w] = true
	}
	return out
}
