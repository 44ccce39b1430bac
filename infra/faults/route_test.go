package faults

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool"
)

// goesRound has steps go round: stamped, sent back by the second stage, then stamped by both. Alex stands in for
// Suzuki, who is asked first.
func goesRound() scenario {
	const first, second = "CARD#process#0001", "CARD#process#0002"
	return scenario{name: "route", text: "従業員一覧を取得して", act: func(d *scenarioRun) {
		d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
		d.stamps(webapi.Suzuki, first, 1)
		d.Card(first, "👉 いま: 経理")
		d.reject(webapi.Tanaka, first, "reject_process", "データの検証を追加して")
		d.stamps(webapi.Alex, second, 1)
		d.stamps(webapi.Tanaka, second, 2) // nobody else is left to ask: Alex stands in a stamp by now
		d.untilCompleted()
	}}
}

// checkedByRules has a step go round by another rule than the steps did: what it writes comes from a result. Its people
// are looked up, and Suzuki stands in for the last of them, Alex.
func checkedByRules() scenario {
	const process, step = "CARD#process#0001", "CARD#step#0001#001#04"
	return scenario{name: "checked", text: "2026年4月の勤怠をまとめて", act: func(d *scenarioRun) {
		d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
		d.stamps(webapi.Suzuki, process, 1)
		d.stamps(webapi.Tanaka, process, 2) // who, with the stamp before, is as many as that stage needs
		d.stamps(webapi.Tanaka, step, 1)
		d.stamps(webapi.Suzuki, step, 2)
		d.again = func() { // a retry asks about the step anew
			next := fmt.Sprintf("CARD#step#0001#%03d#04", 1+d.asked)
			row, _ := gateOf(next)
			if g := d.Load().GateAt(row); g != nil && g.Status == aggregate.PendingApproval {
				d.stamps(webapi.Tanaka, next, 1)
				d.stamps(webapi.Suzuki, next, 2)
			}
		}
		d.untilCompleted()
	}}
}

// stamps presses a card's button until its row has this many acts. Like a person, it waits for a while until what
// happened before is shown, and presses again when nothing happens.
func (d *scenarioRun) stamps(user, key string, acts int) {
	row, kind := gateOf(key)
	ts := d.Card(key, "approve_"+kind).TS
	given := func() bool {
		g := d.Load().GateAt(row)
		return g != nil && len(g.Acts) >= acts
	}
	shown := func() bool { head := d.Load().Head; return head.ShownRev >= head.Rev }
	d.Eventually(fmt.Sprintf("act %d on %s", acts, key), func() bool {
		if expect.Holds(context.Background(), 3*time.Second, d.Poll, shown); given() {
			return true
		}
		_ = d.Sandbox.Click(user, d.Channel, ts, "approve_"+kind)
		return expect.Holds(context.Background(), 3*time.Second, d.Poll, given)
	})
}

// gateOf returns the key of the row that a card of steps or of a step is of, and the kind that its buttons name.
func gateOf(key string) (row, kind string) {
	if step, ok := strings.CutPrefix(key, "CARD#step"); ok {
		return "GATE" + step, "step"
	}
	return strings.Replace(key, "CARD#process", "PROCESS", 1), "process"
}

// standsIn has a principal name at the console who stands in for them today and tomorrow. end ends that.
func (b *harness) standsIn(t *testing.T, hand, principal string) (end func()) {
	t.Helper()
	today, desk := tenancy.DateOf(time.Now().In(tenancy.Zone())), driver.SitDown(t, b.Stack, principal)
	send := func(form url.Values) {
		status, page := desk.Post("/console/stand-ins", form)
		expect.Must(t, status == http.StatusSeeOther, "%v: %d %s", form, status, page)
	}
	send(url.Values{"act": {"set"}, "hand": {hand}, "from": {today.String()}, "until": {(today + 1).String()}})
	return func() { send(url.Values{"act": {"end"}, "key": {hand + "#" + principal + "#" + today.String()}}) }
}

// desk returns a stage of people by name.
func desk(name string, need int, users ...string) rules.Stage {
	return rules.Stage{Name: name, Need: need, Who: rules.Who{People: users}}
}

// always returns the rule for every request.
func always(stages ...rules.Stage) rules.Rule {
	return rules.Rule{ID: "01KS000000000000000000000A", Name: "すべて", Outcome: rules.Outcome{Stages: stages}}
}

// underRules saves rules for a test. The last of them, for every request, is always there. They end with the test.
func (b *harness) underRules(t *testing.T, more ...rules.Rule) {
	t.Helper()
	driver.Circulate(t, b.Stack, append(more, always(desk("課長", 1, webapi.Suzuki),
		desk("経理", 2, webapi.Suzuki, webapi.Tanaka, webapi.Alex)))...)
}

// marked says for a test that a sheet's column is an amount.
func (b *harness) marked(t *testing.T, pointer string) {
	t.Helper()
	const name = "write_rows_to_google_sheet"
	store, tenant := store.NewTasks(b.db, b.TableName), aggregate.TenantID(b.Sandbox.TeamID())
	spec, _ := expect.Value(tool.Builtin())(t).Lookup(name)
	save := func(m *rules.Mark) {
		p, known, err := store.ToolPermission(context.Background(), tenant, name)
		expect.NoError(t, err)
		if !known {
			p = tenancy.Unsaved(tenant, name)
		}
		p.Mark = m
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}
		expect.Value(store.SaveToolPermission(context.Background(), p, by, time.Now()))(t)
	}
	save(&rules.Mark{Version: spec.Version(), How: rules.HowSum, Pointers: []string{pointer}, Currency: "JPY"})
	t.Cleanup(func() { save(nil) })
}

// Whatever dies while steps go round, they are settled by exactly the stamps that were given, and run once.
func TestACrashAlongARouteChangesNothing(t *testing.T) {
	b := running
	b.underRules(t)
	defer b.standsIn(t, webapi.Alex, webapi.Suzuki)()
	s := goesRound()
	d, base := b.undisturbedRun(t, s)
	p := d.Load().Process()
	expect.Must(t, p.Version == 2 && p.Status == aggregate.Approved && len(p.Acts) == 2 &&
		p.Acts[0].Principal.User == webapi.Suzuki, "version %d is %s with %+v", p.Version, p.Status, p.Acts)
	b.survivesAny(t, s, d, base)
}

// So it is while a step's people are looked up, and while it goes round.
func TestACrashAlongAStepsRouteChangesNothing(t *testing.T) {
	expect.AtNight(t) // TestACrashAlongARouteChangesNothing is a sample
	b := running
	b.underRules(t, rules.Rule{ID: "01KS000000000000000000000B", Name: "金額が読める",
		Conditions: rules.Conditions{Below: "999999999999", Currency: "JPY"},
		Outcome: rules.Outcome{Stages: []rules.Stage{
			{Name: "人事", Need: 1, Who: rules.Who{Group: webapi.Approvers}},
			desk("部長", 1, webapi.Alex),
		}}})
	b.marked(t, "/rows/*/work_days")
	defer b.standsIn(t, webapi.Suzuki, webapi.Alex)()
	s := checkedByRules()
	d, base := b.undisturbedRun(t, s)
	g := d.Load().Gates[0]
	expect.Must(t, g.Terms.Rule.Name == "金額が読める" && len(g.Acts) == 2 && g.Acts[1].Principal.User == webapi.Alex,
		"the step was under %+v, with %+v", g.Terms.Rule, g.Acts)
	b.survivesAny(t, s, d, base)
}

// survivesAny tries a scenario with a crash at each of its points, by day at a sample of them.
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
	case !expect.Long():
		trials = sample(trials, 1)
	default: // pairs under three seeds, and each point once
		for n := range uint64(3) {
			trials = append(pairsOf(all, seed+n), trials...)
		}
	}
	survived(t, b, trials, len(all))
}

// decision has Sato ask for a decision by the form, and Tanaka approve it.
func decision() scenario {
	return scenario{name: "decision", ask: (*scenarioRun).asksByForm, act: func(d *scenarioRun) {
		d.ClickUntilTaken(webapi.Tanaka, driver.TaskCard, "approve_process")
		d.Eventually("the decision is recorded", func() bool {
			number := d.Load().Head.Glance.Number
			return number != "" && d.Shows(driver.TaskCard, number)
		})
		d.untilEnded()
	}}
}

func (d *scenarioRun) asksByForm(t driver.T) *driver.Request {
	t.Helper()
	d.dialogs.Lock()
	defer d.dialogs.Unlock()
	return driver.AskWithFiles(t, d.Stack, webapi.Sato, "demo: mark "+d.mark, quotation())
}

// quotation is the form's file. It is fetched while processes die.
func quotation() driver.FormFile {
	return driver.FormFile{Name: "見積書.pdf", Body: []byte("%PDF-1.7 quotation")}
}

// A decision has one number whatever dies, the step has it as its result, and no number is left out. Its file is kept
// and stamped. What dies while the form is sent is told to the person, who sends another one.
func TestACrashAnywhereGivesADecisionOneNumber(t *testing.T) {
	t.Parallel()
	b, s := running, decision()
	recorded := s
	recorded.recorded = true
	d, err := b.run(recorded)
	expect.Must(t, err == nil, "undisturbed: %v", err)
	var trials []trial
	for _, p := range d.points() {
		if p.function != "ReceiveInteractionFunction" {
			trials = append(trials, trial{scenario: s, kills: []point{p}})
		}
	}
	t.Logf("%d points", len(trials))
	if !expect.Long() {
		trials = sample(trials, mostPoints)
	}
	var u unmet
	sideBySide(t, trials, func(of driver.T, i int, kills []point) {
		x, err := b.run(trials[i].scenario, kills...)
		expect.Must(of, err == nil, "%v", err)
		x.hasOneNumber(of)
		u.count(t, x.trace, kills)
	})
	u.few(t, len(trials))
	d.hasOneNumber(t)
}

// hasOneNumber checks the decision's number, and that none is left out before it.
func (d *scenarioRun) hasOneNumber(t driver.T) {
	t.Helper()
	d.T = t
	a := d.Load()
	e := a.Execution()
	row := a.StepOf(e, 1)
	expect.That(t, e.Attempt == 1 && len(a.Steps) == 1 && row.Status == task.StepCompleted && row.Result != nil &&
		a.Head.Glance.Number != "" && string(row.Result.JSON) == `{"number":"`+a.Head.Glance.Number+`"}`, "%s: %+v",
		a.Head.Glance.Number, row)
	year := tenancy.DefaultSettings().FiscalYear(*a.Process().ApprovedAt)
	all := expect.Value(d.Store.Numbers(t.Context(), d.Ref.Tenant, year, "", 0))(t)
	mine := slices.DeleteFunc(slices.Clone(all), func(x task.Numbered) bool { return x.TaskID != d.Ref.ID })
	expect.That(t, len(mine) == 1 && mine[0].String() == a.Head.Glance.Number, "%+v", mine)
	for i, x := range all {
		expect.Is(t, x.N, len(all)-i, "a number is left out")
	}
	expect.That(t, len(a.Uses) == 0, "a model was asked")
	attached, _ := a.Attached()
	expect.Must(t, len(attached) == 1 && strings.Contains(a.Enclosed(), attached[0].SHA256), "%s", a.Enclosed())
	kept := large.Store{Bucket: large.BucketAt(d.Stack.AWS, d.Stack.BucketName)}
	body := expect.Value(kept.Attached(t.Context(), d.Ref, attached[0].SHA256))(t)
	expect.Is(t, string(body), string(quotation().Body))
}
