package slack

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

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
		"Content-Type": {kind}, inbound.HeaderTimestamp: {stamp}, inbound.HeaderSignature: {inbound.Sign(stamp, body, s.SigningSecret)},
	}}
}

// interaction encodes a payload as the form that Slack posts.
func interaction(t *testing.T, s *stack.Stack, payload object) request {
	t.Helper()
	b := expect.Value(json.Marshal(payload))(t)
	return signed(s, "/slack/interactions", "application/x-www-form-urlencoded", []byte(url.Values{"payload": {string(b)}}.Encode()))
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
	b := expect.Value(json.Marshal(object{"type": "event_callback", "team_id": team, "event_id": "Ev" + team + ts, "event": inner}))(t)
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

// click is the payload of a button in a card.
func click(team, user string, m webapi.Message, taskID, action, value string) object {
	return object{
		"type": "block_actions", "team": object{"id": team}, "user": object{"id": user, "team_id": team}, "trigger_id": "1.2.none",
		"channel": object{"id": m.Channel}, "container": object{"channel_id": m.Channel, "message_ts": m.TS, "thread_ts": m.ThreadTS},
		"message": m, "actions": []object{{"action_id": action, "block_id": taskID, "value": value}},
	}
}

// press clicks on a card's earlier state, whatever it shows now.
func press(t *testing.T, d *driver.Request, user string, m webapi.Message, action, value string) int {
	t.Helper()
	code, _ := interaction(t, d.S, click(d.S.Sandbox.TeamID(), user, m, d.Ref.ID, action, value)).send(t, d.S)
	return code
}

// submission is the payload of a rejection's form.
func submission(t *testing.T, team, user string, kind aggregate.CardType, taskID, id, reason string) object {
	t.Helper()
	private := expect.Value(json.Marshal(card.Rejection{Type: kind, TaskID: taskID, ID: id}))(t)
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
		"view": object{"callback_id": card.CancelCallback, "private_metadata": string(private), "state": object{"values": object{}}},
	}
}
