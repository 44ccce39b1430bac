package sandbox_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

func TestMentionArrivesOnceAndWhole(t *testing.T) {
	w := newWorld(t)
	ts := expect.Value(w.Say(webapi.Sato, webapi.HR, sandbox.Mention("A &amp; B")))(t)
	expect.Eventually(t, "one event", func() bool { return len(w.app.events()) == 1 })
	got := w.app.events()[0].body
	want := map[string]any{"type": "app_mention", "user": webapi.Sato, "text": "<@" + webapi.Bot + "> A &amp; B",
		"ts": ts, "channel": webapi.HR, "event_ts": ts, "team": "T0SANDRING"}
	for k, v := range want {
		expect.That(t, at(got, "event", k) == v, "event.%s = %v, want %v", k, at(got, "event", k), v)
	}
	expect.That(t, got["type"] == "event_callback" && got["team_id"] == "T0SANDRING" &&
		at(got, "authorizations", 0, "user_id") == webapi.Bot, "envelope = %v", got)
}

func TestWhatIsNotSent(t *testing.T) {
	w := newWorld(t)
	expect.Value(w.Say(webapi.Sato, webapi.HR, "a word among people"))(t)
	w.post(t, webapi.HR, slack.MsgOptionText(sandbox.Mention("talking to myself"), false))
	expect.Value(w.Say(webapi.Sato, webapi.HR, sandbox.Mention("the last")))(t)
	expect.Eventually(t, "an event", func() bool { return len(w.app.events()) > 0 })
	expect.Is(t, len(w.app.events()), 1, "events")
}

// In channels people's messages, edits and deletions are sent, and an edit of what mentions the bot comes as
// app_mention, too.
func TestAChannelsMessagesAreSent(t *testing.T) {
	w := newWorld(t)
	ts := expect.Value(w.Say(webapi.Sato, webapi.HR, sandbox.Mention("営業部")))(t)
	expect.NoError(t, w.Edit(webapi.Sato, webapi.HR, ts, sandbox.Mention("人事部")))
	expect.Value(w.Say(webapi.Sato, webapi.HR, "<@"+webapi.BotID+"> hi"))(t)
	w.post(t, webapi.HR, slack.MsgOptionText("a card", false))
	expect.NoError(t, w.Remove(webapi.Sato, webapi.HR, ts))
	expect.Eventually(t, "all events", func() bool {
		return len(w.app.events()) == 2 && len(w.app.requests(inChannels)) == 4
	})
	for _, e := range w.app.events() {
		edited := at(e.body, "event", "edited", "user")
		want := any(nil)
		if at(e.body, "event", "text") != sandbox.Mention("営業部") {
			want = webapi.Sato
		}
		expect.That(t, at(e.body, "event", "type") == "app_mention" && at(e.body, "event", "ts") == ts && edited == want,
			"%v", e.body)
	}
	kinds := map[string]int{}
	for _, e := range w.app.requests(inChannels) {
		kind, _ := at(e.body, "event", "subtype").(string)
		kinds[kind]++
		if kind != "" {
			expect.That(t, at(e.body, "event", "previous_message", "ts") == ts, "%v", e.body)
		}
	}
	expect.Same(t, map[string]int{"": 2, "message_changed": 1, "message_deleted": 1}, kinds)
}

func TestDirectMessagesEchoTheBot(t *testing.T) {
	w := newWorld(t)
	im := webapi.DirectMessage(webapi.Sato)
	expect.Value(w.Say(webapi.Sato, im, "従業員一覧を取得して"))(t)
	ts := w.post(t, im, slack.MsgOptionText("受け付けました", false))
	_, _, _, err := w.slack.UpdateMessage(im, ts, slack.MsgOptionText("完了", false))
	expect.NoError(t, err)
	expect.NoError(t, w.OpenMessages(webapi.Sato))
	expect.Eventually(t, "four events", func() bool { return len(w.app.events()) == 4 })
	kinds := map[string]int{}
	for _, e := range w.app.events() {
		kind, _ := at(e.body, "event", "type").(string)
		sub, _ := at(e.body, "event", "subtype").(string)
		if at(e.body, "event", "bot_id") == webapi.BotID {
			kind += " by bot"
		}
		if kind == "message" && sub == "" && at(e.body, "event", "channel_type") != "im" {
			t.Errorf("channel_type = %v", at(e.body, "event", "channel_type"))
		}
		kinds[kind+" "+sub]++
	}
	want := map[string]int{"message ": 1, "message by bot ": 1, "message message_changed": 1, "app_home_opened ": 1}
	expect.Same(t, want, kinds)
}

func TestEventsAreRetriedThreeTimes(t *testing.T) {
	tests := []struct {
		name    string
		answer  func(w http.ResponseWriter, n int, body map[string]any)
		toggle  sandbox.Toggles
		tries   int
		reasons []string
		marked  bool
	}{
		{"an error, then fine", func(w http.ResponseWriter, n int, _ map[string]any) {
			if n < 3 {
				w.WriteHeader(500)
			}
		}, sandbox.Toggles{}, 3, []string{"", "http_error", "http_error"}, false},
		{"never well", func(w http.ResponseWriter, _ int, _ map[string]any) { w.WriteHeader(503) }, sandbox.Toggles{}, 4,
			[]string{"", "http_error", "http_error", "http_error"}, true},
		{"please don't", func(w http.ResponseWriter, _ int, _ map[string]any) {
			w.Header().Set("X-Slack-No-Retry", "1")
			w.WriteHeader(500)
		}, sandbox.Toggles{}, 1, []string{""}, true},
		{"answers dropped", nil, sandbox.Toggles{DropAnswers: true}, 4,
			[]string{"", "http_timeout", "http_timeout", "http_timeout"}, true},
		{"fine", nil, sandbox.Toggles{}, 1, []string{""}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.app.onEvent = tt.answer
			w.SetToggles(tt.toggle)
			ts := expect.Value(w.Say(webapi.Sato, webapi.HR, sandbox.Mention("x")))(t)
			expect.Eventually(t, "the last attempt", func() bool {
				return slices.ContainsFunc(w.Attempts(), func(a sandbox.Attempt) bool { return a.Final && a.Kind == "app_mention" })
			})
			var reasons []string
			ids := map[any]bool{}
			for i, e := range w.app.events() {
				reasons = append(reasons, e.header.Get("X-Slack-Retry-Reason"))
				ids[e.body["event_id"]] = true
				num := e.header.Get("X-Slack-Retry-Num")
				expect.That(t, i <= 0 || num == string(rune('0'+i)), "try %d: X-Slack-Retry-Num %q", i, num)
			}
			diff := cmp.Diff(tt.reasons, reasons)
			expect.That(t, diff == "" && len(ids) == 1, "%d event ids, reasons (-want +got):\n%s", len(ids), diff)
			_, marked := w.Mark(webapi.HR, ts)
			expect.That(t, marked == tt.marked, "marked %v, want %v", marked, tt.marked)
		})
	}
}

func TestEventsAreDeliveredTwice(t *testing.T) {
	w := newWorld(t)
	w.SetToggles(sandbox.Toggles{Twice: true})
	expect.Value(w.Say(webapi.Sato, webapi.HR, sandbox.Mention("x")))(t)
	expect.Eventually(t, "two deliveries", func() bool { return len(w.app.events()) == 2 })
	e := w.app.events()
	expect.That(t, e[0].body["event_id"] == e[1].body["event_id"] && e[1].header.Get("X-Slack-Retry-Num") == "",
		"want the same event twice, none of them a retry")
}

func TestStrangerSpeaksWithTheirTeam(t *testing.T) {
	w := newWorld(t)
	expect.Value(w.Say(webapi.Stranger, webapi.General, sandbox.Mention("x")))(t)
	expect.Eventually(t, "the event", func() bool { return len(w.app.events()) == 1 })
	e := w.app.events()[0].body
	expect.That(t, at(e, "event", "user_team") == webapi.StrangerTeam && e["team_id"] == "T0SANDRING" &&
		e["is_ext_shared_channel"] == true, "event = %v", e)
}
