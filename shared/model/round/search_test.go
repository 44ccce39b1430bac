package round_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
)

// A member's search is a request of its own to the member's model. What it found is a read like any other, it is paid
// once, and a resumed round reads what was saved.
func TestAMemberSearchesTheWebByItsVendor(t *testing.T) {
	for about, tt := range map[string]struct {
		model  string
		search bool
		reads  round.Reads
		input  string
		finds  model.Response
		want   string // in what the member reads, or in its error
		paid   int64
	}{
		"found": {"anthropic:claude-sonnet-4-6", true, nil, `{"query":"overtime"}`, model.Response{Text: "45 hours",
			Found: []model.Source{{Title: "A\nB", URL: "https://example.com/a"}, {URL: "https://example.com/a"}}},
			"45 hours\n\nPages found:\n- A ⏎ B https://example.com/a", 2},
		"beside listed tools": {"openai:gpt-4o", true, reads{}, `{"query":"overtime"}`, model.Response{Text: "45 hours"},
			"Pages found: none are named.", 2},
		"no query": {"openai:gpt-4o", true, nil, `{"query":" "}`, model.Response{}, "query must be a text", 0},
		"declined": {"openai:gpt-4o", true, nil, `{"query":"x"}`, model.Response{Stop: model.StopRefused},
			"declined to search", 2},
		"not listed":              {"openai:gpt-4o", false, nil, "", model.Response{}, "読み取りツールが登録されていません", 0},
		"a wire without a search": {"bedrock:x", true, nil, "", model.Response{}, "bedrock:x の提供元の Web 検索は使えず", 0},
	} {
		t.Run(about, func(t *testing.T) {
			told, tools := "", 0
			says := func(_ context.Context, r model.Request) (model.Response, error) {
				switch got := results(r); {
				case r.Searches > 0:
					expect.That(t, r.Once && len(r.Tools) == 0, "the search has %d tools", len(r.Tools))
					tt.finds.Usage = model.Usage{Provider: "openai", Model: "gpt-4o", Calls: 1, Input: 10, Output: 5, Searches: 2}
					return tt.finds, nil
				case got != nil:
					told = got[0].Text
					return text("調べました。")
				}
				tools = len(r.Tools)
				return model.Response{Calls: []model.Call{{Name: "web_search", Input: json.RawMessage(tt.input)}}}, nil
			}
			x, k := member("search", contest.WebSearch), &kept{}
			x.Model = tt.model
			leader := func(_ context.Context, r model.Request) (model.Response, error) {
				if results(r) != nil {
					return text("案")
				}
				return calls("delegate_to_search")
			}
			var events []string
			runner := round.Runner{Models: models{"leader": leader, tt.model: says}, Reads: tt.reads, Search: tt.search, Kept: k,
				Watch: func(e round.Event) {
					if e.Kind == round.ToolUsed {
						events = append(events, e.Tool)
					}
				}}
			out := expect.Value(runner.Round(t.Context(), p2(play(x), "leader")))(t)
			if s := out.Record.Submissions[0]; s.ErrorMessage != nil {
				told = *s.ErrorMessage
			} else {
				expect.That(t, strings.Join(events, " ") == "web_search" && tools >= 1, "events %v, %d tools", events, tools)
			}
			expect.Has(t, told, tt.want)
			expect.That(t, out.Usage.Searches == tt.paid && k.spent.Searches == tt.paid, "%+v, kept %+v", out.Usage, k.spent)
			if tt.reads != nil {
				expect.Is(t, tools, 1+len(reads{}.Tools()))
			}
		})
	}
}
