package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/inbound"
)

// elements is a rich_text block's; a string stands for a section of one text.
func elements(t *testing.T, all string) any {
	t.Helper()
	var out []any
	expect.NoError(t, json.Unmarshal([]byte(all), &out))
	return out
}

const (
	section = `{"type":"rich_text_section","elements":[`
	quote   = `{"type":"rich_text_quote","elements":[`
	code    = `{"type":"rich_text_preformatted","border":0,"elements":[`
)

func said(text string) string {
	raw, _ := json.Marshal(map[string]string{"type": "text", "text": text})
	return string(raw)
}

func style(element, styles string) string {
	var of []string
	for s := range strings.FieldsSeq(styles) {
		of = append(of, `"`+s+`":true`)
	}
	return strings.TrimSuffix(element, "}") + `,"style":{` + strings.Join(of, ",") + `}}`
}

func items(style string, indent, offset string, texts ...string) string {
	var sections []string
	for _, text := range texts {
		sections = append(sections, section+said(text)+"]}")
	}
	return `{"type":"rich_text_list","style":"` + style + `","indent":` + indent + offset + `,"border":0,"elements":[` +
		strings.Join(sections, ",") + "]}"
}

const hr = `{"type":"channel","channel_id":"` + webapi.HR + `"}`

// typed are texts that a person types, with the text and the elements that Slack's clients send for them, by messages
// that users of public clients recorded.
var typed = []struct{ name, typed, text, elements string }{
	{"words", "a & b < c > d", "a &amp; b &lt; c &gt; d", section + said("a & b < c > d") + "]}"},
	{"an emoji", "お願いします🙏", "お願いします:pray:",
		section + said("お願いします") + `,{"type":"emoji","name":"pray","unicode":"1f64f"}]}`},
	{"an emoji by its name", "👍🏽 :thumbsup: 10:30:00 :nothing:", ":+1::skin-tone-4: :thumbsup: 10:30:00 :nothing:",
		section + `{"type":"emoji","name":"+1","unicode":"1f44d-1f3fd","skin_tone":4},` + said(" ") +
			`,{"type":"emoji","name":"thumbsup","unicode":"1f44d"},` + said(" 10:30:00 :nothing:") + "]}"},
	{"emoji of several characters", "1️⃣👨‍👩‍👧🇯🇵⭐️ © ❤",
		":one::man-woman-girl::jp::star: © ❤", section + `{"type":"emoji","name":"one","unicode":"0031-fe0f-20e3"},
		{"type":"emoji","name":"man-woman-girl","unicode":"1f468-200d-1f469-200d-1f467"},
		{"type":"emoji","name":"jp","unicode":"1f1ef-1f1f5"},{"type":"emoji","name":"star","unicode":"2b50"},` +
			said(" © ❤") + "]}"},
	{"a mail address", "sato@example.com に(h@h.pl)、x@nowhere.invalid",
		"<mailto:sato@example.com|sato@example.com> に(<mailto:h@h.pl|h@h.pl>)、x@nowhere.invalid",
		section + `{"type":"link","url":"mailto:sato@example.com","text":"sato@example.com"},` + said(" に(") +
			`,{"type":"link","url":"mailto:h@h.pl","text":"h@h.pl"},` + said(")、x@nowhere.invalid") + "]}"},
	{"a mail address that a person's handle stands in", "x@sato.example.com",
		"<mailto:x@sato.example.com|x@sato.example.com>",
		section + `{"type":"link","url":"mailto:x@sato.example.com","text":"x@sato.example.com"}]}`},
	{"a full-width at sign", "sato＠example.com", "sato＠<http://example.com|example.com>",
		section + said("sato＠") + `,{"type":"link","url":"http://example.com","text":"example.com"}]}`},
	{"addresses", "https://e.example/a_b_c?x=1&y=2。 see example.com/a, and https://e.example/.",
		"<https://e.example/a_b_c?x=1&amp;y=2>。 see <http://example.com/a|example.com/a>, and <https://e.example/>.",
		section + `{"type":"link","url":"https://e.example/a_b_c?x=1&y=2"},` + said("。 see ") +
			`,{"type":"link","url":"http://example.com/a","text":"example.com/a"},` + said(", and ") +
			`,{"type":"link","url":"https://e.example/"},` + said(".") + "]}"},
	{"files that look like domains", "travel.md と 一覧.csv、v1.2 e.g. list.xlsx",
		"<http://travel.md|travel.md> と 一覧.csv、v1.2 e.g. list.xlsx",
		section + `{"type":"link","url":"http://travel.md","text":"travel.md"},` + said(" と 一覧.csv、v1.2 e.g. list.xlsx") +
			"]}"},
	{"styles", "*太字* _斜体 と ~取消~_ *a🙏* 4/1~4/15 snake_case_name 2*3*4",
		"*太字* _斜体 と ~取消~_ *a:pray:* 4/1~4/15 snake_case_name 2*3*4",
		section + style(said("太字"), "bold") + "," + said(" ") + "," + style(said("斜体 と "), "italic") + "," +
			style(said("取消"), "italic strike") + "," + said(" ") + "," + style(said("a"), "bold") + "," +
			style(`{"type":"emoji","name":"pray","unicode":"1f64f"}`, "bold") + "," +
			said(" 4/1~4/15 snake_case_name 2*3*4") + "]}"},
	{"code", "`*a* 🙏 x@h.pl` と", "`*a* 🙏 x@h.pl` と", section + style(said("*a* 🙏 x@h.pl"), "code") + "," + said(" と") +
		"]}"},
	{"a block of code", "例:\n```\n- a <b>\n> c\n```\n終わり", "例:\n```- a &lt;b&gt;\n&gt; c```\n終わり",
		section + said("例:\n") + "]}," + code + said("- a <b>\n> c") + "]}," + section + said("終わり") + "]}"},
	{"a quote", "これ\n> 先月の\n> 残業は?\nはい", "これ\n&gt; 先月の\n&gt; 残業は?\nはい",
		section + said("これ\n") + "]}," + quote + said("先月の\n残業は?") + "]}," + section + said("はい") + "]}"},
	{"a quote to the end", ">>> a\nb", "&gt; a\n&gt; b", quote + said("a\nb") + "]}"},
	{"a list", "対象:\n- 営業\n- 人事\nだけ", "対象:\n• 営業\n• 人事\nだけ",
		section + said("対象:\n") + "]}," + items("bullet", "0", "", "営業", "人事") + "," + section + said("だけ") + "]}"},
	{"a numbered list around its sublist", "1. 集計\n    1. 営業\n    2. 人事\n        - 東京\n2. 送付",
		"1. 集計\n    a. 営業\n    b. 人事\n        ▪︎ 東京\n2. 送付",
		items("ordered", "0", "", "集計") + "," + items("ordered", "1", "", "営業", "人事") + "," + items("bullet", "2", "", "東京") +
			"," + items("ordered", "0", `,"offset":1`, "送付")},
	{"no list", "-5 度\n1.5 倍\n・中黒\n2026.4", "-5 度\n1.5 倍\n・中黒\n2026.4", section + said("-5 度\n1.5 倍\n・中黒\n2026.4") + "]}"},
	{"mentions", "@佐藤 花子さん @sato #人事 @here @hr-approvers @hereafter",
		"<@" + webapi.Sato + ">さん <@" + webapi.Sato + "> <#" + webapi.HR + "|人事> <!here> <!subteam^" +
			webapi.Approvers + "|@hr-approvers> @hereafter",
		section + `{"type":"user","user_id":"` + webapi.Sato + `"},` + said("さん ") + `,{"type":"user","user_id":"` +
			webapi.Sato + `"},` + said(" ") + "," + hr + "," + said(" ") + `,{"type":"broadcast","range":"here"},` +
			said(" ") +
			`,{"type":"usergroup","usergroup_id":"` + webapi.Approvers + `"},` + said(" @hereafter") + "]}"},
}

// What a person types reaches the app as Slack's clients send it: text and blocks say the same, and both are read as
// what was typed.
func TestWhatIsTypedIsSentAsSlackSendsIt(t *testing.T) {
	w := newWorld(t)
	for _, tt := range typed {
		t.Run(tt.name, func(t *testing.T) {
			status, answer := w.send(t, http.MethodPost, "say", "application/json",
				string(raw(t, map[string]any{"user": webapi.Sato, "channel": webapi.HR, "text": tt.typed})))
			expect.Must(t, status == http.StatusOK, "status %d: %v", status, answer)
			all := w.Messages(webapi.HR, "")
			m := all[len(all)-1]
			expect.Is(t, m.Text, tt.text)
			var sent inbound.Message
			expect.NoError(t, json.Unmarshal(raw(t, m), &sent))
			if diff := cmp.Diff(elements(t, "["+tt.elements+"]"), at(sent.Blocks, 0, "elements")); diff != "" {
				t.Errorf("elements (-want +got):\n%s", diff)
			}
			expect.Is(t, sent.Content().Text, inbound.Message{Text: m.Text}.Content().Text, "text and blocks don't say the same")
		})
	}
}
