package circulation_test

import (
	"slices"
	"strings"

	"ringi/shared/domain/circulation"
)

// oracle says of acts what the fold has to say of them, by counting. It knows people by one account each: see known.
type oracle struct {
	g      circulation.Gate
	known  func(p circulation.Person) string
	stages []desked                   // of the route, then what was added
	order  []int                      // their numbers, as they are asked
	given  []int                      // which acts are stamps, consents and objections that stand
	at     map[string]map[string]bool // principals that stand, by stage
	in     map[string]map[string]bool // hands and principals that stand, by stage
	all    map[string]bool            // hands of the route's approving stages
	on     map[string]map[string]bool // who is at a stage, by stage
	part   map[string]map[string]int  // in which of its parts
	has    map[string][]int           // stamps of each part of a stage
	filed  map[string]bool            // stages of which a stamp has minutes
	no     map[string]int             // objections that stand, by stage
	ends   int
	added  int
	sound  bool

	questions int
	open      *circulation.Act // the question that waits for an answer
}

// desked is a stage, and where what was added comes: after the stage whose path begins its own.
type desked struct {
	circulation.Stage
	path   []int
	raised int // number of the stage at which somebody objected; 0: nobody raised it
}

// counts says whether a stage's stamps count for what the route asks.
func (s *desked) counts() bool { return len(s.path) == 1 && s.As != circulation.AsConsult }

// asker begins by what the oracle knows everybody who is an asker.
const asker = "an asker "

func asks(id string) bool { return strings.HasPrefix(id, asker) }

// known returns by which account somebody is known: the first of all that lead to one another, from account to key and
// from key to account, by what a gate and acts say of people.
func known(g circulation.Gate, acts []circulation.Act) func(p circulation.Person) string {
	all, keys, askers := everybody(g, acts), false, slices.Clone(g.Askers)
	for _, act := range acts {
		if act.Kind == answer && act.Found.Answers {
			askers = append(askers, act.Hand)
		}
	}
	for _, p := range all {
		keys = keys || p.Person != ""
	}
	ids := map[circulation.Person]string{}
	return func(p circulation.Person) string {
		p.Via = ""
		if _, done := ids[p]; !done {
			ids[p] = first(askers, all, p, keys)
		}
		return ids[p]
	}
}

// everybody returns all whom a gate and acts name.
func everybody(g circulation.Gate, acts []circulation.Act) []circulation.Person {
	all := slices.Clone(g.Askers)
	for _, s := range g.Route.Stages {
		all = append(append(all, s.People...), s.Over...)
	}
	for _, c := range g.Route.Carried {
		all = append(all, c.To, c.By)
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

// joins says whether one more act shows that two whom a gate and its acts name are one person.
func joins(g circulation.Gate, act circulation.Act) bool {
	with := append(g.Acts[:len(g.Acts):len(g.Acts)], act)
	before, now, was := known(g, g.Acts), known(g, with), map[string]string{}
	for _, p := range everybody(g, g.Acts) {
		if id, met := was[now(p)]; met && id != before(p) {
			return true
		}
		was[now(p)] = before(p)
	}
	return false
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
		filed: map[string]bool{}, no: map[string]int{}, sound: true}
	o.added = o.desks(acts)
	for i := range o.stages {
		s := o.stages[i].Stage
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
		case circulation.Stamp, dissent:
			o.given = append(o.given, i)
		case back:
			o.takeBack(acts[:i+1])
		case circulation.Stand, add:
		case circulation.Ask:
			o.questions, o.open = o.questions+1, &act
		case circulation.Answer:
			o.open = nil
		default:
			o.ends++
		}
	}
	for _, i := range o.given {
		act := acts[i]
		n, hand, principal := name(act.Stage), o.known(act.Hand), o.known(act.Principal)
		in := o.in[n]
		o.sound = o.sound && !in[hand] && !in[principal]
		o.at[n][principal], in[hand], in[principal] = true, true, true
		if o.stages[act.Stage-1].counts() {
			o.all[hand] = true
		}
		o.has[n][o.stampedIn(acts, i)]++
		o.filed[n] = o.filed[n] || act.Meeting != nil
		if act.Kind == dissent {
			o.no[n]++
		}
	}
	o.answered(acts)
	return o
}

// desks notes the stages of the route and those that were added, and returns how many people were.
func (o *oracle) desks(acts []circulation.Act) (added int) {
	for i, s := range o.g.Route.Stages {
		o.stages = append(o.stages, desked{Stage: s, path: []int{i}})
	}
	under := func(act circulation.Act, people []circulation.Person, as circulation.As, raised int) {
		parent := o.stages[act.Stage-1].path
		s := desked{Stage: circulation.Stage{Mode: circulation.ModePeople, People: people, Need: 1}, raised: raised,
			path: append(parent[:len(parent):len(parent)], len(o.stages))}
		if as == circulation.AsConsult {
			s.As = as
		}
		o.stages = append(o.stages, s)
	}
	then := known(o.g, nil)
	may := func(p circulation.Person) bool { return !asks(then(p)) && hasRow(o.g, p) }
	for _, c := range o.g.Route.Carried {
		needed := func(s desked) bool { return needs(s.Stage, then(c.To), c.As, then, may) }
		if added++; c.LeftOut == "" && (slices.ContainsFunc(o.stages, needed) || !may(c.To)) {
			continue
		}
		under(circulation.Act{Stage: c.After}, []circulation.Person{c.To}, c.As, 0)
		o.stages[len(o.stages)-1].LeftOut = c.LeftOut
	}
	for i, act := range acts {
		then := known(o.g, acts[:i])
		may := func(p circulation.Person) bool { return may(p) && !asks(then(p)) }
		up := func(s desked) bool { return s.raised == act.Stage }
		switch {
		case act.Kind == add:
			added++
			under(act, []circulation.Person{*act.To}, act.As, 0)
		case act.Kind == dissent && o.stage(act.Stage).Dissent == circulation.ObjectionRaised &&
			!slices.ContainsFunc(o.stages, up) && slices.ContainsFunc(o.stage(act.Stage).Over, may):
			under(act, o.stage(act.Stage).Over, "", act.Stage)
		}
	}
	for i := range o.stages {
		o.order = append(o.order, i+1)
	}
	slices.SortFunc(o.order, func(a, b int) int { return slices.Compare(o.stages[a-1].path, o.stages[b-1].path) })
	return added
}

// needs says whether the others of somebody's part of a stage are too few for its approvals, or opinions.
func needs(s circulation.Stage, who string, as circulation.As, known func(circulation.Person) string,
	may func(circulation.Person) bool) bool {
	part := map[string]int{}
	for place, p := range slices.Backward(s.People) { // who is in two parts is in the first of them
		if may(p) {
			part[known(p)] = partAt(s, place)
		}
	}
	mine, on := part[who]
	delete(part, who)
	others := 0
	for _, n := range part {
		if n == mine {
			others++
		}
	}
	return on && s.LeftOut == "" && (s.As != circulation.AsConsult || as == circulation.AsConsult) && others < partsOf(s)[mine].Of
}

// hasRow says whether somebody has a row in the organisation, where one stands.
func hasRow(g circulation.Gate, p circulation.Person) bool {
	return g.Route.Org == "" || p.Person != ""
}

// counted says whether somebody may stamp at all.
func (o *oracle) counted(p circulation.Person) bool {
	return !asks(o.known(p)) && hasRow(o.g, p)
}

// asked says whether a stage asks anybody: it isn't left out, and somebody still objects where it was raised.
func (o *oracle) asked(i int) bool {
	s := o.stages[i-1]
	return s.LeftOut == "" && (s.raised == 0 || o.no[name(s.raised)] > 0)
}

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

func (o *oracle) stage(i int) circulation.Stage { return o.stages[i-1].Stage }

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
	for _, n := range o.order {
		if !o.full(n) {
			return n
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
	for k, i := range o.order {
		s, n := o.stage(i), name(i)
		for j, part := range partsOf(s) {
			if o.has[n][j] > part.Of {
				return false
			}
		}
		if len(o.at[n]) > 0 && (!o.asked(i) || !o.allFull(o.order[:k])) {
			return false
		}
		for who := range o.at[n] {
			if s.Mode == circulation.ModePeople && !o.on[n][who] {
				return false
			}
		}
	}
	return o.completable(0, 0, o.all)
}

func (o *oracle) allFull(stages []int) bool {
	return !slices.ContainsFunc(stages, func(n int) bool { return !o.full(n) })
}

// completable tries every choice of people who stamp with their own hands from a part of the k-th stage on.
func (o *oracle) completable(k, part int, hands map[string]bool) bool {
	if k == len(o.order) {
		return len(hands) >= o.g.Route.Hands
	}
	i := o.order[k]
	n, parts := name(i), partsOf(o.stage(i))
	if part == len(parts) || o.full(i) {
		return o.completable(k+1, 0, hands)
	}
	owed, counts := parts[part].Of-o.has[n][part], o.stages[i-1].counts()
	if o.stage(i).Mode != circulation.ModePeople {
		if counts {
			hands = with(hands, "somebody at stage "+n)
		}
		return o.completable(k+1, 0, hands)
	}
	var free []string
	for who := range o.on[n] {
		if !o.in[n][who] && o.part[n][who] == part {
			free = append(free, who)
		}
	}
	if !counts {
		return len(free) >= owed && o.completable(k, part+1, hands)
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
