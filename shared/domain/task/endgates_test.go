package task

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// endNames returns the gates that the entry of the newest end of an execution names.
func (s *story) endNames() map[string]map[string]string {
	s.t.Helper()
	var d struct{ Gates map[string]map[string]string }
	for _, e := range slices.Backward(s.audit) {
		switch e.Action {
		case AuditExecutionCompleted, AuditExecutionFailed, AuditExecutionCancelled:
			expect.NoError(s.t, json.Unmarshal([]byte(e.Details), &d))
			expect.Must(s.t, d.Gates != nil, "%s names no gates: %s", e.Action, e.Details)
			return d.Gates
		}
	}
	s.t.Fatal("no execution has ended")
	return nil
}

// The entry of an execution's end names each gate at which people were asked, with the hashes of its route and of all
// acts on it, also of those in the same Change: it is the entry that a receipt needs.
func TestAnEndNamesTheGatesAtWhichPeopleWereAsked(t *testing.T) {
	steps, step, again := ProcessKey(1), GateKey(1, 1, 2), AgainKey(1, 2)
	onRoute := func() *story {
		s := checkedOnRoute(t, []circulation.Stage{desk(1, suzuki), desk(1, tanaka, ito)}, byTanaka)
		return s.do(s.openGate)
	}
	for name, is := range map[string]struct {
		story func() *story
		want  []string
	}{
		"it completed": {func() *story {
			s := onRoute()
			s.do(s.does(circulation.Stamp, tanaka), s.claim, s.finish(done))
			return s.do(s.openGate, s.does(circulation.Stamp, tanaka), s.claim, s.finish(done), s.complete)
		}, []string{step, GateKey(1, 1, 3), steps}},
		"it failed": {func() *story {
			s := onRoute()
			return s.do(s.does(circulation.Stamp, tanaka), s.claim, s.finish(failed), s.fail)
		}, []string{step, steps}},
		"the step was denied": {func() *story {
			s := onRoute()
			return s.do(s.does(circulation.Deny, tanaka))
		}, []string{step, steps}},
		"it was cancelled while people were asked": {func() *story {
			s := onRoute()
			return s.do(s.cancel)
		}, []string{step, steps}},
		"people were asked again": {func() *story {
			s := settledAgain(t)
			return s.do(s.start, s.claim, s.finish(failed), s.fail)
		}, []string{again, steps}},
		"an earlier attempt was asked about": {func() *story {
			s := settledAgain(t)
			return s.do(s.start, s.claim, s.finish(failed), s.fail, s.retry, s.start, s.claim, s.finish(failed), s.fail)
		}, []string{again, steps}},
		"no rule, and a person approved a step": {func() *story {
			s := waitingStep(t)
			return s.do(s.approveStep, s.claim, s.finish(failed), s.fail)
		}, []string{step}},
		"no rule, and a person refused a step": {func() *story {
			s := waitingStep(t)
			return s.do(s.rejectStep)
		}, []string{step}},
		"no rule, and nobody decided": {func() *story {
			s := waitingStep(t)
			return s.do(s.cancel)
		}, []string{}},
	} {
		s := is.story()
		got, a := s.endNames(), s.load()
		keys := slices.Sorted(maps.Keys(got))
		expect.That(t, slices.Equal(keys, is.want), "%s: it names %v, want %v", name, keys, is.want)
		for key, gate := range got {
			g := a.GateAt(key)
			route, acts := "", ""
			if g.Ruled() {
				route, acts = circulation.RouteHash(g.Circulating()), circulation.Hash(g.Acts)
			}
			expect.That(t, gate["route_hash"] == route && gate["acts_hash"] == acts, "%s: %s is %v, want %s and %s", name, key,
				gate, route, acts)
			ofStep, is := aggregate.Find(a.gates(), key).(*StepGate)
			expect.That(t, is == (gate["step"] != "") && (!is || gate["step"] == ofStep.StepID), "%s: %s is %v", name, key, gate)
		}
	}
}
