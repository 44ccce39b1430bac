package decide

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

// member is only in the channel CMINE.
type member struct{}

func (member) User(_ context.Context, id string) (slackapi.User, error) {
	return slackapi.User{ID: id, Team: "T1"}, nil
}

func (member) Channels(context.Context, string, ...string) iter.Seq2[slackapi.Channel, error] {
	return func(yield func(slackapi.Channel, error) bool) { yield(slackapi.Channel{ID: "CMINE"}, nil) }
}

func (member) Members(context.Context, string, int) ([]string, bool, error) { return nil, true, nil }

func (member) UsergroupMembers(context.Context, string) ([]string, error) { return nil, nil }

// many are waiting policies, some of which were asked for in the person's channel.
type many struct {
	InboxStore
	rows  int
	mine  func(i int) bool
	lists int
	reads chan struct{}
	page  func() // called while a page is read

	stands  []circulation.StandIn
	lookups int // of delegations
}

func (m *many) channel(id string) string {
	if i, _ := strconv.Atoi(id); m.mine(i) {
		return "CMINE"
	}
	return "CTHEIRS"
}

func (m *many) Waiting(_ context.Context, tenant, cursor string, limit int) (out store.Page[store.WaitingItem],
	_ error) {
	m.lists++
	m.page()
	from, _ := strconv.Atoi(cursor)
	until := min(m.rows, from+limit)
	for i := from; i < until; i++ {
		p := &task.Prompt{ID: fmt.Sprint("P", i), Version: 1, Gate: bySettings()}
		out.Items = append(out.Items, store.WaitingItem{Ref: task.RefOf(tenant, fmt.Sprint(i)), Question: p.Asks(), Row: p})
	}
	if until < m.rows {
		out.Next = fmt.Sprint(until)
	}
	return out, nil
}

func (m *many) Origins(_ context.Context, refs []aggregate.Ref) (map[aggregate.Ref]aggregate.Origin, error) {
	out := map[aggregate.Ref]aggregate.Origin{}
	for _, ref := range refs {
		out[ref] = aggregate.Origin{Team: "T1", User: "U0", Channel: m.channel(ref.ID), ChannelType: "channel"}
	}
	return out, nil
}

func (m *many) Load(_ context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	m.reads <- struct{}{}
	p := &task.Prompt{ID: "P" + ref.ID, Version: 1, Gate: bySettings()}
	return &task.Aggregate{
		Head:    task.Head{Head: aggregate.Head{TenantID: ref.Tenant, Requester: "U0"}, TaskID: ref.ID},
		Request: &task.Request{TeamID: "T1", User: "U0", Channel: m.channel(ref.ID), ChannelType: "channel"},
		Task:    &task.Task{ID: ref.ID}, Prompts: []*task.Prompt{p},
	}, nil
}

// bySettings is a gate that waits for whoever the settings allow.
func bySettings() aggregate.Gate {
	g := aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: new(time.Now()),
		Terms: aggregate.Terms{ApprovalHours: 1}}
	g, _ = g.Under(aggregate.BySettings(true, "U0"), nil, func(*aggregate.Gate) string { return "sum" })
	return g
}

// A gate that waits for a person is found after any number of others, up to bounds that are reported.
func TestWhatWaitsForAPersonIsLookedForBeyondTheFirstPage(t *testing.T) {
	for name, tt := range map[string]struct {
		rows                       int
		mine                       func(i int) bool
		each                       time.Duration // duration of reading a page
		found, looked, read, lists int
	}{
		"all of it is looked at":   {rows: 351, mine: func(i int) bool { return i%350 == 0 }, found: 2, read: 2, lists: 4},
		"the last of a whole page": {rows: 200, mine: func(i int) bool { return i == 199 }, found: 1, read: 1, lists: 2},
		"until enough is found": {rows: 400, mine: func(i int) bool { return i >= 120 }, found: mostFound,
			looked: 400, read: mostFound, lists: 4},
		"enough, and nothing is left": {rows: mostFound, mine: func(int) bool { return true }, found: mostFound,
			read: mostFound, lists: 1},
		"until much was looked at": {rows: 5000, mine: func(i int) bool { return i == 999 || i == 1000 }, found: 1,
			looked: mostListed, read: 1, lists: 10},
		"until it has taken long": {rows: 5000, mine: func(i int) bool { return i == 150 || i == 250 },
			each: lookFor / 2, found: 1, looked: 200, read: 1, lists: 2},
		"nothing waits":                      {mine: func(int) bool { return true }, lists: 1},
		"nothing that waits is the person's": {rows: 120, mine: func(int) bool { return false }, lists: 2},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			m := &many{rows: tt.rows, mine: tt.mine, reads: make(chan struct{}, 5000), page: func() { now = now.Add(tt.each) }}
			r := InboxReader{Rows: m, Store: m, Slack: member{}, Now: func() time.Time { return now }}
			found, looked, err := r.look("01TENANT", "T1", "U1", tenancy.DefaultSettings()).waiting(t.Context())
			expect.NoError(t, err)
			expect.That(t, len(found) == tt.found && looked == tt.looked && len(m.reads) == tt.read && m.lists == tt.lists,
				"found %d, looked at %d (0: all), read %d tasks whole and %d pages", len(found), looked, len(m.reads), m.lists)
		})
	}
}

// ownItem has so many of a person's requests, the newest first, of which the oldest are due first.
type ownItem struct {
	many
	n, over int
}

func (o *ownItem) Tasks(context.Context, string, task.Filter, string, int) (out store.Page[task.Task], _ error) {
	for i := range min(o.n, mostSearched) {
		t := task.Task{ID: fmt.Sprint(i), Status: task.TaskExtracted}
		if i < o.over {
			t.Status = task.TaskCompleted
		}
		out.Items = append(out.Items, t)
	}
	if o.n > mostSearched {
		out.Next = "next"
	}
	return out, nil
}

func (o *ownItem) Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	i, _ := strconv.Atoi(ref.ID)
	x, err := o.many.Load(ctx, ref)
	a := x.(*task.Aggregate)
	if i < o.over {
		a.Head.Ended, a.Prompts = &task.Ended{As: task.TaskCompleted}, nil
		return a, nil
	}
	by := time.Unix(int64(1_776_675_600-i), 0)
	a.Prompts[0].Terms.DecideBy = &by
	return a, err
}

// Of too many own requests those are listed that are due first, and the others are counted.
func TestOwnRequestsThatAreDueStay(t *testing.T) {
	for name, tt := range map[string]struct {
		n, over     int
		first, last string
		more        card.More
	}{
		"few":             {3, 1, "0", "2", card.More{}},
		"many":            {30, 5, "20", "29", card.More{N: 20}},
		"few of them due": {30, 28, "0", "29", card.More{N: 20}},
		"unread ones":     {70, 0, "40", "49", card.More{N: 40, Unread: true}},
	} {
		o := &ownItem{many: many{reads: make(chan struct{}, 1000), mine: func(int) bool { return true }}, n: tt.n,
			over: tt.over}
		r := InboxReader{Rows: o, Store: o, Now: time.Now}
		got, more, err := r.mine(t.Context(), "T", "U0")
		expect.NoError(t, err)
		expect.That(t, len(got) == min(tt.n, mostMine) && got[0].Head.TaskID == tt.first &&
			got[len(got)-1].Head.TaskID == tt.last && more == tt.more, "%s: %d, %+v", name, len(got), more)
	}
}

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
		c := g.Circulating()
		st := circulation.Walk(c)
		for user := range hands(rows.all) {
			own := expect.Value(StandInsOf(t.Context(), rows, "T", user, d.now))(t)
			principal, stage := own.Owes(&g, a.Askers()...)
			v := maker.Check(t.Context(), Click{Want: people.Want{User: user}, Ref: ref, ID: gate,
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
