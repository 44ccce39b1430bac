package blockkit_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/sandbox/blockkit"
)

func decode(t *testing.T, s string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatalf("decode %s: %v", s, err)
	}
	return v
}

func repeat(item string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

func TestBlocksAnswersAsSlackDoes(t *testing.T) {
	long := func(n int) string { return strings.Repeat("勤", n) }
	button := `{"type":"button","text":{"type":"plain_text","text":"OK"}}`
	tests := []struct {
		name, blocks string
		want         []string
	}{
		{"a card's blocks", `[{"type":"header","text":{"type":"plain_text","text":"📝 実行方針","emoji":true}},
			{"type":"section","text":{"type":"mrkdwn","text":"*x*"}},{"type":"divider"},
			{"type":"actions","block_id":"01J","elements":[{"type":"button","text":{"type":"plain_text","text":"✅ 承認","emoji":true},"action_id":"approve_prompt","value":"p","style":"primary"}]},
			{"type":"context","elements":[{"type":"mrkdwn","text":"x"}]}]`, nil},
		{"51 blocks", repeat(`{"type":"divider"}`, 51), []string{"no more than 50 items allowed [json-pointer:/blocks]"}},
		{"section of 3001", `[{"type":"section","text":{"type":"mrkdwn","text":"` + long(3001) + `"}}]`, []string{"must be less than 3001 characters [json-pointer:/blocks/0/text/text]"}},
		{"section of 3000", `[{"type":"section","text":{"type":"mrkdwn","text":"` + long(3000) + `"}}]`, nil},
		{"empty text", `[{"type":"section","text":{"type":"mrkdwn","text":""}}]`, []string{"must be more than 0 characters [json-pointer:/blocks/0/text/text]"}},
		{"section without text", `[{"type":"section"}]`, []string{"missing required field: text [json-pointer:/blocks/0]"}},
		{"eleven fields", `[{"type":"section","fields":` + repeat(`{"type":"mrkdwn","text":"a"}`, 11) + `}]`, []string{"no more than 10 items allowed [json-pointer:/blocks/0/fields]"}},
		{"field of 2001", `[{"type":"section","fields":[{"type":"mrkdwn","text":"` + long(2001) + `"}]}]`, []string{"must be less than 2001 characters [json-pointer:/blocks/0/fields/0/text]"}},
		{"header of 151", `[{"type":"header","text":{"type":"plain_text","text":"` + long(151) + `"}}]`, []string{"must be less than 151 characters [json-pointer:/blocks/0/text/text]"}},
		{"header in mrkdwn", `[{"type":"header","text":{"type":"mrkdwn","text":"x"}}]`, []string{"must be a valid enum value: plain_text [json-pointer:/blocks/0/text/type]"}},
		{"26 buttons", `[{"type":"divider"},{"type":"actions","elements":` + repeat(button, 26) + `}]`, []string{"no more than 25 items allowed [json-pointer:/blocks/1/elements]"}},
		{"button text of 76", `[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"` + long(76) + `"}}]}]`, []string{"must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]"}},
		{"button style", `[{"type":"actions","elements":[{"type":"button","style":"warning","text":{"type":"plain_text","text":"x"}}]}]`, []string{"must be a valid enum value: primary, danger [json-pointer:/blocks/0/elements/0/style]"}},
		{"confirm title of 101", `[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"x"},"confirm":{"title":{"type":"plain_text","text":"` + long(101) + `"},"text":{"type":"plain_text","text":"x"},"confirm":{"type":"plain_text","text":"x"},"deny":{"type":"plain_text","text":"x"}}}]}]`,
			[]string{"must be less than 101 characters [json-pointer:/blocks/0/elements/0/confirm/title/text]"}},
		{"unknown block", `[{"type":"marquee"}]`, []string{"unsupported type: marquee [json-pointer:/blocks/0/type]"}},
		{"unknown property", `[{"type":"divider","colour":"red"}]`, []string{"invalid additional property: colour [json-pointer:/blocks/0]"}},
		{"same block_id twice", `[{"type":"divider","block_id":"a"},{"type":"divider","block_id":"a"}]`, []string{"`block_id` `a` already exists [json-pointer:/blocks/1/block_id]"}},
		{"same action_id twice", `[{"type":"actions","elements":` + repeat(`{"type":"button","action_id":"a","text":{"type":"plain_text","text":"x"}}`, 2) + `}]`, []string{"`action_id` `a` already exists [json-pointer:/blocks/0/elements/1/action_id]"}},
		{"eleven context elements", `[{"type":"context","elements":` + repeat(`{"type":"mrkdwn","text":"a"}`, 11) + `}]`, []string{"no more than 10 items allowed [json-pointer:/blocks/0/elements]"}},
		{"a table", `[{"type":"table","rows":[[{"type":"raw_text","text":"a"}]],"column_settings":[{"align":"right","is_wrapped":true}]}]`, nil},
		{"a table of 101 rows", `[{"type":"table","rows":` + repeat(`[{"type":"raw_text","text":"a"}]`, 101) + `}]`, []string{"no more than 100 items allowed [json-pointer:/blocks/0/rows]"}},
		{"a table of 21 columns", `[{"type":"table","rows":[` + repeat(`{"type":"raw_text","text":"a"}`, 21) + `]}]`, []string{"no more than 20 items allowed [json-pointer:/blocks/0/rows/0]"}},
		{"an empty cell", `[{"type":"table","rows":[[{"type":"raw_text","text":""}]]}]`, []string{"must be more than 0 characters [json-pointer:/blocks/0/rows/0/0/text]"}},
		{"a table of 10001 characters", `[{"type":"table","rows":` + repeat(`[{"type":"raw_text","text":"`+long(5001)+`"}]`, 2) + `}]`, []string{"must be less than 10001 characters in all cells [json-pointer:/blocks/0/rows]"}},
		{"two tables", repeat(`{"type":"table","rows":[[{"type":"raw_text","text":"a"}]]}`, 2), []string{"only one table allowed [json-pointer:/blocks/1]"}},
		{"not a block", `["x"]`, []string{"must be a valid block [json-pointer:/blocks/0]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range blockkit.Blocks(decode(t, tt.blocks).([]any), "/blocks", blockkit.MaxMessageBlocks) {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestViewAnswersAsSlackDoes(t *testing.T) {
	input := `{"type":"input","block_id":"b","label":{"type":"plain_text","text":"理由"},"element":{"type":"plain_text_input","action_id":"a","multiline":true}}`
	modal := func(title, more, blocks string) string {
		return fmt.Sprintf(`{"type":"modal","title":{"type":"plain_text","text":%q}%s,"blocks":%s}`, title, more, blocks)
	}
	submit := `,"submit":{"type":"plain_text","text":"送信"}`
	tests := []struct {
		name, view string
		want       []string
	}{
		{"a form", modal("却下理由", submit, "["+input+"]"), nil},
		{"title of 25", modal(strings.Repeat("あ", 25), submit, "["+input+"]"), []string{"must be less than 25 characters [json-pointer:/view/title/text]"}},
		{"an input and no submit", modal("x", "", "["+input+"]"), []string{"missing required field: submit [json-pointer:/view]"}},
		{"private_metadata of 3001", modal("x", `,"private_metadata":"`+strings.Repeat("x", 3001)+`"`, "[]"), []string{"must be less than 3001 characters [json-pointer:/view/private_metadata]"}},
		{"101 blocks", modal("x", "", repeat(`{"type":"divider"}`, 101)), []string{"no more than 100 items allowed [json-pointer:/view/blocks]"}},
		{"no type", `{}`, []string{"must be a valid enum value: modal, home [json-pointer:/view/type]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range blockkit.View(decode(t, tt.view).(map[string]any)) {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCharactersCountsEveryText(t *testing.T) {
	v := decode(t, `[{"type":"section","text":{"type":"mrkdwn","text":"残業時間"},"fields":[{"type":"mrkdwn","text":"abc"}]},{"type":"markdown","text":"xy"}]`)
	if got := blockkit.Characters(v); got != 9 {
		t.Errorf("Characters = %d, want 9", got)
	}
}
