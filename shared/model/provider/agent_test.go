package provider_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/modelname"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
)

// An administrator of a workspace writes definitions, and the deployment owns the keys: none may be led elsewhere.
func TestAnAgentsKeyGoesNowhereElse(t *testing.T) {
	var got []string
	serve := func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
		w.WriteHeader(http.StatusTeapot)
	}
	home, away := httptest.NewServer(http.HandlerFunc(serve)), httptest.NewServer(http.HandlerFunc(serve))
	defer home.Close()
	defer away.Close()
	keys := &secretReader{value: fmt.Sprintf(`{"anthropic":"key-a","openai":"key-o","compatible":{"hub":{"url":"%s/v1","key":"key-h"}},
		"agents":{"docs":{"url":"%s","key":"key-d"},"free":{"url":"","key":"key-f"},"hr":{"url":"anthropic","key":"key-hr"},"empty":{"url":"%s"}}}`, home.URL, home.URL, home.URL)}
	hosts := strings.TrimPrefix(home.URL, "http://") + "," + strings.TrimPrefix(away.URL, "http://")
	c := provider.Config{
		Secret: &secret.Models{Reader: keys, ID: "models"}, Vendor: provider.VendorClient(), Outbound: outbound.Allowing(hosts).Client(),
		At: map[string]string{modelname.Anthropic: home.URL, modelname.OpenAI: home.URL + "/v1"},
	}
	for about, tt := range map[string]struct {
		agent agent.Definition
		want  string // what is sent; empty: nothing is, the key is missing
	}{
		"anthropic's own":                     {agent.Definition{Provider: agent.Anthropic}, "/v1/messages key-a"},
		"openai's own":                        {agent.Definition{Provider: agent.OpenAI}, "/v1/responses Bearer key-o"},
		"anthropic's own by name":             {agent.Definition{Provider: agent.Anthropic, AuthRef: "anthropic"}, "/v1/messages key-a"},
		"a key of anthropic's":                {agent.Definition{Provider: agent.Anthropic, AuthRef: "hr"}, "/v1/messages key-hr"},
		"a key of anthropic's for openai":     {agent.Definition{Provider: agent.OpenAI, AuthRef: "hr"}, ""},
		"anthropic's own for openai":          {agent.Definition{Provider: agent.OpenAI, AuthRef: "anthropic"}, ""},
		"an endpoint's key for anthropic":     {agent.Definition{Provider: agent.Anthropic, AuthRef: "docs"}, ""},
		"no key":                              {agent.Definition{Provider: agent.HTTP, Endpoint: away.URL + "/v1/"}, "/v1/chat/completions "},
		"the endpoint's":                      {agent.Definition{Provider: agent.HTTP, Endpoint: home.URL + "/v2", AuthRef: "docs"}, "/v2/chat/completions Bearer key-d"},
		"a compatible endpoint's":             {agent.Definition{Provider: agent.Local, Endpoint: home.URL + "/v1", AuthRef: "hub"}, "/v1/chat/completions Bearer key-h"},
		"another endpoint's":                  {agent.Definition{Provider: agent.HTTP, Endpoint: away.URL + "/v1", AuthRef: "docs"}, ""},
		"another compatible endpoint's":       {agent.Definition{Provider: agent.HTTP, Endpoint: away.URL + "/v1", AuthRef: "hub"}, ""},
		"an address that only begins alike":   {agent.Definition{Provider: agent.HTTP, Endpoint: home.URL + ".example.com/v1", AuthRef: "docs"}, ""},
		"anthropic's for an endpoint":         {agent.Definition{Provider: agent.HTTP, Endpoint: away.URL, AuthRef: "anthropic"}, ""},
		"a vendor's named key elsewhere":      {agent.Definition{Provider: agent.HTTP, Endpoint: away.URL, AuthRef: "hr"}, ""},
		"a key without an address":            {agent.Definition{Provider: agent.HTTP, Endpoint: away.URL, AuthRef: "free"}, ""},
		"an entry without a key":              {agent.Definition{Provider: agent.HTTP, Endpoint: home.URL, AuthRef: "empty"}, ""},
		"a name that the secret doesn't have": {agent.Definition{Provider: agent.HTTP, Endpoint: home.URL, AuthRef: "none"}, ""},
	} {
		t.Run(about, func(t *testing.T) {
			got = nil
			tt.agent.ID, tt.agent.Model = "a", "m"
			w := expect.Value(c.OpenAgent(tt.agent, "", tenancy.Settings{}))(t)
			_, err := w.Say(t.Context(), model.Request{MaxTokens: 1, Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "x"}}}}}, func(string) {})
			var e *model.Error
			if !errors.As(err, &e) || strings.Join(got, ",") != tt.want || (tt.want == "") != (e.Kind == model.Unauthorized) || strings.Contains(err.Error(), "key-") {
				t.Errorf("sent %q, %v", got, err)
			}
		})
	}
}

func TestAnEndpointThatIsNotAllowedIsNotCalled(t *testing.T) {
	called := false
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer s.Close()
	c := provider.Config{Secret: &secret.Models{Reader: &secretReader{value: "{}"}, ID: "models"}, Outbound: outbound.Dialer{}.Client()}
	u := expect.Value(url.Parse(s.URL))(t)
	for _, endpoint := range []string{s.URL, "https://" + u.Host, "http://169.254.169.254/latest"} {
		w := expect.Value(c.OpenAgent(agent.Definition{ID: "a", Provider: agent.Local, Endpoint: endpoint}, "", tenancy.Settings{}))(t)
		_, err := w.Say(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "x"}}}}}, func(string) {})
		var e *model.Error
		expect.That(t, errors.As(err, &e) && e.Kind == model.Misplaced && !called, "%s: %v", endpoint, err)
	}
}

func TestTheDeploymentsDemoAnswersForEveryAgent(t *testing.T) {
	c, limited := provider.Config{}, tenancy.Settings{MaxSessionCostUSD: 1}
	for _, d := range agent.BuiltIn() {
		w := expect.Value(c.OpenAgent(d, "demo", limited))(t)
		_, demo := w.(turn.Demo)
		expect.That(t, demo, "%s is answered by %T", d.ID, w)
		if w, err := c.OpenAgent(d, "", limited); err != nil || w == nil { // their prices are known
			t.Errorf("%s: %v", d.ID, err)
		}
	}
}
