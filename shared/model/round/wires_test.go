package round_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/anthropic"
	"ringi/shared/model/compatible"
	"ringi/shared/model/demo"
	"ringi/shared/model/openai"
	"ringi/shared/model/provider"
	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
)

// opened maps names to wires of scripted vendors. Any other name opens the demo.
type opened map[string]model.Wire

func (o opened) Open(name string) (model.Wire, error) {
	if w, ok := o[name]; ok {
		return w, nil
	}
	return demo.Teams{}, nil
}

// The stand-ins refuse what the vendors refuse: a call without its result, duplicate ids, two turns in the wrong order.
func TestALeaderDelegatesInParallelThroughEveryVendor(t *testing.T) {
	for name, of := range map[string]func(url, key string) model.Wire{
		"anthropic": func(url, key string) model.Wire {
			return anthropic.New(anthropic.Config{BaseURL: url + "/anthropic", Model: "claude-sonnet-4-6", Key: key, HTTP: provider.VendorClient()})
		},
		"openai": func(url, key string) model.Wire {
			return openai.New(openai.Config{BaseURL: url + "/openai/v1", Model: "gpt-5.4", Key: key, HTTP: provider.VendorClient()})
		},
		"compatible": func(url, key string) model.Wire {
			return compatible.New(compatible.Config{Endpoint: "hub", BaseURL: url + "/compatible/v1", Model: "llama", Key: key, HTTP: provider.VendorClient()})
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := models.NewModels()
			m.Strictly(models.Rules{Mistral: true})
			s := httptest.NewServer(m.Handler())
			defer s.Close()
			call := func(tool, input string) models.ScriptedCall {
				return models.ScriptedCall{ID: "same", Name: tool, Input: []string{input[:4], input[4:]}}
			}
			m.Scripted(
				models.Script{Texts: []string{"分担します。"}, Calls: []models.ScriptedCall{call("delegate_to_a", `{"task":"調べる"}`),
					call("delegate_to_b", `{"task":"確かめる"}`), call("delegate_to_c", `{"task":1}`)}},
				models.Script{Calls: []models.ScriptedCall{call("delegate_to_a", `{"task":"もう一度"}`)}},
				models.Script{Texts: []string{" "}},
				models.Script{Texts: []string{"できた案"}},
			)
			p := p2(play(member("a", contest.Plain), member("b", contest.Plain)), "wire")
			k := &kept{}
			r := round.Runner{Models: opened{"wire": of(s.URL, m.Key)}, Kept: k}
			out := expect.Value(r.Round(t.Context(), p))(t)
			expect.That(t, out.Result.SubmissionContent == "できた案" && len(out.Record.Submissions) == 3, "%+v", out)
			if u := out.Result.Usage; u.Requests != 7 || u.InputTokens < 4*420 || u.CacheReadTokens != 4*300 || u.CacheWriteTokens != 4*20 {
				t.Errorf("%+v", u)
			}
			expect.That(t, out.Usage.Cost != 0 || name == "compatible", "%+v", out.Usage)
			asked := m.Asked()
			if len(asked) != 4 || strings.Contains(asked[1], "delegate_to_c") || !strings.Contains(asked[1], "a tool that does not exist") || !strings.Contains(asked[3], "it is empty") {
				t.Errorf("%d: %s", len(asked), asked[len(asked)-1])
			}
			if name == "anthropic" && !strings.Contains(asked[0], `"disable_parallel_tool_use":false`) || name == "openai" && !strings.Contains(asked[0], `"parallel_tool_calls":true`) {
				t.Errorf("%s", asked[0])
			}
			written := expect.Value(contest.WriteMessages(out.Messages))(t)
			again := expect.Value(contest.ReadMessages(written))(t)
			expect.Is(t, len(again), len(out.Messages), "%s", written)
		})
	}
}
