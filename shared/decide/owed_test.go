package decide

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// routes are gates of channels that the person isn't in, but for those whose stage is their channel's.
type routes struct {
	many
	stage  func(i int) circulation.Stage
	now    func(i int) bool // as loaded, too
	loads  []string
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

// ruledItem returns the settings of a tenant that has rules.
func ruledItem() tenancy.Settings {
	s := tenancy.DefaultSettings()
	s.Ruled = true
	return s
}

// What a person owes by name is found wherever it was asked for, before what waits for somebody of their places.
func TestWhatAPersonOwesIsFoundWhereverItStands(t *testing.T) {
	none, all := func(int) bool { return false }, func(int) bool { return true }
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
			mine: none, found: 2, named: 2, read: 2, lists: 1},
		"that has just ended": {rows: 20, stage: by(every(10), desk("U1"), desk("U2")), now: none,
			mine: none, read: 2, lists: 1},
		"beside a channel's stages, which are the members'": {rows: 20, stage: by(every(10), desk("U1"), channel),
			mine: every(5), found: 4, named: 2, read: 4, lists: 1},
		"of the oldest thousand": {rows: 1500, stage: by(every(1200), desk("U1"), desk("U2")),
			mine: none, found: 1, named: 1, looked: mostListed, read: 1, lists: 10},
		"and there is no end of it": {rows: 1500, stage: by(all, desk("U1"), desk()),
			mine: none, found: mostFound, named: mostFound, looked: mostListed, read: mostFound, lists: 10},
		"as much as is shown, and nothing else": {rows: mostFound, stage: by(all, desk("U1"), desk()),
			mine: none, found: mostFound, named: mostFound, read: mostFound, lists: 1},
		"much of which has just ended": {rows: 120, stage: by(all, desk("U1"), desk()),
			now: func(i int) bool { return i >= 30 }, mine: none, found: mostFound, named: mostFound, looked: 120,
			read: 80, lists: 2},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			r := &routes{many: many{rows: tt.rows, mine: tt.mine, reads: make(chan struct{}, 5000), page: func() {}},
				stage: tt.stage, now: tt.now}
			reader := InboxReader{Rows: r, Store: r, Slack: member{}, Now: func() time.Time { return now }}
			found, looked, err := reader.look("01TENANT", "T1", "U1", ruledItem()).waiting(t.Context())
			expect.NoError(t, err)
			named, ids := 0, map[string]bool{}
			for i, x := range found {
				ids[x.Question.ID] = true
				if x.Stage > 0 {
					named++
					expect.That(t, i < tt.named, "what names the person stands at %d", i)
				}
			}
			expect.That(t, len(found) == tt.found && len(ids) == tt.found && named == tt.named && looked == tt.looked &&
				len(r.reads) == tt.read &&
				r.lists == tt.lists,
				"found %d (%d different, %d by name), looked at %d (0: all), read %d tasks whole and %d pages", len(found),
				len(ids), named, looked, len(r.reads), r.lists)
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
	none := func(int) bool { return false }
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
			r := &routes{many: many{rows: 2, mine: none, reads: make(chan struct{}, 100), page: func() {}, stands: tt.stands},
				stage: func(int) circulation.Stage { return desk("U2", "U3") }}
			reader := InboxReader{Rows: r, Store: r, Slack: member{}, Now: func() time.Time { return now }}
			found, _, err := reader.look("01TENANT", "T1", "U1", ruledItem()).waiting(t.Context())
			expect.NoError(t, err)
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
	none := func(int) bool { return false }
	r := &routes{many: many{mine: none, reads: make(chan struct{}, 1), page: func() {}},
		stage: func(int) circulation.Stage { return desk("U1") }}
	reader := InboxReader{Rows: r, Store: r, Slack: member{}, Now: time.Now}
	for rules, want := range map[bool]int{false: 0, true: 1} {
		r.lookups = 0
		s := tenancy.DefaultSettings()
		s.Ruled = rules
		_, _, err := reader.look("01TENANT", "T1", "U1", s).waiting(t.Context())
		expect.NoError(t, err)
		expect.Is(t, r.lookups, want, fmt.Sprintf("queries for delegations with rules: %t", rules))
	}
}

// A link leads to the person's own copy: they may not be where the card is.
func TestWhatAPersonOwesLeadsToTheirCopy(t *testing.T) {
	r := &routes{stage: func(int) circulation.Stage { return desk("U1") }, many: many{reads: make(chan struct{}, 1),
		mine: func(int) bool { return false }}}
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
