// Package journeys uses Ringi as its users do: signed HTTP requests in, Slack's Web API out, and everything between as
// it runs in AWS.
package journeys

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// running is the only stack of this package's tests; each test leaves it as it found it.
var running *stack.Stack

func TestMain(m *testing.M) {
	o := driver.Options()
	o.Parameters = map[string]string{"Sandbox": "on"}
	os.Exit(driver.Run(m, o, func(s *stack.Stack) { running = s }))
}

func start(t *testing.T) *stack.Stack {
	t.Helper()
	driver.Leave(t, running)
	return running
}

// beside is start for a test that runs beside others, since it changes neither settings nor what vendors do.
func beside(t *testing.T) *stack.Stack {
	t.Helper()
	t.Parallel()
	return running
}

func ended(a *task.Aggregate) bool { return a.Head.Ended != nil }

// forward posts a message of #人事 there again, as Slack's clients forward it, and waits for the first card of the
// request that this makes.
func forward(t *testing.T, s *stack.Stack, user, ts, text string) *driver.Request {
	t.Helper()
	w := s.Sandbox.Workspace()
	m := expect.Value(w.Message(webapi.HR, ts, ""))(t)
	shared := map[string]any{"is_share": true, "is_msg_unfurl": true, "ts": m.TS, "channel_id": m.Channel,
		"channel_team": m.Team, "from_url": m.Link(s.URL), "author_id": m.User,
		"author_name": expect.Value(w.User(m.User))(t).Name, "text": m.Text, "fallback": m.Text, "color": "D0D0D0",
		"mrkdwn_in": []any{"text"}, "footer": "Slack Conversation"}
	if len(m.Files) > 0 {
		shared["files"] = m.Files
	}
	again := expect.Value(w.Post(webapi.Draft{Channel: webapi.HR, User: user, Text: text, Attachments: []any{shared}}))(t)
	r := driver.At(t, s, webapi.HR, again.TS)
	r.Card(driver.TaskCard, "")
	return r
}

// What a forwarded message says is part of the request, or named where it can't be; the card says whose it is.
func TestAForwardedMessageIsReadOrNamed(t *testing.T) {
	s := beside(t)
	said := expect.Value(s.Sandbox.Say(webapi.Tanaka, webapi.HR, "対象は営業だけ。DM は送らないでください"))(t)
	d := forward(t, s, webapi.Sato, said, sandbox.Mention("今月の勤怠をまとめて"))
	const whose = "転送: 田中 恵 のメッセージ"
	d.Card(driver.TaskCard, whose)
	d.Card(driver.PromptCard, "営業部")
	d.Click(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	steps := driver.Face(d.Card(driver.ProcessCard, "approve_process"))
	expect.That(t, strings.Contains(steps, "list_attendance") && !strings.Contains(steps, "send_slack_dm"), "%s", steps)
	d.Cancel(webapi.Sato, d.Root)

	file := expect.Value(s.Sandbox.Attach(webapi.Tanaka, webapi.HR, "", "営業の今月の勤怠をまとめて",
		webapi.File{Name: "対象者.csv", Body: []byte("名前\n田中 恵\n")}))(t)
	for ts, named := range map[string]string{said: "が分かりません", file: "添付ファイルと"} {
		d := forward(t, s, webapi.Sato, ts, sandbox.Mention("これをお願いします"))
		d.Eventually("the answer says "+named, func() bool {
			return slices.ContainsFunc(d.Cards(driver.TaskCard), func(m webapi.Message) bool {
				return strings.Contains(m.Text, named)
			})
		})
	}
}

// The samples of Slack's requests have no signature; invoking them signs them.
func TestASampleRequestIsSignedWhenItIsInvoked(t *testing.T) {
	s := beside(t)
	for sample, function := range map[string]string{
		"app_mention.json": "receive-event", "approve_prompt.json": "receive-interaction",
	} {
		event := expect.Value(os.ReadFile(filepath.Join("..", "events", sample)))(t)
		o := driver.Options()
		o.AWSAddr = strings.TrimPrefix(s.AWSEndpoint, "http://")
		result, err := stack.InvokeOnce(t.Context(), o, function, event)
		expect.That(t, err == nil && !result.Failed && bytes.Contains(result.Payload, []byte(`"statusCode":200`)),
			"%s: %s %v", sample, result.Payload, err)
		if function != "receive-interaction" {
			continue
		}
		forged := bytes.Replace(event, []byte("v0=0"), []byte("v0=1"), 1)
		if result, err = stack.InvokeOnce(t.Context(), o, function, forged); err != nil ||
			!bytes.Contains(result.Payload, []byte(`"statusCode":401`)) {
			t.Errorf("%s with another signature: %s %v", sample, result.Payload, err)
		}
	}
}
