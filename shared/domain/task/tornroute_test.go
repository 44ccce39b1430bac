package task

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// A Query is no snapshot: it may have the row of a gate from before a commit and the head from after it, or the other
// way round. Whatever moments it mixes, a claim over a gate and a head that don't belong together runs nothing.
func TestAClaimOverATornReadOfARouteRunsNothing(t *testing.T) {
	for name, is := range map[string]struct {
		s   *story
		key string
	}{
		"steps": {onRoute(t), ProcessKey(1)},
		"a step": {checkedOnRoute(t, []circulation.Stage{desk(1, suzuki), desk(1, tanaka, ito)}, byTanaka),
			GateKey(1, 1, 2)},
		"an attempt": {askedAgain(t), AgainKey(1, 2)},
	} {
		s := is.s
		switch name {
		case "steps":
			s.do(s.does(circulation.Stamp, suzuki), s.does(circulation.TakeBack, suzuki, func(act *circulation.Act) {
				act.Stage = 1
			}), s.does(circulation.Stamp, suzuki), s.does(circulation.Stamp, tanaka), s.start)
		case "a step":
			s.do(s.openGate, s.does(circulation.Stamp, tanaka))
		case "an attempt":
			s.do(s.openOn(is.key, along(2, desk(1, ito), desk(1, suzuki))), s.does(circulation.Stamp, ito),
				s.does(circulation.Stamp, suzuki), s.start)
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
				_, err := s.claim(a, s.now)
				expect.That(t, err != nil, "%s: the head of revision %d with the gate of %d: a call begins", name, head+1, gate+1)
			}
		}
		expect.That(t, torn > 3, "%s: only %d torn reads", name, torn)
		s.do(s.claim)
	}
}
