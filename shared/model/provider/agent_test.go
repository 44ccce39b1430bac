package provider_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
)

// A workspace's administrator writes the definitions, but the keys belong to the deployment. So no definition may make
// a key go to another address.
func TestAnAgentsKeyGoesNowhereElse(t *testing.T) {
	var got []string
	serve := func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
		w.WriteHeader(http.StatusTeapot)
	}
	home, away := expect.Server(t, http.HandlerFunc(serve)), expect.Server(t, http.HandlerFunc(serve))
	keys := &secretReader{value: fmt.Sprintf(
		`{"anthropic":"key-a","openai":"key-o","compatible":{"hub":{"url":"%s/v1","key":"key-h"}},
		"agents":{"docs":{"url":"%s","key":"key-d"},"free":{"url":"","key":"key-f"},
			"hr":{"url":"anthropic","key":"key-hr"},"empty":{"url":"%s"}}}`, home.URL, home.URL, home.URL)}
	hosts := strings.TrimPrefix(home.URL, "http://") + "," + strings.TrimPrefix(away.URL, "http://")
	c := provider.Config{Secret: &secret.Models{Reader: keys.read, ID: "models"}, Vendor: provider.VendorClient(),
		Outbound: outbound.Allowing(hosts).Client(),
		At:       map[string]string{aggregate.Anthropic: home.URL, aggregate.OpenAI: home.URL + "/v1"}}
	for about, tt := range map[string]struct {
		agent tenancy.Agent
		want  string // expected path and key; empty: nothing is sent, because the key is missing
	}{
		"anthropic's own":         {tenancy.Agent{Provider: tenancy.Anthropic}, "/v1/messages key-a"},
		"openai's own":            {tenancy.Agent{Provider: tenancy.OpenAI}, "/v1/chat/completions Bearer key-o"},
		"anthropic's own by name": {tenancy.Agent{Provider: tenancy.Anthropic, AuthRef: "anthropic"}, "/v1/messages key-a"},
		"a key of anthropic's": {tenancy.Agent{Provider: tenancy.Anthropic, AuthRef: "hr"},
			"/v1/messages key-hr"},
		"a key of anthropic's for openai": {tenancy.Agent{Provider: tenancy.OpenAI, AuthRef: "hr"}, ""},
		"anthropic's own for openai":      {tenancy.Agent{Provider: tenancy.OpenAI, AuthRef: "anthropic"}, ""},
		"an endpoint's key for anthropic": {tenancy.Agent{Provider: tenancy.Anthropic, AuthRef: "docs"}, ""},
		"no key": {tenancy.Agent{Provider: tenancy.HTTPEndpoint, Endpoint: away.URL + "/v1/"},
			"/v1/chat/completions "},
		"the endpoint's": {tenancy.Agent{Provider: tenancy.HTTPEndpoint, Endpoint: home.URL + "/v2",
			AuthRef: "docs"}, "/v2/chat/completions Bearer key-d"},
		"a compatible endpoint's": {tenancy.Agent{Provider: tenancy.LocalEndpoint, Endpoint: home.URL + "/v1",
			AuthRef: "hub"}, "/v1/chat/completions Bearer key-h"},
		"another endpoint's": {tenancy.Agent{Provider: tenancy.HTTPEndpoint, Endpoint: away.URL + "/v1",
			AuthRef: "docs"}, ""},
		"another compatible endpoint's": {tenancy.Agent{Provider: tenancy.HTTPEndpoint, Endpoint: away.URL + "/v1",
			AuthRef: "hub"}, ""},
		"an address that only begins alike": {tenancy.Agent{Provider: tenancy.HTTPEndpoint,
			Endpoint: home.URL + ".example.com/v1", AuthRef: "docs"}, ""},
		"anthropic's for an endpoint": {tenancy.Agent{Provider: tenancy.HTTPEndpoint, Endpoint: away.URL,
			AuthRef: "anthropic"}, ""},
		"a vendor's named key elsewhere": {tenancy.Agent{Provider: tenancy.HTTPEndpoint, Endpoint: away.URL,
			AuthRef: "hr"}, ""},
		"a key without an address": {tenancy.Agent{Provider: tenancy.HTTPEndpoint, Endpoint: away.URL,
			AuthRef: "free"}, ""},
		"an entry without a key": {tenancy.Agent{Provider: tenancy.HTTPEndpoint, Endpoint: home.URL,
			AuthRef: "empty"}, ""},
		"a name that the secret doesn't have": {tenancy.Agent{Provider: tenancy.HTTPEndpoint, Endpoint: home.URL,
			AuthRef: "none"}, ""},
	} {
		t.Run(about, func(t *testing.T) {
			got = nil
			tt.agent.ID, tt.agent.Model = "a", "m"
			w := expect.Value(c.OpenAgent(t.Context(), tt.agent, "", tenancy.Settings{Model: "none"}))(t)
			_, err := w.Say(t.Context(), model.Request{MaxTokens: 1,
				Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "x"}}}}})
			var e *model.Error
			expect.That(t, errors.As(err, &e) && strings.Join(got, ",") == tt.want &&
				(tt.want == "") == (e.Kind == model.Unauthorized) && !strings.Contains(err.Error(), "key-"), "sent %q, %v",
				got, err)
		})
	}
}

func TestAnEndpointThatIsNotAllowedIsNotCalled(t *testing.T) {
	called := false
	s := expect.Server(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	c := provider.Config{Secret: &secret.Models{Reader: holding("{}"), ID: "models"},
		Outbound: outbound.Dialer{}.Client()}
	u := expect.Value(url.Parse(s.URL))(t)
	for _, endpoint := range []string{s.URL, "https://" + u.Host, "http://169.254.169.254/latest"} {
		w := expect.Value(c.OpenAgent(t.Context(), tenancy.Agent{ID: "a", Provider: tenancy.LocalEndpoint,
			Endpoint: endpoint}, "", tenancy.Settings{}))(t)
		_, err := w.Say(t.Context(), model.Request{Messages: []model.Message{{Role: model.User,
			Parts: []model.Part{{Text: "x"}}}}})
		var e *model.Error
		expect.That(t, errors.As(err, &e) && e.Kind == model.Misplaced && !called, "%s: %v", endpoint, err)
	}
}

func TestTheDeploymentsDemoAnswersForEveryAgent(t *testing.T) {
	c := provider.Config{Secret: &secret.Models{Reader: holding(`{"openai":"k","anthropic":"k"}`),
		ID: "models"}}
	limited := tenancy.Settings{MaxCostUSD: 1}
	for _, d := range tenancy.BuiltInAgents() {
		w := expect.Value(c.OpenAgent(t.Context(), d, "demo", limited))(t)
		_, demo := w.(demo.Agent)
		expect.That(t, demo, "%s is answered by %T", d.ID, w)
		if w, err := c.OpenAgent(t.Context(), d, "", limited); err != nil || w == nil { // their prices are known
			t.Errorf("%s: %v", d.ID, err)
		}
	}
}

// The cost of a model without a known price can't be limited. These are all the ways in which a deployment opens a
// model.
func TestAModelOfUnknownPriceIsNotOpenedUnderALimit(t *testing.T) {
	const unheard = "claude-unheard-of"
	c := provider.Config{Secret: &secret.Models{Reader: holding(`{"anthropic":"k"}`), ID: "models"}}
	ways := map[string]func(tenancy.Settings, string) error{
		"a task's": func(s tenancy.Settings, name string) error { // also the summary of its execution
			return expect.Err(model.Within(s, c.Open, "anthropic:"+name, nil))
		},
		"an agent's": func(s tenancy.Settings, name string) error { // also what folds a long conversation away
			return expect.Err(c.OpenAgent(t.Context(), tenancy.Agent{ID: "a", Provider: tenancy.Anthropic, Model: name}, "", s))
		},
		// A contest always has a budget.
		"a contest's": func(_ tenancy.Settings, name string) error {
			return expect.Err(provider.Wires{Config: c}.Open("anthropic:" + name))
		},
	}
	for about, tt := range map[string]struct {
		settings       tenancy.Settings
		task, sessions bool // whether the costs of tasks or conversations are limited
	}{
		"nothing is limited":                     {},
		"what a request or a conversation costs": {tenancy.Settings{MaxCostUSD: 1}, true, true},
		"what a day may cost":                    {tenancy.Settings{MaxCostDayUSD: 1}, true, true},
	} {
		limited := map[string]bool{"a task's": tt.task, "an agent's": tt.sessions, "a contest's": true}
		for way, open := range ways {
			err := open(tt.settings, unheard)
			e := new(model.Error)
			expect.That(t, limited[way] == (errors.As(err, &e) && e.Kind == model.Unpriced) && (limited[way] || err == nil),
				"%s, %s: %v", about, way, err)
			err = open(tt.settings, "claude-sonnet-4-6")
			expect.That(t, err == nil, "%s, %s of a known price: %v", about, way, err)
		}
	}
}

func TestAModelOfAContestIsOpenedByItsName(t *testing.T) {
	w := provider.Wires{Unlimited: true}
	expect.Value(w.Open("bedrock:anthropic.claude-9-v1:0"))(t) // whose price nobody knows
	e := new(model.Error)
	expect.That(t, errors.As(expect.Err(w.Open("mistral:large")), &e) && e.Kind == model.UnknownModel, "%v", e)
	w.Instead = "demo"
	expect.Is[model.Wire](t, expect.Value(w.Open("anthropic:claude-haiku-4-5"))(t), (demo.Teams{}))
}

const onBedrock = "bedrock:global.anthropic.claude-sonnet-4-6"

// Where only the role's right to call Bedrock is there, the built-in agents answer with the deployment's model.
func TestAgentsWithoutAKeyFollowTheDeploymentsModel(t *testing.T) {
	var got []string
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		by, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got = append(got, r.URL.Path+" "+by)
		w.WriteHeader(http.StatusTeapot)
	}))
	c := provider.Config{
		AWS:    aws.Config{Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "")},
		Secret: &secret.Models{Reader: holding(`{}`), ID: "models"}, Vendor: provider.VendorClient(),
		At: map[string]string{aggregate.Bedrock: s.URL}, Outbound: outbound.Dialer{}.Client(),
	}
	for _, d := range tenancy.BuiltInAgents() {
		for instead, saved := range map[string]string{onBedrock: "claude-sonnet-4-6", "": onBedrock} {
			got = nil
			settings := tenancy.Settings{Model: saved}
			w := expect.Value(c.OpenAgent(t.Context(), d, instead, settings))(t)
			_, _ = w.Say(t.Context(), model.Request{MaxTokens: 1,
				Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "x"}}}}})
			expect.That(t, len(got) != 0 && strings.HasPrefix(got[0], "/model/") &&
				strings.HasSuffix(got[0], " AWS4-HMAC-SHA256"), "%s sent %q", d.ID, got)
		}
	}
}

// Nobody follows whose administrator chose where words go, and nobody a model that can't be called.
func TestWhomAnAgentFollows(t *testing.T) {
	http1 := tenancy.Agent{ID: "a", Provider: tenancy.HTTPEndpoint, Endpoint: "https://bot.example.com/v1", Model: "m"}
	keyed := func(d tenancy.Agent, ref string) tenancy.Agent { d.AuthRef = ref; return d }
	openai := tenancy.Agent{ID: "a", Provider: tenancy.OpenAI, Model: "gpt-5.4"}
	for about, tt := range map[string]struct {
		d                     tenancy.Agent
		keys, of, saved, want string
	}{
		"its own key":                 {openai, `{"openai":"k"}`, onBedrock, "", ""},
		"no key, and no deployment's": {openai, `{}`, "", "claude-sonnet-4-6", ""},
		"no key of its vendor at all": {openai, `{}`, "gpt-5.4-mini", "", ""},
		"the settings' vendor has a key": {openai, `{"anthropic":"k"}`, "", "claude-sonnet-4-6",
			"anthropic:claude-sonnet-4-6"},
		"a named key that is missing":   {keyed(openai, "hr"), `{"anthropic":"k"}`, onBedrock, "", ""},
		"an endpoint without a key":     {http1, `{}`, onBedrock, "", ""},
		"an endpoint whose key is gone": {keyed(http1, "docs"), `{}`, onBedrock, "", ""},
		"the deployment's demo":         {keyed(http1, "docs"), `{}`, "demo", "", "demo"},
		"the settings' demo":            {openai, `{}`, "", "demo", "demo"},
		"a secret that is no JSON":      {openai, `sk-…`, onBedrock, "", ""},
	} {
		c := provider.Config{Secret: &secret.Models{Reader: holding(tt.keys), ID: "models"}}
		expect.Is(t, expect.Value(c.Follows(t.Context(), tt.d, tt.of, tenancy.Settings{Model: tt.saved}))(t), tt.want, about)
	}
}

// An agent answers under a limit once the settings have its price, by the name that they say: with an address of its
// own, or by the model that it follows.
func TestAPriceLetsAnAgentAnswerUnderALimit(t *testing.T) {
	c := provider.Config{Secret: &secret.Models{Reader: holding(`{}`), ID: "models"}}
	for name, d := range map[string]tenancy.Agent{
		"compatible:box/box":              {ID: "box", Provider: tenancy.HTTPEndpoint, Endpoint: "https://box.example/v1"},
		"bedrock:anthropic.claude-9-v1:0": {ID: "a", Provider: tenancy.OpenAI, Model: "gpt-5.4"},
	} {
		s := tenancy.Settings{MaxCostUSD: 1, Model: "bedrock:anthropic.claude-9-v1:0"}
		e := new(model.Error)
		expect.That(t, errors.As(expect.Err(c.OpenAgent(t.Context(), d, "", s)), &e) && e.Kind == model.Unpriced &&
			e.Model == name, "%+v", e)
		s.Prices = []tenancy.ModelPrice{{Model: name, Input: "0", Output: "0"}}
		expect.Value(c.OpenAgent(t.Context(), d, "", s))(t)
	}
}
