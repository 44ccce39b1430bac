package circulation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// stuck writes without whom a gate can't be settled.
func stuck(g circulation.Gate, gone ...string) string {
	st := circulation.Walk(g)
	var out []string
	for _, v := range st.Stuck(g, func(p circulation.Person) bool { return slices.Contains(gone, p.User) }) {
		out = append(out, fmt.Sprintf("%d:%s", v.Stage, v.Person.User))
	}
	return strings.Join(out, " ")
}

func TestAGateIsStuckOnlyWithoutPeopleWhomItNeeds(t *testing.T) {
	g := gateOf(1, desk("a", 1, "A", "B"), desk("b", 2, "C", "D", "E"), desk("c", 1, "F"))
	one := after(g, of(stamp, "A", 1))
	for name, c := range map[string]struct {
		gate circulation.Gate
		gone []string
		want string
	}{
		"nobody is gone":                      {g, nil, ""},
		"another one of the stage is there":   {g, []string{"A"}, ""},
		"nobody of the stage is there":        {g, []string{"A", "B"}, "1:A 1:B"},
		"too few of a later stage are there":  {g, []string{"C", "E"}, "2:C 2:E"},
		"enough of a later stage are there":   {g, []string{"C"}, ""},
		"two stages":                          {g, []string{"A", "B", "F"}, "1:A 1:B 3:F"},
		"who has stamped isn't needed":        {one, []string{"A", "B"}, ""},
		"the rest of a stage that needs more": {after(one, of(stamp, "C", 2)), []string{"C", "D", "E"}, "2:D 2:E"},
		"a successor is there":                {after(g, successor("X", "F", "Y", 3)), []string{"F"}, ""},
		"a successor is gone":                 {after(g, successor("X", "F", "Y", 3)), []string{"Y"}, "3:Y"},
		"somebody else":                       {g, []string{"Z"}, ""},
		"what was denied waits for nobody":    {after(g, of(deny, "A", 1)), []string{"F"}, ""},
		"a channel names nobody":              {gateOf(1, channel("x")), []string{"A"}, ""},
		"too few different hands are left":    {gateOf(2, desk("a", 1, "A", "B"), desk("b", 1, "A")), []string{"B"}, "1:B"},
	} {
		expect.Is(t, stuck(c.gate, c.gone...), c.want, name)
	}
	other := g
	other.Acts = []circulation.Act{{Form: circulation.Form + 1}}
	expect.Is(t, stuck(other, "A", "B"), "", "an act of another form")
}

// Replaceable and Admit agree.
func TestWhoMayBeReplaced(t *testing.T) {
	g := after(gateOf(1, desk("a", 1, "A", "B"), desk("b", 2, "C", "D", "E"), channel("c")), of(stamp, "A", 1),
		of(stamp, "C", 2))
	st := circulation.Walk(g)
	for stage, users := range [][]string{{}, {"A", "B"}, {"A", "C", "D", "E"}, {"A"}} {
		for _, user := range users {
			p := person(user)
			may := circulation.Admit(g, st, successor("X", user, "Y", max(stage, 1))) == nil
			expect.That(t, st.Replaceable(stage, &p) == may, "%s at %d: %v", user, stage, may)
		}
	}
	for _, stage := range []int{0, 4} {
		p := person("D")
		expect.That(t, !st.Replaceable(stage, &p), "at stage %d", stage)
	}
}
