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
	given map[[3]string]int          // stamps less take-backs of stage, hand and principal
	at    map[string]map[string]bool // principals that stand, by stage
	in    map[string]map[string]bool // hands and principals that stand, by stage
	all   map[string]bool            // hands of all stages
	on    map[string]map[string]bool // who is at a stage, by stage
	part  map[string]map[string]int  // in which of its parts
	has   map[string][]int           // stamps of each part of a stage
	filed map[string]bool            // stages of which a stamp has a file
	ends  int
	sound bool

	questions int
	open      *circulation.Act // the question that waits for an answer
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
			ids[p] = first(g, all, p, keys)
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
		if act.For != nil && act.To != nil {
			all = append(all, *act.For, *act.To)
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

func first(g circulation.Gate, all []circulation.Person, p circulation.Person, keys bool) string {
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
		is = is || slices.ContainsFunc(g.Askers, func(q circulation.Person) bool { return p.User == q.User })
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
	o := &oracle{g: g, known: known(g, append(acts[:len(acts):len(acts)], coming...)), given: map[[3]string]int{},
		at: map[string]map[string]bool{}, in: map[string]map[string]bool{}, all: map[string]bool{},
		on: map[string]map[string]bool{}, part: map[string]map[string]int{}, has: map[string][]int{},
		filed: map[string]bool{}, sound: true}
	for i, s := range g.Route.Stages {
		n := name(i + 1)
		o.at[n], o.in[n], o.on[n], o.part[n] = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]int{}
		o.has[n] = make([]int, len(partsOf(s)))
		for j, p := range seated(g, s, acts, i+1) {
			if id := o.known(p); !asks(id) && (g.Route.Org == "" || p.Person != "") && !o.on[n][id] {
				o.on[n][id], o.part[n][id] = true, partAt(s, j)
			}
		}
	}
	stamps := map[[3]string]int{}
	for i, act := range acts {
		key := [3]string{name(act.Stage), o.known(act.Hand), o.known(act.Principal)}
		switch act.Kind {
		case circulation.Stamp:
			o.given[key]++
			stamps[key] = i
		case back:
			o.given[key]--
		case circulation.Stand:
		case circulation.Ask:
			o.questions, o.open = o.questions+1, &act
		case circulation.Answer:
			o.open = nil
		default:
			o.ends++
		}
	}
	for key, n := range o.given {
		if n > 0 {
			in := o.in[key[0]]
			o.sound = o.sound && !in[key[1]] && !in[key[2]]
			o.at[key[0]][key[2]], in[key[1]], in[key[2]], o.all[key[1]] = true, true, true, true
			o.has[key[0]][o.stampedIn(acts, stamps[key])]++
			o.filed[key[0]] = o.filed[key[0]] || len(acts[stamps[key]].Attached) > 0
		}
		o.sound = o.sound && (n == 0 || n == 1)
	}
	return o
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
		if then(p) == then(acts[i].Principal) && (o.g.Route.Org == "" || p.Person != "") {
			return partAt(s, place)
		}
	}
	return 0
}

// seated returns the people of a stage, with successors. Who was replaced is told by what was known of people then.
func seated(g circulation.Gate, s circulation.Stage, acts []circulation.Act, stage int) []circulation.Person {
	out := slices.Clone(s.People)
	for i, act := range acts {
		if act.Kind == circulation.Stand && act.Stage == stage {
			then := known(g, acts[:i+1])
			for i, p := range out {
				if then(p) == then(*act.For) {
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
		if o.stage(i).LeftOut == "" && o.has[name(i)][n] < part.Of {
			return false
		}
	}
	return true
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
	if !o.sound {
		return false
	}
	for i, s := range o.g.Route.Stages {
		n := name(i + 1)
		for j, part := range partsOf(s) {
			if o.has[n][j] > part.Of {
				return false
			}
		}
		if len(o.at[n]) > 0 && (s.LeftOut != "" || o.earlierMissing(i+1)) {
			return false
		}
		for who := range o.at[n] {
			if s.Mode == circulation.ModePeople && !o.on[n][who] {
				return false
			}
		}
	}
	return o.completable(1, 0, o.all)
}

func (o *oracle) earlierMissing(i int) bool {
	for j := 1; j < i; j++ {
		if !o.full(j) {
			return true
		}
	}
	return false
}

// completable tries every choice of people who stamp with their own hands from a part of stage i on.
func (o *oracle) completable(i, part int, hands map[string]bool) bool {
	if i > len(o.g.Route.Stages) {
		return len(hands) >= o.g.Route.Hands
	}
	parts := partsOf(o.stage(i))
	if part == len(parts) || o.full(i) {
		return o.completable(i+1, 0, hands)
	}
	n := name(i)
	owed := parts[part].Of - o.has[n][part]
	if o.stage(i).Mode != circulation.ModePeople {
		return o.completable(i+1, 0, with(hands, "somebody at stage "+n))
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
		if size == owed && o.completable(i, part+1, chosen) {
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
	if !alone(g, act) || before.settled() || before.ends > 0 {
		return false
	}
	return counted(g, g.Acts, act).lets(act, before.present()) &&
		(act.Ends() || counted(g, append(g.Acts[:len(g.Acts):len(g.Acts)], act)).legal())
}

// lets says whether the acts before, by their sum, let one more be made while a stage is present.
func (o *oracle) lets(act circulation.Act, present int) bool {
	n, hand, principal := name(act.Stage), o.known(act.Hand), o.known(act.Principal)
	own, d := hand == principal, act.Found.Delegation
	if s := o.stage(act.Stage); s.Mode == circulation.ModeSettings && act.Kind != circulation.Stand && act.Kind != back {
		by := act.Found.Allowed
		return by != nil && len(act.Attached) == 0 && by.As != "" && own && act.Stage == present &&
			(act.Kind == sendBack || act.Kind == stamp && (by.Self || !asks(hand)))
	}
	switch {
	case act.Kind == circulation.Answer:
		return asks(hand) && own && o.open != nil && act.Stage == o.open.Stage && !joins(o.g, act)
	case act.Kind == circulation.Ask && (o.open != nil || o.questions == circulation.MaxQuestions):
		return false
	case asks(hand) || asks(principal):
		return act.Ends() && own && act.Stage == present && o.aside(act.Stage, hand) && !o.in[n][hand]
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
	if act.Stage != present || o.in[n][principal] || act.Kind == stamp && o.in[n][hand] {
		return false
	}
	s := o.stage(act.Stage)
	last := o.owed(act.Stage) == 1
	if has := len(act.Attached) > 0; has && !s.Minutes || act.Kind == stamp && s.Minutes && last && !has && !o.filed[n] {
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
	return own || d != nil && d.Rev > 0 && strings.HasPrefix(d.Key, key)
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
	return slices.ContainsFunc(o.stage(stage).People, func(p circulation.Person) bool {
		return o.known(p) == asker && asks(then(p)) && (o.g.Route.Org == "" || p.Person != "")
	})
}

// alone says whether an act is one that somebody may make at all.
func alone(g circulation.Gate, act circulation.Act) bool {
	who := []circulation.Person{act.Hand, act.Principal}
	if act.Kind == circulation.Stand {
		who = append(who, *act.To)
	}
	for _, p := range who {
		if p.User == "" || g.Route.Org != "" && p.Person == "" {
			return false
		}
	}
	if len(act.Attached) > 0 && act.Kind != stamp || act.As != "" {
		return false
	}
	return slices.Contains(circulation.Kinds, act.Kind) && act.Form == circulation.Form && act.Hash == g.AskedSum && act.Stage >= 1 &&
		act.Stage <= len(g.Route.Stages) && (g.Route.Org == "" || act.Kind == back || act.Found.Org != "")
}
