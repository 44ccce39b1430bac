package circulation_test

import (
	"slices"
	"strings"

	"ringi/shared/domain/circulation"
)

// oracle says of a set of acts what the fold has to say of them, by counting and without their order. It knows people
// by account only.
type oracle struct {
	g     circulation.Gate
	given map[[3]string]int          // stamps less take-backs of stage, hand and principal
	at    map[string]map[string]bool // principals that stand, by stage
	hands map[string]map[string]bool // their hands, by stage
	all   map[string]bool            // hands of all stages
	on    map[string]map[string]int  // how often a person is at a stage: successors less replaced
	ends  int
	sound bool
}

func name(stage int) string { return string(rune('0' + stage)) }

func counted(g circulation.Gate, acts []circulation.Act) *oracle {
	o := &oracle{g: g, given: map[[3]string]int{}, at: map[string]map[string]bool{}, hands: map[string]map[string]bool{},
		all: map[string]bool{}, on: map[string]map[string]int{}, sound: true}
	for i, s := range g.Route.Stages {
		n := name(i + 1)
		o.at[n], o.hands[n], o.on[n] = map[string]bool{}, map[string]bool{}, map[string]int{}
		for _, p := range s.People {
			if p.User != "Q" {
				o.on[n][p.User] = 1
			}
		}
	}
	for _, act := range acts {
		key := [3]string{name(act.Stage), act.Hand.User, act.Principal.User}
		switch act.Kind {
		case circulation.Stamp:
			o.given[key]++
		case back:
			o.given[key]--
		case circulation.Stand:
			o.on[key[0]][act.For.User]--
			o.on[key[0]][act.To.User]++
		default:
			o.ends++
		}
	}
	for key, n := range o.given {
		if n == 1 {
			o.sound = o.sound && !o.at[key[0]][key[2]] && !o.hands[key[0]][key[1]]
			o.at[key[0]][key[2]], o.hands[key[0]][key[1]], o.all[key[1]] = true, true, true
		}
		o.sound = o.sound && (n == 0 || n == 1)
	}
	return o
}

func (o *oracle) stage(i int) circulation.Stage { return o.g.Route.Stages[i-1] }

func (o *oracle) full(i int) bool {
	return o.stage(i).LeftOut != "" || len(o.at[name(i)]) == o.stage(i).Need
}

// present returns the number of the first stage that isn't full, 0 if all are.
func (o *oracle) present() int {
	for i := range o.g.Route.Stages {
		if !o.full(i + 1) {
			return i + 1
		}
	}
	return 0
}

func (o *oracle) settled() bool {
	return o.ends == 0 && o.sound && o.present() == 0 && len(o.all) >= o.g.Route.Hands
}

// legal reports whether the acts, whatever their order, break no rule of their sum.
func (o *oracle) legal() bool {
	if !o.sound || o.ends > 1 {
		return false
	}
	for i, s := range o.g.Route.Stages {
		n := name(i + 1)
		if len(o.at[n]) > s.Need || len(o.at[n]) > 0 && (s.LeftOut != "" || o.earlierMissing(i+1)) {
			return false
		}
		for who, times := range o.on[n] {
			if times < 0 || times > 1 || who == "Q" && times > 0 {
				return false
			}
		}
		for who := range o.at[n] {
			if s.Mode == circulation.ModePeople && o.on[n][who] != 1 {
				return false
			}
		}
	}
	return o.ends > 0 || o.completable(1, o.all)
}

func (o *oracle) earlierMissing(i int) bool {
	for j := 1; j < i; j++ {
		if !o.full(j) {
			return true
		}
	}
	return false
}

// completable tries every choice of people who stamp with their own hands from stage i on.
func (o *oracle) completable(i int, hands map[string]bool) bool {
	if i > len(o.g.Route.Stages) {
		return len(hands) >= o.g.Route.Hands
	}
	if o.full(i) {
		return o.completable(i+1, hands)
	}
	owed, n := o.stage(i).Need-len(o.at[name(i)]), name(i)
	if o.stage(i).Mode == circulation.ModeChannel {
		return o.completable(i+1, with(hands, "somebody at stage "+n))
	}
	var free []string
	for who, times := range o.on[n] {
		if times == 1 && !o.at[n][who] && !o.hands[n][who] {
			free = append(free, who)
		}
	}
	for set := range 1 << len(free) {
		chosen := hands
		size := 0
		for j, who := range free {
			if set>>j&1 == 1 {
				chosen, size = with(chosen, who), size+1
			}
		}
		if size == owed && o.completable(i+1, chosen) {
			return true
		}
	}
	return false
}

func with(set map[string]bool, who string) map[string]bool {
	out := map[string]bool{who: true}
	for w := range set {
		out[w] = true
	}
	return out
}

// admits says whether one more act may follow those of a gate, which before counts.
func admits(g circulation.Gate, before *oracle, act circulation.Act) bool {
	return alone(g, act) && !before.settled() && before.ends == 0 && before.lets(act) &&
		counted(g, append(g.Acts[:len(g.Acts):len(g.Acts)], act)).legal()
}

// lets says whether the acts before, by their sum, let one more be made.
func (before *oracle) lets(act circulation.Act) bool {
	n, own := name(act.Stage), act.Hand == act.Principal
	switch act.Kind {
	case circulation.Stand:
		return !before.full(act.Stage) && before.stage(act.Stage).Mode == circulation.ModePeople && own &&
			act.Hand != *act.For && act.Hand != *act.To && !before.at[n][act.For.User] && *act.For != *act.To &&
			before.on[n][act.For.User] == 1 && before.on[n][act.To.User] == 0
	case back:
		return true
	}
	if act.Stage != before.present() || before.at[n][act.Principal.User] {
		return false
	}
	if before.stage(act.Stage).Mode == circulation.ModeChannel {
		return own && act.Found.Channel != ""
	}
	return before.on[n][act.Principal.User] == 1
}

// alone says whether an act is one that somebody may make at all.
func alone(g circulation.Gate, act circulation.Act) bool {
	d := act.Found.Delegation
	needs := act.Hand != act.Principal && act.Kind != back
	fits := d != nil && d.Rev > 0 && strings.HasPrefix(d.Key, act.Hand.User+"#"+act.Principal.User+"#")
	kinds := []circulation.Kind{stamp, back, sendBack, deny, circulation.Stand}
	return slices.Contains(kinds, act.Kind) && act.Form == circulation.Form && act.Hash == g.Asked && act.Stage >= 1 && act.Stage <= len(g.Route.Stages) &&
		act.Hand.User != "Q" && act.Principal.User != "Q" && (!needs || fits)
}
