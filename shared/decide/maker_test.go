package decide

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

// Every kind that asks people must implement Subject: without it clicks and lists of waiting gates can't find it.
func TestAKindThatAsksPeopleSaysHow(t *testing.T) {
	for _, k := range store.Kinds() {
		_, asks := k.New().(Subject)
		says := [4]bool{k.ValidID != nil, k.RequestKey != "", len(k.Asks) > 0, card.DialogsOf(k.New()) != nil}
		expect.That(t, says == [4]bool{asks, asks, asks, asks},
			"kind %s, decided on: %v, says its ids' form, who asked for one, by which cards, in which dialogs: %v", k.Name,
			asks, says)
	}
}

// faster is a store in which somebody else's commit comes before each decision, while there is one.
type faster struct {
	Store
	rows []*task.Aggregate
}

func (f *faster) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.DefaultSettings(), nil
}

func (f *faster) StandIns(context.Context, string, string) ([]circulation.StandIn, error) {
	return nil, nil
}

func (f *faster) Load(context.Context, aggregate.Ref) (aggregate.Aggregate, error) {
	return f.rows[0], nil
}

func (f *faster) DecideFrom(_ context.Context, a aggregate.Aggregate,
	decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	_, err := decide(a)
	if len(f.rows) > 1 {
		f.rows = f.rows[1:]
		_, err = decide(f.rows[0])
	}
	return f.rows[0], err
}

// A gate that asks others after a conflict asks Slack anew about the person; one that asks the same doesn't.
func TestAPersonIsLookedUpForTheQuestionThatTheyAnswer(t *testing.T) {
	ref, gate, there := task.RefOf("T", aggregate.NewID()), aggregate.NewID(), circulation.ModeChannel
	at := func(mode circulation.Mode) *task.Aggregate {
		g := aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: new(time.Now()), AskedSum: "sum",
			Terms: aggregate.Terms{ApprovalHours: 1, Rule: &circulation.Rule{ID: "rule"}}}
		asks := circulation.Stage{Mode: mode, Need: 1}
		if mode == circulation.ModePeople {
			asks.People = []circulation.Person{{User: "U2"}}
		}
		g.Route = &circulation.Route{Form: circulation.Form, Stages: []circulation.Stage{asks}}
		return &task.Aggregate{Head: task.Head{Head: aggregate.Head{TenantID: "T", Requester: "U0"}, TaskID: ref.ID},
			Request: &task.Request{TeamID: "T1", User: "U0", Channel: "CMINE", ChannelType: "channel"},
			Task:    &task.Task{ID: ref.ID}, Prompts: []*task.Prompt{{ID: gate, Version: 1, Gate: g}}}
	}
	for name, tt := range map[string]struct {
		rows []*task.Aggregate
		want []bool
	}{
		"nobody was faster":  {[]*task.Aggregate{at(there)}, []bool{true}},
		"it asks as before":  {[]*task.Aggregate{at(there), at(there)}, []bool{true, true}},
		"it asks others now": {[]*task.Aggregate{at(circulation.ModePeople), at(there)}, []bool{false, true}},
	} {
		var got []bool
		m := Maker{Store: &faster{rows: tt.rows}, People: &people.People{Slack: member{}, Now: time.Now}, Now: time.Now}
		v := m.Decide(t.Context(), Click{Want: people.Want{User: "U1"}, Ref: ref, ID: gate},
			func(_ Subject, _ string, by aggregate.Actor, _ aggregate.Policy, _ time.Time) (aggregate.Change, error) {
				got = append(got, by.Member && by.Channel == "CMINE")
				return aggregate.Change{}, nil
			})
		expect.NoError(t, v.Err)
		expect.That(t, slices.Equal(got, tt.want), "%s: looked up %v, want %v", name, got, tt.want)
		expect.That(t, v.Subject == aggregate.Aggregate(tt.rows[len(tt.rows)-1]), "%s: the verdict is of other rows", name)
	}
}

// answersOnce counts how often Slack is asked who somebody is. It answers once.
type answersOnce struct {
	member
	times int
}

func (a *answersOnce) User(ctx context.Context, id string) (slackapi.User, error) {
	if a.times++; a.times > 1 {
		return slackapi.User{}, errors.New("Slack is down")
	}
	return a.member.User(ctx, id)
}

// Whoever comes second at a gate of the settings learns who decided, and Slack is asked once who they are.
func TestWhoeverComesSecondIsLookedUpOnce(t *testing.T) {
	ref, gate, now := task.RefOf("T", aggregate.NewID()), aggregate.NewID(), time.Now().UTC().Truncate(time.Millisecond)
	terms := aggregate.Terms{ApprovalRequired: true, ApprovalHours: 48, DecideBy: new(now.Add(48 * time.Hour))}
	g := aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: &now, Terms: terms}
	g = expect.Value(g.Under(aggregate.BySettings(true, "U0"), []string{"U0"},
		func(*aggregate.Gate) string { return aggregate.HashOf("policy") }))(t)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U2", Team: "T1", Member: true}
	act := expect.Value(aggregate.Policy{Team: "T1", Rev: 1}.Act(&g, g.Acting(circulation.Stamp, by, ""), by, now))(t)
	done := expect.Value(g.Acted(act))(t)
	done.Status = aggregate.Approved
	of := func(g aggregate.Gate) *task.Aggregate {
		return &task.Aggregate{Head: task.Head{Head: aggregate.Head{TenantID: "T", Requester: "U0"}, TaskID: ref.ID},
			Request: &task.Request{TeamID: "T1", User: "U0", Channel: "CMINE", ChannelType: "channel"},
			Task:    &task.Task{ID: ref.ID}, Prompts: []*task.Prompt{{ID: gate, Version: 1, Content: "policy", Gate: g}}}
	}
	slack := &answersOnce{}
	m := Maker{Store: &faster{rows: []*task.Aggregate{of(g), of(done)}}, Now: time.Now,
		People: &people.People{Slack: slack, Now: time.Now}}
	v := m.Decide(t.Context(), Click{Want: people.Want{User: "U1"}, Ref: ref, ID: gate}, Approve)
	expect.That(t, slack.times == 1, "Slack was asked %d times", slack.times)
	decided, is := errors.AsType[aggregate.ErrDecided](v.Err)
	expect.That(t, is && decided.By == "U2", "told %v", v.Err)
}

// A button counts for the content whose hash it names alone, and no gate asks by a card without a type.
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
		"a policy without a hash":         {of, "prompt", task.CardPrompt, "", aggregate.ErrMoved},
		"a policy as it is":               {of, "prompt", task.CardPrompt, aggregate.HashOf("policy"), reached},
		"a policy with another hash":      {of, "prompt", task.CardPrompt, "other", aggregate.ErrMoved},
		"a policy by a process's card":    {of, "prompt", task.CardProcess, "", aggregate.ErrNotFound},
		"no gate, by a card of no type":   {of, "other", "", "", aggregate.ErrNotFound},
		"no action, by a card of no type": {talk, "other", "", "", aggregate.ErrNotFound},
	} {
		_, err := Shown(c.kind, c.hash, act)(c.on, c.id, aggregate.Actor{}, aggregate.Policy{}, time.Time{})
		expect.Fails(t, err, c.want, "%s", name)
	}
}

func TestADraftThatNoCardCanShowIsNotPicked(t *testing.T) {
	of := &task.Aggregate{Prompts: []*task.Prompt{{ID: "prompt", Version: 1}},
		Processes: []*task.Process{{ID: "process", Version: 1}}}
	pick := func(id, content string) error {
		_, err := Pick("team", content)(of, id, aggregate.Actor{}, aggregate.Policy{}, time.Time{})
		return err
	}
	expect.Fails(t, pick("prompt", strings.Repeat("方針 ", 9000)), explain.ErrMalformedForm, "a draft that is too long")
	expect.Fails(t, pick("process", strings.Repeat("方針 ", 9000)), aggregate.ErrNotFound,
		"a draft in place of a process")
}
