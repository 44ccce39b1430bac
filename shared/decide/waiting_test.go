package decide

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
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
	reads atomic.Int32
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
	if m.page != nil {
		m.page()
	}
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
	m.reads.Add(1)
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
		"enough, and nothing is left": {rows: mostFound, mine: all, found: mostFound, read: mostFound, lists: 1},
		"until much was looked at": {rows: 5000, mine: func(i int) bool { return i == 999 || i == 1000 }, found: 1,
			looked: mostListed, read: 1, lists: 10},
		"until it has taken long": {rows: 5000, mine: func(i int) bool { return i == 150 || i == 250 },
			each: lookFor / 2, found: 1, looked: 200, read: 1, lists: 2},
		"nothing waits":                      {mine: all, lists: 1},
		"nothing that waits is the person's": {rows: 120, mine: noneOf, lists: 2},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			m := &many{rows: tt.rows, mine: tt.mine, page: func() { now = now.Add(tt.each) }}
			r := InboxReader{Rows: m, Store: m, Slack: member{}, Now: func() time.Time { return now }}
			found, looked, err := r.look("01TENANT", "T1", "U1", tenancy.DefaultSettings()).waiting(t.Context())
			expect.NoError(t, err)
			expect.That(t, len(found) == tt.found && looked == tt.looked && int(m.reads.Load()) == tt.read &&
				m.lists == tt.lists, "found %d, looked at %d (0: all), read %d tasks whole and %d pages", len(found), looked,
				m.reads.Load(), m.lists)
		})
	}
}

func all(int) bool { return true }

func noneOf(int) bool { return false }

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
		o := &ownItem{many: many{mine: all}, n: tt.n,
			over: tt.over}
		r := InboxReader{Rows: o, Store: o, Now: time.Now}
		got, more, err := r.mine(t.Context(), "T", "U0")
		expect.NoError(t, err)
		expect.That(t, len(got) == min(tt.n, mostMine) && got[0].Head.TaskID == tt.first &&
			got[len(got)-1].Head.TaskID == tt.last && more == tt.more, "%s: %d, %+v", name, len(got), more)
	}
}

// routes are gates of channels that the person isn't in, but for those whose stage is their channel's.
type routes struct {
	many
	stage  func(i int) circulation.Stage
	now    func(i int) bool // as loaded, too
	change func(i int, g *aggregate.Gate, loaded bool)
}

func (r *routes) gate(i int) *task.Process {
	at := time.Now()
	return &task.Process{ID: fmt.Sprint("P", i), Version: 1, Gate: aggregate.Gate{
		Status: aggregate.PendingApproval, AskedAt: &at, AskedSum: "hash", Askers: []circulation.Person{{User: "U0"}},
		Terms: aggregate.Terms{ApprovalHours: 72, ApprovalRequired: true,
			Rule: &circulation.Rule{ID: "r1", Name: "すべて", Revision: 1}},
		Route: &circulation.Route{Form: circulation.Form, Stages: []circulation.Stage{r.stage(i)}},
	}}
}

func (r *routes) Waiting(
	ctx context.Context, tenant, cursor string, limit int,
) (out store.Page[store.WaitingItem], err error) {
	out, err = r.many.Waiting(ctx, tenant, cursor, limit)
	for i := range out.Items {
		n, _ := strconv.Atoi(out.Items[i].Ref.ID)
		p := r.gate(n)
		if r.change != nil {
			r.change(n, &p.Gate, false)
		}
		out.Items[i].Row, out.Items[i].Question = p, p.Asks()
	}
	return out, err
}

// StandIns are counted.
func (r *routes) StandIns(context.Context, string, string) ([]circulation.StandIn, error) {
	r.lookups++
	return slices.Clone(r.stands), nil
}

func (r *routes) Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	x, err := r.many.Load(ctx, ref)
	a := x.(*task.Aggregate)
	i, _ := strconv.Atoi(ref.ID)
	p := r.gate(i)
	if r.change != nil {
		r.change(i, &p.Gate, true)
	}
	if r.now != nil && !r.now(i) {
		p.Status = aggregate.Cancelled
	}
	a.Prompts, a.Processes = nil, []*task.Process{p}
	return a, err
}

// desk returns a stage of these users.
func desk(users ...string) circulation.Stage {
	s := circulation.Stage{Name: "課長", Mode: circulation.ModePeople, Need: 1}
	for _, user := range users {
		s.People = append(s.People, circulation.Person{User: user})
	}
	return s
}

// waits returns what waits for U1 in a tenant that has rules, or none, and at how many gates it looked.
func (r *routes) waits(t *testing.T, ruled bool) ([]card.Waits, int) {
	t.Helper()
	s := tenancy.DefaultSettings()
	s.Ruled = ruled
	reader := InboxReader{Rows: r, Store: r, Slack: member{}, Now: time.Now}
	found, looked, err := reader.look("01TENANT", "T1", "U1", s).waiting(t.Context())
	expect.NoError(t, err)
	return found, looked
}

// What a person owes by name is found wherever it was asked for, before what waits for somebody of their places.
func TestWhatAPersonOwesIsFoundWhereverItStands(t *testing.T) {
	every := func(n int) func(int) bool { return func(i int) bool { return i%n == 0 } }
	channel := circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1}
	by := func(is func(int) bool, yes, no circulation.Stage) func(int) circulation.Stage {
		return func(i int) circulation.Stage {
			if is(i) {
				return yes
			}
			return no
		}
	}
	for name, tt := range map[string]struct {
		rows         int
		stage        func(int) circulation.Stage
		now, mine    func(int) bool
		found, named int
		looked, read int
		lists        int
	}{
		"of channels that they aren't in": {rows: 20, stage: by(every(10), desk("U1"), desk("U2")),
			mine: noneOf, found: 2, named: 2, read: 2, lists: 1},
		"that has just ended": {rows: 20, stage: by(every(10), desk("U1"), desk("U2")), now: noneOf,
			mine: noneOf, read: 2, lists: 1},
		"beside a channel's stages, which are the members'": {rows: 20, stage: by(every(10), desk("U1"), channel),
			mine: every(5), found: 4, named: 2, read: 4, lists: 1},
		"and there is no end of it": {rows: 1500, stage: by(all, desk("U1"), desk()),
			mine: noneOf, found: mostFound, named: mostFound, looked: mostListed, read: mostFound, lists: 10},
		"much of which has just ended": {rows: 120, stage: by(all, desk("U1"), desk()),
			now: func(i int) bool { return i >= 30 }, mine: noneOf, found: mostFound, named: mostFound, looked: 120,
			read: 80, lists: 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := &routes{many: many{rows: tt.rows, mine: tt.mine}, stage: tt.stage, now: tt.now}
			found, looked := r.waits(t, true)
			named, ids := 0, map[string]bool{}
			for i, x := range found {
				ids[x.Question.ID] = true
				if x.Stage > 0 {
					named++
					expect.That(t, i < tt.named, "what names the person stands at %d", i)
				}
			}
			expect.That(t, len(found) == tt.found && len(ids) == tt.found && named == tt.named && looked == tt.looked &&
				int(r.reads.Load()) == tt.read && r.lists == tt.lists,
				"found %d (%d different, %d by name), looked at %d (0: all), read %d tasks whole and %d pages", len(found),
				len(ids), named, looked, r.reads.Load(), r.lists)
		})
	}
}

// Who stands in for others sees what these owe, each once, after what they owe themselves. Who stands in for nobody
// costs one query.
func TestWhatPrincipalsOweIsFoundForWhoStandsIn(t *testing.T) {
	now := time.Now()
	stands := func(principal string, from time.Duration) circulation.StandIn {
		return circulation.StandIn{Delegation: circulation.Delegation{Key: "U1#" + principal + "#d", Rev: 1},
			SetBy: circulation.Person{User: principal}, Hand: circulation.Person{User: "U1"},
			Principal: circulation.Person{User: principal}, Begins: now.Add(from), Ends: now.Add(time.Hour)}
	}
	for name, tt := range map[string]struct {
		stands []circulation.StandIn
		want   string
	}{
		"nobody":                     {nil, ""},
		"one":                        {[]circulation.StandIn{stands("U2", -time.Hour)}, "U2 U2"},
		"one who asks":               {[]circulation.StandIn{stands("U0", -time.Hour)}, ""},
		"two at one desk, the first": {[]circulation.StandIn{stands("U2", -time.Minute), stands("U3", -time.Hour)}, "U3 U3"},
		"one from tomorrow":          {[]circulation.StandIn{stands("U2", time.Minute)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := &routes{many: many{rows: 2, mine: noneOf, stands: tt.stands},
				stage: func(int) circulation.Stage { return desk("U2", "U3") }}
			found, _ := r.waits(t, true)
			var got []string
			for _, x := range found {
				got = append(got, x.For)
				expect.Is(t, x.Stage, 1, "stage")
			}
			expect.Is(t, strings.Join(got, " "), tt.want, "for whom")
			expect.Is(t, r.lookups, 1, "queries for delegations")
		})
	}
}

// A tenant that never had rules pays no query for what people owe by name.
func TestWithoutRulesNothingIsOwedByName(t *testing.T) {
	r := &routes{many: many{mine: noneOf}, stage: func(int) circulation.Stage { return desk("U1") }}
	for rules, want := range map[bool]int{false: 0, true: 1} {
		r.lookups = 0
		r.waits(t, rules)
		expect.Is(t, r.lookups, want, fmt.Sprintf("queries for delegations with rules: %t", rules))
	}
}

// A link leads to the person's own copy: they may not be where the card is.
func TestWhatAPersonOwesLeadsToTheirCopy(t *testing.T) {
	r := &routes{stage: func(int) circulation.Stage { return desk("U1") }, many: many{mine: noneOf}}
	a := expect.Value(r.Load(t.Context(), task.RefOf("01TENANT", "0")))(t).(*task.Aggregate)
	p := a.Processes[0]
	a.Cards = []*aggregate.Card{{CardType: task.CardProcess, Subject: p.Key(), Channel: "CTHEIRS", MessageTS: "1.1"}}
	copied := func(user string, stage int, ts string) {
		a.Copies = append(a.Copies, &aggregate.Card{CardType: task.CardProcess, Subject: p.Key(), User: user, Stage: stage,
			Channel: "D" + user, MessageTS: ts})
	}
	item := card.Waits{Of: a, Question: p.Asks(), Stage: 2}
	link := func() string { return Inbox{User: "U1"}.link(t.Context(), addresses{}, item) }
	copied("U2", 2, "2.0")
	copied("U1", 1, "2.1")
	copied("U1", 2, "")
	expect.Is(t, link(), "CTHEIRS 1.1", "without a message of their own")
	a.Copies[2].MessageTS = "2.2"
	expect.Is(t, link(), "DU1 2.2", "with one")
	item.Stage = 0
	expect.Is(t, link(), "CTHEIRS 1.1", "as a member")
}

type addresses struct{}

func (addresses) Link(_ context.Context, channel, ts, _ string) string {
	return strings.Join(slices.Compact([]string{channel, ts}), " ")
}
