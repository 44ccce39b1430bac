package decide

import (
	"encoding/json"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// mostKept is how many bytes a gate's row may have of what the rules may know of calls, as JSON.
const mostKept = 64 << 10

// CallsOf returns what the rules may know of the calls of these steps, and the rows of their tools, whose marks say so:
// a Change that relies on the calls relies on those.
func CallsOf(tenant string, steps []task.Step, permissions []tenancy.ToolPermission) (calls []rules.Call,
	on []aggregate.Owned) {
	for _, s := range steps {
		p := tenancy.Unsaved(tenant, s.Tool)
		if i := slices.IndexFunc(permissions, func(p tenancy.ToolPermission) bool { return p.ToolName == s.Tool }); i >= 0 {
			p = permissions[i]
		}
		calls = append(calls, p.Call(s.ToolVersion, s.Access, s.ToolInput))
		row := aggregate.Owned{Key: tenancy.ToolKey(s.Tool), Rev: p.Rev, Err: aggregate.ErrSettings}
		if !slices.Contains(on, row) {
			on = append(on, row)
		}
	}
	return calls, on
}

// Kept returns what a gate's row has of the calls while its people are looked up. If that is too much, the destinations
// are left out, so that they may be anywhere.
func Kept(calls []rules.Call) []rules.Call {
	text, err := json.Marshal(calls)
	if err == nil && len(text) <= mostKept {
		return calls
	}
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].Destinations = nil
	}
	return calls
}

// again returns how a step's gate opens if the rule that takes its call is the one by which the steps were settled, at
// whatever revision: by one stamp of anybody for whom their last stage was stamped. It returns nil if that is another
// rule, if the steps' stamps are below the floor for what is known now, or if nobody is left who may stamp. Then the
// rule's route is gone from its beginning.
func (x *Steps) again(r *rules.Rules, answer rules.Answer, f *rules.Facts, d Seats) *aggregate.Opening {
	s := x.Settled
	if s == nil || answer.Refused || answer.Rule.ID != s.Rule.ID || !r.Floor.Allows(f, s.Stamps, s.Hands) {
		return nil
	}
	now := *s
	now.Rule, now.Org = answer.Rule, d.Org()
	others := slices.ContainsFunc(answer.Route.Stages, func(stage rules.Stage) bool { return stage.Others })
	var people []circulation.Person
	for _, p := range s.Desk.People {
		is := d.Person(p.User)
		is.Via = p.Via
		standing := d.Standing(is, f.On)
		may := standing == rules.StandingEmployee || standing == rules.StandingOther && others
		if may && (now.Org == "" || is.Person != "") && !slices.ContainsFunc(f.Askers, is.Is) {
			people = append(people, is)
		}
	}
	if len(people) == 0 {
		return nil
	}
	now.Askers = slices.Clone(f.Askers)
	for _, p := range s.Askers {
		if !slices.ContainsFunc(now.Askers, p.Is) {
			now.Askers = append(now.Askers, p)
		}
	}
	o := now.Opening(people)
	return &o
}
