package decide

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
)

// delegating is a store with one gate and some delegations.
type delegating struct {
	faster
	all []circulation.StandIn
}

func (d *delegating) StandIns(_ context.Context, _, hand string) (out []circulation.StandIn, _ error) {
	for _, s := range d.all {
		if s.Hand.User == hand {
			out = append(out, s)
		}
	}
	return out, nil
}

// drawn is a gate at random with delegations at random.
type drawn struct {
	*rand.Rand
	now time.Time
}

func (d *drawn) chance(percent int) bool { return d.IntN(100) < percent }

// person draws one of eight people.
func (d *drawn) person() circulation.Person {
	return circulation.Person{User: fmt.Sprint("U", 1+d.IntN(8))}
}

func (d *drawn) gate() (aggregate.Gate, error) {
	o := aggregate.Opening{Rule: circulation.Rule{ID: "r", Name: "rule", Revision: 1},
		Route: circulation.Route{Form: circulation.Form}, Askers: []circulation.Person{d.person()}}
	for range 1 + d.IntN(2) {
		s := circulation.Stage{Name: "stage", Mode: circulation.ModePeople, Need: 1 + d.IntN(2)}
		for range 1 + d.IntN(3) {
			if p := d.person(); !slices.ContainsFunc(s.People, p.Is) {
				s.People = append(s.People, p)
			}
		}
		o.Route.Stages = append(o.Route.Stages, s)
	}
	last := circulation.Stage{Name: "last", Mode: circulation.ModePeople, Need: 1,
		People: []circulation.Person{{User: "U9"}}} // no stamp that is tried settles it
	o.Route.Stages = append(o.Route.Stages, last)
	g := aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: &d.now,
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 48}}
	return g.Under(o, []string{o.Askers[0].User}, func(*aggregate.Gate) string { return aggregate.HashOf("policy") })
}

func (d *drawn) delegations() (all []circulation.StandIn) {
	for range 1 + d.IntN(4) {
		s := circulation.StandIn{Hand: d.person(), Principal: d.person(), Begins: d.now.Add(-time.Hour),
			Ends: d.now.Add(time.Hour)}
		if s.Hand.Is(s.Principal) {
			continue
		}
		if s.SetBy = s.Principal; d.chance(20) {
			s.SetBy = d.person()
		}
		if d.chance(10) {
			s.Begins = d.now.Add(time.Minute)
		}
		s.Key, s.Rev = s.Hand.User+"#"+s.Principal.User+"#2026-11-25", 1
		all = append(all, s)
	}
	return all
}

// Whoever is listed to stand in for somebody is admitted when they stamp, and nobody else is: by the list of one
// person, which the inbox, the Home tab and the console have, and by that of a gate's stage, which cards and reminders
// have.
func TestWhoeverIsListedToStandInIsAdmitted(t *testing.T) {
	listed, refused := 0, 0
	for n := range uint64(3000) {
		d := &drawn{Rand: rand.New(rand.NewPCG(expect.Seed(), n)), now: noon()}
		g, err := d.gate()
		if err != nil {
			continue
		}
		ref, gate := task.RefOf("T", aggregate.NewID()), aggregate.NewID()
		a := &task.Aggregate{
			Head:    task.Head{Head: aggregate.Head{TenantID: "T", Requester: g.Askers[0].User}, TaskID: ref.ID},
			Request: &task.Request{TeamID: "T1", User: g.Askers[0].User, Channel: "CMINE", ChannelType: "channel"},
			Task:    &task.Task{ID: ref.ID}, Prompts: []*task.Prompt{{ID: "P", Version: 1, Content: "policy"}},
			Processes: []*task.Process{{ID: gate, Version: 1, Gate: g}},
		}
		a.Processes[0].AskedSum = aggregate.HashOf(a.AskedText(a.Processes[0]))
		g = a.Processes[0].Gate
		rows := &delegating{faster{rows: []*task.Aggregate{a}}, d.delegations()}
		maker := Maker{Store: rows, People: &people.People{Slack: member{}, Now: d.clock}, Now: d.clock}
		st, c := walked(&g), g.Circulating()
		for user := range hands(rows.all) {
			own := expect.Value(StandInsOf(t.Context(), rows, "T", user, d.now))(t)
			principal, stage := own.Owes(&g, a.Askers()...)
			v := maker.Check(t.Context(), Click{Want: people.Want{User: user, Team: "T1"}, Ref: ref, ID: gate,
				Stage: st.Present}, instead)
			admitted := v.Err == nil && !v.Empty
			shown := slices.ContainsFunc(st.StoodFor(&c, circulation.Beside(own.all, a.Askers()...)),
				func(f circulation.StandIn) bool { return f.Hand.User == user })
			expect.Must(t, shown == admitted && admitted == (stage > 0) && admitted == (principal != ""),
				"seed %d, %d: %s is shown %v, listed for %q, admitted %v: %v\n%+v\n%+v", expect.Seed(), n, user, shown, principal,
				admitted, v.Err, g.Route, rows.all)
			if admitted {
				listed++
			} else {
				refused++
			}
		}
	}
	expect.That(t, listed > 150 && refused > 150, "%d listed, %d not", listed, refused)
}

func (d *drawn) clock() time.Time { return d.now }

func hands(all []circulation.StandIn) map[string]bool {
	users := map[string]bool{}
	for _, s := range all {
		users[s.Hand.User] = true
	}
	return users
}

// instead is a stamp that counts only for somebody else.
func instead(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if g := a.Asked(id).Gate; !g.NeedsStandIn(by.ID) {
		return aggregate.Change{}, nil
	}
	return Approve(a, id, by, p, now)
}
