package conversation

import (
	"encoding/json"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// turn delivers what somebody says, and lets the agent answer all that waits.
func (tb *table) turn(who string, x Answer) {
	tb.t.Helper()
	if who != "" {
		tb.toldBy(who, "go on")
	}
	if tb.head.Resting {
		expect.NoError(tb.t, tb.begin())
	}
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		x.Text, x.Usage = "ok", tb.used()
		return a.Answered(a.Head.Run, a.Waiting(), x, tb.now)
	})
}

// makesRequest has somebody make the request that the agent offers, and returns it and that of the task which it
// becomes.
func (tb *table) makesRequest(by string) (*Offered, *task.Request) {
	tb.t.Helper()
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.MakeRequest(a.OpenOffer().ID, person(by), policy, tb.now)
	})
	a := tb.load()
	make := a.Effects(tb.now).Make
	expect.Must(tb.t, len(make) > 0, "nothing is made")
	made := (&task.Aggregate{}).After(make[len(make)-1].Begin).(*task.Aggregate)
	return a.Offered[len(a.Offered)-1], made.Request
}

func TestARequestOfOnePersonNamesNobodyBesideThem(t *testing.T) {
	tb := opened(t)
	tb.turn(sato, Answer{Request: "buy it"})
	h, r := tb.makesRequest(sato)
	for _, row := range []any{h, r} {
		text := string(expect.Value(json.Marshal(row))(t))
		expect.That(t, !strings.Contains(text, "route_askers"), "%s", text)
	}
}
