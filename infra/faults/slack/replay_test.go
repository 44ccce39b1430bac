package slack

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/inbound"
)

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
	kinds := map[string]string{"/slack/events": "application/json", "/slack/interactions": "application/x-www-form-urlencoded"}
	nonsense := map[string]int{"/slack/events": http.StatusBadRequest, "/slack/interactions": http.StatusOK} // a click shows no warning sign
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
