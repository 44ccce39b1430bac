package task

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// routed puts a gate under a rule whose route asks Suzuki and then Tanaka.
func routed(a *Aggregate, row Gated) {
	g := row.gate()
	desk := func(user string) circulation.Stage {
		return circulation.Stage{Name: user, Mode: circulation.ModePeople, People: []circulation.Person{{User: user}},
			Need: 1}
	}
	g.Terms.Rule = &circulation.Rule{ID: "r1", Name: "10万円以上", Revision: 3}
	g.Route = &circulation.Route{Form: circulation.Form, Stages: []circulation.Stage{desk(suzuki), desk(tanaka)}}
	g.Askers, g.Acts, g.Verdict = []circulation.Person{{User: requester}}, nil, aggregate.Verdict{}
	g.AskedSum = a.sum(row)
}

// routed replaces a waiting row by one under a rule, as it would have opened.
func (s *story) routed(row Gated) {
	routed(s.load(), row)
	s.head.Routed = true
	s.rows[row.Key()] = row
}

// stampedBy adds the stamps of these people, stage by stage.
func stampedBy(t testing.TB, g *aggregate.Gate, users ...string) {
	for i, user := range users {
		who := circulation.Person{User: user}
		*g = expect.Value(g.Acted(circulation.Act{Form: circulation.Form, Kind: circulation.Stamp, Hand: who, Principal: who,
			At: dawn.Add(time.Duration(i) * time.Minute), Stage: i + 1, Hash: g.AskedSum, Surface: "slack"}))(t)
	}
}

// A waiting row that lost its rule, by a faulty commit or two, is settled neither by a click nor by an act.
func TestAGateThatLostItsRuleIsNotDecided(t *testing.T) {
	s := onRoute(t)
	expect.That(t, s.head.Routed, "the head doesn't know that it goes round")
	p := *s.load().Process()
	p.Gate = aggregate.Gate{Status: p.Status, AskedAt: p.AskedAt, Terms: p.Terms}
	p.Terms.Rule = nil
	s.rows[p.Key()] = &p
	s.refused(s.approveProcess, aggregate.ErrConflict)
	s.refused(s.rejectProcess, aggregate.ErrConflict)
	s.do(s.cancel)
}

func TestAGateMovesOnlyAsItsRouteSays(t *testing.T) {
	s := waitingProcess(t)
	p := *s.load().Process()
	s.routed(&p)
	a := s.load()
	moved := func(to aggregate.GateStatus, users ...string) (aggregate.Change, error) {
		c := a.begin(s.now)
		c.moveGate(&p, to, func(n Gated) { stampedBy(t, n.gate(), users...) })
		return c.done()
	}
	expect.Fails(t, expect.Err(moved(aggregate.Approved, suzuki)), aggregate.ErrOnRoute, "approved by one of two")
	expect.Fails(t, expect.Err(moved(aggregate.Rejected, suzuki)), aggregate.ErrOnRoute, "rejected by nobody")
	expect.Value(moved(aggregate.Approved, suzuki, tanaka))(t)
}

// A step's gate repeats the terms of its process. Under a rule it needs a route of its own.
func TestNoStepsGateOpensUnderARuleWithoutARoute(t *testing.T) {
	s := checked(t)
	e := *s.load().Execution()
	e.Terms.Rule = &circulation.Rule{ID: "r1"}
	s.rows[e.Key()] = &e
	s.refused(s.openGate, aggregate.ErrOnRoute)
}

// A Query is no snapshot: it may have the row of a gate from before a commit and the head from after it, or the other
// way round. Whatever moments it mixes, a claim over a gate and a head that don't belong together runs nothing.
func TestAClaimOverATornReadOfARouteRunsNothing(t *testing.T) {
	for name, is := range map[string]struct {
		s   *story
		key string
	}{
		"steps":  {onRoute(t), ProcessKey(1)},
		"a step": {checkedOnRoute(t, []circulation.Stage{desk(1, suzuki), desk(1, tanaka, ito)}, byTanaka), GateKey(1, 1, 2)},
	} {
		s := is.s
		switch name {
		case "steps":
			s.do(s.does(circulation.Stamp, suzuki), s.does(circulation.Stamp, tanaka), s.start)
		case "a step":
			s.do(s.openGate, s.opensSame, s.does(circulation.Stamp, tanaka))
		}
		torn := 0
		for head := range s.images {
			for gate := range s.images {
				was, of := s.images[head], s.images[gate].rows
				if of[is.key] == was.rows[is.key] {
					continue
				}
				a := s.mixed(was.head, func(key string) map[string]aggregate.Row {
					if key == is.key {
						return of
					}
					return was.rows
				})
				if a.Execution() == nil || a.Head.Run != s.head.Run {
					continue // no claim is made
				}
				if name == "a step" && a.NextStep(a.Execution()).Order != 2 {
					continue // the claim is of another step
				}
				torn++
				c, err := s.claim(a, s.now)
				if err == nil {
					err = s.table.commit(a.Head, c)
				}
				expect.That(t, err != nil, "%s: the head of revision %d with the gate of %d: a call begins", name, head+1, gate+1)
			}
		}
		expect.That(t, torn > 3, "%s: only %d torn reads", name, torn)
		s.do(s.claim)
	}
}
