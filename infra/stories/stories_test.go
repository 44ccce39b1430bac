package stories

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
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool"
)

// story is what people do, whatever happens to the system.
type story struct {
	name       string
	act        func(*play)
	unattended bool                              // the relay gets no records: the sweeper has to do everything
	kills      func(point) bool                  // at which points processes die; nil: at all
	honest     func(p *play, want, got end) bool // whether a different end says what became of a call; nil: none does
	holds      func(t driver.T, p *play)         // what must be true of each end beside; may be nil
	seen       func(t *testing.T, p *play)       // what people see of the undisturbed one; may be nil
	night      bool                              // another story is a sample of it
	sampled    bool                              // processes die in it also by day
	lasting    bool                              // a call may fail for good: somebody tries again
}

// Functions, and calls of tools.
const (
	sweeper = "SweepTasksFunction"
	// The sealer's batches have many tasks' entries. TestACrashAnywhereLeavesAChainThatHolds kills it at each call.
	sealer    = "SealAuditFunction"
	drawer    = "UpdateCardFunction"
	execute   = "ExecuteProcessFunction"
	reader    = "ReadFileFunction"
	writeRows = "PUT /sheets/v4/spreadsheets/ringi-demo-sheet/values/*"
	direct    = "POST /api/chat.postMessage"
	readRows  = "GET /sheets/v4/spreadsheets/ringi-demo-sheet/values/*"
	readStaff = "GET /freee/hr/api/v1/companies/*/employees"
	readMonth = "GET /freee/hr/api/v1/employees/*/work_record_summaries/*/*"
)

const (
	month = "2026年4月の勤怠をまとめて"
	staff = "従業員一覧を取得して"
)

// group are stories that are played under the same settings, at once.
type group struct {
	name    string
	begins  func(t *testing.T, w *world)
	stories []story
}

// asItBegins are the stories of a workspace without settings of its own.
func asItBegins() []story {
	return []story{
		{name: "request", sampled: true, act: request, lasting: true, seen: requestSeen},
		{name: "rejected", act: rejected, lasting: true, seen: rejectedSeen},
		{name: "stopped", act: stopped, seen: stoppedSeen}, {name: "withdrawn", act: withdrawn, seen: withdrawnSeen},
		{name: "deleted", act: deleted, seen: deletedSeen},
		{name: "tried again", act: triedAgain, seen: triedAgainSeen},
		{name: "unattended", sampled: true, act: unattended, unattended: true},
		{name: "expired", act: expired, unattended: true, seen: expiredSeen},
		{name: "settled", act: settled, kills: func(p point) bool { return p.function == sweeper }},
		{name: "decision", sampled: true, act: decision, holds: hasOneNumber,
			kills: func(p point) bool { return p.function != "ReceiveInteractionFunction" }}, // which tells people to try again
		{name: "command", sampled: true, act: command, honest: ranOnce}, {name: "call", act: listedRead, honest: calledOnce},
		{name: "pull request", sampled: true, act: pullRequest, honest: calledOnce, holds: pulled, seen: pulledSeen},
		{name: "offer", act: offer}, {name: "files", act: attached, honest: unreadOnce},
		{name: "door", sampled: true, act: atTheDoor(false), honest: toldOfTheCall, kills: undrawn},
		{name: "grant", act: atTheDoor(true), honest: toldOfTheCall, kills: undrawn},
	}
}

func settings() []group {
	return []group{
		{"under rules", underRules, []story{
			{name: "route", act: route, seen: routeSeen},
			{name: "filled in again", sampled: true, act: filledInAgain, holds: hasOneNumber,
				kills: func(p point) bool { return p.function != "ReceiveInteractionFunction" }},
		}},
		{"under a rule of a step's own", underAStepsRule, []story{{name: "step's route", act: stepsRoute, night: true}}},
		{"with contests", withContests, []story{
			{name: "contest", sampled: true, act: drafting, holds: paidOnce, seen: contestSeen,
				kills: func(p point) bool { return p.function != execute && p.function != drawer }},
			{name: "unattended contest", act: unattendedContest, unattended: true, night: true},
		}},
	}
}

func request(p *play) {
	p.asks(month)
	p.approvesBoth()
}

// approvesBoth approves both gates and waits for the work.
func (p *play) approvesBoth() {
	p.ClickUntilTaken(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	p.ClickUntilTaken(webapi.Tanaka, driver.ProcessCard, "approve_process")
	p.untilCompleted()
}

// untilCompleted waits until the work is done. If nobody knows whether a write arrived, or a call failed too often, the
// requester tries again.
func (p *play) untilCompleted() {
	p.Eventually("the work is done", func() bool {
		failed := p.failing != nil || p.Shows(driver.ExecutionCard, "結果不明")
		if failed && p.Shows(driver.ExecutionCard, "retry_execution") {
			attempt := p.Load().Execution().Attempt
			p.ClickUntilTaken(webapi.Sato, driver.ExecutionCard, "retry_execution")
			p.Eventually("it is tried again", func() bool {
				a := p.Load()
				return a.Execution().Attempt > attempt || a.Head.Ended != nil
			})
			p.asked += p.Load().Execution().Attempt - attempt
		}
		if p.asked > 0 && p.again != nil {
			p.again()
		}
		return p.Shows(driver.ExecutionCard, "✅ 実行完了")
	})
	p.untilAtRest()
}

func rejected(p *play) {
	p.asks(month)
	p.reject(webapi.Suzuki, driver.PromptCard, "reject_prompt", "もっと簡潔にしてください")
	p.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0002", "approve_prompt")
	p.reject(webapi.Tanaka, driver.ProcessCard, "reject_process", "データの検証を追加して")
	p.ClickUntilTaken(webapi.Tanaka, "CARD#process#0002", "approve_process")
	p.untilCompleted()
}

// stopped is stopped while a call is out.
func stopped(p *play) {
	release := p.holds(readStaff)
	defer release()
	p.asks(staff)
	p.ClickUntilTaken(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	p.ClickUntilTaken(webapi.Tanaka, driver.ProcessCard, "approve_process")
	p.Eventually("the call is out", func() bool { return p.met(execute, readStaff) > 0 })
	p.ClickUntilTaken(webapi.Tanaka, driver.ExecutionCard, "cancel_execution")
	release()
	p.untilAtRest()
}

func withdrawn(p *play) {
	p.asks(staff)
	p.ClickUntilTaken(webapi.Tanaka, driver.PromptCard, "approve_prompt")
	p.Card(driver.ProcessCard, "approve_process")
	p.Eventually("the cancel is taken", func() bool {
		p.dialogs.Lock()
		defer p.dialogs.Unlock()
		_ = p.TryCancel(webapi.Sato, p.Root)
		return p.Load().Head.Ended != nil
	})
}

// deleted is asked for by a message that is edited, which changes nothing, and deleted while its policy waits.
func deleted(p *play) {
	p.asks(staff)
	p.Card(driver.PromptCard, "approve_prompt")
	p.delivers(func() { expect.NoError(p.t, p.Sandbox.Edit(webapi.Sato, p.Channel, p.Root, sandbox.Mention(month))) })
	p.delivers(func() { expect.NoError(p.t, p.Sandbox.Remove(webapi.Sato, p.Channel, p.Root)) })
}

func triedAgain(p *play) {
	p.refuses(readMonth, http.StatusBadRequest)
	p.asks(month)
	p.ClickUntilTaken(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	p.ClickUntilTaken(webapi.Tanaka, driver.ProcessCard, "approve_process")
	p.Eventually("the failure is shown", func() bool { return p.Shows(driver.ExecutionCard, "retry_execution") })
	p.refuses(readMonth, 0)
	p.ClickUntilTaken(webapi.Sato, driver.ExecutionCard, "retry_execution")
	p.untilCompleted()
}

func unattended(p *play) {
	p.asks(staff)
	p.sweptTo(task.PromptKey(1))
	p.ClickUntilTaken(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	p.stopsAt(task.ProcessKey(1))
	p.sweep() // for the card
	p.ClickUntilTaken(webapi.Tanaka, driver.ProcessCard, "approve_process")
	p.sweep() // starts a run to replace the stopped one
	p.Eventually("the work is done", func() bool { return p.Load().Head.Ended != nil })
	p.sweep()
	p.untilCompleted()
}

func expired(p *play) {
	p.asks(staff)
	p.sweptTo(task.PromptKey(1))
	p.passes(p.Ref, task.PromptKey(1), "SET terms.decide_by = :past", "attribute_exists(PK)", nil)
	p.sweep()
	p.untilAtRest()
}

// settled is stopped while its process hangs in a call: the sweeper settles that.
func settled(p *play) {
	end := p.freezes(point{function: execute, kind: readStaff, ordinal: 1}, patience)
	defer end()
	p.asks(staff)
	p.ClickUntilTaken(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	p.ClickUntilTaken(webapi.Tanaka, driver.ProcessCard, "approve_process")
	p.Eventually("the call is out", func() bool { return p.met(execute, readStaff) > 0 })
	p.ClickUntilTaken(webapi.Tanaka, driver.ExecutionCard, "cancel_execution")
	p.expire(true)
	p.unattended = true
	p.sweep()
	end()
	p.untilAtRest()
}

// sweptTo sweeps to start the work, and again to draw the gate that it reaches.
func (p *play) sweptTo(gate string) {
	p.Eventually("the message is kept", func() bool {
		rows, err := p.partition(p.Ref)
		return err == nil && len(rows) > 0
	})
	p.sweep()
	p.waitsAt(gate)
	p.sweep()
}

// waitsAt waits until the run waits at a gate.
func (p *play) waitsAt(gate string) {
	p.Eventually("the run waits at "+gate, func() bool {
		rows, err := p.partition(p.Ref) // at first the message is not stored yet
		if err != nil || len(rows) == 0 {
			return false
		}
		a := p.Load()
		if len(a.Waits) != 1 || a.Waits[0].Gate != gate {
			return false
		}
		p.tokens.Store(a.Waits[0].Token, true)
		return true
	})
}

// stopsAt stops the run that waits at a gate.
func (p *play) stopsAt(gate string) {
	p.waitsAt(gate)
	p.stops("Pipeline", p.Ref.ID, p.Load().Head.Run)
}

// decision is asked for by the form, with a file, and has a number.
func decision(p *play) {
	p.asksByForm()
	p.ClickUntilTaken(webapi.Tanaka, driver.TaskCard, "approve_process")
	p.untilNumbered()
}

func (p *play) asksByForm() {
	p.dialogs.Lock()
	defer p.dialogs.Unlock()
	d := driver.AskWithFiles(p.t, p.Stack, webapi.Sato, "demo: mark "+p.mark, quotation)
	p.follows(d.Ref, d.Channel, d.Root)
}

var quotation = driver.FormFile{Name: "見積書.pdf", Body: []byte("%PDF-1.7 quotation")}

func (p *play) untilNumbered() {
	p.Eventually("the decision is recorded", func() bool {
		number := p.Load().Head.Glance.Number
		return number != "" && p.Shows(driver.TaskCard, number)
	})
	p.untilAtRest()
}

// hasOneNumber checks a decision's number, that none is left out before it, and that its file is kept.
func hasOneNumber(t driver.T, p *play) {
	a := p.Load()
	e := a.Execution()
	row := a.StepOf(e, 1)
	expect.That(t, e.Attempt == 1 && len(a.Steps) == 1 && row.Status == task.StepCompleted && row.Result != nil &&
		a.Head.Glance.Number != "" && string(row.Result.JSON) == `{"number":"`+a.Head.Glance.Number+`"}`, "%s: %+v",
		a.Head.Glance.Number, row)
	year := tenancy.DefaultSettings().FiscalYear(*a.Process().ApprovedAt)
	all := expect.Value(p.Store.Numbers(t.Context(), p.Ref.Tenant, year, "", 0))(t)
	mine := slices.DeleteFunc(slices.Clone(all), func(x task.Numbered) bool { return x.TaskID != p.Ref.ID })
	expect.That(t, len(mine) == 1 && mine[0].String() == a.Head.Glance.Number, "%+v", mine)
	for i, x := range all {
		expect.Is(t, x.N, len(all)-i, "a number is left out")
	}
	expect.That(t, len(a.Uses) == 0, "a model was asked")
	attached, _ := a.Attached()
	expect.Must(t, len(attached) == 1 && strings.Contains(a.Enclosed(), attached[0].SHA256), "%s", a.Enclosed())
	kept := large.Store{Bucket: large.BucketAt(p.AWS, p.BucketName)}
	body := expect.Value(kept.Attached(t.Context(), p.Ref, attached[0].SHA256))(t)
	expect.Is(t, string(body), string(quotation.Body))
}

// always is the rule for all: two stages, of which whoever stamped at the first counts at the second.
var always = rules.Rule{ID: "01KS000000000000000000000A", Name: "すべて", Outcome: rules.Outcome{Numbered: true,
	Stages: []rules.Stage{{Name: "課長", Need: 1, Who: rules.Who{People: []string{webapi.Suzuki}}},
		{Name: "経理", Need: 2, Who: rules.Who{People: []string{webapi.Suzuki, webapi.Tanaka, webapi.Alex}}}}}}

// underAStepsRule has a step whose amount is known go round by another rule, by which people are looked up.
func underAStepsRule(t *testing.T, w *world) {
	if !expect.Long() {
		return
	}
	w.settled(t, func(*tenancy.Settings) {})
	driver.Circulate(t, w.Stack, rules.Rule{ID: "01KS000000000000000000000B", Name: "金額が読める",
		Conditions: rules.Conditions{Below: "999999999999", Currency: "JPY"},
		Outcome: rules.Outcome{Stages: []rules.Stage{{Name: "人事", Need: 1, Who: rules.Who{Group: webapi.Approvers}},
			{Name: "部長", Need: 1, Who: rules.Who{People: []string{webapi.Alex}}}}}}, always)
	w.marksAmount(t, "write_rows_to_google_sheet", "/rows/*/work_days")
}

// underRules has all go round. Alex stands in for Suzuki.
func underRules(t *testing.T, w *world) {
	w.settled(t, func(*tenancy.Settings) {})
	driver.Circulate(t, w.Stack, always)
	today := tenancy.DateOf(time.Now().In(tenancy.Zone()))
	send := func(of driver.T, form url.Values) {
		status, page := driver.SitDown(of, w.Stack, webapi.Suzuki).Post("/console/stand-ins", form)
		expect.Must(of, status == http.StatusSeeOther, "%v: %d %s", form, status, page)
	}
	send(t, url.Values{"act": {"set"}, "hand": {webapi.Alex}, "from": {today.String()}, "until": {(today + 1).String()}})
	t.Cleanup(func() {
		expect.NoError(t, driver.Try(context.Background(), func(of driver.T) {
			send(of, url.Values{"act": {"end"}, "key": {webapi.Alex + "#" + webapi.Suzuki + "#" + today.String()}})
		}))
	})
}

// marksAmount says for a test that a column of what a tool writes is an amount.
func (w *world) marksAmount(t *testing.T, name, pointer string) {
	t.Helper()
	rows := store.NewTasks(w.db, w.TableName)
	spec, _ := expect.Value(tool.Builtin())(t).Lookup(name)
	save := func(m *rules.Mark) {
		p, known, err := rows.ToolPermission(context.Background(), w.tenant(), name)
		expect.NoError(t, err)
		if !known {
			p = tenancy.Unsaved(w.tenant(), name)
		}
		p.Mark = m
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}
		expect.Value(rows.SaveToolPermission(context.Background(), p, by, time.Now()))(t)
	}
	save(&rules.Mark{Version: spec.Version(), How: rules.HowSum, Pointers: []string{pointer}, Currency: "JPY"})
	t.Cleanup(func() { save(nil) })
}

// route is sent back by the second stage, and then stamped by both.
func route(p *play) {
	const first, second = driver.ProcessCard, "CARD#process#0002"
	p.asks(staff)
	p.ClickUntilTaken(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	p.stamps(webapi.Suzuki, first, 1)
	p.Card(first, "👉 いま: 経理")
	p.reject(webapi.Tanaka, first, "reject_process", "データの検証を追加して")
	p.stamps(webapi.Alex, second, 1)
	p.stamps(webapi.Tanaka, second, 2) // nobody else is left to ask: Alex stands in a stamp by now
	p.untilCompleted()
}

func routeSeen(t *testing.T, p *play) {
	x := p.Load().Process()
	expect.That(t, x.Version == 2 && x.Status == aggregate.Approved && len(x.Acts) == 2 &&
		x.Acts[0].Principal.User == webapi.Suzuki, "version %d is %s with %+v", x.Version, x.Status, x.Acts)
}

// stepsRoute has a step go round by another rule than the steps did: what it writes comes from a result.
func stepsRoute(p *play) {
	const step = "CARD#step#0001#001#04"
	p.asks(month)
	p.ClickUntilTaken(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	p.stamps(webapi.Suzuki, driver.ProcessCard, 1)
	p.stamps(webapi.Tanaka, driver.ProcessCard, 2) // who, with the stamp before, is as many as that stage needs
	both := func(step string) {
		p.stamps(webapi.Tanaka, step, 1)
		p.stamps(webapi.Alex, step, 2)
	}
	both(step)
	p.again = func() { // another try asks about the step anew
		next := fmt.Sprintf("CARD#step#0001#%03d#04", 1+p.asked)
		row, _ := gateOf(next)
		if g := p.Load().GateAt(row); g != nil && g.Status == aggregate.PendingApproval {
			both(next)
		}
	}
	p.untilCompleted()
}

// filledInAgain is a form that the second stage sends back, and that its asker fills in again.
func filledInAgain(p *play) {
	p.asksByForm()
	p.stamps(webapi.Suzuki, driver.TaskCard, 1)
	p.Card(driver.TaskCard, "👉 いま: 経理")
	p.fills(webapi.Tanaka, driver.TaskCard, "reject_process", map[string]any{card.ReasonBlock: "賃借にしてください"})
	p.Card(driver.TaskCard, "差し戻し: 依頼者の書き直し待ち")
	p.fills(webapi.Sato, driver.TaskCard, "refill_process", map[string]any{"amount": "90万"})
	p.stamps(webapi.Suzuki, driver.TaskCard, 1)
	p.stamps(webapi.Tanaka, driver.TaskCard, 2)
	p.untilNumbered()
}

// stamps presses a card's button until its row has this many acts. Like a person, it waits for a while until what
// happened before is shown, and presses again when nothing happens.
func (p *play) stamps(user, key string, acts int) {
	row, kind := gateOf(key)
	ts := p.Card(key, "approve_"+kind).TS
	given := func() bool {
		a := p.Load()
		if row == "" {
			row = a.Process().Key()
		}
		g := a.GateAt(row)
		return g != nil && len(g.Acts) >= acts
	}
	shown := func() bool { head := p.Load().Head; return head.ShownRev >= head.Rev }
	p.Eventually(fmt.Sprintf("act %d on %s", acts, key), func() bool {
		if expect.Holds(p.t.Context(), 3*time.Second, p.Poll, shown); given() {
			return true
		}
		_ = p.Sandbox.Click(user, p.Channel, ts, "approve_"+kind)
		return expect.Holds(p.t.Context(), 3*time.Second, p.Poll, given)
	})
}

// gateOf returns the key of the row that a card of steps or of a step is of, and the kind that its buttons name. A
// form's card is of its newest version.
func gateOf(key string) (row, kind string) {
	if step, ok := strings.CutPrefix(key, "CARD#step"); ok {
		return "GATE" + step, "step"
	}
	if key == driver.TaskCard {
		return "", "process"
	}
	return strings.Replace(key, "CARD#process", "PROCESS", 1), "process"
}
