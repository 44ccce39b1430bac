package circulation

import "unicode/utf8"

// Bounds of a gate. A stamp without a text and an end are always taken: take-backs, successors and a stamp's text are
// refused as long as the rest of the stamps and an end would not fit beside them.
const (
	MaxActs   = 120
	MaxStands = 20
	MaxText   = 1000     // characters of an act's text
	maxBytes  = 96 << 10 // of route and acts as JSON
	maxStamps = 100      // that all stages need together
)

// What a part takes as JSON beside its own texts: the names of its fields, numbers and a time.
const (
	personBytes = 40
	stageBytes  = 80
	actBytes    = 300
	stampBytes  = actBytes + 200 // of a stand-in's stamp without a text
	endBytes    = stampBytes + 4*MaxText
)

func (p *Person) bytes() int { return personBytes + len(p.User) + len(p.Person) + len(p.Via) }

// bytes returns at most how many bytes a route takes.
func (r *Route) bytes() int {
	n := stageBytes
	for i := range r.Readers {
		n += r.Readers[i].bytes()
	}
	for i := range r.Stages {
		s := &r.Stages[i]
		n += stageBytes + len(s.Name) + len(s.LeftOut)
		for j := range s.People {
			n += s.People[j].bytes()
		}
	}
	return n
}

// bytes returns at most how many bytes an act takes.
func (act *Act) bytes() int {
	n := actBytes + len(act.Hash) + len(act.Surface) + len(act.Text) + act.Hand.bytes() + act.Principal.bytes() +
		len(act.Found.Org) + len(act.Found.Channel)
	if d := act.Found.Delegation; d != nil {
		n += len(d.Key)
	}
	if act.For != nil {
		n += act.For.bytes()
	}
	if act.To != nil {
		n += act.To.bytes()
	}
	return n
}

// worded reports whether an act's text has the length that its kind asks for.
func (act *Act) worded() bool {
	n := utf8.RuneCountInString(act.Text)
	return n <= MaxText && (n > 0 || act.Kind == Stamp || act.Kind == TakeBack)
}

// bounded reports whether an act that leaves this state may be added.
func (st *State) bounded(act *Act) bool {
	switch act.Kind {
	case SendBack, Deny:
		return true
	case Stamp:
		return act.Text == "" || st.fits()
	case Stand:
		return len(st.Stands) <= MaxStands && st.fits()
	}
	return st.fits()
}

// fits reports whether all stamps that are owed and an end fit beside the acts.
func (st *State) fits() bool {
	owed := 0
	for i := range st.Stages {
		owed += st.Stages[i].Owed
	}
	return st.acts+owed+1 <= MaxActs && st.bytes+owed*stampBytes+endBytes <= maxBytes
}
