// Package slack makes Slack fail in every way that it can while people work with Ringi, and sends forged requests.
package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

// first returns all faults of a list at night, else the first n.
func first[T any](n int, faults []T) []T {
	if expect.Long() {
		return faults
	}
	return faults[:n]
}

// running is the only stack of this package's tests; each test leaves it as it found it.
var running *stack.Stack

func TestMain(m *testing.M) {
	os.Exit(driver.Run(m, driver.Options(), func(s *stack.Stack) { running = s }))
}

func start(t *testing.T) *stack.Stack {
	t.Helper()
	driver.Leave(t, running)
	return running
}

// callCounter counts the app's calls to Slack from a moment on.
type callCounter struct {
	s     *stack.Stack
	since time.Time
}

func listen(s *stack.Stack) callCounter { return callCounter{s, time.Now()} }

// count returns how often a method was called about a channel; "": any.
func (e callCounter) count(method, channel string) (n int) {
	for _, c := range e.s.Sandbox.Calls() {
		if c.Method == method && (channel == "" || c.Channel == channel) && !c.At.Before(e.since) {
			n++
		}
	}
	return n
}

// untilQueueEmpty waits until no message about cards is left: from then on nothing happens by itself.
func untilQueueEmpty(t *testing.T, s *stack.Stack) {
	t.Helper()
	queue, url := sqs.NewFromConfig(s.AWS), s.QueueURL("CardQueue")
	expect.Eventually(t, "the card queue is empty", func() bool {
		out := expect.Value(queue.GetQueueAttributes(context.Background(), &sqs.GetQueueAttributesInput{
			QueueUrl: &url, AttributeNames: []types.QueueAttributeName{"ApproximateNumberOfMessages",
				"ApproximateNumberOfMessagesNotVisible"},
		}))(t)
		return !slices.ContainsFunc([]string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"},
			func(name string) bool {
				return out.Attributes[name] != "0"
			})
	})
}

// clicks presses a button of the policy's card while a call fails, and returns what was counted before. The call must
// be made and Slack answered in time; a busy machine may be too slow once, but not always.
func clicks(d *driver.Request, action string, fault webapi.Fault) (heard callCounter, noted int) {
	d.T.Helper()
	m := d.Card("CARD#prompt#0001", action)
	var err error
	for range 5 {
		heard, noted = listen(d.S), len(d.Notes(webapi.Suzuki))
		d.S.Sandbox.Faults().Clear("")
		d.S.Sandbox.Faults().Add(fault)
		if err = d.S.Sandbox.Click(webapi.Suzuki, d.Channel, m.TS, action); err == nil && heard.count(fault.Method, "") > 0 {
			return heard, noted
		}
	}
	d.T.Errorf("Slack had no good answer: %v, and %d calls of %s", err, heard.count(fault.Method, ""), fault.Method)
	return heard, noted
}

// always makes a fault last until it is cleared.
func always(f webapi.Fault) webapi.Fault {
	f.Times = -1
	return f
}

type object = map[string]any

// request is a signed request as Slack sends it.
type request struct {
	path, kind string
	body       []byte
	header     http.Header
}

func signed(s *stack.Stack, path, kind string, body []byte) request {
	return signedAt(time.Now(), s, path, kind, body)
}

// signedAt signs a request that was sent at a time.
func signedAt(at time.Time, s *stack.Stack, path, kind string, body []byte) request {
	stamp := strconv.FormatInt(at.Unix(), 10)
	return request{path, kind, body, http.Header{
		"Content-Type": {kind}, inbound.HeaderTimestamp: {stamp}, inbound.HeaderSignature: {inbound.Sign(stamp, body,
			s.SigningSecret)},
	}}
}

// interaction encodes a payload as the form that Slack posts.
func interaction(t *testing.T, s *stack.Stack, payload object) request {
	t.Helper()
	b := expect.Value(json.Marshal(payload))(t)
	return signed(s, "/slack/interactions", "application/x-www-form-urlencoded",
		[]byte(url.Values{"payload": {string(b)}}.Encode()))
}

// event is an app_mention as a workspace sends it.
func event(t *testing.T, s *stack.Stack, team, ts, text string) request {
	t.Helper()
	return eventIn(t, s, team, "", ts, text)
}

// eventIn is an event in a thread; "": none.
func eventIn(t *testing.T, s *stack.Stack, team, thread, ts, text string) request {
	t.Helper()
	inner := object{"type": "app_mention", "user": webapi.Sato, "channel": webapi.HR, "ts": ts, "event_ts": ts,
		"text": text}
	if thread != "" {
		inner["thread_ts"] = thread
	}
	b := expect.Value(json.Marshal(object{"type": "event_callback", "team_id": team, "event_id": "Ev" + team + ts,
		"event": inner}))(t)
	return signed(s, "/slack/events", "application/json", b)
}

// late returns the same request sent four minutes ago: Slack's signature is valid for five.
func (r request) late(s *stack.Stack) request {
	return signedAt(time.Now().Add(-4*time.Minute), s, r.path, r.kind, r.body)
}

// send sends a request, the very same bytes each time.
func (r request) send(t *testing.T, s *stack.Stack) (status int, body string) {
	t.Helper()
	req := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+r.path, bytes.NewReader(r.body)))(t)
	req.Header = r.header
	res := expect.Value(http.DefaultClient.Do(req))(t)
	defer res.Body.Close()
	answer := expect.Value(io.ReadAll(res.Body))(t)
	return res.StatusCode, string(answer)
}

// deliver sends an event until it is accepted, as Slack does.
func (r request) deliver(t *testing.T, s *stack.Stack) {
	t.Helper()
	expect.Eventually(t, "the event is taken", func() bool {
		code, body := r.send(t, s)
		if code != http.StatusOK || body != "" {
			t.Logf("answered %d %s", code, body)
		}
		return code == http.StatusOK && body == ""
	})
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

// blockOf is the block_id of a card's buttons of this task, or the task's id if the card has none.
func blockOf(m webapi.Message, taskID string) string {
	for _, a := range m.Attachments {
		attachment, _ := a.(map[string]any)
		blocks, _ := attachment["blocks"].([]any)
		for _, b := range blocks {
			block, _ := b.(map[string]any)
			if id, _ := block["block_id"].(string); strings.HasPrefix(id, taskID+"/") {
				return id
			}
		}
	}
	return taskID
}

// click is the payload of a button in a card.
func click(team, user string, m webapi.Message, taskID, action, value string) object {
	return object{
		"type": "block_actions", "team": object{"id": team}, "user": object{"id": user,
			"team_id": team}, "trigger_id": "1.2.none",
		"channel": object{"id": m.Channel}, "container": object{"channel_id": m.Channel, "message_ts": m.TS,
			"thread_ts": m.ThreadTS},
		"message": m, "actions": []object{{"action_id": action, "block_id": blockOf(m, taskID), "value": value}},
	}
}

// press clicks on a card's earlier state, whatever it shows now.
func press(t *testing.T, d *driver.Request, user string, m webapi.Message, action, value string) int {
	t.Helper()
	code, _ := interaction(t, d.S, click(d.S.Sandbox.TeamID(), user, m, d.Ref.ID, action, value)).send(t, d.S)
	return code
}

// submission is the payload of a rejection's form on content of this hash.
func submission(t *testing.T, team, user string, kind aggregate.CardType, taskID, id, hash, reason string) object {
	t.Helper()
	private := expect.Value(json.Marshal(card.Rejection{Type: kind, TaskID: taskID, ID: id, Hash: hash}))(t)
	return object{
		"type": "view_submission", "team": object{"id": team}, "user": object{"id": user, "team_id": team}, "view": object{
			"callback_id": card.RejectionCallback, "private_metadata": string(private),
			"state": object{"values": object{card.ReasonBlock: object{card.ReasonInput: object{"value": reason}}}},
		},
	}
}

// cancellation is the submitted dialog that asks whether to cancel a task.
func cancellation(t *testing.T, team, user string, c card.Cancellation) object {
	t.Helper()
	private := expect.Value(json.Marshal(c))(t)
	return object{
		"type": "view_submission", "team": object{"id": team}, "user": object{"id": user, "team_id": team},
		"view": object{"callback_id": card.CancelCallback, "private_metadata": string(private),
			"state": object{"values": object{}}},
	}
}

// Anyone who has intercepted a signed request can repeat it for five minutes. It is answered, and changes nothing more.
func TestTheSameSignedBytesThreeTimes(t *testing.T) {
	d, _ := atGate(t)
	m := d.Card("CARD#prompt#0001", "approve_prompt")
	stamp := interaction(t, d.S, click(d.S.Sandbox.TeamID(), webapi.Suzuki, m, d.Ref.ID, "approve_prompt",
		d.Load().Prompt().ID))
	if code, _, _ := stamp.answered(t, d.S, webapi.Suzuki); code != http.StatusOK {
		t.Fatal(code)
	}
	d.Click(webapi.Suzuki, "CARD#process#0001", "approve_process")
	after := d.Until("done", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	untilQueueEmpty(t, d.S)
	audit := d.Audit()
	root, err := d.S.Sandbox.Say(webapi.Sato, webapi.HR, "Ringi に頼む前の下書き") // no mention: no task yet
	expect.NoError(t, err)
	mention := event(t, d.S, d.S.Sandbox.TeamID(), root, "従業員一覧を取得して")
	heard := listen(d.S)
	for range 3 {
		mention.deliver(t, d.S)
		if code, body, told := stamp.answered(t, d.S, webapi.Suzuki); code != http.StatusOK || body != "" || len(told) > 0 {
			t.Errorf("answered %d %s and %q", code, body, told)
		}
	}
	expect.Same(t, after, d.Load(), equal)
	expect.Same(t, audit, d.Audit())
	again := *d
	id := expect.Value(task.ID(d.S.Sandbox.TeamID(), webapi.HR, root))(t)
	again.Root, again.Ref.ID = root, id
	again.Until("the policy waits", waits)
	for _, user := range []string{webapi.Sato, webapi.Suzuki, webapi.Tanaka} {
		if told := slices.Concat(d.Told(user), again.Told(user)); len(told) > 0 {
			t.Errorf("%s is told %q", user, told)
		}
	}
	withdraw(&again)
	untilQueueEmpty(t, d.S)
	if n := heard.count("chat.postMessage", webapi.HR); n != 2 {
		t.Errorf("%d messages, not the two cards of one task", n)
	}
}

// The front door accepts requests of up to a megabyte that Slack signed, and nothing else.
func TestWhatTheFrontDoorTurnsAway(t *testing.T) {
	s := start(t)
	kinds := map[string]string{"/slack/events": "application/json",
		"/slack/interactions": "application/x-www-form-urlencoded"}
	nonsense := map[string]int{"/slack/events": http.StatusBadRequest,
		"/slack/interactions": http.StatusOK} // a click shows no warning sign
	for path, kind := range kinds {
		large := signed(s, path, kind, []byte(strings.Repeat("x", inbound.MaxBody+1)))
		largest := signed(s, path, kind, []byte(strings.Repeat("x", inbound.MaxBody)))
		forged := signed(s, path, kind, []byte("{}"))
		forged.body = []byte("[]")
		unsigned := signed(s, path, kind, []byte("{}"))
		unsigned.header.Del(inbound.HeaderSignature)
		old := signed(s, path, kind, []byte("{}"))
		old.header.Set(inbound.HeaderTimestamp, "1776675600")
		old.header.Set(inbound.HeaderSignature, inbound.Sign("1776675600", old.body, s.SigningSecret))
		for _, tt := range []struct {
			name string
			in   request
			want int
		}{
			{"a megabyte and a byte", large, http.StatusRequestEntityTooLarge},
			{"a megabyte of nonsense", largest, nonsense[path]},
			{"another body than was signed", forged, http.StatusUnauthorized},
			{"no signature", unsigned, http.StatusUnauthorized},
			{"a signature of long ago", old, http.StatusUnauthorized},
		} {
			t.Run(path+" "+tt.name, func(t *testing.T) {
				if code, body := tt.in.send(t, s); code != tt.want {
					t.Errorf("answered %d %.200s, want %d", code, body, tt.want)
				}
			})
		}
	}
}
