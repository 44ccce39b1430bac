package decide

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
)

// staffed has the people of a small company: U1 is number 1, and so on. U8 is in no file.
const staffed = `employee_number,name,email,department_code,parent_department,position,rank,employment,status
1,A,u1@example.com,HQ,,社長,1,employee,
2,B,u2@example.com,SALES,HQ,部長,2,employee,
3,C,u3@example.com,SALES,HQ,主任,4,employee,
4,D,u4@example.com,ACC,HQ,主任,4,employee,
5,E,u5@example.com,ACC,HQ,主任,4,contractor,
6,F,u6@example.com,ACC,HQ,主任,4,employee,leave
7,G,u7@example.com,ACC,HQ,部長,2,employee,
`

// delegating is a store with one gate and some delegations, as both their lists have them.
type delegating struct {
	faster
	all []circulation.StandIn
}

func (d *delegating) StandIns(_ context.Context, _, hand string) (out []circulation.StandIn, _ error) {
	for _, s := range d.all {
		if tenancy.PersonKey(s.Hand) == hand {
			out = append(out, s)
		}
	}
	return out, nil
}

func (d *delegating) StandInsBy(_ context.Context, _, account string) (out []circulation.StandIn, _ error) {
	for _, s := range d.all {
		if s.Hand.User == account {
			out = append(out, s)
		}
	}
	return out, nil
}

// drawn is a gate at random with delegations at random.
type drawn struct {
	*rand.Rand
	company  *organisation.Organisation
	accounts *organisation.Accounts
	stands   bool // the organisation stands now
	org      bool // the gate's route has it
	now      time.Time
}

func (d *drawn) chance(percent int) bool { return d.IntN(100) < percent }

// person draws one of eight people, with their key in the organisation where that is asked.
func (d *drawn) person(keyed bool) circulation.Person {
	p := circulation.Person{User: fmt.Sprint("U", 1+d.IntN(8))}
	if keyed {
		p.Person, _ = d.accounts.Number(p.User)
	}
	return p
}

func (d *drawn) gate() (aggregate.Gate, error) {
	o := aggregate.Opening{Rule: circulation.Rule{ID: "r", Name: "rule", Revision: 1},
		Route: circulation.Route{Form: circulation.Form, Hands: 1 + d.IntN(2)}, Askers: []circulation.Person{d.person(d.org)}}
	if d.org {
		o.Route.Org = "v1"
	}
	for range 1 + d.IntN(2) {
		s := circulation.Stage{Name: "stage", Mode: circulation.ModePeople, Need: 1 + d.IntN(2), NoStandIns: d.chance(15),
			Minutes: d.chance(15)}
		for range 1 + d.IntN(3) {
			if p := d.person(d.org); !slices.ContainsFunc(s.People, p.Is) {
				s.People = append(s.People, p)
			}
		}
		o.Route.Stages = append(o.Route.Stages, s)
	}
	last := circulation.Stage{Name: "last", Mode: circulation.ModePeople, Need: 1,
		People: []circulation.Person{{User: "U9", Person: "9"}}} // no stamp that is tried settles it
	o.Route.Stages = append(o.Route.Stages, last)
	g := aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: &d.now,
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 48}}
	return g.Under(o, []string{o.Askers[0].User}, func(*aggregate.Gate) string { return aggregate.HashOf("policy") })
}

func (d *drawn) delegations() (all []circulation.StandIn) {
	for range 1 + d.IntN(4) {
		keyed := d.org != d.chance(10)
		s := circulation.StandIn{Hand: d.person(keyed), Principal: d.person(keyed), Begins: d.now.Add(-time.Hour),
			Ends: d.now.Add(time.Hour)}
		if s.Hand.Is(s.Principal) {
			continue
		}
		if keyed && d.chance(5) { // the account was somebody else's then
			s.Hand.Person = "77"
		}
		if s.SetBy = s.Principal; d.chance(20) {
			s.SetBy = d.person(false)
		}
		if d.chance(10) {
			s.Begins = d.now.Add(time.Minute)
		}
		if d.chance(30) {
			s.Rules = []string{[]string{"r", "other"}[d.IntN(2)]}
		}
		s.Key, s.Rev = tenancy.PersonKey(s.Hand)+"#"+tenancy.PersonKey(s.Principal)+"#2026-11-25", 1
		s.SetBy.Person = ""
		all = append(all, s)
	}
	return all
}

func (d *drawn) staff(context.Context, string, time.Time) (tenancy.Staff, error) {
	if !d.stands {
		return tenancy.Staff{}, nil
	}
	return tenancy.StaffOf(d.company, d.accounts, d.now), nil
}

func (d *drawn) employed(_ context.Context, _, account string) (in tenancy.Employed, _ error) {
	if d.stands {
		in = tenancy.Employed{Version: "v2", On: aggregate.Owned{Key: tenancy.OrganisationKey},
			Organisation: d.company, Accounts: d.accounts}
		in.Person, _ = d.accounts.Number(account)
	}
	return in, nil
}

// Whoever is listed, told or shown to stand in for somebody is admitted when they stamp, and nobody else is: by the
// list of one person, which the inbox, the Home tab and the console have, and by that of a gate's stage, which cards and
// reminders have.
func TestWhoeverIsListedToStandInIsAdmitted(t *testing.T) {
	file := expect.Value(organisation.Read([]byte(staffed)))(t)
	m := &organisation.Matching{Accounts: map[string][]organisation.Matched{}}
	for n := 1; n <= 7; n++ {
		m.Accounts[fmt.Sprint(n)] = []organisation.Matched{{ID: fmt.Sprint("U", n)}}
	}
	accounts := m.Kept()
	listed, refused := 0, 0
	for n := range uint64(3000) {
		d := &drawn{Rand: rand.New(rand.NewPCG(expect.Seed(), n)), company: file, accounts: accounts, now: noon()}
		d.org = d.chance(60)
		d.stands = d.org != d.chance(10)
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
		maker := Maker{Store: rows, People: &people.People{Slack: member{}, Now: d.clock}, Now: d.clock, Organised: d.employed}
		st, c := walked(&g), g.Circulating()
		for user := range hands(rows.all) {
			own := expect.Value(StandInsOf(t.Context(), rows, d.staff, "T", user, d.now))(t)
			_, stage := own.Owes(&g, a.Askers()...)
			some := false
			for _, s := range rows.all {
				v := maker.Check(t.Context(), Click{Want: people.Want{User: user, Team: "T1"}, Ref: ref, ID: gate,
					Stage: st.Present, As: s.Principal.User}, instead)
				no, _ := errors.AsType[*circulation.Refusal](v.Err)
				admitted := v.Err == nil && !v.Empty || no != nil && no.Why == circulation.WhyMinutes
				fit := st.StoodFor(&c, expect.Value(d.staff(t.Context(), "", d.now))(t).Fit(&g, user, own.all, a.Askers()...))
				shown := slices.ContainsFunc(fit, func(f circulation.StandIn) bool { return f.Principal.User == s.Principal.User })
				expect.Must(t, shown == admitted, "seed %d, %d: %s for %s is shown %v, admitted %v: %v\n%+v\n%+v", expect.Seed(),
					n, user, s.Principal.User, shown, admitted, v.Err, g.Route, rows.all)
				some = some || admitted
			}
			expect.Must(t, some == (stage > 0), "seed %d, %d: %s is listed %v, admitted %v", expect.Seed(), n, user, stage > 0, some)
			if some {
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
	if g := a.GateWith(id); !g.NeedsStandIn(g.Hand(by.ID, by.Person)) {
		return aggregate.Change{}, nil
	}
	return Approve(a, id, by, p, now)
}
