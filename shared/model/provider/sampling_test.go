package provider_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"ringi/infra/local/vendors/llm"
	"ringi/shared/domain/modelname"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
)

func TestTeamsCallTheModelsThatTheyName(t *testing.T) {
	m := llm.New()
	s := httptest.NewServer(m.Handler())
	defer s.Close()
	keys := &secretReader{value: `{"anthropic":"` + m.Key + `","openai":"` + m.Key + `","compatible":{"gemini":{"url":"` + s.URL + `/compatible/v1","key":"` + m.Key + `"}}}`}
	c := provider.Wires{Config: provider.Config{
		Secret: &secret.Models{Reader: keys, ID: "models"}, At: map[string]string{modelname.Anthropic: s.URL + "/anthropic", modelname.OpenAI: s.URL + "/openai/v1"}, Vendor: provider.VendorClient(),
		Outbound: outbound.Allowing(strings.TrimPrefix(s.URL, "http://")).Client(),
	}}
	for name, vendor := range map[string]string{
		"anthropic:claude-sonnet-4-6": "anthropic", "openai:gpt-5.4": "openai", "gpt-5.4": "openai", "gemini-2.5-flash-lite": "compatible.gemini", "google-gla:gemini-2.5-flash-lite": "compatible.gemini",
	} {
		w := expect.Value(c.Open(name))(t)
		got, err := w.Say(t.Context(), model.Request{System: "s", MaxTokens: 10, Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "x"}}}}}, func(string) {})
		if err != nil || got.Usage.Provider != vendor || got.Usage.Model != name[strings.LastIndex(name, ":")+1:] {
			t.Errorf("%s: %+v, %v", name, got.Usage, err)
		}
	}
}

func TestASeedGoesToTheProtocolThatHasOne(t *testing.T) {
	var paths []string
	s := vendor(t, &paths)
	c := provider.Wires{Config: config(s, &secretReader{value: `{"openai":"wrong"}`})}
	seed := 1
	for _, r := range []model.Request{{}, {Sampling: model.Sampling{Seed: &seed}}, {Sampling: model.Sampling{StopSequences: []string{"x"}}}} {
		r.MaxTokens, r.Messages = 1, []model.Message{{Role: model.User, Parts: []model.Part{{Text: "x"}}}}
		_, err := expect.Value(c.Open("openai:gpt-5.4"))(t).Say(t.Context(), r, func(string) {})
		var e *model.Error
		expect.That(t, errors.As(err, &e) && e.Provider == "openai" && e.Kind == model.Unauthorized, "%v", err)
	}
	expect.Same(t, []string{"/v1/responses", "/v1/chat/completions", "/v1/chat/completions"}, paths)
}
