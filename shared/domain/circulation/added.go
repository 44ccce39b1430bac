package circulation

import "slices"

// Offers returns whom the rule names for the people of the stage that is asked to add, unless they are asked by now.
func (st *State) Offers() (all []Raise) {
	if s := st.CurrentStage(); s != nil {
		all = st.OffersOf(s)
	}
	return all
}

// OffersOf is Offers of a stage, whether or not it is asked now.
func (st *State) OffersOf(s *StageState) (all []Raise) {
	for _, x := range s.Raises {
		asked := func(s StageState) bool { return x.LeftOut == "" && slices.ContainsFunc(s.People, x.To.Is) }
		if !slices.ContainsFunc(st.Stages, asked) {
			all = append(all, x)
		}
	}
	return all
}

// Offered is somebody whom the rule names for the people of a stage to add, and in which cases.
type Offered struct {
	To   Person
	When []string
}

// Offered returns each of the people whom Offers has once, with all their cases.
func (st *State) Offered() (all []Offered) {
	for _, x := range st.Offers() {
		if x.LeftOut != "" {
			continue
		}
		i := slices.IndexFunc(all, func(o Offered) bool { return o.To.User == x.To.User })
		if i < 0 {
			i, all = len(all), append(all, Offered{To: x.To})
		}
		if !slices.Contains(all[i].When, x.When) {
			all[i].When = append(all[i].When, x.When)
		}
	}
	return all
}
