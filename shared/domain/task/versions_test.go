package task

import (
	"fmt"
	"testing"

	"ringi/shared/runtime/expect"
)

func TestAVersionThatFollowsNoReasonDoesNotCount(t *testing.T) {
	policies := func(contents ...string) (all []*Prompt) {
		for i, content := range contents {
			p := &Prompt{Version: i + 1, Content: content}
			if content == "picked" {
				p.Author = "U0SUZUKI"
			}
			all = append(all, p)
		}
		return all
	}
	for name, tt := range map[string]struct {
		rows []*Prompt
		want int
	}{
		"each is new":                    {policies("a\nb", "c\nb", "d"), 3},
		"the same without a word counts": {policies("a\nb", "a\nb"), 2},
		"a first line more":              {policies("a\nb", "not understood\na\nb"), 1},
		"again":                          {policies("a\nb", "x\na\nb", "y\na\nb", "c", "x\nc"), 2},
		"another first line counts":      {policies("a\nb", "c\nb"), 2},
		"a line less counts":             {policies("x\na\nb", "a\nb"), 2},
		"a line on a version before":     {policies("a\nb", "c", "x\na\nb"), 3},
		"on one that was picked":         {policies("a", "picked", "x\npicked"), 1},
		"nothing but a line":             {policies("", "x\n"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			counted, all := generated(tt.rows, len(tt.rows))
			expect.Is(t, counted, tt.want)
			expect.That(t, all >= counted, "%d of %d", counted, all)
		})
	}
	steps, others := []Step{{StepID: "step-1", Tool: "t"}}, []Step{{StepID: "step-1", Tool: "u"}}
	processes := []*Process{{Version: 1, Steps: steps}, {Version: 2, Steps: steps, Remarks: "not understood"},
		{Version: 3, Steps: others, Remarks: "applied"}, {Version: 4, Steps: others}}
	for version, want := range []int{0, 1, 1, 2, 3} {
		counted, _ := generated(processes, version)
		expect.Is(t, counted, want, "up to version %d", version)
	}
}

// Versions that follow no reason don't go on for ever.
func TestTwiceTheMostVersionsAreTheEnd(t *testing.T) {
	all := []*Prompt{{Version: 1, Content: "a"}}
	for n := 2; n <= 6; n++ {
		expect.Must(t, further(all, n-1, 3) > 0, "used up after %d", n-1)
		all = append(all, &Prompt{Version: n, Content: fmt.Sprintf("%d\na", n)})
	}
	expect.Is(t, further(all, 6, 3), 0, "a seventh is generated")
}

// How many versions may follow counts down to the last one, and a step's gate has none.
func TestHowManyVersionsMayFollow(t *testing.T) {
	a := &Aggregate{}
	for n := range 3 {
		p := &Process{Version: n + 1, Steps: []Step{{StepID: fmt.Sprint(n)}}}
		p.Terms.MaxVersions = 3
		a.Processes = append(a.Processes, p)
		expect.Is(t, a.Further(p), 2-n, "after version %d", n+1)
		expect.That(t, a.Last(p) == (n == 2), "version %d", n+1)
	}
	gate := &StepGate{}
	expect.That(t, a.Further(gate) == 0 && !a.Last(gate), "a step has versions")
}
