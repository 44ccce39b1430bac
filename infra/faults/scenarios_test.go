package faults

import (
	"context"
	"net/http"
	"ringi/infra/local/sandbox/webapi"
)

// scenario is what people do, whatever happens to the processes.
type scenario struct {
	name string
	text string
	act  func(*scenarioRun)

	before      func(*scenarioRun) // the message is written; may be nil
	sweeperOnly bool               // the relay gets no records: the sweeper has to do everything
	kills       func(point) bool   // which crash points are tried; nil: all
}

// Calls of tools that write.
const (
	sweeper = "SweepTasksFunction"
	// The sealer changes no task, and its batches have many tasks' entries: which of its calls belong to a scenario is
	// chance. Its own test, TestACrashAnywhereLeavesAChainThatHolds, kills it at each of its calls.
	sealer    = "SealAuditFunction"
	execute   = "ExecuteProcessFunction"
	writeRows = "PUT /sheets/v4/spreadsheets/ringi-demo-sheet/values/*"
	direct    = "POST /api/chat.postMessage"
	readStaff = "GET /freee/hr/api/v1/companies/*/employees"
)

func scenarios() []scenario {
	return []scenario{
		{name: "happy", text: "今月の勤怠をまとめて", act: (*scenarioRun).approveBoth},
		{name: "reject", text: "従業員一覧を取得して", act: func(d *scenarioRun) {
			d.reject(webapi.Suzuki, "CARD#prompt#0001", "reject_prompt", "もっと簡潔にしてください", "")
			d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0002", "approve_prompt")
			d.reject(webapi.Tanaka, "CARD#process#0001", "reject_process", "データの検証を追加して", "")
			d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0002", "approve_process")
			d.untilCompleted()
		}},
		{name: "cancel", text: "従業員一覧を取得して", act: func(d *scenarioRun) {
			release := d.holds(readStaff)
			defer release()
			d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
			d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
			d.Eventually("the call is out", func() bool { return d.met(execute, readStaff) > 0 })
			d.ClickUntilTaken(webapi.Tanaka, "CARD#execution", "cancel_execution")
			release()
			d.untilEnded()
		}},
		{name: "retry", text: "従業員一覧を取得して", act: func(d *scenarioRun) {
			d.refuses(readStaff, http.StatusBadRequest)
			d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
			d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
			d.Eventually("the failure is shown", func() bool { return d.Shows("CARD#execution", "retry_execution") })
			d.refuses(readStaff, 0)
			d.ClickUntilTaken(webapi.Sato, "CARD#execution", "retry_execution")
			d.untilCompleted()
		}},
		{name: "swept", text: "従業員一覧を取得して", sweeperOnly: true, act: func(d *scenarioRun) {
			d.sweptTo("PROMPT#0001")
			d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
			d.stop("PROCESS#0001")
			d.sweep() // for the card
			d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
			d.sweep() // starts a run to replace the stopped one
			d.Eventually("the work is done", func() bool { return d.Load().Head.Ended != nil })
			d.sweep()
			d.untilCompleted()
		}},
		{name: "expired", text: "従業員一覧を取得して", sweeperOnly: true, act: func(d *scenarioRun) {
			d.sweptTo("PROMPT#0001")
			d.clock.set(d, "PROMPT#0001", "SET terms.decide_by = :past", "attribute_exists(PK)", nil)
			d.sweep()
			d.untilEnded()
		}},
		{name: "settled", text: "従業員一覧を取得して", kills: func(p point) bool { return p.function == sweeper }, act: func(d *scenarioRun) {
			end := d.freezes(point{function: execute, kind: readStaff, ordinal: 1}, stepTimeout)
			defer end()
			d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
			d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
			d.Eventually("the call is out", func() bool { return d.met(execute, readStaff) > 0 })
			d.ClickUntilTaken(webapi.Tanaka, "CARD#execution", "cancel_execution")
			d.clock.expire(d, true)
			d.clock.sweepFor(d)
			end()
			d.untilEnded()
		}},
	}
}

// sweptTo sweeps to start the work, and again to draw the gate that it reaches.
func (d *scenarioRun) sweptTo(gate string) {
	d.Eventually("the message is kept", func() bool { _, err := d.Store.Head(context.Background(), d.Ref); return err == nil })
	d.sweep()
	d.Eventually("the run waits at "+gate, func() bool { a := d.Load(); return len(a.Waits) == 1 && a.Waits[0].Gate == gate })
	d.sweep()
}

// approveBoth approves both gates and waits for the work.
func (d *scenarioRun) approveBoth() {
	d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
	d.untilCompleted()
}

// untilCompleted waits until the work is done. If a write in flight has an unknown outcome, the requester retries it.
func (d *scenarioRun) untilCompleted() {
	d.Eventually("the work is done", func() bool {
		if d.Shows("CARD#execution", "結果不明") && d.Shows("CARD#execution", "retry_execution") {
			d.asked++
			d.ClickUntilTaken(webapi.Sato, "CARD#execution", "retry_execution")
		}
		if d.asked > 0 && d.again != nil {
			d.again()
		}
		return d.Shows("CARD#execution", "✅ 実行完了")
	})
	d.untilEnded()
}
