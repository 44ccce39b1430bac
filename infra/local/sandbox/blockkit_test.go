package sandbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

func decode(t *testing.T, s string) any {
	t.Helper()
	var v any
	err := json.Unmarshal([]byte(s), &v)
	expect.Must(t, err == nil, "decode %s: %v", s, err)
	return v
}

func repeat(item string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

func TestBlocksAnswersAsSlackDoes(t *testing.T) {
	tests := []struct {
		name, blocks string
		want         []string
	}{
		{"a card's blocks", `[{"type":"header","text":{"type":"plain_text","text":"📝 実行方針","emoji":true}},
			{"type":"section","text":{"type":"mrkdwn","text":"*x*"}},{"type":"divider"},
			{"type":"actions","block_id":"01J","elements":[{"type":"button",
				"text":{"type":"plain_text","text":"✅ 承認","emoji":true},
				"action_id":"approve_prompt","value":"p","style":"primary"}]},
			{"type":"context","elements":[{"type":"mrkdwn","text":"x"}]}]`, nil},
		{"empty text", `[{"type":"section","text":{"type":"mrkdwn","text":""}}]`,
			[]string{"must be more than 0 characters [json-pointer:/blocks/0/text/text]"}},
		{"an empty header", `[{"type":"header","text":{"type":"plain_text","text":""}}]`,
			[]string{"must be more than 0 characters [json-pointer:/blocks/0/text/text]"}},
		{"an empty field", `[{"type":"section","fields":[{"type":"mrkdwn","text":""}]}]`,
			[]string{"must be more than 0 characters [json-pointer:/blocks/0/fields/0/text]"}},
		{"header without text", `[{"type":"header"}]`, []string{"missing required field: text [json-pointer:/blocks/0]"}},
		{"emoji in mrkdwn", `[{"type":"section","text":{"type":"mrkdwn","text":"x","emoji":true}}]`,
			[]string{"invalid additional property: emoji [json-pointer:/blocks/0/text]"}},
		{"a context of nothing", `[{"type":"context","elements":[]}]`,
			[]string{"no fewer than 1 items allowed [json-pointer:/blocks/0/elements]"}},
		{"actions of nothing", `[{"type":"actions","elements":[]}]`,
			[]string{"no fewer than 1 items allowed [json-pointer:/blocks/0/elements]"}},
		{"actions without elements", `[{"type":"actions"}]`,
			[]string{"missing required field: elements [json-pointer:/blocks/0]"}},
		{"a button without text", `[{"type":"actions","elements":[{"type":"button"}]}]`,
			[]string{"missing required field: text [json-pointer:/blocks/0/elements/0]"}},
		{"a question without title", `[{"type":"actions","elements":[{"type":"button",
			"text":{"type":"plain_text","text":"x"},
			"confirm":{"text":{"type":"plain_text","text":"x"},
			"confirm":{"type":"plain_text","text":"x"},"deny":{"type":"plain_text","text":"x"}}}]}]`,
			[]string{"missing required field: title [json-pointer:/blocks/0/elements/0/confirm]"}},
		{"76 emoji count twice", `[{"type":"header","text":{"type":"plain_text","text":"` + strings.Repeat("😀", 76) + `"}}]`,
			[]string{"must be less than 151 characters [json-pointer:/blocks/0/text/text]"}},
		{"section without text", `[{"type":"section"}]`, []string{"missing required field: text [json-pointer:/blocks/0]"}},
		{"header in mrkdwn", `[{"type":"header","text":{"type":"mrkdwn","text":"x"}}]`,
			[]string{"must be a valid enum value: plain_text [json-pointer:/blocks/0/text/type]"}},
		{"button style", `[{"type":"actions","elements":[{"type":"button","style":"warning",
			"text":{"type":"plain_text","text":"x"}}]}]`,
			[]string{"must be a valid enum value: primary, danger [json-pointer:/blocks/0/elements/0/style]"}},
		{"unknown block", `[{"type":"marquee"}]`, []string{"unsupported type: marquee [json-pointer:/blocks/0/type]"}},
		{"unknown property", `[{"type":"divider","colour":"red"}]`,
			[]string{"invalid additional property: colour [json-pointer:/blocks/0]"}},
		{"same block_id twice", `[{"type":"divider","block_id":"a"},{"type":"divider","block_id":"a"}]`,
			[]string{"`block_id` `a` already exists [json-pointer:/blocks/1/block_id]"}},
		{"same action_id twice", `[{"type":"actions","elements":` +
			repeat(`{"type":"button","action_id":"a","text":{"type":"plain_text","text":"x"}}`, 2) + `}]`,
			[]string{"`action_id` `a` already exists [json-pointer:/blocks/0/elements/1/action_id]"}},
		{"not a block", `["x"]`, []string{"must be a valid block [json-pointer:/blocks/0]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range webapi.Blocks(decode(t, tt.blocks).([]any), "/blocks", webapi.MaxMessageBlocks) {
				got = append(got, p.String())
			}
			expect.Same(t, tt.want, got)
		})
	}
}

func TestViewAnswersAsSlackDoes(t *testing.T) {
	input := `{"type":"input","block_id":"b","label":{"type":"plain_text","text":"理由"},
		"element":{"type":"plain_text_input","action_id":"a","multiline":true}}`
	modal := func(title, more, blocks string) string {
		return fmt.Sprintf(`{"type":"modal","title":{"type":"plain_text","text":%q}%s,"blocks":%s}`, title, more, blocks)
	}
	submit := `,"submit":{"type":"plain_text","text":"送信"}`
	tests := []struct {
		name, view string
		want       []string
	}{
		{"a form", modal("却下理由", submit, "["+input+"]"), nil},
		{"an input and no submit", modal("x", "", "["+input+"]"),
			[]string{"missing required field: submit [json-pointer:/view]"}},
		{"no title", `{"type":"modal","blocks":[]}`, []string{"missing required field: title [json-pointer:/view]"}},
		{"a title that formats", `{"type":"modal","title":{"type":"mrkdwn","text":"x"},"blocks":[]}`,
			[]string{"must be a valid enum value: plain_text [json-pointer:/view/title/type]"}},
		{"an input of nothing", modal("x", submit, `[{"type":"input","label":{"type":"plain_text","text":"x"}}]`),
			[]string{"missing required field: element [json-pointer:/view/blocks/0]"}},
		{"a field of 3001", modal("x", submit, strings.Replace("["+input+"]", `"multiline":true`, `"max_length":3001`, 1)),
			[]string{"must be less than or equal to 3000 [json-pointer:/view/blocks/0/element/max_length]"}},
		{"a field of 3001 at least", modal("x", submit, strings.Replace("["+input+"]", `"multiline":true`,
			`"min_length":3001`, 1)), []string{"must be less than or equal to 3000 " +
			"[json-pointer:/view/blocks/0/element/min_length]"}},
		{"no type", `{}`, []string{"must be a valid enum value: modal, home [json-pointer:/view/type]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range webapi.ViewProblems(decode(t, tt.view).(map[string]any)) {
				got = append(got, p.String())
			}
			expect.Same(t, tt.want, got)
		})
	}
}

// Blocks for the limits below. %s stands for the member with the limit.
const (
	text      = `{"type":"mrkdwn","text":"x"}`
	divider   = `{"type":"divider"}`
	pressable = `{"type":"button","text":#}`
	pressed   = `[{"type":"actions","elements":[{"type":"button","text":#,%s}]}]`
	asked     = `"confirm":{"title":#,"text":#,"confirm":#,"deny":#}`
	typed     = `[{"type":"input","label":#,"element":{"type":"plain_text_input"},%s}]`
	field     = `[{"type":"input","label":#,"element":{"type":"plain_text_input",%s}}]`
)

func in(frame, member string) string { return strings.Replace(frame, "%s", member, 1) }

// ask returns a button whose confirm dialog has $ in this member.
func ask(member string) string {
	return in(pressed, strings.Replace(asked, `"`+member+`":#`, `"`+member+`":{"type":"plain_text","text":"$"}`, 1))
}

// limits must accept n and refuse n+1. In blocks, $ stands for a text of that many characters or, if item is set, for a
// list of that many items. # stands for a text object.
var limits = []struct {
	n                     int
	pointer, item, blocks string
}{
	{50, "", divider, "$"},
	{255, "/0/block_id", "", `[{"type":"divider","block_id":"$"}]`},
	{150, "/0/text/text", "", `[{"type":"header","text":{"type":"plain_text","text":"$"}}]`},
	{3000, "/0/text/text", "", `[{"type":"section","text":{"type":"mrkdwn","text":"$"}}]`},
	{10, "/0/fields", text, `[{"type":"section","fields":$}]`},
	{2000, "/0/fields/0/text", "", `[{"type":"section","fields":[{"type":"mrkdwn","text":"$"}]}]`},
	{10, "/0/elements", text, `[{"type":"context","elements":$}]`},
	{3000, "/0/elements/0/text", "", `[{"type":"context","elements":[{"type":"mrkdwn","text":"$"}]}]`},
	{25, "/0/elements", pressable, `[{"type":"actions","elements":$}]`},
	{75, "/0/elements/0/text/text", "",
		`[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"$"}}]}]`},
	{255, "/0/elements/0/action_id", "", in(pressed, `"action_id":"$"`)},
	{2000, "/0/elements/0/value", "", in(pressed, `"value":"$"`)},
	{3000, "/0/elements/0/url", "", in(pressed, `"url":"$"`)},
	{75, "/0/elements/0/accessibility_label", "", in(pressed, `"accessibility_label":"$"`)},
	{100, "/0/elements/0/confirm/title/text", "", ask("title")},
	{300, "/0/elements/0/confirm/text/text", "", ask("text")},
	{30, "/0/elements/0/confirm/confirm/text", "", ask("confirm")},
	{30, "/0/elements/0/confirm/deny/text", "", ask("deny")},
	{24, "/title/text", "", `{"type":"modal","title":{"type":"plain_text","text":"$"},"blocks":[]}`},
	{24, "/submit/text", "", `{"type":"modal","title":#,"submit":{"type":"plain_text","text":"$"},"blocks":[]}`},
	{24, "/close/text", "", `{"type":"modal","title":#,"close":{"type":"plain_text","text":"$"},"blocks":[]}`},
	{3000, "/private_metadata", "", `{"type":"modal","title":#,"private_metadata":"$","blocks":[]}`},
	{255, "/callback_id", "", `{"type":"modal","title":#,"callback_id":"$","blocks":[]}`},
	{255, "/external_id", "", `{"type":"modal","title":#,"external_id":"$","blocks":[]}`},
	{100, "/blocks", divider, `{"type":"modal","title":#,"blocks":$}`},
	{2000, "/0/label/text", "",
		`[{"type":"input","label":{"type":"plain_text","text":"$"},"element":{"type":"plain_text_input"}}]`},
	{2000, "/0/hint/text", "", in(typed, `"hint":{"type":"plain_text","text":"$"}`)},
	{150, "/0/element/placeholder/text", "", in(field, `"placeholder":{"type":"plain_text","text":"$"}`)},
	{255, "/0/element/action_id", "", in(field, `"action_id":"$"`)},
	{3000, "/0/element/initial_value", "", in(field, `"initial_value":"$"`)},
}

func TestEveryLimit(t *testing.T) {
	for _, tc := range limits {
		t.Run(fmt.Sprint(tc.n, tc.pointer), func(t *testing.T) {
			found := func(n int) []webapi.Problem {
				filling := strings.Repeat("勤", n)
				if tc.item != "" {
					filling = repeat(tc.item, n)
				}
				s := strings.ReplaceAll(strings.Replace(tc.blocks, "$", filling, 1), "#", `{"type":"plain_text","text":"x"}`)
				switch v := decode(t, s).(type) {
				case map[string]any:
					return webapi.ViewProblems(v)
				default:
					return webapi.Blocks(v.([]any), "/view", webapi.MaxMessageBlocks)
				}
			}
			p := found(tc.n)
			expect.That(t, p == nil, "%d are refused: %v", tc.n, p)
			want := fmt.Sprintf("must be less than %d characters", tc.n+1)
			if tc.item != "" {
				want = fmt.Sprintf("no more than %d items allowed", tc.n)
			}
			expect.Same(t, []webapi.Problem{{Message: want, Pointer: "/view" + tc.pointer}}, found(tc.n+1))
		})
	}
}

func TestCharactersCountsEveryText(t *testing.T) {
	v := decode(t, `[{"type":"section","text":{"type":"mrkdwn","text":"残業時間"},
		"fields":[{"type":"mrkdwn","text":"abc"}]},{"type":"markdown","text":"xy"}]`)
	expect.Is(t, webapi.Characters(v), 9, "Characters")
}
