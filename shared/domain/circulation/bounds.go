package circulation

import "unicode/utf8"

// Bounds of a gate. A stamp without a text and an end are always taken: what else is done, and a stamp's text, is
// refused if the rest of the stamps and an end would not fit beside it.
const (
	MaxActs   = 120
	MaxStands = 20
	MaxText   = 1000 // characters of an act's text

	maxBytes  = 96 << 10 // of the gate as JSON, which is more than it takes as an item
	maxStamps = 100      // that all stages need together
)

// What a part takes as JSON beside its own texts: the names of its fields, numbers and a time.
const (
	personBytes = 40
	partBytes   = 20
	raiseBytes  = 40
	stageBytes  = 170
	actBytes    = 300
	gateBytes   = 200                          // without people, stages and acts
	stampBytes  = actBytes + 200               // of a stand-in's stamp without a text
	endBytes    = stampBytes + escaped*MaxText // of a stand-in's end with the longest text
	escaped     = len(`\u0000`)                // the most that a character takes
)

// stored returns at least how many bytes texts take as JSON, where some characters are escaped.
func stored(texts ...string) (n int) {
	for _, text := range texts {
		for _, r := range text {
			switch {
			case r < ' ', r == '<', r == '>', r == '&', r == '\u2028', r == '\u2029', r == utf8.RuneError:
				n += escaped
			case r == '"', r == '\\':
				n += 2
			default:
				n += utf8.RuneLen(r)
			}
		}
	}
	return n
}

func (p *Person) bytes() int { return personBytes + stored(p.User, p.Person, p.Via) }

// bytes returns at least how many bytes a gate takes without its acts.
func (g *Gate) bytes() int {
	n, r := gateBytes+stored(g.AskedSum, g.Home, g.Route.Org), g.Route
	for _, people := range [][]Person{g.Askers, r.Readers} {
		for i := range people {
			n += people[i].bytes()
		}
	}
	for i := range r.Stages {
		s := &r.Stages[i]
		n += stageBytes + stored(s.Name, s.LeftOut, s.Filled) + partBytes*len(s.Parts)
		for j := range s.People {
			n += s.People[j].bytes()
		}
		for j := range s.Raises {
			n += raiseBytes + s.Raises[j].To.bytes() + stored(s.Raises[j].When, s.Raises[j].LeftOut)
		}
	}
	return n
}

// bytes returns at least how many bytes an act takes.
func (act *Act) bytes() int {
	f := &act.Found
	n := actBytes + stored(act.Hash, act.Surface, act.Text, f.Org, f.Channel, f.Resolved)
	n += act.Hand.bytes() + act.Principal.bytes()
	if f.Allowed != nil {
		n += stored(f.Allowed.As)
	}
	if f.Delegation != nil {
		n += stored(f.Delegation.Key) + stored(f.Delegation.Rules...)
	}
	if f.Admin != nil {
		n += stored(f.Admin.Key)
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
	return n <= MaxText && (n > 0 || act.Kind == Stamp)
}

// bounded reports whether an act that leaves this state, and is no end, may be added.
func (st *State) bounded(act *Act) bool {
	switch act.Kind {
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
