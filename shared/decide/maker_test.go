package decide

import (
	"context"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
)

// The time that a person takes to decide is measured from the question, not from the start of its generation.
func TestAGateIsAskedWhenItBeginsToWait(t *testing.T) {
	begun := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	pending := begun.Add(3 * time.Minute)
	by := pending.Add(48 * time.Hour)
	terms := aggregate.Terms{DecideBy: &by, ApprovalHours: 48}
	a := &task.Aggregate{
		Prompts: []*task.Prompt{{ID: "prompt", CreatedAt: begun, Gate: aggregate.Gate{Terms: terms}},
			{ID: "generating", CreatedAt: begun}},
		Processes: []*task.Process{{ID: "process", CreatedAt: begun, Gate: aggregate.Gate{Terms: terms}}},
		Gates:     []*task.StepGate{{ID: "gate", CreatedAt: begun, Gate: aggregate.Gate{Terms: terms}}},
	}
	for id, want := range map[string]time.Time{
		"prompt": pending, "process": pending, "gate": pending, "generating": {}, "execution": {},
	} {
		got := a.AskedAt(id)
		expect.That(t, got.Equal(want), "%s was asked at %s, want %s", id, got, want)
	}
}

func TestNobodyDecidesBeforeTheyAreAsked(t *testing.T) {
	asked := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for wait, want := range map[time.Duration]time.Duration{90 * time.Second: 90 * time.Second, 0: 0, -time.Second: 0} {
		expect.Is(t, (Verdict{WaitsSince: asked}).waited(asked.Add(wait)), want, "%s after", wait)
	}
}

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

// A gate that asks elsewhere after a conflict asks Slack anew about the person; one that asks the same doesn't.
func TestAPersonIsLookedUpForTheQuestionThatTheyAnswer(t *testing.T) {
	ref, gate := task.RefOf("T", aggregate.NewID()), aggregate.NewID()
	type found struct {
		channel string
		member  bool
	}
	at := func(home string) *task.Aggregate {
		g := aggregate.Gate{Status: aggregate.PendingApproval, AskedAt: new(time.Now()), Home: home,
			Route: &circulation.Route{Hands: 1, Stages: []circulation.Stage{{Mode: circulation.ModeChannel, Need: 1}}}}
		return &task.Aggregate{
			Head:    task.Head{Head: aggregate.Head{TenantID: "T", Requester: "U0"}, TaskID: ref.ID},
			Request: &task.Request{TeamID: "T1", User: "U0", Channel: "CASKED", ChannelType: "channel"},
			Task:    &task.Task{ID: ref.ID}, Prompts: []*task.Prompt{{ID: gate, Version: 1, Gate: g}},
		}
	}
	for name, tt := range map[string]struct {
		rows []*task.Aggregate
		want []found
	}{
		"nobody was faster": {[]*task.Aggregate{at("CMINE")}, []found{{"CMINE", true}}},
		"it asks as before": {[]*task.Aggregate{at("CMINE"), at("CMINE")}, []found{{"CMINE", true}, {"CMINE", true}}},
		"it asks elsewhere now": {[]*task.Aggregate{at("CTHEIRS"), at("CMINE")},
			[]found{{"CTHEIRS", false}, {"CMINE", true}}},
	} {
		var got []found
		m := Maker{Store: &faster{rows: tt.rows}, People: &people.People{Slack: member{}, Now: time.Now}, Now: time.Now}
		v := m.Decide(t.Context(), Click{Want: people.Want{User: "U1", Team: "T1"}, Ref: ref, ID: gate},
			func(_ Subject, _ string, by aggregate.Actor, _ aggregate.Policy, _ time.Time) (aggregate.Change, error) {
				got = append(got, found{by.Channel, by.Member})
				return aggregate.Change{}, nil
			})
		expect.NoError(t, v.Err)
		expect.That(t, slices.Equal(got, tt.want), "%s: looked up %v, want %v", name, got, tt.want)
		expect.That(t, v.Subject == aggregate.Aggregate(tt.rows[len(tt.rows)-1]), "%s: the verdict is of other rows", name)
	}
}
