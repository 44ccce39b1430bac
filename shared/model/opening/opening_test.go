package opening_test

import (
	"context"
	"testing"

	"ringi/shared/model/opening"
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
	found := expect.Value(opening.Models{Keys: k}.Check(t.Context(), c, nil))(t)
	expect.That(t, len(found) == 1 && k.forgot == 1, "read anew %d times, %+v", k.forgot, found)
}
