package decide

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

// Only a task's cards may lack the hash of what they show, and no gate asks by a card without a type.
func TestAButtonCountsOnlyForWhatItsCardShows(t *testing.T) {
	reached := errors.New("the act was reached")
	act := func(Subject, string, aggregate.Actor, aggregate.Policy, time.Time) (aggregate.Change, error) {
		return aggregate.Change{}, reached
	}
	payload := aggregate.Blob{JSON: `{"script":"make"}`, Bytes: 17}
	talk := &conversation.Aggregate{Actions: []*conversation.Action{{Number: 1, ActionID: "action", Payload: payload}}}
	of := &task.Aggregate{Prompts: []*task.Prompt{{ID: "prompt", Version: 1, Content: "policy"}}}
	for name, c := range map[string]struct {
		on   Subject
		id   string
		kind aggregate.CardType
		hash string
		want error
	}{
		"an action as it is":              {talk, "action", conversation.CardAction, payload.Hash(), reached},
		"an action without a hash":        {talk, "action", conversation.CardAction, "", aggregate.ErrMoved},
		"an action with another hash":     {talk, "action", conversation.CardAction, "other", aggregate.ErrMoved},
		"an action by a policy's card":    {talk, "action", task.CardPrompt, payload.Hash(), aggregate.ErrNotFound},
		"a policy by its card":            {of, "prompt", task.CardPrompt, "", reached},
		"a policy as it was read":         {of, "prompt", task.CardPrompt, aggregate.HashOf("policy"), reached},
		"a policy with another hash":      {of, "prompt", task.CardPrompt, "other", aggregate.ErrMoved},
		"a policy by a process's card":    {of, "prompt", task.CardProcess, "", aggregate.ErrNotFound},
		"no gate, by a card of no type":   {of, "other", "", "", aggregate.ErrNotFound},
		"no action, by a card of no type": {talk, "other", "", "", aggregate.ErrNotFound},
	} {
		_, err := Pressed(c.kind, c.hash, act)(c.on, c.id, aggregate.Actor{}, aggregate.Policy{}, time.Time{})
		expect.Fails(t, err, c.want, "%s", name)
	}
}

func TestADraftThatNoCardCanShowIsNotPicked(t *testing.T) {
	of := &task.Aggregate{Prompts: []*task.Prompt{{ID: "prompt", Version: 1}}, Processes: []*task.Process{{ID: "process", Version: 1}}}
	pick := func(id, content string, unread error) error {
		_, err := Pick("team", content, unread)(of, id, aggregate.Actor{}, aggregate.Policy{}, time.Time{})
		return err
	}
	lost := errors.New("lost")
	expect.Fails(t, pick("prompt", "", lost), lost, "a draft that can't be read")
	expect.Fails(t, pick("prompt", strings.Repeat("方針 ", 9000), nil), explain.ErrMalformedForm, "a draft that is too long")
	expect.Fails(t, pick("process", strings.Repeat("方針 ", 9000), nil), aggregate.ErrNotFound, "a draft in place of a process")
}
