package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/tasks"
)

// goesRound has steps go round: sent back by the second stage, then stamped by both.
func goesRound() scenario {
	const first, second = "CARD#process#0001", "CARD#process#0002"
	return scenario{name: "route", text: "従業員一覧を取得して", act: func(d *scenarioRun) {
		d.ClickUntilTaken(workspace.Suzuki, "CARD#prompt#0001", "approve_prompt")
		d.stamps(workspace.Suzuki, first, 1)
		d.Card(first, "👉 いま: 経理")
		d.reject(workspace.Tanaka, first, "reject_process", "データの検証を追加して")
		d.stamps(workspace.Suzuki, second, 1)
		d.stamps(workspace.Tanaka, second, 2)
		d.stamps(workspace.Alex, second, 3)
		d.untilCompleted()
	}}
}

// stamps presses a card's button until the row has this many acts. Like a person, it presses again when nothing
// happens.
func (d *scenarioRun) stamps(user, key string, acts int) {
	ts := d.Card(key, "approve_process").TS
	given := func() bool {
		p := aggregate.Find(d.Load().Processes, strings.ToUpper(strings.Replace(key, "CARD#process", "PROCESS", 1)))
		return p != nil && len(p.Acts) >= acts
	}
	d.Eventually(fmt.Sprintf("stamp %d on %s", acts, key), func() bool {
		if given() {
			return true
		}
		_ = d.Sandbox.Click(user, d.Channel, ts, "approve_process")
		return expect.Holds(context.Background(), 3*time.Second, d.Poll, given)
	})
}

// underRules saves rules for a test. They hold of every request, and end with the test.
func (b *harness) underRules(t *testing.T) {
	t.Helper()
	store := tasks.New(b.db, b.TableName)
	tenant := aggregate.TenantID(b.Sandbox.TeamID())
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Suzuki}
	save := func(x *rules.Rules) {
		_, rev, err := store.Rules(context.Background(), tenant)
		expect.NoError(t, err)
		_, _, err = store.SaveRules(context.Background(), tenant, x, rev, nil, by, time.Now())
		expect.NoError(t, err)
	}
	desk := func(name string, need int, users ...string) rules.Stage {
		return rules.Stage{Name: name, Need: need, Empty: rules.EmptyRefuse,
			Who: rules.Who{Kind: rules.WhoPeople, People: users}}
	}
	save(&rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{{
		ID: "01KS000000000000000000000A", Name: "すべて", Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
			desk("課長", 1, workspace.Suzuki), desk("経理", 2, workspace.Suzuki, workspace.Tanaka, workspace.Alex),
		}}},
	}}})
	t.Cleanup(func() { save(nil) })
}

// Whatever dies while steps go round, they are settled by exactly the stamps that were given, and run once.
func TestACrashAlongARouteChangesNothing(t *testing.T) {
	b := running
	b.underRules(t)
	s := goesRound()
	d, base := b.undisturbedRun(t, s)
	if p := d.Load().Process(); p.Version != 2 || p.Status != aggregate.Approved || len(p.Acts) != 3 {
		t.Fatalf("version %d is %s with %d acts", p.Version, p.Status, len(p.Acts))
	}
	var all []trial
	for _, p := range d.points() {
		all = append(all, trial{scenario: s, base: base, kills: []point{p}})
	}
	trials := slices.Clone(all)
	switch {
	case *only != "":
		trials = slices.DeleteFunc(trials, func(x trial) bool { return !strings.Contains(x.String(), *only) })
	case !*long:
		trials = sample(trials, mostOfRoute)
	default: // each point once, and pairs under three seeds
		for n := range uint64(3) {
			trials = append(trials, pairsOf(all, *seed+n)...)
		}
	}
	survived(t, b, trials, len(all))
}

// mostOfRoute is how many crash points of a route are tried without -long.
const mostOfRoute = 6
