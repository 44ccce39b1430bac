package provider_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
)

const onBedrock = "bedrock:global.anthropic.claude-sonnet-4-6"

// Where only the role's right to call Bedrock is there, the built-in agents answer with the deployment's model.
func TestAgentsWithoutAKeyFollowTheDeploymentsModel(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		by, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got = append(got, r.URL.Path+" "+by)
		w.WriteHeader(http.StatusTeapot)
	}))
	defer s.Close()
	c := provider.Config{
		AWS:    aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "")},
		Secret: &secret.Models{Reader: &secretReader{value: `{}`}, ID: "models"}, Vendor: provider.VendorClient(),
		At: map[string]string{aggregate.Bedrock: s.URL}, Outbound: outbound.Dialer{}.Client(),
	}
	for _, d := range agent.BuiltIn() {
		for instead, saved := range map[string]string{onBedrock: "claude-sonnet-4-6", "": onBedrock} {
			got = nil
			settings := tenancy.Settings{Model: saved}
			x := expect.Value(c.Answers(t.Context(), d, instead, settings))(t)
			expect.That(t, x.Follows && x.Model == onBedrock && x.Lacks == "", "%s: %+v", d.ID, x)
			w := expect.Value(c.OpenAgent(t.Context(), d, instead, settings))(t)
			_, _ = w.Say(t.Context(), model.Request{MaxTokens: 1,
				Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "x"}}}}}, func(string) {})
			if len(got) == 0 || !strings.HasPrefix(got[0], "/model/") || !strings.HasSuffix(got[0], " AWS4-HMAC-SHA256") {
				t.Errorf("%s sent %q", d.ID, got)
			}
		}
	}
}

// Who can't answer is told apart by what is missing, and nobody follows whose administrator chose where words go.
func TestWhatAnAgentLacks(t *testing.T) {
	http1 := agent.Definition{ID: "a", Provider: agent.HTTP, Endpoint: "https://bot.example.com/v1", Model: "m"}
	keyed := func(d agent.Definition, ref string) agent.Definition { d.AuthRef = ref; return d }
	openai := agent.Definition{ID: "a", Provider: agent.OpenAI, Model: "gpt-5.4"}
	for about, tt := range map[string]struct {
		d               agent.Definition
		keys, of, saved string
		costs           float64
		want            agent.Answering
	}{
		"its own key": {openai, `{"openai":"k"}`, onBedrock, "", 0,
			agent.Answering{Model: "openai:gpt-5.4"}},
		"no key, and no deployment's": {openai, `{}`, "", "claude-sonnet-4-6", 0,
			agent.Answering{Model: "openai:gpt-5.4", Lacks: agent.LacksModel, Detail: "claude-sonnet-4-6"}},
		"no key of its vendor at all": {openai, `{}`, "gpt-5.4-mini", "", 0,
			agent.Answering{Model: "openai:gpt-5.4", Lacks: agent.LacksKey, Detail: "openai"}},
		"the settings' vendor has a key": {openai, `{"anthropic":"k"}`, "", "claude-sonnet-4-6", 0,
			agent.Answering{Model: "anthropic:claude-sonnet-4-6", Follows: true}},
		"a named key that is missing":   {keyed(openai, "hr"), `{"anthropic":"k"}`, onBedrock, "", 0, agent.Answering{Model: "openai:gpt-5.4", Lacks: agent.LacksKey, Detail: "hr"}},
		"an endpoint without a key":     {http1, `{}`, onBedrock, "", 0, agent.Answering{Model: "http:m"}},
		"an endpoint whose key is gone": {keyed(http1, "docs"), `{}`, onBedrock, "", 0, agent.Answering{Model: "http:m", Lacks: agent.LacksKey, Detail: "docs"}},
		"the deployment's demo":         {keyed(http1, "docs"), `{}`, "demo", "", 1, agent.Answering{Model: "demo", Follows: true}},
		"the settings' demo":            {openai, `{}`, "", "demo", 1, agent.Answering{Model: "demo", Follows: true}},
		"a price that nobody knows":     {openai, `{}`, "bedrock:amazon.nova-pro-v1:0", "", 1, agent.Answering{Model: "bedrock:amazon.nova-pro-v1:0", Follows: true, Lacks: agent.LacksPrice, Detail: "bedrock:amazon.nova-pro-v1:0"}},
		"a secret that is no JSON":      {openai, `sk-…`, onBedrock, "", 0, agent.Answering{Model: "openai:gpt-5.4", Lacks: agent.LacksSecret}},
	} {
		t.Run(about, func(t *testing.T) {
			c := provider.Config{Secret: &secret.Models{Reader: &secretReader{value: tt.keys}, ID: "models"}}
			tt.want.ID = "a"
			expect.Same(t, tt.want, expect.Value(c.Answers(t.Context(), tt.d, tt.of,
				tenancy.Settings{Model: tt.saved, MaxSessionCostUSD: tt.costs}))(t))
		})
	}
}

// An agent with an address of its own answers under a limit once the settings have its price, by the name that they say.
func TestAnAgentsOwnPriceLetsItAnswerUnderALimit(t *testing.T) {
	d := agent.Definition{ID: "box", Provider: agent.HTTP, Endpoint: "https://box.example/v1"}
	s := tenancy.Settings{MaxSessionCostUSD: 1}
	by := expect.Value(provider.Config{}.Answers(t.Context(), d, "", s))(t)
	expect.That(t, by.Lacks == agent.LacksPrice && by.Detail == "compatible:box/box", "%+v", by)
	s.Prices = []tenancy.ModelPrice{{Model: by.Detail, Input: "0", Output: "0", Date: "2026-11-20"}}
	by = expect.Value(provider.Config{}.Answers(t.Context(), d, "", s))(t)
	expect.That(t, by.Lacks == "", "%+v", by)
	s.FurtherDay = aggregate.USD(1)
	by = expect.Value(provider.Config{}.Answers(t.Context(), d, "", s))(t)
	expect.That(t, by.Lacks == agent.LacksPrice, "a bounded workspace: %+v", by)
}
