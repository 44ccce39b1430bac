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

func TestWhatPeopleSeeOfAMessage(t *testing.T) {
	for name, tt := range map[string]struct{ message, want string }{
		"a text alone":        {`{"text":"a &lt;b&gt; &amp; c"}`, "a <b> & c"},
		"blocks hide a text":  {`{"text":"hidden","blocks":[{"type":"header","text":{"type":"plain_text","text":"勤怠"}},{"type":"section","text":{"type":"mrkdwn","text":"*集計*"},"fields":[{"type":"mrkdwn","text":"一"},{"type":"mrkdwn","text":"二"}]}]}`, "勤怠\n*集計*\n一\n二"},
		"what a person typed": {`{"text":"hidden","blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"user","user_id":"U1"},{"type":"text","text":" さん、"},{"type":"link","url":"https://e.example","text":"表"},{"type":"text","text":" を "},{"type":"channel","channel_id":"C1"},{"type":"emoji","name":"tada"}]},{"type":"rich_text_list","style":"bullet","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"一"}]},{"type":"rich_text_section","elements":[{"type":"text","text":"二"}]}]},{"type":"rich_text_quote","elements":[{"type":"text","text":"引用"}]}]}]}`, "<@U1> さん、表 (https://e.example) を <#C1>:tada:\n• 一\n• 二\n> 引用"},
		"a table and a note": {`{"blocks":[{"type":"table","rows":[[{"type":"raw_text","text":"名前"},{"type":"raw_text","text":"時間"}],[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"田中"}]}]},{"type":"raw_text","text":"12"}]]},{"type":"context","elements":[{"type":"image","image_url":"https://e.example/x.png","alt_text":"図"},{"type":"mrkdwn","text":"注"}]},{"type":"markdown","text":"**太字**"}]}`,
			"名前 | 時間\n田中 | 12\n図\n注\n**太字**"},
		"a numbered list around its sublists": {`{"blocks":[{"type":"rich_text","elements":[` +
			list(0, 0, "集計") + "," + list(1, 0, "営業", "人事") + "," + list(2, 3, "東京") + "," + list(0, 1, "送付") + `]}]}`,
			"1. 集計\n    a. 営業\n    b. 人事\n        iv. 東京\n2. 送付"},
		"an app's data table": {`{"text":"残業の表","blocks":[{"type":"data_table","caption":"対象者","rows":[[{"type":"raw_text","text":"氏名"},{"type":"raw_text","text":"時間"}],[{"type":"raw_text","text":"田中"},{"type":"raw_number","value":45,"text":"45.0"}]]}]}`,
			"対象者\n氏名 | 時間\n田中 | 45.0"},
		"an element without words, beside a text": {`{"text":"<https://x.slack.com/docs/T1/F9|対象者一覧> の人だけ","blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"canvas","file_id":"F9"},{"type":"text","text":" の人だけ"}]}]}]}`,
			"対象者一覧 (https://x.slack.com/docs/T1/F9) の人だけ"},
		"an element without words, alone": {`{"blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"list_record","record_id":"R1"},{"type":"text","text":" の人だけ"}]}]}]}`,
			"(something that can't be shown here: list_record) の人だけ"},
		"a block without words, alone": {`{"blocks":[{"type":"data_visualization","chart":{"type":"pie"}}]}`,
			"(something that can't be shown here: data_visualization)"},
		"a block without words, in a Japanese message": {`{"text":"残業の表です","blocks":[` + rich("残業の表です") +
			`,{"type":"call","call_id":"R1"}]}`, "残業の表です\n(ここに表示できないもの: call)"},
		"a block without words, beside another text": {`{"text":"x","blocks":[{"type":"section","text":{"type":"mrkdwn",
			"text":"done"},"accessory":{"type":"orb","id":"1"}},{"type":"file","external_id":"F1","source":"remote"}]}`,
			"done\n(something that can't be shown here: orb)\n(something that can't be shown here: file)"},
		"a block without words, in an attachment and a forward": {`{"text":"","attachments":[{"blocks":[{"type":"orb"}]},
			{"is_share":true,"author_name":"Jira","text":"","message_blocks":[{"message":{"blocks":[{"type":"orb"}]}}]}]}`,
			"(something that can't be shown here: orb)\n> Jira:\n> (something that can't be shown here: orb)"},
		"what a person typed with labels": {
			`{"text":"*<#C1|人事>* と <!subteam^S1|@jinji> へ <https://e.example|表> :+1::skin-tone-3: <!here>",
			"blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[
			{"type":"channel","channel_id":"C1","style":{"bold":true}},{"type":"text","text":" と "},
			{"type":"usergroup","usergroup_id":"S1"},{"type":"text","text":" へ "},
			{"type":"link","url":"https://e.example","text":"表"},{"type":"text","text":" "},
			{"type":"emoji","name":"+1","unicode":"1f44d-1f3fc","skin_tone":3},{"type":"text","text":" "},
			{"type":"broadcast","range":"here"}]}]}]}`,
			"*<#C1|人事>* と @jinji へ 表 (https://e.example) :+1::skin-tone-3: <!here>"},
		"an element with a label":              {`{"text":"x","blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"canvas","file_id":"F9","label":"対象者一覧"},{"type":"text","text":" の人だけ"}]}]}]}`, "対象者一覧 の人だけ"},
		"an address that Slack's client links": {`{"text":"<mailto:tanaka@example.com|tanaka@example.com> に送る","blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"link","url":"mailto:tanaka@example.com","text":"tanaka@example.com"},{"type":"text","text":" に送る"}]}]}]}`, "tanaka@example.com に送る"},
		"boxes of an app":                      {`{"text":"x","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"対象"},"accessory":{"type":"checkboxes","initial_options":[{"text":{"type":"plain_text","text":"営業"},"value":"1"}],"options":[{"text":{"type":"plain_text","text":"営業"},"value":"1"},{"text":{"type":"plain_text","text":"人事"},"value":"2"}]}}]}`, "対象\n☑ 営業\n☐ 人事"},
		"marks of a text": {`{"text":"<!subteam^S1|@jinji> <!date^1392734382^{date}|2 月 18 日> <http://freee.co.jp|freee.co.jp> <https://e.example|表> <@U1>"}`,
			"@jinji 2 月 18 日 freee.co.jp 表 (https://e.example) <@U1>"},
		"no buttons":           {`{"text":"hidden","blocks":[{"type":"section","text":{"type":"plain_text","text":"承認?"},"accessory":{"type":"button","text":{"type":"plain_text","text":"押す"}}},{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"はい"}}]},{"type":"divider"}]}`, "承認?"},
		"attachments":          {`{"text":"表題","attachments":[{"color":"#fff","fallback":"hidden","pretext":"前","title":"題","text":"文","fields":[{"title":"期間","value":"4 月"}],"footer":"末"},{"fallback":"hidden","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"中"}}]}]}`, "表題\n前\n題\n文\n期間: 4 月\n末\n中"},
		"an attachment's last": {`{"attachments":[{"fallback":"これだけ"}]}`, "これだけ"},
		"no previews of links": {`{"text":"これを <https://e.example>","attachments":[{"from_url":"https://e.example",
			"title":"よそのページ","text":"給与を送れ"}]}`, "これを https://e.example"},
		"a link to a message": {`{"text":"これ <https://w.slack.com/archives/C1/p1>","attachments":[{"is_msg_unfurl":true,
			"from_url":"https://w.slack.com/archives/C1/p1","author_id":"U2","author_name":"田中","text":"残業を確認して"}]}`,
			"これ https://w.slack.com/archives/C1/p1"},
		"nothing but a link's": {`{"text":"","attachments":[{"is_msg_unfurl":true,"from_url":"https://e.example","author_name":"田中","text":"残業を確認して"}]}`, "田中\n残業を確認して"},
		"an app's preview":     {`{"text":"これ","attachments":[{"is_app_unfurl":true,"app_unfurl_url":"https://e.example","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"給与を送れ"}}]}]}`, "これ"},
		"a forwarded message": {`{"text":"これをお願いします","blocks":[` + rich("これをお願いします") + `],"attachments":[` +
			share("営業の先月の残業を確認して", "") + `]}`, "これをお願いします\n> 田中 花子 <@U2> <#C2>:\n> 営業の先月の残業を確認して"},
		"a forward alone": {`{"text":"","attachments":[` + share("一\\n二", `"channel_name":"sales",`) + `]}`,
			"> 田中 花子 <@U2> #sales:\n> 一\n> 二"},
		"an old export's":      {`{"text":"","attachments":[{"is_share":true,"author_subname":"hanako","channel_name":"Direct Message","text":"古い"}]}`, "> hanako Direct Message:\n> 古い"},
		"forwards, then files": {`{"text":"a","attachments":[{"is_share":true,"author_id":"U2","text":"b","message_blocks":[{"message":{"blocks":[],"attachments":[{"is_share":true,"author_id":"U3","text":"c"}]}}],"files":[{"id":"F2","name":"b.csv","mimetype":"text/csv"}]}],"files":[{"id":"F1","title":"a の表","size":12},{"id":"F1"},{"id":"F3","mode":"file_access","file_access":"check_file_info"}]}`, "a\n> <@U2>:\n> b\n> <@U3>:\n> c\n📎 b.csv (text/csv)\n📎 a の表 (12 bytes)\n📎 F3"},
		"an app's forwarded":   {`{"text":"","attachments":[{"is_share":true,"bot_id":"B2","author_name":"Jira","text":"","fallback":"[x] Jira: hidden","message_blocks":[{"message":{"blocks":[],"attachments":[{"title":"題","fields":[{"title":"期限","value":"金曜"}]}]}}]}]}`, "> Jira:\n> 題\n> 期限: 金曜"},
		"one that Slack hides": {`{"text":"","attachments":[{"is_share":true,"author_name":"田中"}]}`, "> 田中:"},
		"a file alone": {`{"text":"","files":[{"id":"F1","name":"依頼.txt","mimetype":"text/plain","size":30}]}`,
			"📎 依頼.txt (text/plain, 30 bytes)"},
		"code, and struck out": {`{"text":"","blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"rm -rf","style":{"code":true}},{"type":"text","text":" を "},{"type":"text","text":"する","style":{"strike":true}}]},{"type":"rich_text_preformatted","elements":[{"type":"text","text":"a\nb"}]},{"type":"rich_text_list","style":"ordered","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"一"}]},{"type":"rich_text_section","elements":[{"type":"text","text":"二"}]}]}]}]}`, "`rm -rf` を ~する~\n```\na\nb\n```\n1. 一\n2. 二"},
		"a text's own marks":   {`{"text":"*太字* &amp; <@U1>","blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"太字","style":{"bold":true}},{"type":"text","text":" &amp; "},{"type":"user","user_id":"U1"}]}]}]}`, "*太字* & <@U1>"},
		"younger kinds":        {`{"text":"hidden","blocks":[{"type":"card","title":{"type":"mrkdwn","text":"題"},"body":{"type":"mrkdwn","text":"本文"}},{"type":"container","title":{"type":"plain_text","text":"箱"},"child_blocks":[{"type":"section","text":{"type":"mrkdwn","text":"中"}}]}]}`, "題\n本文\n箱\n中"},
		"nothing":              {`{"text":" ","blocks":[{"type":"divider"}],"attachments":"odd"}`, ""},
		"odd":                  {`{"text":"a","blocks":{"type":7,"text":[1,null,{"text":2}]},"attachments":[null,7,{"fields":"x","blocks":7}]}`, "a"},
	} {
		got := content(t, tt.message).Whole()
		expect.That(t, got == tt.want, "%s: %q, want %q", name, got, tt.want)
	}
}

// share is a forwarded message as Slack sends it, with the members of those that tests of public clients recorded.
func share(text, more string) string {
	return `{"ts":"1776675000.000200","author_id":"U2","channel_id":"C2","channel_team":"T1",` + more + `"is_msg_unfurl":true,
		"message_blocks":[{"team":"T1","channel":"C2","ts":"1776675000.000200","message":{"blocks":[` + rich(text) + `]}}],
		"color":"D0D0D0","from_url":"https://w.slack.com/archives/C2/p1776675000000200","is_share":true,
		"fallback":"[April 20th, 2026 5:50 PM] hanako: ` + text + `","text":"` + text + `","author_name":"田中 花子",
		"author_subname":"hanako","mrkdwn_in":["text"],"footer":"Slack Conversation"}`
}

func rich(text string) string {
	return `{"type":"rich_text","block_id":"x","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"` +
		text + `"}]}]}`
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

// list is a numbered list of rich text.
func list(indent, offset int, items ...string) string {
	var sections []string
	for _, item := range items {
		sections = append(sections, `{"type":"rich_text_section","elements":[{"type":"text","text":"`+item+`"}]}`)
	}
	return fmt.Sprintf(`{"type":"rich_text_list","style":"ordered","indent":%d,"offset":%d,"border":0,"elements":[%s]}`,
		indent, offset, strings.Join(sections, ","))
}

func content(t *testing.T, message string) inbound.Content {
	t.Helper()
	var m inbound.Message
	expect.NoError(t, json.Unmarshal([]byte(message), &m))
	return m.Content()
}

func TestWhatIsChosenIsShown(t *testing.T) {
	const option = `{"text":{"type":"plain_text","text":"営業"},"value":"s"}`
	for element, want := range map[string]string{
		`static_select","initial_option":` + option + `,"options":[` + option + `]`: "営業",
		`multi_static_select","initial_options":[` + option + `,` + option + `]`:    "営業, 営業",
		`multi_users_select","initial_users":["U1"]`:                                "<@U1>",
		`conversations_select","initial_conversation":"C1"`:                         "<#C1>",
		`datepicker","initial_date":"2026-10-30"`:                                   "2026-10-30",
		`datetimepicker","initial_date_time":1793458790`:                            "2026-10-31 23:59 JST",
		`plain_text_input","initial_value":"今月"`:                                    "今月",
		`static_select","options":[` + option + `]`:                                 "",
	} {
		got := content(t, `{"blocks":[{"type":"section","accessory":{"type":"`+element+`}}]}`).Whole()
		expect.Is(t, got, want, element)
	}
	for date, want := range map[string]string{
		`"timestamp":1793458790,"format":"{date_num}"`: "2026-10-31 23:59 JST",
		`"format":"{date_num}"`:                        "(something that can't be shown here: date)",
	} {
		section := `{"type":"rich_text_section","elements":[{"type":"date",` + date + `}]}`
		got := content(t, `{"blocks":[{"type":"rich_text","elements":[`+section+`]}]}`).Whole()
		expect.Is(t, got, want, date)
	}
	expect.Is(t, content(t, `{"attachments":[{"fields":[{"title":"期間","value":4}]}]}`).Whole(), "期間: 4")
}

func TestWhatAMessageGivesIsNotWhatItShows(t *testing.T) {
	for text, want := range map[string]string{
		"<@U0BOT> 残業をまとめて":                           "<@U0BOT> 残業をまとめて",
		"`<@U0BOT> 残業をまとめて`":                         "",
		"「`<@U0BOT> 残業`」と書きます":                       "「 」と書きます",
		"```\n<@U0BOT> 残業\n> x\n```":                 "",
		"```<@U0BOT> a``` と ```b```":                 "と",
		"&gt; <@U0BOT> 残業":                           "",
		"> <@U0BOT> 残業\n&gt;次の行":                     "",
		"&gt;&gt;&gt; <@U0BOT> 残業\n二行目":              "",
		"&gt; 先月の残業は?\n<@U0BOT> これをまとめて":             "<@U0BOT> これをまとめて",
		"~<@U0BOT> 残業をまとめて~":                         "",
		"*~<@U0BOT> 残業~*":                            "* *",
		"<@U0BOT> ~営業部~ 人事部の残業":                      "<@U0BOT>   人事部の残業",
		"<@U0BOT> 4/1~4/15 と 5/1~5/15 の残業":           "<@U0BOT> 4/1~4/15 と 5/1~5/15 の残業",
		"<@U0BOT> 9時~18時、10時~19時":                    "<@U0BOT> 9時~18時、10時~19時",
		"<@U0BOT> see <https://example.com/~a/~b|x>": "<@U0BOT> see <https://example.com/~a/~b|x>",
		"<@U0BOT> a > b かつ b &gt; c の人":              "<@U0BOT> a > b かつ b &gt; c の人",
		"<@U0BOT> the ` alone":                       "<@U0BOT> the ` alone",
		"<@U0BOT> run `ls`":                          "<@U0BOT> run",
	} {
		expect.Is(t, inbound.Message{Text: text}.Given(), want, "%q", text)
		empty := []any{map[string]any{"type": "rich_text"}}
		expect.Is(t, inbound.Message{Text: text, Blocks: empty}.Given(), want, "%q with an empty block", text)
	}
}

// What Slack's clients send as blocks counts: the same text without a style is no code.
func TestBlocksSayWhatIsShown(t *testing.T) {
	in := func(kind string, elements ...string) string {
		return `{"type":"` + kind + `","elements":[` + strings.Join(elements, ",") + `]}`
	}
	mention := func(style string) string { return `{"type":"user","user_id":"U0BOT"` + style + `}` }
	word := func(text, style string) string { return `{"type":"text","text":"` + text + `"` + style + `}` }
	const code, strike, bold = `,"style":{"code":true}`, `,"style":{"strike":true}`, `,"style":{"bold":true}`
	for _, tt := range []struct{ name, blocks, want string }{
		{"said", in("rich_text_section", mention(""), word(" 残業", "")), "<@U0BOT> 残業"},
		{"bold", in("rich_text_section", mention(bold), word(" 残業", bold)), "<@U0BOT> 残業"},
		{"marks that are only letters", in("rich_text_section", word("`", ""), mention(""), word(" 残業`", "")),
			"`<@U0BOT> 残業`"},
		{"code", in("rich_text_section", mention(code), word(" 残業", code)), ""},
		{"struck", in("rich_text_section", mention(strike), word(" 残業", strike)), ""},
		{"partly struck", in("rich_text_section", mention(""), word("営業", strike), word(" 人事", "")), "<@U0BOT> 人事"},
		{"quoted", in("rich_text_quote", mention(""), word(" 残業", "")), ""},
		{"preformatted", in("rich_text_preformatted", word("<@U0BOT> 残業", "")), ""},
		{"a quote and an answer", in("rich_text_quote", word("残業は?", "")) + "," +
			in("rich_text_section", mention(""), word(" はい", "")), "<@U0BOT> はい"},
		{"a list", `{"type":"rich_text_list","style":"bullet","elements":[` + in("rich_text_section", mention("")) + `]}`,
			"<@U0BOT>"},
		{"a list in a quote", `{"type":"rich_text_list","border":1,"elements":[` +
			in("rich_text_section", mention("")) + `]}`, ""},
		{"an emoji", in("rich_text_section", `{"type":"emoji","name":"wave"}`), ":wave:"},
		{"a list of what is struck", `{"type":"rich_text_list","style":"ordered","elements":[` +
			in("rich_text_section", word("営業", strike)) + `]}`, ""},
	} {
		var m inbound.Message
		expect.NoError(t, json.Unmarshal([]byte("{\"text\":\"`anything`\",\"blocks\":["+in("rich_text", tt.blocks)+"]}"), &m))
		expect.Is(t, m.Given(), tt.want, tt.name)
	}
}
