package sandbox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// A forwarded message reaches the app as Slack sends it: with its author, its place, what it says and its files.
func TestAForwardedMessageReachesTheApp(t *testing.T) {
	w := newWorld(t)
	ts := expect.Value(w.Attach(webapi.Tanaka, webapi.HR, "", "*営業部*だけ &amp; DM は不要",
		webapi.File{Name: "名簿.csv", Body: []byte("1\n")}))(t)
	said := string(raw(t, map[string]any{"user": webapi.Sato, "channel": webapi.HR, "ts": ts, "to": webapi.General,
		"text": "@Ringi これ"}))
	status, answer := w.send(t, http.MethodPost, "forward", "application/json", said)
	expect.Must(t, status == http.StatusOK, "status %d: %v", status, answer)
	expect.Eventually(t, "the mention", func() bool { return len(w.app.events()) == 1 })
	e := w.app.events()[0].body["event"]
	expect.That(t, at(e, "type") == "app_mention" && at(e, "ts") == answer["ts"] && at(e, "text") == sandbox.Mention("これ"), "%v", e)
	shared := at(e, "attachments", 0)
	for member, want := range map[string]any{
		"is_share": true, "is_msg_unfurl": true, "ts": ts, "channel_id": webapi.HR, "author_id": webapi.Tanaka, "author_name": "田中 恵",
		"text": "*営業部*だけ &amp; DM は不要", "from_url": w.url + "/archives/" + webapi.HR + "/p" + strings.ReplaceAll(ts, ".", ""),
	} {
		expect.Is(t, at(shared, member), want, member)
	}
	expect.Is(t, at(shared, "files", 0, "name"), any("名簿.csv"))
	expect.Is(t, at(shared, "message_blocks", 0, "message", "blocks", 0, "type"), any("rich_text"))
	for name, in := range map[string]string{
		"a message of a channel that the person is not in": `{"user":"` + webapi.Alex + `","channel":"` + webapi.HR + `","ts":"` + ts + `","to":"` + webapi.General + `"}`,
		"to such a channel": `{"user":"` + webapi.Alex + `","channel":"` + webapi.General + `","ts":"` + answer["ts"].(string) + `","to":"` + webapi.HR + `"}`,
		"none":              `{"user":"` + webapi.Sato + `","channel":"` + webapi.HR + `","ts":"1.000001","to":"` + webapi.General + `"}`,
	} {
		status, _ := w.send(t, http.MethodPost, "forward", "application/json", in)
		expect.Is(t, status, http.StatusConflict, name)
	}
	status, _ = w.send(t, http.MethodPost, "forward", "application/json", strings.Replace(said, "これ", strings.Repeat("あ", 12000), 1))
	expect.Is(t, status, http.StatusUnprocessableEntity)
	card := w.post(t, webapi.HR, slack.MsgOptionText("確認", false),
		card("#2196f3", "📝 実行方針", button("approve_prompt", "01P")))
	expect.Value(w.Forward(webapi.Sato, webapi.HR, card, webapi.HR, ""))(t)
	all := w.Messages(webapi.HR, "")
	last := all[len(all)-1]
	expect.That(t, at(last.Attachments[0], "bot_id") == webapi.BotID && at(last.Attachments[0], "author_id") == nil &&
		last.Blocks == nil, "%+v", last)
	expect.Fails(t, w.Click(webapi.Sato, webapi.HR, last.TS, "approve_prompt"), sandbox.ErrNoButton)
}

// What a channel has goes with its id, by which alone it can be reached from then on. The app is told, unless that is
// lost.
func TestAChannelsIDChanges(t *testing.T) {
	w := newWorld(t)
	ts := expect.Value(w.Say(webapi.Sato, webapi.General, sandbox.Mention("x")))(t)
	expect.Eventually(t, "the mention", func() bool { return len(w.app.events()) == 1 })
	status, answer := w.send(t, http.MethodPost, "channel-id", "application/json", `{"channel":"`+webapi.General+`"}`)
	expect.Must(t, status == http.StatusOK, "status %d: %v", status, answer)
	is := answer["id"].(string)
	expect.Eventually(t, "the event", func() bool { return len(w.app.events()) == 2 })
	e := w.app.events()[1].body["event"]
	_, dated := at(e, "event_ts").(string)
	expect.That(t, at(e, "type") == "channel_id_changed" && at(e, "old_channel_id") == webapi.General &&
		at(e, "new_channel_id") == is && dated, "%v", e)
	_, _, err := w.slack.PostMessage(webapi.General, slack.MsgOptionText("x", false))
	expect.That(t, err != nil && err.Error() == "channel_not_found", "the old id: %v", err)
	w.post(t, is, slack.MsgOptionText("x", false), slack.MsgOptionTS(ts))
	members, _, err := w.slack.GetUsersInConversation(&slack.GetUsersInConversationParameters{ChannelID: is})
	expect.That(t, err == nil && len(members) == 6, "%v %v", members, err)
	expect.That(t, len(w.Messages(is, ts)) == 2 && len(w.Messages(webapi.General, "")) == 0, "%v", w.Messages(is, ts))
	expect.Value(w.Redeliver(is, ts, 1))(t)
	expect.Value(w.Say(webapi.Stranger, is, sandbox.Mention("y")))(t)
	expect.Eventually(t, "its mention", func() bool { return len(w.app.events()) == 4 })
	expect.Is(t, w.app.events()[3].body["is_ext_shared_channel"], any(true))
	expect.NoError(t, w.SetToggles(sandbox.Toggles{LoseEvents: true}))
	next := expect.Value(w.ChangeChannelID(is))(t)
	expect.NoError(t, w.SetToggles(sandbox.Toggles{}))
	expect.Value(w.Say(webapi.Sato, next, sandbox.Mention("z")))(t)
	expect.Eventually(t, "the last mention", func() bool { return len(w.app.events()) == 5 })
	expect.Is(t, at(w.app.events()[4].body, "event", "channel"), any(next))
	_, err = w.ChangeChannelID(webapi.DirectMessage(webapi.Sato))
	expect.Fails(t, err, webapi.ChannelNotFound)
}
