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
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/tasks"
	"ringi/shared/tool"
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

// checkedByRules has a step go round by another rule than the steps did: what it writes comes from a result. Its people
// are looked up.
func checkedByRules() scenario {
	const process, step = "CARD#process#0001", "CARD#step#0001#001#04"
	return scenario{name: "checked", text: "今月の勤怠をまとめて", act: func(d *scenarioRun) {
		d.ClickUntilTaken(workspace.Suzuki, "CARD#prompt#0001", "approve_prompt")
		d.stamps(workspace.Suzuki, process, 1)
		d.stamps(workspace.Tanaka, process, 2)
		d.stamps(workspace.Alex, process, 3)
		d.stamps(workspace.Tanaka, step, 1)
		d.stamps(workspace.Alex, step, 2)
		d.untilCompleted()
	}}
}

// stamps presses a card's button until the row has this many acts. Like a person, it presses again when nothing
// happens.
func (d *scenarioRun) stamps(user, key string, acts int) {
	row, action := strings.Replace(key, "CARD#process", "PROCESS", 1), "approve_process"
	if strings.HasPrefix(key, "CARD#step") {
		row, action = strings.Replace(key, "CARD#step", "GATE", 1), "approve_step"
	}
	ts := d.Card(key, action).TS
	given := func() bool {
		g := d.Load().GateAt(row)
		return g != nil && len(g.Acts) >= acts
	}
	d.Eventually(fmt.Sprintf("stamp %d on %s", acts, key), func() bool {
		if given() {
			return true
		}
		_ = d.Sandbox.Click(user, d.Channel, ts, action)
		return expect.Holds(context.Background(), 3*time.Second, d.Poll, given)
	})
}

// underRules saves rules for a test. The last of them, for every request, is always there. They end with the test.
func (b *harness) underRules(t *testing.T, more ...rules.Rule) {
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
	save(&rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: append(more, rules.Rule{
		ID: "01KS000000000000000000000A", Name: "すべて", Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
			desk("課長", 1, workspace.Suzuki), desk("経理", 2, workspace.Suzuki, workspace.Tanaka, workspace.Alex),
		}}},
	})})
	t.Cleanup(func() { save(nil) })
}

// marked says for a test that a sheet's column is an amount.
func (b *harness) marked(t *testing.T, pointer string) {
	t.Helper()
	const name = "write_rows_to_google_sheet"
	store, tenant := tasks.New(b.db, b.TableName), aggregate.TenantID(b.Sandbox.TeamID())
	spec, _ := expect.Value(tool.Builtin())(t).Lookup(name)
	save := func(m *rules.Mark) {
		p, known, err := store.ToolPermission(context.Background(), tenant, name)
		expect.NoError(t, err)
		if !known {
			p = tenancy.Unsaved(tenant, name)
		}
		p.Mark = m
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Suzuki}
		expect.Value(store.SaveToolPermission(context.Background(), p, by, time.Now()))(t)
	}
	save(&rules.Mark{Version: spec.Version(), How: rules.HowSum, Pointers: []string{pointer}, Currency: "JPY"})
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
	b.survivesAny(t, s, d, base)
}

// So it is while a step's people are looked up, and while it goes round.
func TestACrashAlongAStepsRouteChangesNothing(t *testing.T) {
	b := running
	b.underRules(t, rules.Rule{ID: "01KS000000000000000000000B", Name: "金額が読める",
		When: rules.Conditions{Amount: &rules.Between{Below: "999999999999", Currency: "JPY"}},
		Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
			{Name: "人事", Need: 1, Empty: rules.EmptyRefuse, Who: rules.Who{Kind: rules.WhoGroup, Group: workspace.Approvers}},
			{Name: "部長", Need: 1, Empty: rules.EmptyRefuse, Who: rules.Who{Kind: rules.WhoPeople,
				People: []string{workspace.Alex}}},
		}}}})
	b.marked(t, "/rows/*/work_days")
	s := checkedByRules()
	d, base := b.undisturbedRun(t, s)
	if g := d.Load().Gates[0]; g.Terms.Rule.Name != "金額が読める" || len(g.Acts) != 2 {
		t.Fatalf("the step was under %+v, with %d acts", g.Terms.Rule, len(g.Acts))
	}
	b.survivesAny(t, s, d, base)
}

// survivesAny tries a scenario with a crash at each of its points, without -long at a sample of them.
func (b *harness) survivesAny(t *testing.T, s scenario, d *scenarioRun, base end) {
	t.Helper()
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
