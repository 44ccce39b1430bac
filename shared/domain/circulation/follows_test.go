package circulation_test

import (
	"slices"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// follows checks what no act may do to a state, whatever it is.
func follows(t testing.TB, g circulation.Gate, was, st circulation.State) {
	t.Helper()
	act := g.Acts[len(g.Acts)-1]
	ends, more := st.Ended() != "", owedIn(st)-owedIn(was)
	up := len(st.Stages) > len(was.Stages) || closed(st) != closed(was)
	switch may := more == 0; act.Kind {
	case stamp:
		by := was.Stages[act.Stage-1].By
		answers := by != nil && by.Kind == dissent // it may count at later stages, too
		expect.Must(t, more == -1 || answers && more < 0, "%s: %d more are owed", saidAll(g.Acts), more)
	case dissent:
		expect.Must(t, more == -1 && !up || may && up, "%s: %d more are owed", saidAll(g.Acts), more)
	case back:
		by := was.Stages[act.Stage-1].By
		answers := by != nil && by.Kind == dissent
		expect.Must(t, !up && (more == 1 || answers && more > 0) || may && up, "%s: %d more are owed", saidAll(g.Acts), more)
	case add:
		expect.Must(t, more == 1, "%s: %d more are owed", saidAll(g.Acts), more)
	default:
		expect.Must(t, may && !up, "%s: %d more are owed", saidAll(g.Acts), more)
	}
	expect.Must(t, !ends || was.CurrentStage().As != circulation.AsConsult, "%s: who is consulted ends it", saidAll(g.Acts))
	if g.Rule != nil && act.Kind != answer && asks(known(g, g.Acts)(act.Hand)) {
		expect.Must(t, ends, "%s: an asker does something else", saidAll(g.Acts))
	}
	theClock(t, g, was, st)
	nobodyLeaves(t, g, was, st)
	for i := range g.Route.Stages {
		s := &st.Stages[i]
		expect.Must(t, !st.Settled || s.LeftOut != "" || len(s.Stamps) == s.Need, "%s: settled without stage %d",
			saidAll(g.Acts), i+1)
	}
	expect.Must(t, !st.Settled || st.Hands() >= g.Route.Hands, "%s: settled by %d hands", saidAll(g.Acts), st.Hands())
}

func owedIn(st circulation.State) (n int) {
	for i := range st.Stages {
		n += st.Stages[i].Owed
	}
	return n
}

func closed(st circulation.State) (n int) {
	for i := range st.Stages {
		if st.Stages[i].Closed {
			n++
		}
	}
	return n
}

// theClock checks that only the first question moves the clock of its stage, for 72 hours at most.
func theClock(t testing.TB, g circulation.Gate, was, st circulation.State) {
	t.Helper()
	act, before, now := g.Acts[len(g.Acts)-1], was.CurrentStage(), st.CurrentStage()
	if before == nil || now == nil || was.Present != st.Present || !before.OpenedAt.Equal(*now.OpenedAt) {
		return
	}
	moved, first := now.DecideBy.Sub(*before.DecideBy), len(st.Questions) == 1
	may := moved == 0 || first && act.Kind == ask && moved > 0 && moved <= circulation.MostWait ||
		first && act.Kind == answer && moved < 0 && moved >= -circulation.MostWait
	expect.Must(t, may, "%s moves the clock by %v", saidAll(g.Acts), moved)
}

// nobodyLeaves checks that only a successor takes somebody's place, unless two turn out to be one person, and that no
// act but a take-back removes a stamp.
func nobodyLeaves(t testing.TB, g circulation.Gate, was, st circulation.State) {
	t.Helper()
	act, keys := g.Acts[len(g.Acts)-1], func(p circulation.Person) bool { return p.Person != "" }
	joined := slices.ContainsFunc(everybody(g, g.Acts), keys)
	for i := range was.Stages {
		before, now := &was.Stages[i], &st.Stages[i]
		same := slices.Equal(before.People, now.People)
		asks := act.Found.Answers && slices.Equal(now.People, slices.DeleteFunc(slices.Clone(before.People), act.Hand.Is))
		expect.Must(t, same || joined || asks || act.Kind == circulation.Stand && len(before.People) == len(now.People),
			"%s removes somebody", saidAll(g.Acts))
		gone := slices.ContainsFunc(before.Stamps, func(a *circulation.Act) bool {
			return !slices.ContainsFunc(now.Stamps, func(b *circulation.Act) bool { return said(*a) == said(*b) })
		})
		expect.Must(t, !gone || act.Kind == back, "%s removes a stamp", saidAll(g.Acts))
	}
}
