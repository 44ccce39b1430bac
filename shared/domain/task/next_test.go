package task

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestWhereARunGoesFromEachState(t *testing.T) {
	week := 168*3600 + 3600 - 1 // one second of the story has passed
	want := map[string]aggregate.Next{
		"received":            {State: StateExtractTask},
		"L1 parked":           {State: StateFail, Outcome: "parked", Reason: ReasonModelRefused},
		"extracted":           {State: StateDraftPrompt},
		"prompt generating":   {State: StateDraftPrompt},
		"prompt parked":       {State: StateFail, Outcome: "parked", Reason: ReasonModelRefused},
		"prompt waits":        {State: StateAwaitPromptApproval, Gate: "PROMPT#0001", TimeoutSeconds: week},
		"prompt rejected":     {State: StateDraftPrompt},
		"process generating":  {State: StatePlanProcess},
		"process parked":      {State: StateFail, Outcome: "parked", Reason: ReasonModelRefused},
		"process waits":       {State: StateAwaitProcessApproval, Gate: "PROCESS#0001", TimeoutSeconds: week},
		"process rejected":    {State: StatePlanProcess},
		"execution pending":   {State: StateExecuteProcess},
		"execution running":   {State: StateExecuteProcess},
		"read out":            {State: StatePause, WaitSeconds: 74},
		"read crashed":        {State: StateExecuteProcess},
		"write out":           {State: StatePause, WaitSeconds: 74},
		"write crashed":       {State: StateExecuteProcess},
		"write unknown":       {State: StateExecuteProcess},
		"write failed":        {State: StateExecuteProcess},
		"step waits":          {State: StateAwaitStepApproval, Gate: "GATE#0001#001#02", TimeoutSeconds: week},
		"step approved":       {State: StateExecuteProcess},
		"time is up":          {State: StateExecuteProcess},
		"all steps done":      {State: StateExecuteProcess},
		"completed":           {State: StateFinish, Outcome: "completed"},
		"failed":              {State: StateFail, Outcome: "failed", Reason: ReasonToolFailed},
		"failed unknown":      {State: StateFail, Outcome: "failed", Reason: ReasonToolUnknown},
		"tried again":         {State: StateExecuteProcess},
		"cancelled at once":   {State: StateFinish, Outcome: "cancelled"},
		"cancelled at prompt": {State: StateFinish, Outcome: "cancelled"},
		"cancelled over read": {State: StateFinish, Outcome: "cancelled"},
		"cancelled, crashed":  {State: StateFinish, Outcome: "cancelled"},
		"prompt expired":      {State: StateFinish, Outcome: "cancelled"},
		"rejected for good":   {State: StateFinish, Outcome: "cancelled"},
		"step rejected":       {State: StateFinish, Outcome: "cancelled"},
	}
	for _, state := range states {
		s := state.reach(t)
		got := s.load().Next(s.now)
		if diff := cmp.Diff(want[state.name], got); diff != "" {
			t.Errorf("%s:\n%s", state.name, diff)
		}
		expect.That(t, slices.Contains(NextStates, got.State), "%s: %s is not in NextStates", state.name, got.State)
	}
}

func TestAPauseIsWaitedForInPiecesOfFiveMinutes(t *testing.T) {
	for _, tt := range []struct {
		pause time.Duration
		want  aggregate.Next
	}{
		{time.Millisecond, aggregate.Next{State: StatePause, WaitSeconds: 1}},
		{90*time.Second + time.Millisecond, aggregate.Next{State: StatePause, WaitSeconds: 91}},
		{5 * time.Minute, aggregate.Next{State: StatePause, WaitSeconds: 300}},
		{10 * time.Hour, aggregate.Next{State: StatePause, WaitSeconds: 300}},
		{0, aggregate.Next{State: StateExtractTask}},
		{-time.Hour, aggregate.Next{State: StateExtractTask}},
	} {
		s := begin(t)
		until := s.now.Add(tt.pause)
		s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.WaitUntil(1, a.Generating(), until, now)
		})
		if diff := cmp.Diff(tt.want, s.load().Next(until.Add(-tt.pause))); diff != "" {
			t.Errorf("%v:\n%s", tt.pause, diff)
		}
	}
}

func TestAWaitsFuseIsNeverShort(t *testing.T) {
	s := waitingPrompt(t)
	open, _ := s.load().OpenGate()
	for _, left := range []time.Duration{-100 * time.Hour, 0, 59 * time.Second} {
		expect.Is(t, s.load().Next(open.Terms.DecideBy.Add(-left)).TimeoutSeconds, 60+3600, "%v before the end", left)
	}
}

func TestASupersededRunFinishes(t *testing.T) {
	expect.Same(t, aggregate.Next{State: StateFinish, Outcome: "superseded"}, aggregate.Superseded())
}
