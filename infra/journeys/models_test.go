package journeys

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// wired is a stack without the demo model: every provider of models, and managed sessions, have a fake vendor at the
// back.
type wired struct {
	*stack.Stack
	vendors  *models.Models
	sessions *models.Server
	keys     map[string]any // in the model secret; Anthropic's is missing at first
	logged   log
}

// log is what the functions print.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestModelsOfEveryVendor begins without Anthropic's key, which functions keep for a while once they have read it. What
// the functions have logged is read in the end.
func TestModelsOfEveryVendor(t *testing.T) {
	expect.Patience(t)
	t.Parallel()
	w := &wired{vendors: models.NewModels(), sessions: models.NewAgents()}
	w.sessions.Key, w.sessions.Thinks = w.vendors.Key, 0
	server := expect.Server(t, w.served())
	o := driver.Options()
	o.Model, o.FunctionLog = "", &w.logged
	o.Allow = []string{expect.Value(url.Parse(server.URL))(t).Host}
	o.Parameters = map[string]string{
		"Model": "", "AnthropicBaseUrl": server.URL + "/anthropic", "OpenAiBaseUrl": server.URL + "/openai/v1",
		"BedrockBaseUrl": server.URL,
	}
	w.keys = map[string]any{"anthropic": "", "openai": w.vendors.Key, "compatible": map[string]any{
		"box":    map[string]string{"url": server.URL + "/compatible/v1", "key": w.vendors.Key},
		"gemini": map[string]string{"url": server.URL + "/gemini", "key": w.vendors.Key}}}
	o.ModelKeys = w.keys
	w.Stack = expect.Value(driver.Start(t.Context(), o))(t)
	t.Cleanup(w.Close)
	for _, x := range []struct {
		name string
		do   func(*wired, *testing.T)
	}{
		{"a missing key, and the happy path on each", (*wired).happyPaths},
		{"a managed session", (*wired).managed}, {"a conversation on each wire", (*wired).conversations},
	} {
		t.Run(x.name, func(t *testing.T) { x.do(w, t) })
	}
	text := w.logged.String()
	expect.Must(t, strings.Contains(text, `"message":"model call"`) && strings.Contains(text, `"prompt":"plan.ja.`),
		"the logs do not tell of the calls")
	for _, secret := range []string{w.vendors.Key, "勤怠", "従業員", "営業部"} {
		expect.That(t, !strings.Contains(text, secret), "the logs hold %q", secret)
	}
}

// served adds Managed Agents to Anthropic's other endpoints.
func (w *wired) served() http.Handler {
	m := http.NewServeMux()
	m.Handle("/", w.vendors.Handler())
	for _, kind := range []string{"agents", "environments", "sessions"} {
		m.Handle("/anthropic/v1/"+kind, http.StripPrefix("/anthropic", w.sessions))
		m.Handle("/anthropic/v1/"+kind+"/", http.StripPrefix("/anthropic", w.sessions))
	}
	return m
}

// sets has a test begin with this model.
func (w *wired) sets(t *testing.T, model string) {
	t.Helper()
	driver.Leave(t, w.Stack)
	driver.Settings(t, w.Stack, func(x *tenancy.Settings) { x.Model = model })
}

func (w *wired) happyPaths(t *testing.T) {
	for _, of := range []struct{ vendor, model string }{
		{"anthropic", "claude-sonnet-4-6"}, {"openai", "gpt-5.4"}, {"compatible", "compatible:box/llama3.2:3b"},
		{"gemini", "gemini-2.5-flash"}, {"bedrock", "bedrock:global.anthropic.claude-sonnet-4-6"},
	} {
		t.Run(of.vendor, func(t *testing.T) {
			if of.vendor == "compatible" || of.vendor == "gemini" {
				expect.AtNight(t) // they speak as OpenAI does
			}
			w.sets(t, of.model)
			before := w.vendors.Calls(of.vendor)
			d := driver.Ask(t, w.Stack, webapi.Sato, "今月の勤怠をまとめて")
			if of.vendor == "anthropic" {
				d.Card(driver.TaskCard, "API キーが登録されていない")
				d.Card(driver.TaskCard, "anthropic")
				w.putKey(t)
				d.Click(webapi.Sato, driver.TaskCard, "retry_generation")
			}
			d.Approve(webapi.Suzuki)
			d.Card(driver.ExecutionCard, "42 行を書き込みました")
			d.Until("completed", func(a *task.Aggregate) bool { return a.Task != nil && a.Task.Status == task.TaskCompleted })
			expect.Is(t, w.vendors.Calls(of.vendor)-before, 4, "calls of %s", of.vendor)
			if of.vendor != "anthropic" {
				d.RanOnce()
			}
		})
	}
}

// putKey adds the key that was missing, as an operator does.
func (w *wired) putKey(t *testing.T) {
	t.Helper()
	w.keys["anthropic"] = w.vendors.Key
	value := string(expect.Value(json.Marshal(w.keys))(t))
	for _, s := range w.Template.Secrets {
		if s.ID == "ModelSecret" {
			expect.Value(secretsmanager.NewFromConfig(w.AWS).PutSecretValue(t.Context(),
				&secretsmanager.PutSecretValueInput{SecretId: &s.Name, SecretString: aws.String(value)}))(t)
		}
	}
}

func (w *wired) managed(t *testing.T) {
	w.sets(t, "claude-sonnet-4-6")
	w.putKey(t)
	driver.Settings(t, w.Stack, func(x *tenancy.Settings) { x.Executor = tenancy.ExecutorManaged })
	text := "従業員一覧を取得して"
	if expect.Long() {
		text = "今月の勤怠をまとめて" // each step waits for a poll
	}
	d := driver.Ask(t, w.Stack, webapi.Sato, text)
	d.Approve(webapi.Suzuki)
	d.Card(driver.ExecutionCard, "すべてのステップを実行しました。")
	a := d.Until("completed, and its session closed", func(a *task.Aggregate) bool {
		return a.Task != nil && a.Task.Status == task.TaskCompleted && a.Execution().SessionClosed
	})
	e, all := a.Execution(), w.sessions.Sessions()
	expect.Must(t, len(all) == 1 && all[0].Made.Metadata["ringi_task"] == d.Ref.ID, "%d sessions", len(all))
	x := all[0]
	expect.That(t, e.Usage != nil && e.Usage.Cost != 0 && x.ID == e.SessionID && len(x.Messages) == 1 && x.Refused == 0 &&
		len(x.Answers) == len(a.Process().Steps), "session %s (%+v) was told %d times and got %d answers, %d made no sense",
		x.ID, e.Usage, len(x.Messages), len(x.Answers), x.Refused)
	for _, answer := range x.Answers {
		expect.That(t, !answer.Error && !strings.Contains(answer.Text, "@example"), "it got %+v", answer)
	}
	d.RanOnce()
}

// conversations: the agent hears why a proposal was rejected at the console. The next one is made exactly as approved,
// once, and the model learns its result and no secret.
func (w *wired) conversations(t *testing.T) {
	for vendor, agent := range map[string]string{"anthropic": "claude", "openai": "codex"} {
		t.Run(vendor, func(t *testing.T) {
			driver.Leave(t, w.Stack)
			w.putKey(t)
			before := len(w.vendors.Asked())
			const script = `echo '出力 <b>' && echo $((6*7)) # \"\n`
			propose := func(text, script string, more ...models.ScriptedCall) models.Script {
				return models.Script{Text: text, Calls: append([]models.ScriptedCall{{ID: "c" + text, Name: "shell_command",
					Input: `{"script":"` + script + `","timeout_seconds":30,"summary":"確認します"}`}}, more...)}
			}
			w.vendors.Scripted(propose("one", "rm -rf ."), propose("two", script, models.ScriptedCall{ID: "c3",
				Name: "code_generate", Input: `{"files":[{"path":"a.txt","content":"x"}],"edits":[],"delete":[],"summary":"x"}`}),
				models.Script{Text: "答えは 42 でした。"})
			d := driver.Talk(t, w.Stack, webapi.Sato, agent+": 6×7 を計算して")
			d.Shows("操作 #1 の確認", "rm -rf .")
			status, page := driver.SitDown(t, w.Stack, webapi.Sato).Act(d, "reject", "消さないでください")
			expect.Must(t, status == http.StatusSeeOther, "the console answers %d: %s", status, page)
			d.Shows("操作 #1(却下)", "消さないでください")
			asks := d.Shows("操作 #2 の確認", "echo '出力 &lt;b&gt;' &amp;&amp; echo $((6*7))")
			pending := d.Load().Current()
			d.Press(webapi.Sato, asks, card.ApproveAction)
			d.Shows("操作 #2 完了", "出力 &lt;b&gt;", "42")
			d.Shows("答えは 42 でした。")
			a := d.Rests()
			expect.Must(t, len(a.Actions) == 2, "%+v", a.Actions)
			rejected, x, approved := a.Actions[0], a.Actions[1], d.Audit(conversation.AuditApproved)
			expect.That(t, rejected.StartedAt == nil && rejected.CancelReason == conversation.ReasonRejected, "%+v", rejected)
			expect.That(t, x.Status == conversation.ActionSucceeded && x.Gate.ApprovedBy == webapi.Sato &&
				x.Payload.Hash() == pending.Payload.Hash(), "%+v", x)
			asked := w.vendors.Asked()[before:]
			expect.Must(t, len(approved) == 1 && len(asked) == 3 && a.Conversation.Usage.Cost != 0 &&
				a.Conversation.Usage.Output == 90, "%+v, %d requests, %+v", approved, len(asked), a.Conversation.Usage)
			expect.That(t, strings.Contains(string(approved[0].Details), pending.Payload.Hash()) &&
				approved[0].ActorID == webapi.Sato && approved[0].ResourceID == x.ActionID, "%+v", approved[0])
			for i, parts := range [][]string{{`"shell_command"`, `"code_generate"`, `"test_run"`, `"offer_request"`,
				"6×7 を計算して", "佐藤"}, {"消さないでください"}, {"操作 #2 が完了しました", "42"}} {
				for _, part := range parts {
					expect.That(t, strings.Contains(asked[i], part), "request %d lacks %s", i+1, part)
				}
			}
			for _, text := range append(asked, w.logged.String()) {
				expect.That(t, !strings.Contains(text, w.vendors.Key) && !strings.Contains(text, "xoxb-"),
					"a secret stands in a request or in the logs")
			}
		})
	}
}
