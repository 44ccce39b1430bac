package chat

import (
	"net/http"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/tool"
)

// An agent reads the employees only after a person approved exactly that call, and answers with what it returned.
func TestAnAgentCallsAToolThatAPersonApproved(t *testing.T) {
	d := begin(t, "codex: 従業員の一覧")
	asks := d.Shows("操作 #1 の確認", "list_employees", "全社", "退職者を含む", "提供元", "この会話をコンソールで読めるのは")
	x := d.Rests().Actions[0]
	expect.Is(t, x.StartedAt == nil, true, "it was called before anybody approved it")
	d.Press(webapi.Sato, asks, card.ApproveAction)
	d.Shows("操作 #1 完了", "ツールの結果", "エージェントに渡しました")
	d.Shows("完了しました: ", " 件")
	x = d.Rests().Actions[0]
	expect.Is(t, x.Status, conversation.ActionSucceeded)
	expect.Is(t, x.ApprovedBy, conversation.ApprovedByUser)
	expect.Must(t, x.CallResult != nil && strings.HasPrefix(x.CallResult.S3Key, "talks/"), "%+v", x.CallResult)
	desk := driver.SitDown(t, running, webapi.Sato)
	status, page := desk.Get(d.Page() + "?log=1")
	expect.Is(t, status, http.StatusOK)
	expect.Has(t, page, "list_employees")
	expect.Has(t, page, "エージェントに渡した結果")
	expect.Has(t, page, "entry_date")

	d.Reply("従業員の一覧をもう一度")
	second := d.Shows("操作 #2 の確認")
	d.Reject(webapi.Sato, second, "いりません")
	d.Shows("操作 #2(却下)")
	expect.Is(t, len(d.Audit(conversation.AuditStarted)), 1, "calls that began")
}

// A read that an administrator listed for these people goes without a person; the same read for others doesn't.
func TestAListedReadGoesByTheSettings(t *testing.T) {
	s, _ := expect.Value(tool.Builtin())(t).Lookup("list_employees")
	begin(t, "codex: こんにちは").Shows("デモのエージェントです")
	driver.Settings(t, running, func(x *tenancy.Settings) {
		x.ListedReads = []agent.ListedRead{{Agent: "codex", Tool: s.Name, Version: s.Version(),
			People: []string{webapi.Sato}}}
	})
	d := begin(t, "codex: 従業員の一覧")
	d.Shows("完了しました: ", " 件")
	x := d.Rests().Actions[0]
	expect.Is(t, x.ApprovedBy, conversation.ApprovedByAuto)
	approved := d.Audit(conversation.AuditApproved)
	expect.Must(t, len(approved) == 1, "%+v", approved)
	expect.Is(t, approved[0].ActorType, aggregate.ActorSystem)
	driver.Talk(t, running, webapi.Suzuki, "codex: 従業員の一覧").Shows("操作 #1 の確認")
}
