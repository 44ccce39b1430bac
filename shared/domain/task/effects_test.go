package task

import (
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// drawn returns the rows as if all cards showed them.
func (s *story) drawn() *Aggregate {
	a := s.load()
	a.Head.ShownRev = a.Head.Rev
	return a
}

// isDue asserts when the sweeper looks at a task again.
func isDue(t testing.TB, a *Aggregate, now, want time.Time) {
	t.Helper()
	due := a.DueAt(now)
	expect.That(t, due != nil && due.Equal(want), "due at %v, want %v", due, want)
}

func (s *story) pauseUntil(until time.Time) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.WaitUntil(s.head.Run, a.Generating(), until, now)
	}
}

func TestWhatFollowsFromEachState(t *testing.T) {
	const ( // when the sweeper looks again if all cards are up to date
		never = "never"
		soon  = "in 5 minutes"
		gate  = "when the gate expires"
		lease = "when the lease ends"
	)
	type want struct {
		next aggregate.Next
		run  bool
		due  string
	}
	goes := func(state string) want { return want{aggregate.Next{State: state}, true, soon} }
	asks := func(state, key string) want { // one second of the story has passed
		return want{aggregate.Next{State: state, Gate: key, TimeoutSeconds: 168*3600 + 3600 - 1}, false, gate}
	}
	ends := func(state, outcome string, why aggregate.Reason, due string) want {
		return want{aggregate.Next{State: state, Outcome: outcome, Reason: why}, false, due}
	}
	parked := ends(StateFail, "parked", ReasonModelRefused, never)
	out := want{aggregate.Next{State: StatePause, WaitSeconds: 74}, false, lease}
	draft, plan, execute := goes(StateDraftPrompt), goes(StatePlanProcess), goes(StateExecuteProcess)
	over, called := ends(StateFinish, "cancelled", "", never), ends(StateFinish, "cancelled", "", lease)
	wants := map[string]want{
		"received": goes(StateExtractTask), "L1 parked": parked, "extracted": draft, "prompt generating": draft,
		"prompt parked": parked, "prompt waits": asks(StateAwaitPromptApproval, "PROMPT#0001"), "prompt rejected": draft,
		"process generating": plan, "process parked": parked,
		"process waits":    asks(StateAwaitProcessApproval, "PROCESS#0001"),
		"process rejected": plan, "execution pending": execute, "execution running": execute, "read out": out,
		"read crashed": execute, "write out": out, "write crashed": execute, "write unknown": execute,
		"write failed": execute, "step waits": asks(StateAwaitStepApproval, "GATE#0001#001#02"), "step approved": execute,
		"time is up": execute, "all steps done": execute, "completed": ends(StateFinish, "completed", "", never),
		"failed":         ends(StateFail, "failed", ReasonToolFailed, never),
		"failed unknown": ends(StateFail, "failed", ReasonToolUnknown, never), "tried again": execute,
		"cancelled at once": over, "cancelled at prompt": over,
		"cancelled over read": called, "cancelled, crashed": called, "prompt expired": over,
		"rejected for good": over, "step rejected": over,
	}
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			s, want := state.reach(t), wants[state.name]
			a := s.load()
			e := a.Effects(s.now)
			expect.Same(t, want.next, a.Next(s.now))
			expect.That(t, slices.Contains(NextStates, want.next.State), "%s is not in NextStates", want.next.State)
			expect.That(t, e.Cards, "cards are behind, and not redrawn")
			expect.That(t, (e.Run != nil) == want.run, "run %+v", e.Run)
			expect.That(t, a.DueAt(s.now) != nil && !a.DueAt(s.now).After(s.now.Add(5*time.Minute)),
				"cards are behind, and due at %v", a.DueAt(s.now))
			a.Head.ShownRev = a.Head.Rev
			expect.That(t, !a.Effects(s.now).Cards, "cards are shown, and redrawn")
			due := a.DueAt(s.now)
			open, _ := a.OpenGate()
			switch {
			case want.due == never && due == nil:
			case due == nil:
				t.Errorf("never due, want %s", want.due)
			case want.due == soon && due.Equal(s.now.Add(5*time.Minute)):
			case want.due == gate && due.Equal(*open.Terms.DecideBy):
			case want.due == lease && due.Equal(a.Steps[len(a.Steps)-1].Claim.LeaseUntil):
			default:
				t.Errorf("due at %v, want %s", due, want.due)
			}
		})
	}
}

func reach(t *testing.T, name string) *story {
	t.Helper()
	for _, state := range states {
		if state.name == name {
			return state.reach(t)
		}
	}
	t.Fatalf("no state %q", name)
	return nil
}

func TestARunIsStartedWithTheSameNameAndBytesEachTime(t *testing.T) {
	s := begin(t)
	want := &aggregate.Run{Name: s.head.TaskID + "-1",
		Input: `{"tenant":"` + s.head.TenantID + `","task":"` + s.head.TaskID + `","run":1}`, Run: 1}
	for range 2 {
		expect.Same(t, want, s.load().Effects(s.now).Run)
		s.do(s.pause)
		s.now = s.now.Add(time.Hour)
	}
	s.do(s.restart)
	got := s.load().Effects(s.now).Run
	expect.That(t, got.Name == s.head.TaskID+"-2" && got.Run == 2, "the second run is %+v", got)
}

func TestNoRunIsStartedDuringAPause(t *testing.T) {
	s := begin(t)
	s.do(s.pause)
	e := s.load().Effects(s.now)
	expect.That(t, e.Run == nil, "started %+v", e.Run)
	a := s.drawn()
	isDue(t, a, s.now, *s.head.PausedUntil)
	s.now = *s.head.PausedUntil
	a = s.load()
	expect.That(t, a.Effects(s.now).Run != nil, "not started after it")
	a.Head.ShownRev = a.Head.Rev
	isDue(t, a, s.now, s.now.Add(5*time.Minute))
}

func TestWhatIsStuck(t *testing.T) {
	for _, tt := range []struct {
		name  string
		state string
		after time.Duration
		want  bool
	}{
		{"work, for twenty minutes", "prompt generating", 20 * time.Minute, false},
		{"work, for longer", "prompt generating", 20*time.Minute + time.Millisecond, true},
		{"a person is asked", "prompt waits", 100 * time.Hour, false},
		{"a person is asked about a step", "step waits", 100 * time.Hour, false},
		{"parked", "prompt parked", 100 * time.Hour, false},
		{"over", "completed", 100 * time.Hour, false},
		{"a call is out", "write out", time.Minute, false},
		{"a call crashed", "write out", 21 * time.Minute, true},
	} {
		s := reach(t, tt.state)
		expect.Is(t, s.load().Stuck(s.head.ChangedAt.Add(tt.after)), tt.want, "%s", tt.name)
	}
}

// A pause at a vendor's request may be longer than the limit for runs without a change.
func TestALongPauseIsNotStuck(t *testing.T) {
	s := reach(t, "prompt generating")
	until := s.now.Add(25 * time.Minute)
	s.do(s.pauseUntil(until))
	for after, want := range map[time.Duration]bool{20 * time.Second: false, 20 * time.Minute: false,
		21 * time.Minute: true} {
		expect.Is(t, s.load().Stuck(until.Add(after)), want, "%s after the pause: stuck", after)
	}
}

func TestRedrawsOfATaskThatCantBeDrawnGrowApart(t *testing.T) {
	a := waitingPrompt(t).load()
	a.Head.ShownRev = 0
	for _, tt := range []struct{ rested, want time.Duration }{
		{0, 5 * time.Minute}, {time.Minute, 5 * time.Minute}, {12 * time.Minute, 12 * time.Minute}, {30 * time.Minute,
			30 * time.Minute}, {9 * time.Hour, time.Hour},
	} {
		now := a.Head.ChangedAt.Add(tt.rested)
		isDue(t, a, now, now.Add(tt.want))
	}
	messages := 0
	for now := a.Head.ChangedAt; now.Before(a.Head.ChangedAt.Add(24 * time.Hour)); now = *a.DueAt(now) {
		messages++
	}
	expect.That(t, messages <= 30, "%d messages in a day about one task", messages)
}

func TestAnAcceptanceIsDrawnOnlyIfItsCardIsNotPosted(t *testing.T) {
	accepted := func(before ...decision) *Aggregate {
		s := begin(t)
		s.do(before...)
		s.do(s.accept)
		a := s.load()
		a.Cards[0].State, a.Head.ShownRev = aggregate.CardPosted, a.Head.Rev-1
		return a
	}
	a := accepted()
	expect.That(t, !a.Effects(dawn).Cards, "a posted card is redrawn")
	a.Head.ShownRev = 0
	expect.That(t, a.Effects(dawn).Cards, "a redraw that somebody asked for is left out")
	a = accepted()
	a.Cards[0].State = aggregate.CardUnreachable
	expect.That(t, a.Effects(dawn).Cards, "a card that is not posted is left")
	a = accepted(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.WaitUntil(1, Generation{Layer: L1}, now.Add(time.Minute), now)
	})
	expect.That(t, a.Effects(dawn).Cards, "the card says that the request waits, though it was accepted")
}

func TestACardThatSlackRefusedIsTriedEveryHourWhileAGateWaits(t *testing.T) {
	s := waitingPrompt(t)
	a := s.drawn()
	refused := *a.Card("CARD#prompt#0001")
	refused.State, refused.TriedAt, refused.TriedRev = aggregate.CardUnreachable, &s.now, a.Head.Rev
	a.Add(&refused)
	hour := s.now.Add(time.Hour)
	isDue(t, a, s.now, hour)
	expect.That(t, !a.Effects(hour.Add(-time.Millisecond)).Cards && a.Effects(hour).Cards,
		"cards are asked for within the hour, or not after it")
	isDue(t, a, hour, hour.Add(5*time.Minute))
	s.do(s.cancel)
	over := s.load()
	over.Head.ShownRev = over.Head.Rev
	over.Add(&refused)
	expect.That(t, !over.Effects(hour.Add(time.Hour)).Cards && over.DueAt(hour) == nil,
		"nobody is asked any more, and it is tried still")
}

func TestAPauseIsWaitedForInPiecesOfFiveMinutes(t *testing.T) {
	for pause, seconds := range map[time.Duration]int{time.Millisecond: 1, 90*time.Second + time.Millisecond: 91,
		5 * time.Minute: 300, 10 * time.Hour: 300, 0: 0, -time.Hour: 0} {
		s := begin(t)
		until := s.now.Add(pause)
		s.do(s.pauseUntil(until))
		want := aggregate.Next{State: StatePause, WaitSeconds: seconds}
		if seconds == 0 {
			want.State = StateExtractTask
		}
		expect.Is(t, s.load().Next(until.Add(-pause)), want, "%v", pause)
	}
}

func TestAWaitsFuseIsNeverShort(t *testing.T) {
	s := waitingPrompt(t)
	open, _ := s.load().OpenGate()
	for _, left := range []time.Duration{-100 * time.Hour, 0, 59 * time.Second} {
		expect.Is(t, s.load().Next(open.Terms.DecideBy.Add(-left)).TimeoutSeconds, 60+3600, "%v before the end", left)
	}
}

// While people are looked up again for a gate, they may decide; the run that waits there is woken to do it, whichever
// gate it is, and nothing of it outlasts the gate's own time.
func TestPeopleAreLookedUpAgainForWhatWaits(t *testing.T) {
	again := (*Aggregate).LookAgain
	for _, state := range []string{"prompt waits", "process waits", "step waits"} {
		s := reach(t, state)
		open, _ := s.load().OpenGate()
		s.waits[open.Key] = aggregate.Wait{Gate: open.Key, Token: "token", Run: s.head.Run, Entered: s.now}
		expect.Is(t, len(s.load().Effects(s.now).Wake), 0, "%s: woken for nothing", state)
		s.do(again)
		s.nothing(again)
		a := s.drawn()
		e := a.Effects(s.now)
		_, asks := a.Asks()
		expect.That(t, asks && a.Next(s.now).State == StateResumeTask && len(e.Wake) == 1 && e.Run != nil &&
			a.DueAt(s.now).Before(s.now.Add(6*time.Minute)), "%s: %+v, %+v", state, a.Next(s.now), e)
		isDue(t, a, *open.Terms.DecideBy, *open.Terms.DecideBy)
		row := a.LooksAgain()
		until := s.now.Add(10 * time.Minute)
		s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.PutOff(s.head.Run, row.Key(), until, now)
		})
		expect.That(t, s.load().Next(s.now).State == StatePause && s.load().Effects(s.now).Run == nil, "asked all the time")
		isDue(t, s.drawn(), s.now, until)
		settled := s.load().Apply(expect.Value(s.load().Looked(s.head.Run, row, nil, nil, s.settings, until))(t))
		expect.That(t, settled.Next(until).Gate == open.Key && settled.Effects(until).Run == nil &&
			settled.Head.PausedUntil == nil, "%s: %+v", state, settled.Head)
		gaveUp := s.load().Apply(expect.Value(s.load().GiveUp(s.head.Run, ReasonRunFailed, until))(t))
		expect.That(t, gaveUp.Next(until).Gate == open.Key, "%s: nobody may ask again: %+v", state, gaveUp.Head)
	}
	for _, state := range []string{"completed", "cancelled at prompt"} {
		reach(t, state).nothing(again)
	}
	s := reach(t, "prompt generating")
	s.do(again)
	expect.Is(t, s.load().Next(s.now).State, StateDraftPrompt, "with nothing that waits")
	s.do(s.finishPrompt)
	expect.Is(t, s.load().Next(s.now).State, StateResumeTask, "the next gate is left out")
}

// Whoever decides meanwhile is faster than what was found about the gate as it was.
func TestWhatWasDecidedMeanwhileStands(t *testing.T) {
	s := waitingPrompt(t)
	s.do((*Aggregate).LookAgain)
	row := s.load().LooksAgain()
	s.do(s.approvePrompt)
	s.nothing(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Looked(s.head.Run, row, nil, &aggregate.Refusal{Why: ReasonNobodyLeft}, s.settings, now)
	})
	s.do(s.finishProcess)
	expect.Is(t, s.load().Next(s.now).State, StateResumeTask, "the next gate is left out")
}

func TestWhatNobodyMayApproveAnyMoreEnds(t *testing.T) {
	for why, detail := range map[aggregate.Reason]string{ReasonNobodyLeft: "", ReasonAskerLeft: requester} {
		s := waitingStep(t)
		s.do((*Aggregate).LookAgain)
		c := expect.Value(s.try(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Looked(s.head.Run, a.LooksAgain(), nil, &aggregate.Refusal{Why: why, Detail: detail}, s.settings, now)
		}))(t)
		a := s.load()
		e := a.Head.Ended
		expect.That(t, e != nil && e.As == TaskRefused && e.Reason == why && e.Detail == detail && e.By == "" &&
			a.Head.Noted == StatusRefused && a.Task.Status == TaskCancelled && a.Gates[0].Status == aggregate.Cancelled &&
			a.Execution().Status == ExecutionCancelled, "%+v", e)
		last := c.Audit[len(c.Audit)-1]
		expect.That(t, last.Action == AuditTaskRefused && string(last.Details) == `{"reason":"`+string(why)+`"}`, "%+v",
			last)
	}
}
