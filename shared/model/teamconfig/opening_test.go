package teamconfig_test

import (
	"context"
	"testing"

	"ringi/shared/domain/tenancy"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
)

// kept is a model secret that a function has read before somebody changed it.
type kept struct {
	was, is secret.ModelSecret
	forgot  int
}

func (k *kept) Get(context.Context) (secret.ModelSecret, error) { return k.was, nil }
func (k *kept) Forget()                                         { k.was, k.forgot = k.is, k.forgot+1 }

// Whoever is told that a key is missing, adds it and tries again is not told so for the minutes that a secret is kept.
func TestAKeyThatWasJustAddedIsSeen(t *testing.T) {
	c := teamconfig.Contest{Teams: []teamconfig.Team{{Leader: teamconfig.Leader{Model: "claude-sonnet-4-6"}}, {Leader: teamconfig.Leader{Model: "gpt-5.4"}}}}
	for _, name := range []string{"claude-sonnet-4-6", "gpt-5.4"} {
		c.Named = append(c.Named, teamconfig.Named{File: "t.toml", Model: name, Set: true})
	}
	k := &kept{is: secret.ModelSecret{Anthropic: "sk-ant"}}
	found := expect.Value(teamconfig.Models{Keys: k}.Check(t.Context(), c))(t)
	expect.That(t, len(found) == 1 && k.forgot == 1, "read anew %d times, %+v", k.forgot, found)
}

// What is missing is said: an address only where none is known.
func TestWhatTheModelSecretLacksIsSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		at   secret.ModelEndpoint
		says string // empty: nothing is missing
	}{
		"grok:grok-4":                  {secret.ModelEndpoint{}, "no key for compatible.grok"},
		"grok-responses:grok-4":        {secret.ModelEndpoint{Key: "k"}, ""},
		"gemini-2.5-flash":             {secret.ModelEndpoint{URL: "https://proxy.example/v1"}, "no key for compatible.gemini"},
		"google-gla:gemini-2.5-pro":    {secret.ModelEndpoint{Key: "k"}, ""},
		"compatible:box/llama3.2":      {secret.ModelEndpoint{Key: "k"}, "no address for compatible.box"},
		"compatible:box/llama3.2:open": {secret.ModelEndpoint{URL: "https://box.example/v1"}, ""},
		"claude-sonnet-4-6":            {secret.ModelEndpoint{}, "no key for anthropic"},
	} {
		c := teamconfig.Contest{Teams: []teamconfig.Team{{Leader: teamconfig.Leader{Model: name}}},
			Named: []teamconfig.Named{{File: "t.toml", Model: name, Set: true}}}
		k := &kept{is: secret.ModelSecret{Compatible: map[string]secret.ModelEndpoint{"grok": tt.at, "gemini": tt.at, "box": tt.at}}}
		k.was = k.is
		c.Prices = []tenancy.ModelPrice{{Model: name, Input: "1", Output: "1", Date: "2026-11-20"}}
		found := expect.Value(teamconfig.Models{Keys: k}.Check(t.Context(), c))(t)
		if tt.says == "" {
			expect.That(t, found == nil, "%s: %+v", name, found)
			continue
		}
		expect.Must(t, len(found) == 1, "%s: %+v", name, found)
		expect.Has(t, found[0].Message, tt.says)
	}
}
