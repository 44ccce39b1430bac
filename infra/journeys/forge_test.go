package journeys

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

type object = map[string]any

// request is a signed request as Slack sends it.
type request struct {
	path   string
	body   []byte
	header http.Header
}

func signed(s *stack.Stack, path, kind string, body []byte) request {
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	return request{path, body, http.Header{"Content-Type": {kind}, slackapi.HeaderTimestamp: {stamp},
		slackapi.HeaderSignature: {slackapi.Sign(stamp, body, s.SigningSecret)}}}
}

// send sends a request, the very same bytes each time.
func (r request) send(t *testing.T, s *stack.Stack) (status int, body string) {
	t.Helper()
	req := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+r.path, bytes.NewReader(r.body)))(t)
	req.Header = r.header
	res := expect.Value(http.DefaultClient.Do(req))(t)
	defer res.Body.Close()
	return res.StatusCode, string(expect.Value(io.ReadAll(res.Body))(t))
}

// deliver sends this many copies of an event at once, each until it is accepted, as Slack does.
func (r request) deliver(t *testing.T, s *stack.Stack, times int) {
	t.Helper()
	var all sync.WaitGroup
	for range times {
		all.Go(func() {
			expect.Eventually(t, "the event is taken", func() bool {
				code, body := r.send(t, s)
				if code != http.StatusOK || body != "" {
					t.Logf("answered %d %s", code, body)
				}
				return code == http.StatusOK && body == ""
			})
		})
	}
	all.Wait()
}

// deliver delivers an event that is signed when it is first sent.
func deliver(t *testing.T, s *stack.Stack, body []byte, times int) {
	t.Helper()
	signed(s, "/slack/events", "application/json", body).deliver(t, s, times)
}

// mention is the event of an app_mention in a thread; "": in none.
func mention(t *testing.T, s *stack.Stack, thread, ts, text string) request {
	t.Helper()
	inner := object{"type": "app_mention", "user": webapi.Sato, "channel": webapi.HR, "ts": ts, "event_ts": ts,
		"text": text}
	if thread != "" {
		inner["thread_ts"] = thread
	}
	body := expect.Value(json.Marshal(object{"type": "event_callback", "team_id": s.Sandbox.TeamID(),
		"event_id": "Ev" + ts,
		"event":    inner}))(t)
	return signed(s, "/slack/events", "application/json", body)
}

// stamp is a click on the policy's button in a card.
func stamp(t *testing.T, d *driver.Request, m webapi.Message) request {
	t.Helper()
	a := d.Load().Prompt()
	payload := expect.Value(json.Marshal(object{
		"type": "block_actions", "team": object{"id": d.S.Sandbox.TeamID()}, "trigger_id": "1.2.none",
		"user": object{"id": webapi.Suzuki, "team_id": d.S.Sandbox.TeamID()}, "channel": object{"id": m.Channel},
		"container": object{"channel_id": m.Channel, "message_ts": m.TS, "thread_ts": m.ThreadTS}, "message": m,
		"actions": []object{{"action_id": "approve_prompt", "value": a.ID,
			"block_id": d.Ref.ID + "/0/" + d.Load().Asked(a.ID).Hash}},
	}))(t)
	return signed(d.S, "/slack/interactions", "application/x-www-form-urlencoded",
		[]byte(url.Values{"payload": {string(payload)}}.Encode()))
}

// answered sends a person's act, and repeats it while they are asked to try again: a busy machine may be too slow once,
// but not always. It returns the answer and what the person was told.
func (r request) answered(t *testing.T, s *stack.Stack, user string) (code int, body string, told []string) {
	t.Helper()
	for range 5 {
		noted := len(s.Sandbox.Ephemerals(user))
		code, body = r.send(t, s)
		told = nil
		for _, m := range s.Sandbox.Ephemerals(user)[noted:] {
			told = append(told, m.Text)
		}
		if !slices.ContainsFunc(append([]string{body}, told...), driver.AsksAgain) {
			break
		}
	}
	return code, body, told
}

// untilQueueEmpty waits until no message about cards is left: from then on nothing happens by itself.
func untilQueueEmpty(t *testing.T, s *stack.Stack) {
	t.Helper()
	queue, address := sqs.NewFromConfig(s.AWS), s.QueueURL("CardQueue")
	names := []types.QueueAttributeName{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"}
	expect.Eventually(t, "the card queue is empty", func() bool {
		out := expect.Value(queue.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &address,
			AttributeNames: names}))(t)
		return out.Attributes[string(names[0])] == "0" && out.Attributes[string(names[1])] == "0"
	})
}

// Anyone who has intercepted a signed request can repeat it for five minutes. It is answered, and changes nothing more.
func TestTheSameSignedBytesThreeTimes(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	stamped := stamp(t, d, d.Card(driver.PromptCard, "approve_prompt"))
	code, _, _ := stamped.answered(t, s, webapi.Suzuki)
	expect.Must(t, code == http.StatusOK, "%v", code)
	d.Click(webapi.Suzuki, driver.ProcessCard, "approve_process")
	after := d.Until("done", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	untilQueueEmpty(t, s)
	audit := d.Audit()
	root := expect.Value(s.Sandbox.Say(webapi.Sato, webapi.HR, "Ringi に頼む前の下書き"))(t) // no mention: no task yet
	asks, began := mention(t, s, "", root, "従業員一覧を取得して"), time.Now()
	for range 3 {
		asks.deliver(t, s, 1)
		code, body, told := stamped.answered(t, s, webapi.Suzuki)
		expect.That(t, code == http.StatusOK && body == "" && len(told) == 0, "answered %d %s and %q", code, body, told)
	}
	expect.Same(t, after, d.Load(), cmpopts.IgnoreFields(task.Head{}, "DueAt", "ShownRev", "Redraws"),
		cmpopts.IgnoreFields(task.Aggregate{}, "Cards"), cmpopts.IgnoreFields(aggregate.Shared{}, "Copies"))
	expect.Same(t, audit, d.Audit())
	again := driver.At(t, s, webapi.HR, root)
	again.Card(driver.PromptCard, "approve_prompt")
	for _, user := range []string{webapi.Sato, webapi.Suzuki, webapi.Tanaka} {
		told := slices.Concat(d.Told(user), again.Told(user))
		expect.That(t, len(told) == 0, "%s is told %q", user, told)
	}
	again.Cancel(webapi.Sato, root)
	again.Card(driver.PromptCard, "キャンセルされました")
	untilQueueEmpty(t, s)
	posts := 0
	for _, c := range s.Sandbox.Calls() {
		if c.Method == "chat.postMessage" && c.Channel == webapi.HR && !c.At.Before(began) {
			posts++
		}
	}
	expect.Is(t, posts, 2, "messages: the two cards of one task")
}

// The front door accepts requests of up to a megabyte that Slack signed, and nothing else.
func TestWhatTheFrontDoorTurnsAway(t *testing.T) {
	s := beside(t)
	for path, tt := range map[string]struct {
		kind     string
		nonsense int
	}{
		"/slack/events":       {"application/json", http.StatusBadRequest},
		"/slack/interactions": {"application/x-www-form-urlencoded", http.StatusOK}, // a click shows no warning sign
	} {
		of := func(body string) request { return signed(s, path, tt.kind, []byte(body)) }
		forged, unsigned, old := of("{}"), of("{}"), of("{}")
		forged.body = []byte("[]")
		unsigned.header.Del(slackapi.HeaderSignature)
		old.header.Set(slackapi.HeaderTimestamp, "1776675600")
		old.header.Set(slackapi.HeaderSignature, slackapi.Sign("1776675600", old.body, s.SigningSecret))
		for name, x := range map[string]struct {
			in   request
			want int
		}{
			"a megabyte and a byte":        {of(strings.Repeat("x", slackapi.MaxBody+1)), http.StatusRequestEntityTooLarge},
			"a megabyte of nonsense":       {of(strings.Repeat("x", slackapi.MaxBody)), tt.nonsense},
			"another body than was signed": {forged, http.StatusUnauthorized},
			"no signature":                 {unsigned, http.StatusUnauthorized},
			"a signature of long ago":      {old, http.StatusUnauthorized},
		} {
			code, body := x.in.send(t, s)
			expect.That(t, code == x.want, "%s %s: answered %d %.200s, want %d", path, name, code, body, x.want)
		}
	}
}

// Two messages are written one after the other, and the second's event arrives first: each becomes its own task with
// its own cards, even if the second replies to the first.
func TestEventsOfTwoMessagesArriveSwapped(t *testing.T) {
	for name, thread := range map[string]bool{"in a channel": false, "in one thread": true} {
		t.Run(name, func(t *testing.T) {
			s := beside(t)
			root := expect.Value(s.Sandbox.Say(webapi.Sato, webapi.HR, "一つ目"))(t) // no mention: no event of its own
			in := ""
			if thread {
				in = root
			}
			ts := expect.Value(s.Sandbox.Reply(webapi.Sato, webapi.HR, in, "二つ目"))(t)
			first, second := driver.At(t, s, webapi.HR, root), driver.At(t, s, webapi.HR, ts)
			if thread {
				second.Root = root
			}
			mention(t, s, in, ts, "今月の勤怠をまとめて").deliver(t, s, 1)
			mention(t, s, "", root, "従業員一覧を取得して").deliver(t, s, 1)
			for _, d := range []*driver.Request{second, first} {
				d.Approve(webapi.Suzuki)
				a := d.Until("done", func(a *task.Aggregate) bool { return a.Task != nil && a.Task.Status == task.TaskCompleted })
				for key := range a.Rows() {
					n := len(d.Cards(key))
					expect.That(t, n <= 1, "%s is %d messages", key, n)
				}
			}
			expect.Same(t, []string{"従業員一覧を取得して", "今月の勤怠をまとめて"},
				[]string{first.Load().Request.Text, second.Load().Request.Text})
		})
	}
}
