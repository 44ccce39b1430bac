package task

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

func TestAStepThatMustBeLookedAtRunsOnlyWithWhatWasSeen(t *testing.T) {
	claimWith := func(arguments string, needs bool) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			c := call(a, now)
			c.Arguments, c.ArgumentsHash, c.NeedsGate = aggregate.Blob{JSON: aggregate.JSON(arguments)},
				aggregate.HashOf(arguments), needs
			return a.ClaimStep(1, c, now)
		}
	}
	shown := `{"month":4}`

	s := checked(t)
	s.refused(claimWith(shown, false), aggregate.ErrMoved) // even if the caller did not ask for a gate
	current := func(want int) {
		t.Helper()
		a := s.load()
		expect.Is(t, a.CurrentStep(a.Execution()), want, "at step")
	}
	current(1)
	s.do(s.openGate)
	current(2)
	s.refused(claimWith(shown, true), aggregate.ErrMoved)
	s.nothing(s.openGate)
	s.do(s.approveStep)
	stops(t, s, claimWith(`{"month":5}`, true), ReasonStepsChanged)
	s.do(claimWith(shown, true), s.finish(done))

	t.Run("a gate that was opened counts, whoever wanted it", func(t *testing.T) {
		s := running(t)
		s.do(s.openGate)
		s.refused(claimWith(shown, false), aggregate.ErrMoved)
		s.do(s.approveStep)
		stops(t, s, claimWith(`{"month":5}`, false), ReasonStepsChanged)
		s.do(claimWith(shown, false))
	})
	t.Run("no gate opens for a call that has begun", func(t *testing.T) {
		s := running(t)
		s.do(s.claim)
		s.refused(s.openGate, aggregate.ErrMoved)
	})
	t.Run("nor for another step", func(t *testing.T) {
		s := running(t)
		s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.OpenStepGate(1, 2, aggregate.Blob{}, "", nil, now)
		}, aggregate.ErrMoved)
	})
}

func TestWhichStepsNeedALook(t *testing.T) {
	for _, tt := range []struct {
		name    string
		step    Step
		auto    bool
		dynamic bool
		want    bool
	}{
		{"a read", Step{Access: aggregate.Read}, true, false, false},
		{"a write", Step{Access: aggregate.Write}, true, false, false},
		{"a read that asks for it", Step{Access: aggregate.Read, RequiresHumanCheck: true}, true, false, true},
		{"a write, when tools are not approved by themselves", Step{Access: aggregate.Write}, false, false, true},
		{"a read, when tools are not approved by themselves", Step{Access: aggregate.Read}, false, false, false},
		{"a write to where an earlier result says", Step{Access: aggregate.Write}, true, true, true},
		{"a read from where an earlier result says", Step{Access: aggregate.Read}, true, true, false},
	} {
		expect.Is(t, NeedsGate(tt.step, aggregate.Terms{AutoApproveTools: tt.auto, ApprovalRequired: true}, tt.dynamic),
			tt.want, "%s", tt.name)
	}
	for _, auto := range []bool{false, true} {
		unasked := aggregate.Terms{AutoApproveTools: auto}
		expect.That(t, NeedsGate(Step{Access: aggregate.Write}, unasked, false),
			"a write of steps that nobody was asked about")
		expect.That(t, !NeedsGate(Step{Access: aggregate.Read}, unasked, false), "a read of such steps")
	}
}

func TestAGateBelongsToItsAttempt(t *testing.T) {
	s := waitingStep(t)
	s.do(s.approveStep, s.claim, s.finish(failed), s.fail, s.retry, s.start)
	s.refused(s.claim, aggregate.ErrMoved)
	s.do(s.openGate)
	open, waits := s.load().OpenGate()
	expect.That(t, waits && open.Key == GateKey(1, 2, 2) && open.Kind == CardStep, "%+v waits: %v", open, waits)
	first := s.load().Gates[0]
	s.refused(s.on(first.ID, approve, person(tanaka)),
		aggregate.ErrDecided{Status: "approved", By: suzuki, At: *first.ApprovedAt})
}

func TestAnApprovalOfWhatWasReadHoldsTheHash(t *testing.T) {
	for name, tt := range map[string]struct {
		story *story
		id    func(a *Aggregate) string
	}{
		"a prompt":  {waitingPrompt(t), func(a *Aggregate) string { return a.Prompt().ID }},
		"a process": {waitingProcess(t), func(a *Aggregate) string { return a.Process().ID }},
		"a step":    {waitingStep(t), func(a *Aggregate) string { return a.Gates[0].ID }},
	} {
		t.Run(name, func(t *testing.T) {
			a := tt.story.load()
			id := tt.id(a)
			approve := func(id, hash string) error {
				act := a.Asked(tt.id(a)).Gate.Acting(circulation.Stamp, person(suzuki), "")
				act.Hash = hash
				_, err := a.Act(id, act, person(suzuki), tt.story.policy, time.Now())
				return err
			}
			x := a.Asked(id)
			expect.Must(t, x.Open && x.Hash != "", "undecided %v, hash %q", x.Open, x.Hash)
			for _, hash := range []string{"", "x", a.Asked(id).Hash[1:]} {
				refused, _ := errors.AsType[*circulation.Refusal](approve(id, hash))
				expect.That(t, refused != nil && refused.Why == circulation.WhyHash, "hash %q: %v", hash, refused)
			}
			expect.Fails(t, approve("01OTHER", ""), aggregate.ErrNotFound, "no such gate")
			expect.NoError(t, approve(id, a.Asked(id).Gate.AskedSum))
		})
	}
}

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
	steps, step := ProcessKey(1), GateKey(1, 1, 2)
	onRoute := func() *story {
		s := checkedOnRoute(t, []circulation.Stage{desk(1, suzuki), desk(1, tanaka, ito)}, byTanaka)
		return s.do(s.openGate, s.opensSame)
	}
	for name, is := range map[string]struct {
		story func() *story
		want  []string
	}{
		"it completed": {func() *story {
			s := onRoute()
			s.do(s.does(circulation.Stamp, tanaka), s.claim, s.finish(done))
			return s.do(s.openGate, s.opensSame, s.does(circulation.Stamp, tanaka), s.claim, s.finish(done), s.complete)
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

// Whatever the settings switch off, a gate under a rule waits for its people: of steps whose route is known at once or
// looked up, of an attempt, and of a step. The system neither approves it nor acts on it, nor does a person by a click.
func TestNoSwitchLetsTheSystemApproveAGateUnderARule(t *testing.T) {
	for switches := range 16 {
		set := func(s *story) *story {
			s.settings.PromptApprovalRequired = switches&1 != 0
			s.settings.ProcessApprovalRequired = switches&2 != 0
			s.settings.AutoApproveTools = switches&4 != 0
			s.settings.AllowSelfApproval = switches&8 != 0
			return s
		}
		for kind, opened := range map[string]func() *story{
			"steps": func() *story {
				s := set(waitingPrompt(t))
				s.do(s.approvePrompt, s.plan)
				s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
					return a.ApproveUnasked(a.Process().ID, now)
				}, aggregate.ErrNotFound)
				return s.do(s.opens(along(desk(1, suzuki))))
			},
			"a step": func() *story { return set(waitingOnRoute(t, along(desk(1, suzuki)))) },
		} {
			s := opened()
			id := s.ruled().Asks().ID
			for _, by := range []aggregate.Actor{aggregate.System(), {Type: aggregate.ActorAgent, ID: suzuki}, {}} {
				act := circulation.Act{Kind: circulation.Stamp, Hand: circulation.Person{User: by.ID},
					Principal: circulation.Person{User: by.ID}, Stage: 1, Hash: s.ruled().gate().AskedSum}
				s.refused(s.acts(id, act, by), aggregate.ErrNotAllowed{Rule: aggregate.RuleNotListed})
			}
			a := s.load()
			waits, is := a.OpenGate()
			expect.That(t, is && waits.ID == id && waits.Terms.ApprovalRequired && a.WaitingTerms() != nil,
				"%s, switches %04b: %+v", kind, switches, waits)
			expect.That(t, a.Next(s.now).State != StateExecuteProcess, "%s: a run executes it", kind)
		}
	}
}

// A version that has the very bytes of one that was sent back has none of its stamps, and takes none of its acts.
func TestNoStampIsCarriedToTheSameBytesOfANextVersion(t *testing.T) {
	s := waitingPrompt(t)
	o := along(desk(1, suzuki), desk(1, tanaka, ito))
	s.do(s.approvePrompt, s.plan, s.opens(o), s.does(circulation.Stamp, suzuki))
	first := *s.load().Process()
	s.do(s.does(circulation.SendBack, tanaka), s.beginProcess, s.plan, s.opens(o))
	second := s.load().Process()
	expect.Must(t, second.Version == 2 && second.hash() == first.hash() && second.AskedSum != first.AskedSum, "%+v",
		second.Gate)
	expect.That(t, len(second.Acts) == 0, "%d acts are carried", len(second.Acts))
	s.why(s.does(circulation.Stamp, suzuki, func(act *circulation.Act) { act.Hash = first.AskedSum }), circulation.WhyHash)
	s.why(s.does(circulation.Stamp, tanaka), circulation.WhyTurn)
	act := first.Acts[0]
	s.nothing(s.acts(first.ID, act, person(suzuki)))
	act.Hand, act.Principal, act.Stage = circulation.Person{User: ito}, circulation.Person{User: ito}, 2
	s.refused(s.acts(first.ID, act, person(ito)), aggregate.ErrDecided{Status: "rejected", By: tanaka,
		At: *s.load().Processes[0].RejectedAt})
	copied := *second // as if somebody copied the rows of acts
	copied.Acts = first.Acts
	s.rows[copied.Key()] = &copied
	s.refused(s.does(circulation.Stamp, tanaka), aggregate.ErrConflict)
}
