package stories

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
)

// story is what people do, whatever happens to the system.
type story struct {
	name       string
	kind       string // of what it is about; "": a task
	act        func(*play)
	unattended bool                        // the relay gets no records: the sweeper has to do everything
	sweeps     bool                        // the sweeper has to do something
	kills      func(point) bool            // at which points processes die; nil: at all
	holds      func(t driver.T, p *play)   // what must be true of each end beside; may be nil
	seen       func(t *testing.T, p *play) // what people see of the undisturbed one; may be nil
	night      bool                        // another story is a sample of it
	dies       string                      // the function that dies in it also by day, when other modes may draw it, too
	twice      bool                        // by day processes die in it at two calls, too, and wherever they come up
	machine    bool                        // at night all that runs dies at once, too
	lasting    bool                        // a call may fail for good: somebody tries again
	anew       bool                        // each try asks people anew, so that calls don't fail at random
	patient    bool                        // it waits so long where calls fail that they do at night alone
	stops      string                      // the row of a read that may be out when a person stops it

	// A process that dies in one of these functions, or takes longer than its lease, may leave a call whose end isn't as
	// undisturbed: honest reports whether the end says then what became of that.
	callers []string
	honest  func(p *play, want, got end) bool
}

// Functions, and calls of tools.
const (
	sweeper = "SweepTasksFunction"
	// The sealer's batches have many tasks' entries. TestACrashAnywhereLeavesAChainThatHolds kills it at each call.
	sealer    = "SealAuditFunction"
	drawer    = "UpdateCardFunction"
	execute   = "ExecuteProcessFunction"
	reader    = "ReadFileFunction"
	caller    = "CallToolFunction"
	runner    = "RunActionFunction"
	answerer  = "AnswerMessageFunction"
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
	begins  func(t *testing.T, w *world) // may be nil
	stories []story
	beside  map[string]func(*world, *testing.T) // what is done at the same time
}

// talks are stories of conversations and of outside agents, which are the same whoever drafts policies and
// approves steps, and need no run of a request.
func talks() []story {
	door := story{name: "door", kind: "call", dies: caller, act: atTheDoor(false), callers: []string{caller},
		honest: toldOfTheCall, machine: true,
		kills: func(p point) bool { return p.function != drawer }} // how often it draws a call is chance
	grant := door
	grant.name, grant.dies, grant.act = "grant", "", atTheDoor(true)
	return []story{
		{name: "command", kind: "talk", dies: runner, act: command, callers: []string{runner}, honest: ranOnce},
		{name: "files", kind: "talk", dies: answerer, act: attached, callers: []string{answerer, reader, runner},
			honest: unreadOnce},
		{name: "pull request", kind: "talk", dies: caller, act: pullRequest, callers: []string{caller},
			honest: calledOnce, holds: pulled, seen: pulledSeen,
			kills: func(p point) bool { return p.function != runner }}, // without the file there is nothing to push
		door, grant,
	}
}

// asItBegins are the stories of a workspace without settings of its own.
func asItBegins() []story {
	return []story{
		{name: "request", dies: execute, twice: true, act: request, lasting: true, seen: requestSeen},
		{name: "rejected", act: rejected, lasting: true, seen: rejectedSeen},
		{name: "stopped", act: stopped, seen: stoppedSeen, stops: readStep},
		{name: "withdrawn", act: withdrawn, seen: withdrawnSeen}, {name: "deleted", act: deleted, seen: deletedSeen},
		{name: "tried again", act: triedAgain, seen: triedAgainSeen},
		{name: "question", act: question, seen: questionSeen},
		{name: "failed plan", act: failedPlan, seen: failedPlanSeen},
		{name: "checked step", act: checkedStep, seen: checkedSeen,
			kills: func(p point) bool { return p.function != execute }},
		{name: "unattended", dies: sweeper, act: unattended, unattended: true},
		{name: "expired", act: expired, unattended: true, seen: expiredSeen},
		{name: "decision", dies: "RelayChangesFunction", act: decision, holds: hasOneNumber, kills: unclicked},
		{name: "offer", kind: "talk", act: offer},
		{name: "settled", act: settled, sweeps: true, kills: func(p point) bool { return p.function == sweeper }},
	}
}

// unclicked leaves out the process that takes clicks and forms: it tells people to try again.
func unclicked(p point) bool { return p.function != "ReceiveInteractionFunction" }

func settings() []group {
	return []group{
		{"beside what all requests meet", nil, talks(), map[string]func(*world, *testing.T){
			"a lost pull request is looked at":                 (*world).lostPullRequestIsLookedAt,
			"a withdrawn push whose process dies is looked at": (*world).withdrawnPushIsLookedAt,
			"one at a time": func(w *world, t *testing.T) {
				t.Run("tokens are renewed", w.tokensAreRenewed)
				t.Run("credentials may not be opened", w.credentialsMayNotBeOpened)
				t.Run("queue, clock and state machine fail", w.queueClockAndStateMachineFail)
			},
		}},
		{"with contests", withContests, []story{
			{name: "contest", kind: "contest", dies: "RunRoundFunction", act: drafting, holds: paidOnce, seen: contestSeen,
				patient: true, kills: func(p point) bool { return p.function != execute && p.function != drawer }},
			{name: "unattended contest", act: unattendedContest, unattended: true, night: true},
			{name: "call", kind: "talk", act: listedRead, callers: []string{caller}, honest: calledOnce},
		}, nil},
		{"under rules", underRules, []story{
			{name: "route", act: route, seen: routeSeen},
			{name: "filled in again", dies: "RequestApprovalFunction", act: filledInAgain, holds: hasOneNumber,
				kills: unclicked},
		}, nil},
		{"under a rule of a step's own", underAStepsRule, []story{{name: "step's route", act: stepsRoute, anew: true,
			night: true}}, nil},
	}
}

func request(p *play) {
	p.asks(month)
	p.approvesBoth()
}

func (p *play) approvesPolicy() {
	p.ClickUntilTaken(webapi.Suzuki, driver.PromptCard, "approve_prompt")
}

func (p *play) approvesSteps() {
	p.ClickUntilTaken(webapi.Tanaka, driver.ProcessCard, "approve_process")
}

func (p *play) approvesGates() {
	p.approvesPolicy()
	p.approvesSteps()
}

// approvesBoth approves both gates and waits for the work.
func (p *play) approvesBoth() {
	p.approvesGates()
	p.untilCompleted()
}

// untilCompleted waits until the work is done. If nobody knows whether a write arrived, or a call failed too often, the
// requester tries again.
func (p *play) untilCompleted() {
	attempt := func() int { return p.Load().Execution().Attempt }
	asked, first := p.asked, attempt()
	p.Eventually("the work is done", func() bool {
		failed := p.failing != nil || p.Shows(driver.ExecutionCard, "結果不明")
		if failed && p.Shows(driver.ExecutionCard, "retry_execution") {
			now := attempt()
			_ = p.Sandbox.Click(webapi.Sato, p.Channel, p.Cards(driver.ExecutionCard)[0].TS, "retry_execution")
			expect.Holds(p.t.Context(), 3*time.Second, p.Poll, func() bool { return attempt() > now })
			p.asked = asked + attempt() - first
		}
		if p.asked > 0 && p.again != nil {
			p.again()
		}
		return p.Shows(driver.ExecutionCard, "✅ 実行完了")
	})
	p.asked = asked + attempt() - first
	p.untilAtRest()
}

func rejected(p *play) {
	p.asks(month)
	p.reject(webapi.Suzuki, driver.PromptCard, "reject_prompt", plantedReason)
	p.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0002", "approve_prompt")
	p.reject(webapi.Tanaka, driver.ProcessCard, "reject_process", "データの検証を追加して")
	p.ClickUntilTaken(webapi.Tanaka, "CARD#process#0002", "approve_process")
	p.untilCompleted()
}

// checkedStep asks a person before each write: one is called, the next rejected.
func checkedStep(p *play) {
	p.asks(month + " demo: human check")
	p.approvesGates()
	p.ClickUntilTaken(webapi.Tanaka, "CARD#step#0001#001#04", "approve_step")
	p.reject(webapi.Suzuki, "CARD#step#0001#001#05", "reject_step", "宛先が違います")
	p.untilAtRest()
}

// stopped is stopped while a call is out.
func stopped(p *play) {
	release := p.holds(readStaff)
	defer release()
	p.asks(staff)
	p.approvesGates()
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
	p.delivers(func() { expect.NoError(p.t, p.Sandbox.Delete(p.Channel, p.Root, webapi.Sato)) })
}

func triedAgain(p *play) {
	p.refuses(readMonth, http.StatusBadRequest)
	p.asks(month)
	p.approvesGates()
	p.Eventually("the failure is shown, and the requester told", func() bool {
		return p.Shows(driver.ExecutionCard, "retry_execution") && p.shown()
	})
	p.refuses(readMonth, 0)
	p.ClickUntilTaken(webapi.Sato, driver.ExecutionCard, "retry_execution")
	p.untilCompleted()
}

// question is no work: it gets a plain reply.
func question(p *play) {
	p.asks("使い方は?")
	p.Card(driver.TaskCard, "")
	p.untilAtRest()
}

// failedPlan has no steps until somebody tries again.
func failedPlan(p *play) {
	p.asks(staff + " demo: fail plan")
	p.approvesPolicy()
	p.ClickUntilTaken(webapi.Sato, driver.ProcessCard, "retry_generation")
	p.approvesSteps()
	p.untilCompleted()
}

func unattended(p *play) {
	p.asks(staff)
	p.sweptTo(task.PromptKey(1))
	p.approvesPolicy()
	p.stopsAt(task.ProcessKey(1))
	p.sweep() // for the card
	p.approvesSteps()
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
	p.approvesGates()
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
