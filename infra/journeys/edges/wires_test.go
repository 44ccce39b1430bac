package edges

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// managed adds Managed Agents to Anthropic's other endpoints.
func managed(others http.Handler) http.Handler {
	sessions = models.NewAgents()
	sessions.Key = vendors.Key
	m := http.NewServeMux()
	m.Handle("/", others)
	for _, kind := range []string{"agents", "environments", "sessions"} {
		m.Handle("/anthropic/v1/"+kind, http.StripPrefix("/anthropic", sessions))
		m.Handle("/anthropic/v1/"+kind+"/", http.StripPrefix("/anthropic", sessions))
	}
	return m
}

func setManaged(t *testing.T, model string) {
	t.Helper()
	driver.Leave(t, running)
	putKey(t)
	driver.Settings(t, running, func(x *tenancy.Settings) { x.Executor, x.Model = tenancy.ExecutorManaged, model })
}

// session returns a task's newest session.
func session(t *testing.T, d *driver.Request) *models.Session {
	t.Helper()
	var found *models.Session
	for _, x := range sessions.Sessions() {
		if x.Made.Metadata["ringi_task"] == d.Load().Head.TaskID {
			expect.That(t, found == nil, "the task has two sessions")
			found = x
		}
	}
	expect.Must(t, found != nil, "the task has no session")
	return found
}

func TestTheHappyPathThroughAManagedSession(t *testing.T) {
	setManaged(t, "claude-sonnet-4-6")
	text := "従業員一覧を取得して"
	if expect.Long() {
		text = "今月の勤怠をまとめて" // each step waits for a poll
	}
	d := driver.Ask(t, running, webapi.Sato, text)
	d.Approve(webapi.Suzuki)
	d.Card("CARD#execution", "すべてのステップを実行しました。")
	a := d.Until("completed, and its session closed", func(a *task.Aggregate) bool {
		return a.Task != nil && a.Task.Status == task.TaskCompleted && a.Execution().SessionClosed
	})
	e := a.Execution()
	expect.That(t, e.Usage != nil && e.Usage.Cost != 0, "the session cost %+v", e.Usage)
	x := session(t, d)
	expect.That(t, x.ID == e.SessionID && len(x.Messages) == 1 && x.Refused == 0 &&
		len(x.Answers) == len(a.Process().Steps), "session %s was told %d times and got %d answers, %d made no sense",
		x.ID, len(x.Messages), len(x.Answers), x.Refused)
	for _, answer := range x.Answers {
		expect.That(t, !answer.Error && !strings.Contains(answer.Text, "@example"), "it got %+v", answer)
	}
	d.RanOnce()
}

// longAgo puts this many earlier messages of this size before the conversation.
func longAgo(t *testing.T, d *driver.Dialogue, messages, bytes int) {
	t.Helper()
	ref, now := d.Ref(), time.Now()
	for from := 0; from < messages; from += 25 {
		var rows []aggregate.Row
		for n := from; n < min(from+25, messages); n++ {
			text := fmt.Sprintf("%d 番目の相談です。", n)
			rows = append(rows, &conversation.Message{MessageID: conversation.MessageID("T", ref.ID, fmt.Sprint(n)),
				SessionID: ref.ID, Sender: conversation.FromUser, User: webapi.Sato,
				Content:   text + strings.Repeat("x", max(0, bytes-len(text))),
				CreatedAt: now.Add(time.Duration(n-messages-100) * time.Second)})
		}
		expect.NoError(t, d.Rows().PutListed(t.Context(), ref.Tenant, conversation.MessagesList, ref.ID, rows, nil))
	}
}

// A conversation of a thousand messages, or of very long ones, costs and takes no more than one at the limit: older
// messages are summarized once, and the page shows the newest.
func TestAThousandMessagesStayBounded(t *testing.T) {
	expect.AtNight(t)
	for name, size := range map[string]struct{ messages, bytes int }{"many": {1500, 60}, "long": {400, 2000}} {
		t.Run(name, func(t *testing.T) {
			driver.Leave(t, running)
			putKey(t)
			vendors.Scripted(models.Script{Text: "始めましょう"})
			d := begin(t, "claude", "長い相談をします")
			d.Shows("始めましょう")
			d.Rests()
			longAgo(t, d, size.messages, size.bytes)

			before := len(vendors.Asked())
			vendors.Scripted(models.Script{Text: "ここまでの要約です"}, models.Script{Text: "一つ目の答え"},
				models.Script{Text: "二つ目の答え"}, models.Script{Text: "三つ目の答え"})
			for i, answer := range []string{"一つ目の答え", "二つ目の答え", "三つ目の答え"} {
				cost, began := d.Load().Conversation.Usage.Cost, time.Now()
				d.Reply(fmt.Sprintf("質問 %d", i+1))
				d.Shows(answer)
				took := time.Since(began)
				a := d.Rests()
				asked := heard(before)
				last := asked[len(asked)-1]
				t.Logf("turn %d: %d calls so far, the last of %d bytes with %d messages; %s to the "+
					"card, $%s", i+1, len(asked), len(last), strings.Count(last, "番目の相談です"), took.Round(time.Millisecond),
					a.Conversation.Usage.Cost-cost)
				expect.That(t, len(asked) == i+2 && len(last) <= turn.MaxBytes*3/2 &&
					strings.Count(last, "番目の相談です") <= 1000 && strings.Contains(last, "ここまでの要約です"),
					"%d calls, the last of %d bytes", len(asked), len(last))
			}
			desk, began := driver.SitDown(t, running, webapi.Sato), time.Now()
			status, page := desk.Get(d.Page())
			t.Logf("the page: %s, %d bytes", time.Since(began).Round(time.Millisecond), len(page))
			expect.That(t, status == http.StatusOK && strings.Contains(page, "ここまでの要約です") &&
				strings.Contains(page, "三つ目の答え") && strings.Count(page, "番目の相談です") <= 100,
				"the page is %d, or does not have the summary and the newest messages alone", status)
		})
	}
}

// agents are the built-in ones, by the vendor whose API they use.
var agents = map[string]string{"anthropic": "claude", "openai": "codex"}

// eachWire runs a test with every vendor.
func eachWire(t *testing.T, test func(t *testing.T, agent, vendor string)) {
	for vendor, agent := range agents {
		t.Run(vendor, func(t *testing.T) {
			driver.Leave(t, running)
			putKey(t)
			test(t, agent, vendor)
		})
	}
}

func begin(t *testing.T, agent, text string) *driver.Dialogue {
	t.Helper()
	return driver.Talk(t, running, webapi.Sato, agent+": "+text)
}

func call(id, name, input string) models.ScriptedCall {
	return models.ScriptedCall{ID: id, Name: name, Input: input}
}

// heard returns the requests after the first since.
func heard(since int) []string { return vendors.Asked()[since:] }

// An approved action is executed exactly as approved, once, and the model learns the result and no secret.
func TestAConversationOnEachWire(t *testing.T) {
	eachWire(t, func(t *testing.T, agent, vendor string) {
		before := len(vendors.Asked())
		script := "echo '出力 <b>' && echo $((6*7)) # \\\"\\n"
		vendors.Scripted(
			models.Script{Text: "コマンドを提案します。", Calls: []models.ScriptedCall{
				call("first", "shell_command", `{"script":"`+script+`","timeout_seconds":30,"summary":"計算します"}`),
				call("second", "code_generate", `{"files":[{"path":"a.txt","content":"x"}],"edits":[],"delete":[],`+
					`"summary":"書きます"}`),
			}},
			models.Script{Text: "答えは 42 でした。"},
		)
		d := begin(t, agent, "6×7 を計算して")
		asks := d.Shows("操作 #1 の確認", "echo '出力 &lt;b&gt;' &amp;&amp; echo $((6*7))")
		d.Shows("コマンドを提案します。")
		pending := d.Load().Current()
		d.Press(webapi.Sato, asks, card.ApproveAction)
		d.Shows("操作 #1 完了", "出力 &lt;b&gt;", "42")
		d.Shows("答えは 42 でした。")
		a := d.Rests()
		x := a.Actions[0]
		expect.That(t, x.Status == conversation.ActionSucceeded && x.Gate.ApprovedBy == webapi.Sato &&
			x.Payload.Hash() == pending.Payload.Hash() && len(a.Actions) == 1, "%+v", x)
		approved := d.Audit(conversation.AuditApproved)
		asked := heard(before)
		expect.Must(t, len(approved) == 1 && len(asked) == 2 && a.Conversation.Usage.Cost != 0 &&
			a.Conversation.Usage.Output == 60, "%+v, %d requests, %+v", approved, len(asked), a.Conversation.Usage)
		e := approved[0]
		expect.That(t, strings.Contains(string(e.Details), pending.Payload.Hash()) && e.ActorID == webapi.Sato &&
			e.ResourceID == x.ActionID, "%+v", e)
		first, then := asked[0], asked[1]
		for _, part := range []string{`"shell_command"`, `"code_generate"`, `"test_run"`, `"offer_request"`,
			"6×7 を計算して", "佐藤"} {
			expect.That(t, strings.Contains(first, part), "the first request lacks %s", part)
		}
		for _, part := range []string{"操作 #1 が完了しました", "42", "コマンドを提案します。"} {
			expect.That(t, strings.Contains(then, part), "the second request lacks %s", part)
		}
		for _, text := range append(asked, logged.String()) {
			expect.That(t, !strings.Contains(text, vendors.Key) && !strings.Contains(text, "xoxb-"),
				"a secret stands in a request or in the logs")
		}
	})
}

// The agent receives a rejection's reason, given in Slack or in the console, and its new proposal needs its own
// approval.
func TestARejectionsReasonIsHeard(t *testing.T) {
	eachWire(t, func(t *testing.T, agent, vendor string) {
		if vendor != "anthropic" {
			expect.AtNight(t)
		}
		before := len(vendors.Asked())
		propose := func(text, script string) models.Script {
			return models.Script{Text: text, Calls: []models.ScriptedCall{call("c", "shell_command",
				`{"script":"`+script+`","timeout_seconds":30,"summary":"確認します"}`)}}
		}
		vendors.Scripted(propose("全部消します。", "rm -rf ."), propose("一覧だけにします。", "ls -la"),
			models.Script{Text: "分かりました。何もしません。"})
		d := begin(t, agent, "フォルダーを片付けて")
		d.Reject(webapi.Sato, d.Shows("操作 #1 の確認", "rm -rf ."), "消さないでください")
		d.Shows("操作 #1(却下)", "消さないでください")
		d.Shows("操作 #2 の確認", "ls -la")
		desk := driver.SitDown(t, running, webapi.Sato)
		status, page := desk.Get(d.Page())
		expect.That(t, status == http.StatusOK && strings.Contains(page, "消さないでください") && strings.Contains(page, "ls -la"),
			"the page is %d, or lacks what was rejected or what waits", status)
		status, page = desk.Act(d, "reject", "一覧もいりません")
		expect.Must(t, status == http.StatusSeeOther, "the console answers %d: %s", status, page)
		d.Shows("操作 #2(却下)", "一覧もいりません")
		d.Shows("分かりました。何もしません。")
		a := d.Rests()
		for _, x := range a.Actions {
			expect.That(t, x.StartedAt == nil && x.Status == conversation.ActionCancelled &&
				x.CancelReason == conversation.ReasonRejected, "%+v", x)
		}
		asked := heard(before)
		expect.That(t, len(asked) == 3 && strings.Contains(asked[1], "消さないでください") && strings.Contains(asked[2], "一覧もいりません"),
			"the model was asked %d times, or did not hear the reasons", len(asked))
	})
}

// Runs last: the logs of all these tests have no key and nothing that people or models said.
func TestTheLogsHoldNoKeyAndNoContent(t *testing.T) {
	text := logged.String()
	expect.Must(t, strings.Contains(text, `"message":"model call"`) && strings.Contains(text, `"prompt":"plan.ja.`),
		"the logs do not tell of the calls")
	for _, secret := range []string{vendors.Key, "勤怠", "従業員", "営業部"} {
		expect.That(t, !strings.Contains(text, secret), "the logs hold %q", secret)
	}
}
