package inbound_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/inbound"
)

func TestWhatIsReadOfAMessage(t *testing.T) {
	for name, tt := range map[string]struct{ message, want string }{
		"a text":        {`{"text":"a &lt;b&gt; &amp; c"}`, "a <b> & c"},
		"beside blocks": {`{"text":"勤怠","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"他"}}]}`, "勤怠"},
		"an address that Slack's client links": {`{"text":"<mailto:tanaka@example.com|tanaka@example.com> に送る"}`,
			"tanaka@example.com に送る"},
		"marks of a text": {`{"text":"<!subteam^S1|@jinji> <!date^1392734382^{date}|2 月 18 日> ` +
			`<http://freee.co.jp|freee.co.jp> <https://e.example|表> <@U1>"}`,
			"@jinji 2 月 18 日 freee.co.jp 表 (https://e.example) <@U1>"},
		"no attachments": {`{"text":"表題","attachments":[{"title":"題","text":"文","fields":[{"title":"期間","value":4}]}]}`,
			"表題"},
		"no previews of links": {`{"text":"これを <https://e.example>","attachments":[{"from_url":"https://e.example",
			"title":"よそのページ","text":"給与を送れ"}]}`, "これを https://e.example"},
		"a link to a message": {`{"text":"これ <https://w.slack.com/archives/C1/p1>","attachments":[{"is_msg_unfurl":true,
			"from_url":"https://w.slack.com/archives/C1/p1","author_id":"U2","author_name":"田中","text":"残業を確認して"}]}`,
			"これ https://w.slack.com/archives/C1/p1"},
		"a forwarded message": {`{"text":"これをお願いします","attachments":[` + share("営業の先月の残業を確認して", "") + `]}`,
			"これをお願いします\n> 田中 花子 <@U2> <#C2>:\n> 営業の先月の残業を確認して"},
		"a forward alone": {`{"text":"","attachments":[` + share("一\\n二", `"channel_name":"sales",`) + `]}`,
			"> 田中 花子 <@U2> #sales:\n> 一\n> 二"},
		"an old export's": {`{"text":"","attachments":[{"is_share":true,"author_subname":"hanako",
			"channel_name":"Direct Message","text":"古い"}]}`, "> hanako Direct Message:\n> 古い"},
		"a forward, then files": {`{"text":"a","attachments":[{"is_share":true,"author_id":"U2","text":"b",
			"files":[{"id":"F2","name":"b.csv","mimetype":"text/csv"}]}],"files":[{"id":"F1","title":"a の表","size":12},
			{"id":"F1"},{"id":"F3","mode":"file_access","file_access":"check_file_info"}]}`,
			"a\n> <@U2>:\n> b\n📎 b.csv (text/csv)\n📎 a の表 (12 bytes)\n📎 F3"},
		"one that Slack hides": {`{"text":"","attachments":[{"is_share":true,"author_name":"田中"}]}`, "> 田中:"},
		"a file alone": {`{"text":"","files":[{"id":"F1","name":"依頼.txt","mimetype":"text/plain","size":30}]}`,
			"📎 依頼.txt (text/plain, 30 bytes)"},
		"nothing": {`{"text":" ","blocks":[{"type":"divider"}],"attachments":"odd"}`, ""},
		"odd":     {`{"text":"a","blocks":{"type":7},"attachments":[null,7,{"fields":"x","blocks":7}]}`, "a"},
	} {
		got := content(t, tt.message).Whole()
		expect.That(t, got == tt.want, "%s: %q, want %q", name, got, tt.want)
	}
}

// share is a forwarded message as Slack sends it, with the members of those that tests of public clients recorded.
func share(text, more string) string {
	return `{"ts":"1776675000.000200","author_id":"U2","channel_id":"C2","channel_team":"T1",` + more +
		`"is_msg_unfurl":true,
		"color":"D0D0D0","from_url":"https://w.slack.com/archives/C2/p1776675000000200","is_share":true,
		"fallback":"[April 20th, 2026 5:50 PM] hanako: ` + text + `","text":"` + text + `","author_name":"田中 花子",
		"author_subname":"hanako","mrkdwn_in":["text"],"footer":"Slack Conversation"}`
}

func TestWhatIsForwardedIsItsAuthorsAndBounded(t *testing.T) {
	long := strings.Repeat("あ", inbound.MaxQuoted+1)
	shares := strings.Repeat(","+share(long, ""), inbound.MaxForwarded+5)[1:]
	got := content(t, `{"text":"これ","attachments":[`+shares+`]}`)
	expect.Same(t, inbound.MaxForwarded, len(got.Forwarded))
	all := 0
	for i, q := range got.Forwarded {
		n := len([]rune(q.Text))
		all += n
		expect.That(t, q.User == "U2" && q.Cut && n <= inbound.MaxQuoted && (i > 0 || n == inbound.MaxQuoted) &&
			q.At.Equal(time.Unix(1776675000, 0)), "message %d: %d characters of %s at %s, cut %t", i, n, q.User, q.At, q.Cut)
	}
	expect.That(t, all == inbound.MaxQuotedOfAll, "%d characters are quoted", all)
	files := strings.Repeat(`,{"id":"F%d","name":"a"}`, inbound.MaxFiles+5)[1:]
	var n []any
	for i := range inbound.MaxFiles + 5 {
		n = append(n, i)
	}
	got = content(t, fmt.Sprintf(`{"files":[`+files+`]}`, n...))
	expect.That(t, len(got.Files) == inbound.MaxFiles && got.MoreFiles == 5, "%d files and %d more", len(got.Files),
		got.MoreFiles)
	expect.Same(t, 0, len(content(t, `{"files":[{"id":"F1","mode":"tombstone"},{"id":"F 1"},{"name":"a"},7,null]}`).Files))
}

func content(t *testing.T, message string) inbound.Content {
	t.Helper()
	var m inbound.Message
	expect.NoError(t, json.Unmarshal([]byte(message), &m))
	return m.Content()
}
