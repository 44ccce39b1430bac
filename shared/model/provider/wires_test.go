package provider_test

import (
	"errors"
	"slices"
	"testing"

	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
)

func TestAModelOfAContestIsTalkedToByItsName(t *testing.T) {
	var paths []string
	s := vendor(t, &paths)
	k := &secretReader{value: `{"anthropic":"wrong","openai":"wrong","compatible":{"gemini":{"url":"` + s.URL + `/v1","key":"wrong"}}}`}
	w := provider.Wires{Config: config(s, k), Demo: turn.Demo{}, Unlimited: true}
	hello := model.Request{Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "hello"}}}}, MaxTokens: 10}
	for _, name := range []string{"anthropic:claude-haiku-4-5", "gpt-5", "google-gla:gemini-2.5-flash"} {
		wire := expect.Value(w.Open(name))(t)
		_, err := wire.Say(t.Context(), hello, func(string) {})
		if e := new(model.Error); !errors.As(err, &e) || e.Kind != model.Unauthorized {
			t.Errorf("%s with a wrong key: %v", name, err)
		}
	}
	_, err := expect.Value(w.Open("bedrock:amazon.nova-pro-v1:0"))(t).Say(t.Context(), hello, func(string) {})
	if e := new(model.Error); !errors.As(err, &e) || e.Provider != "bedrock" || e.Kind != model.Overloaded {
		t.Errorf("a stream without an event: %v", err)
	}
	want := []string{"/v1/messages", "/v1/responses", "/v1/chat/completions", "/model/amazon.nova-pro-v1:0/converse-stream"}
	expect.That(t, slices.Equal(paths, want), "%v, want %v", paths, want)
	expect.Is(t, k.reads, 4, "the keys were read (times): a refused one is read anew")
	if e := new(model.Error); !errors.As(second(w.Open("mistral:large")), &e) || e.Kind != model.UnknownModel {
		t.Errorf("a model of no known form: %v", e)
	}
	instead := w
	instead.Instead = "demo"
	expect.Is[model.Wire](t, expect.Value(instead.Open("anthropic:claude-haiku-4-5"))(t), (turn.Demo{}))
}

func second[T any](_ T, err error) error { return err }
