package inbound_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/inbound"
)

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
		{"marks that are only letters", in("rich_text_section", word("`", ""), mention(""), word(" 残業`", "")), "`<@U0BOT> 残業`"},
		{"code", in("rich_text_section", mention(code), word(" 残業", code)), ""},
		{"struck", in("rich_text_section", mention(strike), word(" 残業", strike)), ""},
		{"partly struck", in("rich_text_section", mention(""), word("営業", strike), word(" 人事", "")), "<@U0BOT> 人事"},
		{"quoted", in("rich_text_quote", mention(""), word(" 残業", "")), ""},
		{"preformatted", in("rich_text_preformatted", word("<@U0BOT> 残業", "")), ""},
		{"a quote and an answer", in("rich_text_quote", word("残業は?", "")) + "," + in("rich_text_section", mention(""), word(" はい", "")), "<@U0BOT> はい"},
		{"a list", `{"type":"rich_text_list","style":"bullet","elements":[` + in("rich_text_section", mention("")) + `]}`, "<@U0BOT>"},
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
