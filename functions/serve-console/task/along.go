package task

import (
	"ringi/functions/serve-console/subject"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// along returns where one of the task's gates stands along its route, nil for one without a rule. Each version of the
// steps that was sent back makes the next one another round.
func (r Reader) along(a *task.Aggregate, g *aggregate.Gate) *subject.Route {
	by := subject.RouteReader{Locale: r.Locale, Person: r.Person, Channel: r.Channel, ChannelOf: r.ChannelOf,
		Named: r.Departments}
	if open, waits := a.OpenGate(); waits && r.Admin && a.GateWith(open.ID) == g {
		by.Successor = subject.Successors("/console/tasks/"+a.Head.TaskID, open.ID)
	}
	out := by.Route(g, a.Head.Ended != nil)
	if out == nil {
		return nil
	}
	for _, p := range a.Processes {
		if &p.Gate == g {
			out.Number = a.NumberOf(p.Version)
		}
	}
	for _, x := range a.Agains {
		if &x.Gate == g {
			out.Number = a.NumberOf(x.ProcessVersion)
		}
	}
	round, before := 1, (*aggregate.Gate)(nil)
	for _, p := range a.Processes {
		if &p.Gate == g {
			by.After(out, round, before)
		}
		if subject.SentBack(&p.Gate) {
			round, before = round+1, &p.Gate
		}
	}
	return out
}
