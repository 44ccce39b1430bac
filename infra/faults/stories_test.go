package faults

import (
	"net/http"

	"ringi/infra/local/sandbox/workspace"
)

// story is what people do, whatever happens to the processes meanwhile.
type story struct {
	name string
	text string
	tell func(*desk)
}

// The calls of tools that change something outside.
const (
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
	}
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
