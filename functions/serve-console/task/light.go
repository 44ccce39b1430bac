package task

import (
	"encoding/json"
	"fmt"

	"ringi/functions/serve-console/subject"
	"ringi/shared/domain/task"
)

// A page shows at most mostSteps steps, of executions and then of plans, and mostShown bytes of arguments and results.
// The newest come first, and the newest of all is always shown. The rest is a link away: its address names what to show
// besides. What waits for a decision is drawn whole.
const (
	mostSteps = 60
	mostShown = 24 << 10
)

// Names of a page's parts: of elements, and in the address that asks for one.
func (a Attempt) Name() string { return fmt.Sprintf("run-%d-%d", a.Version, a.Number) }
func (s Run) name() string     { return "step-" + s.Key }

// lighten leaves out what the page has no room for, but for the part that the address asks for.
func (t *History) lighten(show string) {
	steps, left := mostSteps, mostShown
	for i := range t.Attempts {
		a := &t.Attempts[i]
		within := false // the part is a step of this attempt
		for j := range a.Steps {
			s := &a.Steps[j]
			within = within || s.name() == show
			weight := s.weight()
			if left -= weight; left < 0 && weight > 0 && s.name() != show {
				only := subject.Effect{Words: s.Effect.Words, Tool: s.Effect.Tool, Sentence: s.Effect.Sentence}
				s.Call, s.Result, s.Folded = Call{Effect: only}, nil, true
			}
		}
		if steps -= len(a.Steps); steps < 0 && i > 0 && a.Name() != show && !within {
			a.Steps, a.Folded = nil, true
		}
	}
	for i := range t.Plans {
		p := &t.Plans[i]
		waits := t.Gate != nil && t.Gate.Kind == task.CardProcess // so it does after attempts if it is asked again
		newest := i == 0 && (waits || len(t.Attempts) == 0)
		if steps -= len(p.Steps); steps < 0 && !newest && p.Key != show {
			p.Steps, p.Sum, p.Changes, p.Folded = nil, nil, nil, true
		}
	}
}

// weight estimates the bytes of a step's arguments and result on the page, by those of their JSON.
func (s Run) weight() int {
	const markup, nothing = 3, len(`[null,null,"",null,""]`) // a page has so many times more
	all := []any{s.Effect.Rest, s.Effect.Text, s.Preview}
	if s.Result != nil {
		all = append(all, s.Result.Values, s.Result.Preview)
	}
	b, err := json.Marshal(all)
	if err != nil { // such values can be written
		return mostShown
	}
	return markup * max(0, len(b)-nothing)
}
