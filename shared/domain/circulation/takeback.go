package circulation

// TakesBack returns the act, still without a time, by which an account takes back the stamp of its hand. ok is false if
// there is none, or it may not be taken back in this state. There is at most one: a stage that has stamps keeps the
// earlier ones from being taken back, and a hand stamps once a stage.
func TakesBack(g Gate, st State, user string) (act Act, ok bool) {
	for _, given := range st.Stamps() {
		if given.Hand.User != user {
			continue
		}
		act = Act{
			Form: Form, Kind: TakeBack, Hand: given.Hand, Principal: given.Principal, Stage: given.Stage, Hash: g.Asked,
		}
		if Admit(g, st, act) == nil {
			return act, true
		}
	}
	return Act{}, false
}
