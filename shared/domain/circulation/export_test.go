package circulation

// PartState is where a part of a stage stands.
type PartState struct {
	People     []Person // who are asked now
	Need, Owed int
}

// PartStates returns where the parts of a stage stand; nil if it isn't cut into parts.
func (s *StageState) PartStates() []PartState {
	if len(s.Parts) == 0 || s.LeftOut != "" {
		return nil
	}
	out := make([]PartState, len(s.Parts))
	for i := range out {
		out[i].Need, out[i].Owed = s.Parts[i].Of, s.owed[i]
	}
	for i := range s.People {
		out[s.part[i]].People = append(out[s.part[i]].People, s.People[i])
	}
	return out
}
