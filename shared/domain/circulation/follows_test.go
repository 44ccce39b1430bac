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
	ends, more, owes := st.Ended() != "", owedIn(st)-owedIn(was), 0
	if act.Kind == stamp {
		owes = -1
	}
	expect.Must(t, more == owes, "%s: %d more are owed", saidAll(g.Acts), more)
	if g.Rule != nil && asks(known(g, g.Acts)(act.Hand)) {
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

// theClock checks that no act moves the clock of a stage.
func theClock(t testing.TB, g circulation.Gate, was, st circulation.State) {
	t.Helper()
	before, now := was.CurrentStage(), st.CurrentStage()
	if before == nil || now == nil || was.Present != st.Present {
		return
	}
	expect.Must(t, now.OpenedAt.Equal(*before.OpenedAt) && now.DecideBy.Equal(*before.DecideBy), "%s moves the clock",
		saidAll(g.Acts))
}

// nobodyLeaves checks that only a successor takes somebody's place, unless two turn out to be one person, and that no
// act removes a stamp.
func nobodyLeaves(t testing.TB, g circulation.Gate, was, st circulation.State) {
	t.Helper()
	act, keys := g.Acts[len(g.Acts)-1], func(p circulation.Person) bool { return p.Person != "" }
	joined := slices.ContainsFunc(everybody(g, g.Acts), keys)
	for i := range was.Stages {
		before, now := &was.Stages[i], &st.Stages[i]
		same := slices.Equal(before.People, now.People)
		expect.Must(t, same || joined || act.Kind == circulation.Stand && len(before.People) == len(now.People),
			"%s removes somebody", saidAll(g.Acts))
		gone := slices.ContainsFunc(before.Stamps, func(a *circulation.Act) bool {
			return !slices.ContainsFunc(now.Stamps, func(b *circulation.Act) bool { return said(*a) == said(*b) })
		})
		expect.Must(t, !gone, "%s removes a stamp", saidAll(g.Acts))
	}
}
