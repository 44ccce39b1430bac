package circulation_test

import (
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// Somebody may take back the stamp of their own hand, for whomever it was, until the next stage stamps or all is
// settled.
func TestWhoMayTakeAStampBack(t *testing.T) {
	g := gateOf(2, desk("one", 2, "A", "B"), desk("two", 2, "C", "D"), channel("all"))
	taken := func(g gate, user string) string {
		t.Helper()
		back, ok := circulation.TakesBack(g, circulation.Walk(g), user)
		if !ok {
			return ""
		}
		back.At = opened.Add(2 * 3600e9)
		st := walked(g, back)
		expect.That(t, st.Refused == nil && st.Present == back.Stage, "%+v", st.Refused)
		return back.Principal.User
	}
	one := after(g, of(stamp, "A", 1))
	expect.Same(t, []string{"A", "", ""}, []string{taken(one, "A"), taken(one, "B"), taken(one, "X")})
	two := after(one, instead(stamp, "X", "B", 1))
	expect.Same(t, []string{"A", "", "B"}, []string{taken(two, "A"), taken(two, "B"), taken(two, "X")})
	three := after(two, of(stamp, "C", 2))
	expect.Same(t, []string{"", "", "C"}, []string{taken(three, "A"), taken(three, "X"), taken(three, "C")})
	gone := after(two, of(back, "A", 1))
	expect.Same(t, []string{"", "B"}, []string{taken(gone, "A"), taken(gone, "X")})
	last := after(three, of(stamp, "D", 2))
	expect.Is(t, taken(last, "C"), "C")
	settled := after(last, inChannel(stamp, "Z", 3))
	expect.Same(t, []string{"", ""}, []string{taken(settled, "C"), taken(settled, "Z")})
	denied := after(three, of(deny, "D", 2))
	expect.Is(t, taken(denied, "C"), "")
}
