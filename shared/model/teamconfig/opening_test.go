package teamconfig

import (
	"context"
	"errors"
	"testing"

	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
)

func TestMistakesAreBounded(t *testing.T) {
	found := []Finding{{File: "a.toml", Field: "x", Message: "is wrong"}, {File: "b.toml", Message: "is wrong"},
		{File: "c.toml", Message: "is wrong"}}
	for locale, more := range map[string]string{"en": "and 1 more", "ja": "ほか 1 件"} {
		wrong, err := Texts(found, 2, locale)
		expect.NoError(t, err)
		expect.Same(t, []string{"a.toml: x: is wrong", "b.toml: is wrong", more}, wrong)
	}
	expect.Is(t, len(expect.Value(Texts(found, 3, "en"))(t)), 3)
	wrong, err := Texts(append(found, Finding{File: "d.toml", Err: explain.ErrUnavailable}), 2, "en")
	expect.That(t, errors.Is(err, explain.ErrUnavailable) && wrong == nil, "%q, %v", wrong, err)
}

// kept is a model secret that a function has read before somebody changed it.
type kept struct {
	was, is secret.ModelSecret
	forgot  int
}

func (k *kept) Get(context.Context) (secret.ModelSecret, error) { return k.was, nil }
func (k *kept) Forget()                                         { k.was, k.forgot = k.is, k.forgot+1 }

// Whoever is told that a key is missing, adds it and tries again is not told so for the minutes that a secret is kept.
func TestAKeyThatWasJustAddedIsSeen(t *testing.T) {
	c := Contest{Teams: []Team{{Leader: Leader{Model: "claude-sonnet-4-6"}}, {Leader: Leader{Model: "gpt-5.4"}}}}
	for _, name := range []string{"claude-sonnet-4-6", "gpt-5.4"} {
		c.Named = append(c.Named, Named{File: "t.toml", Model: name, Set: true})
	}
	k := &kept{is: secret.ModelSecret{Anthropic: "sk-ant"}}
	found := expect.Value(Models{Keys: k}.Check(t.Context(), c, "en"))(t)
	expect.That(t, len(found) == 1 && k.forgot == 1, "read anew %d times, %+v", k.forgot, found)
}

// What is missing is said: an address only where none is known.
func TestWhatTheModelSecretLacksIsSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		at   secret.ModelEndpoint
		says string // empty: nothing is missing
	}{
		"grok:grok-4":           {secret.ModelEndpoint{}, "no key for compatible.grok"},
		"grok-responses:grok-4": {secret.ModelEndpoint{Key: "k"}, ""},
		"gemini-2.5-flash": {secret.ModelEndpoint{URL: "https://proxy.example/v1"},
			"no key for compatible.gemini"},
		"google-gla:gemini-2.5-pro":    {secret.ModelEndpoint{Key: "k"}, ""},
		"compatible:box/llama3.2":      {secret.ModelEndpoint{Key: "k"}, "no address for compatible.box"},
		"compatible:box/llama3.2:open": {secret.ModelEndpoint{URL: "https://box.example/v1"}, ""},
		"claude-sonnet-4-6":            {secret.ModelEndpoint{}, "no key for anthropic"},
	} {
		c := Contest{Teams: []Team{{Leader: Leader{Model: name}}}, Named: []Named{{File: "t.toml", Model: name, Set: true}}}
		k := &kept{is: secret.ModelSecret{Compatible: map[string]secret.ModelEndpoint{"grok": tt.at, "gemini": tt.at,
			"box": tt.at}}}
		k.was = k.is
		c.Prices = []tenancy.ModelPrice{{Model: name, Input: "1", Output: "1"}}
		found := expect.Value(Models{Keys: k}.Check(t.Context(), c, "en"))(t)
		if tt.says == "" {
			expect.That(t, found == nil, "%s: %+v", name, found)
			continue
		}
		expect.Must(t, len(found) == 1, "%s: %+v", name, found)
		expect.Has(t, found[0].Message, tt.says)
	}
}
