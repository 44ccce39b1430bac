package circulation_test

import (
	"slices"
	"strings"

	"ringi/shared/domain/circulation"
)

// oracle says of acts what the fold has to say of them, by counting. It knows people by one account each: see known.
type oracle struct {
	g     circulation.Gate
	known func(p circulation.Person) string
	given []int                      // which acts are stamps
	at    map[string]map[string]bool // principals that stand, by stage
	in    map[string]map[string]bool // hands and principals that stand, by stage
	all   map[string]bool            // hands of all stamps
	on    map[string]map[string]bool // who is at a stage, by stage
	part  map[string]map[string]int  // in which of its parts
	has   map[string][]int           // stamps of each part of a stage
	ends  int
	sound bool
}

// asker begins by what the oracle knows everybody who is an asker.
const asker = "an asker "

func asks(id string) bool { return strings.HasPrefix(id, asker) }

// known returns by which account somebody is known: the first of all that lead to one another, from account to key and
// from key to account, by what a gate and acts say of people.
func known(g circulation.Gate, acts []circulation.Act) func(p circulation.Person) string {
	all, keys := everybody(g, acts), false
	for _, p := range all {
		keys = keys || p.Person != ""
	}
	ids := map[circulation.Person]string{}
	return func(p circulation.Person) string {
		p.Via = ""
		if _, done := ids[p]; !done {
			ids[p] = first(g.Askers, all, p, keys)
		}
		return ids[p]
	}
}

// everybody returns all whom a gate and acts name.
func everybody(g circulation.Gate, acts []circulation.Act) []circulation.Person {
	all := slices.Clone(g.Askers)
	for _, s := range g.Route.Stages {
		all = append(all, s.People...)
	}
	for _, act := range acts {
		all = append(all, act.Hand, act.Principal)
		for _, p := range []*circulation.Person{act.For, act.To} {
			if p != nil {
				all = append(all, *p)
			}
		}
	}
	return all
}

func first(askers, all []circulation.Person, p circulation.Person, keys bool) string {
	group := []circulation.Person{p}
	joins := func(q circulation.Person) bool {
		return !slices.Contains(group, q) && slices.ContainsFunc(group, func(p circulation.Person) bool {
			return p.User == q.User || p.Person != "" && p.Person == q.Person
		})
	}
	for i := 0; keys && i < len(all); i++ {
		if joins(all[i]) {
			group, i = append(group, all[i]), -1
		}
	}
	id, is := p.User, false
	for _, p := range group {
		is = is || slices.ContainsFunc(askers, func(q circulation.Person) bool { return p.User == q.User })
		id = min(id, p.User)
	}
	if is {
		return asker + id
	}
	return id
}

func name(stage int) string { return string(rune('0' + stage)) }

// counted counts the acts on a gate, as people are known with those to come.
func counted(g circulation.Gate, acts []circulation.Act, coming ...circulation.Act) *oracle {
	o := &oracle{g: g, known: known(g, append(acts[:len(acts):len(acts)], coming...)),
		at: map[string]map[string]bool{}, in: map[string]map[string]bool{}, all: map[string]bool{},
		on: map[string]map[string]bool{}, part: map[string]map[string]int{}, has: map[string][]int{},
		sound: true}
	for i, s := range g.Route.Stages {
		n := name(i + 1)
		o.at[n], o.in[n], o.on[n], o.part[n] = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]int{}
		o.has[n] = make([]int, len(partsOf(s)))
		for j, p := range seated(g, s, acts, i+1) {
			if id := o.known(p); o.counted(p) && !o.on[n][id] {
				o.on[n][id], o.part[n][id] = true, partAt(s, j)
			}
		}
	}
	for i, act := range acts {
		switch act.Kind {
		case stamp:
			o.given = append(o.given, i)
		case circulation.Stand:
		default:
			o.ends++
		}
	}
	for _, i := range o.given {
		act := acts[i]
		n, hand, principal := name(act.Stage), o.known(act.Hand), o.known(act.Principal)
		in := o.in[n]
		o.sound = o.sound && !in[hand] && !in[principal]
		o.at[n][principal], in[hand], in[principal], o.all[hand] = true, true, true, true
		o.has[n][o.stampedIn(acts, i)]++
	}
	return o
}

// hasRow says whether somebody has a row in the organisation, where one stands.
func hasRow(g circulation.Gate, p circulation.Person) bool {
	return g.Route.Org == "" || p.Person != ""
}

// counted says whether somebody may stamp at all.
func (o *oracle) counted(p circulation.Person) bool {
	return !asks(o.known(p)) && hasRow(o.g, p)
}

// asked says whether a stage asks anybody: it isn't left out.
func (o *oracle) asked(i int) bool { return o.stage(i).LeftOut == "" }

// partsOf returns the parts of a stage; of one that isn't cut that is all of it.
func partsOf(s circulation.Stage) []circulation.Part {
	if len(s.Parts) > 0 {
		return s.Parts
	}
	return []circulation.Part{{N: len(s.People), Of: s.Need}}
}

// partAt returns in which part of a stage the one is whom it names at a place.
func partAt(s circulation.Stage, place int) int {
	for n, part := range partsOf(s) {
		if place -= part.N; place < 0 {
			return n
		}
	}
	return 0
}

// stampedIn returns for which part of its stage a stamp counts: that of its principal as people were known then.
func (o *oracle) stampedIn(acts []circulation.Act, i int) int {
	s, then := o.stage(acts[i].Stage), known(o.g, acts[:i+1])
	for place, p := range seated(o.g, s, acts[:i], acts[i].Stage) {
		if then(p) == then(acts[i].Principal) && hasRow(o.g, p) {
			return partAt(s, place)
		}
	}
	return 0
}

// seated returns the people of a stage, with successors. Who was replaced is told by what was known of people then; who
// has no row has no place there that anybody could take.
func seated(g circulation.Gate, s circulation.Stage, acts []circulation.Act, stage int) []circulation.Person {
	out := slices.Clone(s.People)
	for i, act := range acts {
		if act.Kind == circulation.Stand && act.Stage == stage {
			then := known(g, acts[:i+1])
			for i, p := range out {
				if then(p) == then(*act.For) && hasRow(g, p) {
					out[i] = *act.To
				}
			}
		}
	}
	return out
}

func (o *oracle) stage(i int) circulation.Stage { return o.g.Route.Stages[i-1] }

func (o *oracle) full(i int) bool {
	for n, part := range partsOf(o.stage(i)) {
		if o.asked(i) && o.has[name(i)][n] < part.Of {
			return false
		}
	}
	return true
}

// present returns the number of the first stage that isn't full, 0 if all are.
func (o *oracle) present() int {
	for n := range o.g.Route.Stages {
		if !o.full(n + 1) {
			return n + 1
		}
	}
	return 0
}

func (o *oracle) settled() bool {
	return o.ends == 0 && o.sound && o.present() == 0 && len(o.all) >= o.g.Route.Hands
}

// legal reports whether the acts, whatever their order, break no rule of their sum.
func (o *oracle) legal() bool {
	if !o.sound {
		return false
	}
	before := true // are full
	for k, s := range o.g.Route.Stages {
		i, n := k+1, name(k+1)
		for j, part := range partsOf(s) {
			if o.has[n][j] > part.Of {
				return false
			}
		}
		if len(o.at[n]) > 0 && (!o.asked(i) || !before) {
			return false
		}
		for who := range o.at[n] {
			if s.Mode == circulation.ModePeople && !o.on[n][who] {
				return false
			}
		}
		before = before && o.full(i)
	}
	return o.completable(0, 0, o.all)
}

// completable tries every choice of people who stamp with their own hands from a part of the k-th stage on.
func (o *oracle) completable(k, part int, hands map[string]bool) bool {
	if k == len(o.g.Route.Stages) {
		return len(hands) >= o.g.Route.Hands
	}
	i := k + 1
	n, parts := name(i), partsOf(o.stage(i))
	if part == len(parts) || o.full(i) {
		return o.completable(k+1, 0, hands)
	}
	owed := parts[part].Of - o.has[n][part]
	if o.stage(i).Mode != circulation.ModePeople {
		return o.completable(k+1, 0, with(hands, "somebody at stage "+n))
	}
	var free []string
	for who := range o.on[n] {
		if !o.in[n][who] && o.part[n][who] == part {
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
		if size == owed && o.completable(k, part+1, chosen) {
			return true
		}
	}
	return false
}
