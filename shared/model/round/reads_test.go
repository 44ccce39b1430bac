package round_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// shut has a listed tool that may no longer be called, and one that may.
type shut struct{ reads }

func (shut) Tools() []model.Tool {
	return append(reads{}.Tools(), model.Tool{Name: "shut", Schema: json.RawMessage(`{"type":"object"}`)})
}

func (shut) Read(ctx context.Context, tool string, input json.RawMessage) (string, error) {
	if tool == "shut" {
		return "", fmt.Errorf("call it: %w", round.Refused("このツールは変わりました。"))
	}
	return reads{}.Read(ctx, tool, input)
}

// none has no tools and says why.
type none struct{ reads }

func (none) Tools() []model.Tool { return nil }
func (none) Lacking() string     { return "許可が取り消されました。" }

func TestAMemberThatReadNothingSaysWhy(t *testing.T) {
	tell := ""
	leader := func(_ context.Context, r model.Request) (model.Response, error) {
		if got := results(r); got != nil {
			tell = got[0].Text
			return text("案")
		}
		return calls("delegate_to_search")
	}
	uses := func(tools ...string) says {
		return func(_ context.Context, r model.Request) (model.Response, error) {
			turn := len(r.Messages) / 2
			if turn == len(tools) {
				return text("調べました。")
			}
			return model.Response{Calls: []model.Call{{Name: tools[turn], Input: json.RawMessage(`{"word":"x"}`)}}}, nil
		}
	}
	for about, tt := range map[string]struct {
		reads round.Reads
		uses  []string
		want  string // expected error; empty: an answer
	}{
		"nothing is listed":            {nil, nil, "コンテストに許可された読み取りツールがありません。"},
		"what was listed is off":       {none{}, nil, "許可が取り消されました。"},
		"its only tool is refused":     {shut{}, []string{"shut", "shut"}, "このツールは変わりました。"},
		"another tool gives something": {shut{}, []string{"shut", "list_rules"}, ""},
		"it reads nothing by itself":   {shut{}, nil, ""},
	} {
		x, k := member("search", contest.WebSearch), &kept{}
		x.Model = "search"
		p := p2(play(x), "leader")
		runner := round.Runner{Models: roundModels{"leader": leader, "search": uses(tt.uses...)}, Reads: tt.reads, Kept: k}
		for range 2 { // the second time from what was saved
			out := expect.Value(runner.Round(t.Context(), p))(t)
			s := out.Record.Submissions[0]
			said := ""
			if s.ErrorMessage != nil {
				said = *s.ErrorMessage
			}
			if said != tt.want || (s.Status == contest.Error) != (tt.want != "") || tt.want != "" && tell != "ERROR: "+tt.want {
				t.Errorf("%s: %s %q, the leader reads %q", about, s.Status, said, tell)
			}
			for key := range k.answers {
				if strings.HasSuffix(key, "/submission") {
					delete(k.answers, key)
				}
			}
		}
	}
}

func TestAMachineWithoutASandboxIsSaid(t *testing.T) {
	never := fmt.Errorf("gone: %w: %w", isolated.ErrCannot, isolated.ErrNotBegun)
	for name, box := range map[string]round.Sandbox{"none": nil, "one that can't": round.Isolated(&room{errs: []error{never}}, "")} {
		out := expect.Value(round.Runner{Models: roundModels{}, Sandbox: box}.Round(t.Context(),
			play(member("coder", contest.CodeExec))))(t)
		s := out.Record.Submissions[0]
		expect.That(t, s.Status == contest.Error && *s.ErrorMessage == "この環境では、コードを実行できません。", "%s: %+v", name, s)
	}
}
