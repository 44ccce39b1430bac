package console_test

import (
	"net/url"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
)

// callLooks are pages of what outside agents ask for, as an administrator sees them.
func callLooks(w *consoletest.World) (all []look) {
	const pays = `{"company_id":1,"partner":"株式会社アカツキ商事","amount":128000,"due_date":"2026-05-31"}`
	o := w.KeyOf(webapi.Sato, "mcp__bank__pay", "Bash")
	add := func(name string, a *call.Aggregate) {
		all = append(all, look{name: name, path: "/console/calls/" + a.Call.CallID})
	}
	elsewhere := func(x *call.Proposal) { x.Content.Elsewhere = true }
	add("call-first", o.Asks("Bash", `{"command":"tar czf old.tgz invoices/2025 &&\nrm -r invoices/2025","description":"Archive"}`,
		"", elsewhere))
	o.Asks("mcp__bank__pay", `{"company_id":1,"partner":"株式会社アカツキ商事","amount":98000}`, "", nil)
	w.Later(1)
	add("call-asked", o.Asks("mcp__bank__pay", pays, "請求書 INV-2026-0412 の支払期日が 5 月 31 日のためです。", nil))
	add("call-route", o.Asks("mcp__bank__pay", `{"amount":5}`, "", func(x *call.Proposal) {
		by := consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki), consoletest.Desk("部長", 1, webapi.Alex))
		x.Opening = &by
	}))
	made := o.Asks("mcp__bank__pay", `{"amount":7}`, "", nil)
	b := w.As(webapi.Suzuki)
	path := "/console/calls/" + made.Call.CallID
	b.Post(path+"/act", b.Get(path).FormOf(w.T, aggregate.ActReject, "金額が請求書と違います。"))
	add("call-rejected", made)
	key := url.Values{"act": {"save"}, "name": {""}, "answers": {webapi.Sato}, "quota_day": {"0"}, "elsewhere": {"Bash"}}
	return append(all, look{name: "calls", path: "/console/calls"}, look{name: "calls-waiting", path: "/console/approvals"},
		look{name: "keys", path: "/console/keys"}, look{name: "key-change", path: "/console/keys?key=" + o.ID},
		look{name: "key-refused", path: "/console/keys", form: key}, look{name: "key-made", path: "/console/keys",
			form: url.Values{"act": {"save"}, "name": {"週次の集計"}, "answers": {webapi.Sato}, "channel": {webapi.HR},
				"quota_day": {"50"}, "expires_at": {w.Now().AddDate(0, 1, 0).Format("2006-01-02")}, "elsewhere": {"Bash"}}})
}
