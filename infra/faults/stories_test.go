package faults

import (
	"context"
	"net/http"
	"time"

	"ringi/infra/local/sandbox/workspace"
)

// story is what people do, whatever happens to the processes meanwhile.
type story struct {
	name string
	text string
	tell func(*desk)

	before func(*desk)      // the message is written; may be nil
	alone  bool             // the relay gets nothing of it: the sweeper has to do everything
	kills  func(point) bool // which of its points are tried; nil tries all
}

// The calls of tools that change something outside.
const (
	sweeper   = "SweepTasksFunction"
	execute   = "ExecuteProcessFunction"
	writeRows = "PUT /sheets/v4/spreadsheets/ringi-demo-sheet/values/*"
	direct    = "POST /api/chat.postMessage"
	readStaff = "GET /freee/hr/api/v1/companies/*/employees"
)

func stories() []story {
	return []story{
		{name: "happy", text: "今月の勤怠をまとめて", tell: (*desk).happily},
		{name: "reject", text: "従業員一覧を取得して", tell: func(d *desk) {
			d.reject(workspace.Suzuki, "CARD#prompt#0001", "reject_prompt", "もっと簡潔にしてください")
			d.click(workspace.Suzuki, "CARD#prompt#0002", "approve_prompt")
			d.reject(workspace.Tanaka, "CARD#process#0001", "reject_process", "データの検証を追加して")
			d.click(workspace.Tanaka, "CARD#process#0002", "approve_process")
			d.finishes()
		}},
		{name: "cancel", text: "従業員一覧を取得して", tell: func(d *desk) {
			release := d.holds(readStaff)
			defer release()
			d.click(workspace.Suzuki, "CARD#prompt#0001", "approve_prompt")
			d.click(workspace.Tanaka, "CARD#process#0001", "approve_process")
			d.until("the call is out", func() bool { return d.met(execute, readStaff) > 0 })
			d.click(workspace.Tanaka, "CARD#execution", "cancel_execution")
			release()
			d.rests()
		}},
		{name: "retry", text: "従業員一覧を取得して", tell: func(d *desk) {
			d.refuses(readStaff, http.StatusBadRequest)
			d.click(workspace.Suzuki, "CARD#prompt#0001", "approve_prompt")
			d.click(workspace.Tanaka, "CARD#process#0001", "approve_process")
			d.until("the failure is shown", func() bool { return d.shows("CARD#execution", "retry_execution") })
			d.refuses(readStaff, 0)
			d.click(workspace.Sato, "CARD#execution", "retry_execution")
			d.finishes()
		}},
		{name: "swept", text: "従業員一覧を取得して", alone: true, tell: func(d *desk) {
			d.sweptTo("PROMPT#0001")
			d.click(workspace.Suzuki, "CARD#prompt#0001", "approve_prompt")
			d.stop("PROCESS#0001")
			d.sweep() // for the card
			d.click(workspace.Tanaka, "CARD#process#0001", "approve_process")
			d.sweep() // for the run in place of the one that was stopped
			d.until("the work is done", func() bool { return d.load().Head.Ended != nil })
			d.sweep()
			d.finishes()
		}},
		{name: "expired", text: "従業員一覧を取得して", alone: true, tell: func(d *desk) {
			d.sweptTo("PROMPT#0001")
			d.clock.set(d, "PROMPT#0001", "SET terms.decide_by = :past", "attribute_exists(PK)", nil)
			d.sweep()
			d.rests()
		}},
		{name: "settled", text: "従業員一覧を取得して", kills: func(p point) bool { return p.function == sweeper }, tell: func(d *desk) {
			d.freezes(point{function: execute, kind: readStaff, ordinal: 1}, 5*time.Second)
			d.click(workspace.Suzuki, "CARD#prompt#0001", "approve_prompt")
			d.click(workspace.Tanaka, "CARD#process#0001", "approve_process")
			d.until("the call is out", func() bool { return d.met(execute, readStaff) > 0 })
			d.click(workspace.Tanaka, "CARD#execution", "cancel_execution")
			d.clock.expire(d, true)
			d.clock.sweepFor(d)
			d.rests()
		}},
	}
}

// sweptTo lets the sweeper begin the work, and draw the gate that it comes to.
func (d *desk) sweptTo(gate string) {
	d.until("the message is kept", func() bool { _, err := d.store.Head(context.Background(), d.ref); return err == nil })
	d.sweep()
	d.until("the run waits at "+gate, func() bool { a := d.load(); return len(a.Waits) == 1 && a.Waits[0].Gate == gate })
	d.sweep()
}

// happily approves both gates and waits for the work.
func (d *desk) happily() {
	d.click(workspace.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.click(workspace.Tanaka, "CARD#process#0001", "approve_process")
	d.finishes()
}

// finishes waits until the work is done. When a write that was in flight has an
// unknown outcome, the requester asks for it again.
func (d *desk) finishes() {
	d.until("the work is done", func() bool {
		if d.shows("CARD#execution", "結果不明") && d.shows("CARD#execution", "retry_execution") {
			d.asked++
			d.click(workspace.Sato, "CARD#execution", "retry_execution")
		}
		return d.shows("CARD#execution", "✅ 実行完了")
	})
	d.rests()
}
