package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

func card(color, text string, elements ...slack.BlockElement) slack.MsgOption {
	blocks := []slack.Block{
		slack.NewHeaderBlock(slack.NewTextBlockObject("plain_text", text, true, false)),
		slack.NewSectionBlock(slack.NewTextBlockObject("mrkdwn", "*"+text+"*", false, false), nil, nil),
	}
	if len(elements) > 0 {
		blocks = append(blocks, slack.NewActionBlock("01JTASK", elements...))
	}
	return slack.MsgOptionAttachments(slack.Attachment{Color: color, Blocks: slack.Blocks{BlockSet: blocks}})
}

func button(action, value string) *slack.ButtonBlockElement {
	return slack.NewButtonBlockElement(action, value, slack.NewTextBlockObject("plain_text", "✅ 承認", true, false))
}

func TestCardPostedInThreadKeepsItsMetadata(t *testing.T) {
	w := newWorld(t)
	root := expect.Value(w.Say(webapi.Sato, webapi.HR, sandbox.Mention("今月の勤怠をまとめて")))(t)
	ts := w.post(t, webapi.HR, slack.MsgOptionTS(root), slack.MsgOptionText("fallback", false), card("#f2c744", "📝 実行方針"),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "ringi_card",
			EventPayload: map[string]any{"task": "01J", "card": "prompt#1"}}))
	for _, all := range []bool{false, true} {
		msgs, more, _, err := w.slack.GetConversationReplies(&slack.GetConversationRepliesParameters{ChannelID: webapi.HR,
			Timestamp: root, IncludeAllMetadata: all})
		expect.Must(t, err == nil && !more && len(msgs) == 2 && msgs[1].Timestamp == ts,
			"replies = %d messages, more %v, err %v; want the mention and the card", len(msgs), more, err)
		got, want := msgs[1].Metadata.EventType != "", all
		expect.That(t, got == want, "include_all_metadata %v: metadata shown %v", all, got)
		expect.That(t, msgs[0].ReplyCount == 1 && msgs[1].BotID == webapi.BotID && msgs[1].ThreadTimestamp == root,
			"thread: replies %d, bot_id %q, thread_ts %q", msgs[0].ReplyCount, msgs[1].BotID, msgs[1].ThreadTimestamp)
		a := msgs[1].Attachments
		expect.That(t, len(a) == 1 && a[0].Color == "f2c744" && a[0].ID == 1 && a[0].Blocks.BlockSet[0].ID() != "",
			"attachment = %+v; want number 1, a color without #, blocks with ids", a)
	}
}

func TestTimestampsNeverRepeat(t *testing.T) {
	still := time.Now()
	w := newWorld(t, func(o *sandbox.Options) { o.Now = func() time.Time { return still } })
	last := ""
	for range 20 {
		_, ts, err := w.slack.PostMessage(webapi.HR, slack.MsgOptionText("x", false))
		expect.Must(t, err == nil && ts > last && len(strings.Split(ts, ".")[1]) == 6,
			"ts %q after %q, err %v", ts, last, err)
		last = ts
	}
}

func TestUpdateKeepsAndRemovesAsSlackDoes(t *testing.T) {
	blocks := slack.MsgOptionBlocks(slack.NewDividerBlock())
	tests := []struct {
		name                     string
		options                  []slack.MsgOption
		blocks, attachments      int
		text                     string
		edited, metadataRetained bool
	}{
		{"text alone takes the blocks away", []slack.MsgOption{slack.MsgOptionText("new", false)}, 0, 1, "new", true, true},
		{"attachments replace attachments", []slack.MsgOption{slack.MsgOptionText("new", false), card("#fff", "x")}, 0, 1,
			"new", false, true},
		{"empty attachments remove them", []slack.MsgOption{slack.MsgOptionText("new", false), blocks,
			slack.MsgOptionAttachments([]slack.Attachment{}...)}, 1, 0, "new", false, true},
		{"blocks alone leave the text", []slack.MsgOption{blocks}, 1, 1, "old", false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			ts := w.post(t, webapi.HR, slack.MsgOptionText("old", false), blocks, card("#f2c744", "a"),
				slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "e", EventPayload: map[string]any{"a": "b"}}))
			_, _, _, err := w.slack.UpdateMessage(webapi.HR, ts, tt.options...)
			expect.NoError(t, err)
			m := w.Messages(webapi.HR, "")[0]
			expect.That(t, len(m.Blocks) == tt.blocks && len(m.Attachments) == tt.attachments && m.Text == tt.text &&
				(m.Edited != nil) == tt.edited && (m.Metadata != nil) == tt.metadataRetained,
				"blocks %d, attachments %d, text %q, edited %v, metadata %v", len(m.Blocks), len(m.Attachments), m.Text,
				m.Edited, m.Metadata)
		})
	}
}

func TestRefusalsHaveSlacksShape(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("あ", 3001)
	mine := w.post(t, webapi.HR, slack.MsgOptionText("x", false))
	theirs := expect.Value(w.Say(webapi.Sato, webapi.HR, "やあ"))(t)
	expect.NoError(t, w.Workspace().SetArchived(webapi.General, true))
	post := func(channel string, o ...slack.MsgOption) error {
		_, _, err := w.slack.PostMessage(channel, o...)
		return err
	}
	text := slack.MsgOptionText("x", false)
	tests := []struct {
		name     string
		err      error
		want     string
		messages []string
	}{
		{"unknown channel", post("C404", text), "channel_not_found", nil},
		{"archived channel", post(webapi.General, text), "is_archived", nil},
		{"nothing to show", post(webapi.HR), "no_text", nil},
		{"unknown thread", post(webapi.HR, text, slack.MsgOptionTS("1.000001")), "thread_not_found", nil},
		{"block too long", post(webapi.HR, slack.MsgOptionBlocks(slack.NewSectionBlock(slack.NewTextBlockObject("mrkdwn",
			long, false, false), nil, nil))),
			"invalid_blocks", []string{"[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]"}},
		{"header too long in an attachment", post(webapi.HR, card("#fff", strings.Repeat("x", 151))),
			"invalid_attachments", []string{"[ERROR] must be less than 151 characters " +
				"[json-pointer:/attachments/0/blocks/0/text/text]"}},
		{"all blocks too long", post(webapi.HR, slack.MsgOptionBlocks(sections(5, strings.Repeat("a", 2999))...)),
			"msg_blocks_too_long", nil},
		{"update of a long text", second(w.slack.UpdateMessage(webapi.HR, mine,
			slack.MsgOptionText(strings.Repeat("a", 4001), false))), "msg_too_long", nil},
		{"update of a person's message", second(w.slack.UpdateMessage(webapi.HR, theirs, text)), "cant_update_message", nil},
		{"update of nothing", second(w.slack.UpdateMessage(webapi.HR, "1.000001", text)), "message_not_found", nil},
		{"whisper to somebody outside", func() error {
			_, err := w.slack.PostEphemeral(webapi.HR, webapi.Stranger, text)
			return err
		}(), "user_not_in_channel", nil},
		{"bad token", func() error {
			_, err := slack.New("xoxb-wrong", slack.OptionAPIURL(w.url+"/api/")).AuthTest()
			return err
		}(), "invalid_auth", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r slack.SlackErrorResponse
			expect.Must(t, tt.err != nil, "accepted, want %s", tt.want)
			errors.As(tt.err, &r)
			expect.That(t, tt.err.Error() == tt.want, "error = %v, want %s", tt.err, tt.want)
			expect.Same(t, tt.messages, r.ResponseMetadata.Messages)
		})
	}
}

func second(_, _, _ string, err error) error { return err }

func sections(n int, text string) []slack.Block {
	var out []slack.Block
	for range n {
		out = append(out, slack.NewSectionBlock(slack.NewTextBlockObject("mrkdwn", text, false, false), nil, nil))
	}
	return out
}

// Apps get names, and everybody's language, as somebody looks at the page now, whatever the first page was in; unless a
// language was chosen at the start.
func TestNamesFollowWhoLooks(t *testing.T) {
	var spoken []string
	w := newWorld(t, func(o *sandbox.Options) {
		o.Company, o.Speak = true, func(language string) { spoken = append(spoken, language) }
	})
	named := func() []string {
		names := []string{expect.Value(w.slack.GetUserInfo(webapi.Sato))(t).RealName}
		for _, u := range expect.Value(w.slack.GetUsers())(t) {
			names = append(names, u.RealName, u.Profile.Title)
		}
		for _, g := range expect.Value(w.slack.GetUserGroups())(t) {
			names = append(names, g.Name)
		}
		channels, _, err := w.slack.GetConversationsForUser(&slack.GetConversationsForUserParameters{UserID: webapi.Sato})
		expect.Must(t, err == nil && len(channels) > 1, "%v", err)
		for _, c := range channels {
			names = append(names, c.Name, c.Purpose.Value)
		}
		return names
	}
	w.speaks(t, webapi.Sato, "ja")
	expect.Is(t, named()[0], "佐藤 花子")
	w.speaks(t, webapi.Sato, "en")
	expect.Is(t, expect.Value(w.slack.GetUserInfo(webapi.Suzuki))(t).Locale, "en-US")
	for _, name := range named() {
		expect.That(t, name != "" && !strings.ContainsFunc(name, func(r rune) bool {
			return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		}), "%q is not in Latin letters", name)
	}
	_, typed := w.send(t, http.MethodPost, "say", "application/json",
		`{"user":"`+webapi.Sato+`","channel":"`+webapi.HR+`","text":"#hr #人事"}`)
	m := expect.Value(w.Workspace().Message(webapi.HR, typed["ts"].(string), webapi.Sato))(t)
	expect.Is(t, m.Text, "<#"+webapi.HR+"|hr> <#"+webapi.HR+"|hr>")
	expect.Same(t, []string{"ja", "en"}, spoken)
	w = newWorld(t, func(o *sandbox.Options) { o.Language = "ja" })
	w.speaks(t, webapi.Sato, "en")
	expect.That(t, expect.Value(w.slack.GetUserInfo(webapi.Suzuki))(t).Locale == "ja-JP" && named()[0] == "佐藤 花子",
		"the language that was chosen doesn't stand")
}

// Bolt sends the token in the header and JSON in form fields. Other clients send JSON bodies.
func TestBothWiresAreAccepted(t *testing.T) {
	w := newWorld(t)
	blocks := `[{"type":"section","text":{"type":"mrkdwn","text":"x"}}]`
	tests := []struct{ name, kind, auth, body, method, want string }{
		{"form with header", "application/x-www-form-urlencoded", "Bearer " + botToken,
			"channel=" + webapi.HR + "&text=x&blocks=" + blocks, "chat.postMessage", ""},
		{"form with token", "application/x-www-form-urlencoded", "",
			"token=" + botToken + "&channel=" + webapi.HR + "&text=x", "chat.postMessage", ""},
		{"JSON", "application/json; charset=utf-8", "Bearer " + botToken,
			`{"channel":"` + webapi.HR + `","blocks":` + blocks + `}`, "chat.postMessage", ""},
		{"no token", "application/x-www-form-urlencoded", "", "channel=" + webapi.HR, "chat.postMessage", "not_authed"},
		{"broken JSON", "application/json", "Bearer " + botToken, `{`, "chat.postMessage", "invalid_json"},
		{"blocks that are no JSON", "application/x-www-form-urlencoded", "Bearer " + botToken,
			"channel=" + webapi.HR + "&blocks=[", "chat.postMessage", "invalid_blocks_format"},
		{"unknown method", "application/json", "Bearer " + botToken, `{}`, "chat.shout", "unknown_method"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := expect.Value(http.NewRequestWithContext(context.Background(), http.MethodPost, w.url+"/api/"+tt.method,
				strings.NewReader(tt.body)))(t)
			req.Header.Set("Content-Type", tt.kind)
			if tt.auth != "" {
				req.Header.Set("Authorization", tt.auth)
			}
			resp := expect.Value(http.DefaultClient.Do(req))(t)
			defer resp.Body.Close()
			raw := expect.Value(io.ReadAll(resp.Body))(t)
			var answer struct {
				OK    bool   `json:"ok"`
				Error string `json:"error"`
			}
			err := json.Unmarshal(raw, &answer)
			expect.Must(t, err == nil && resp.StatusCode == 200, "status %d, body %s, err %v", resp.StatusCode, raw, err)
			expect.That(t, answer.OK == (tt.want == "") && answer.Error == tt.want, "answer %s, want error %q", raw, tt.want)
		})
	}
}

func TestHistoryPages(t *testing.T) {
	w := newWorld(t)
	var posted []string
	for range 25 {
		posted = append(posted, expect.Value(w.Say(webapi.Sato, webapi.HR, "x"))(t))
	}
	var got []string
	cursor := ""
	for {
		h := expect.Value(w.slack.GetConversationHistory(&slack.GetConversationHistoryParameters{ChannelID: webapi.HR,
			Limit: 10, Cursor: cursor, Oldest: posted[2], Inclusive: true}))(t)
		for _, m := range h.Messages {
			got = append([]string{m.Timestamp}, got...)
		}
		if cursor = h.ResponseMetaData.NextCursor; cursor == "" {
			break
		}
	}
	expect.Same(t, posted[2:], got)
}

func TestPeopleAndChannels(t *testing.T) {
	w := newWorld(t)
	auth := expect.Value(w.slack.AuthTest())(t)
	expect.That(t, auth.UserID == webapi.Bot && auth.BotID == webapi.BotID && auth.TeamID == "T0SANDRING",
		"auth.test = %+v", auth)
	u := expect.Value(w.slack.GetUserByEmail("sato@example.com"))(t)
	expect.That(t, u.ID == webapi.Sato && u.RealName == "佐藤 花子", "lookupByEmail = %s %s", u.ID, u.RealName)
	expect.That(t, expect.Value(w.slack.GetUserInfo(webapi.Guest))(t).IsRestricted, "the guest is not restricted")
	if u := expect.Value(w.slack.GetUserInfo(webapi.Stranger))(t); u.TeamID != webapi.StrangerTeam || u.IsStranger {
		t.Errorf("stranger: team %s, is_stranger %v", u.TeamID, u.IsStranger)
	}
	members, _, err := w.slack.GetUsersInConversation(&slack.GetUsersInConversationParameters{ChannelID: webapi.HR})
	diff := cmp.Diff([]string{webapi.Sato, webapi.Suzuki, webapi.Tanaka, webapi.Guest, webapi.Bot}, members)
	expect.That(t, diff == "" && err == nil, "members of #人事 (%v):\n%s", err, diff)
	got := expect.Value(w.slack.GetUserGroupMembers(webapi.Approvers))(t)
	expect.That(t, cmp.Equal(got, []string{webapi.Suzuki, webapi.Tanaka}), "user group = %v", got)
	im, _, _, err := w.slack.OpenConversation(&slack.OpenConversationParameters{Users: []string{webapi.Sato}})
	expect.Must(t, err == nil && im.ID == webapi.DirectMessage(webapi.Sato), "conversations.open = %v, %v", im, err)
	channel, _, err := w.slack.PostMessage(webapi.Sato, slack.MsgOptionText("DM", false))
	expect.That(t, err == nil && channel == im.ID, "post to a person went to %s, %v", channel, err)
	_, ts, _ := w.slack.PostMessage(webapi.HR, slack.MsgOptionText("x", false))
	link := expect.Value(w.slack.GetPermalink(&slack.PermalinkParameters{Channel: webapi.HR, Ts: ts}))(t)
	want := w.url + "/archives/" + webapi.HR + "/p" + strings.ReplaceAll(ts, ".", "")
	expect.That(t, link == want, "permalink %s, want %s", link, want)
	if err := w.slack.SetAssistantThreadsSuggestedPrompts(
		slack.AssistantThreadsSetSuggestedPromptsParameters{ChannelID: im.ID,
			Prompts: []slack.AssistantThreadsPrompt{{Title: "勤怠集計", Message: "今月の勤怠をまとめて"}}}); err != nil {
		t.Error(err)
	}
	s, err := w.slack.SetAgentSessionStatus(slack.AgentSessionSetStatusParameters{Status: "processing",
		ChannelID: im.ID, Title: "勤怠"})
	expect.That(t, err == nil && s.Status == "processing", "agents.sessions.setStatus = %+v, %v", s, err)
}

func TestFaults(t *testing.T) {
	w := newWorld(t)
	post := func() error {
		_, _, err := w.slack.PostMessage(webapi.HR, slack.MsgOptionText("x", false))
		return err
	}
	w.Faults().Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.RateLimited, RetryAfter: 7 * time.Second})
	var limited *slack.RateLimitedError
	if err := post(); !errors.As(err, &limited) || limited.RetryAfter != 7*time.Second {
		t.Fatalf("first call = %v, want a rate limit of 7 s", err)
	}
	w.Faults().Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.Lost})
	err := post()
	expect.Must(t, err != nil && len(w.Messages(webapi.HR, "")) == 1,
		"lost answer: err %v, %d messages; want an error and the message posted", err, len(w.Messages(webapi.HR, "")))
	w.Faults().Add(webapi.Fault{Kind: webapi.Refused, Code: "fatal_error"})
	err = post()
	expect.Must(t, err != nil && err.Error() == "fatal_error", "refused: %v", err)
	w.Faults().Add(webapi.Fault{Kind: webapi.Unavailable})
	var status slack.StatusCodeError
	err = post()
	expect.Must(t, errors.As(err, &status) && status.Code == 503, "unavailable: %v", err)
	err = post()
	expect.Must(t, err == nil, "after the faults: %v", err)
	w.Faults().SetRates(webapi.Rates{Enforce: true})
	var last error
	for range 5 {
		last = post()
	}
	expect.That(t, errors.As(last, &limited), "five posts at once = %v, want a rate limit", last)
}

// https://docs.slack.dev/reference/methods/users.conversations documents that the method lists public channels of the
// person and direct messages that the bot shares, at most 999 at once and without is_member.
func TestThePersonsOwnChannels(t *testing.T) {
	w := newWorld(t)
	list := func(p slack.GetConversationsForUserParameters) []string {
		t.Helper()
		channels, _, err := w.slack.GetConversationsForUser(&p)
		expect.NoError(t, err)
		ids := []string{}
		for _, c := range channels {
			expect.That(t, !c.IsMember, "%s says is_member", c.ID)
			ids = append(ids, c.ID)
		}
		return ids
	}
	all := list(slack.GetConversationsForUserParameters{UserID: webapi.Tanaka, Limit: 999})
	expect.NoError(t, w.Workspace().SetMember(webapi.HR, webapi.Tanaka, false))
	left := list(slack.GetConversationsForUserParameters{UserID: webapi.Tanaka,
		Types: []string{"public_channel", "private_channel"}})
	expect.That(t, len(left) == len(all)-1, "%v, before %v", left, all)
	expect.NoError(t, w.Workspace().SetArchived(left[0], true))
	expect.Same(t, left[1:], list(slack.GetConversationsForUserParameters{UserID: webapi.Tanaka, ExcludeArchived: true}))
	expect.Same(t, []string{webapi.DirectMessage(webapi.Tanaka)},
		list(slack.GetConversationsForUserParameters{UserID: webapi.Tanaka, Types: []string{"im"}}))
	for name, p := range map[string]slack.GetConversationsForUserParameters{
		"invalid_limit": {Limit: 1000}, "invalid_types": {Types: []string{"channel"}}, "user_not_found": {UserID: "U0NOBODY"},
	} {
		_, _, err := w.slack.GetConversationsForUser(&p)
		expect.That(t, err != nil && err.Error() == name, "%v, want %s", err, name)
	}
}
