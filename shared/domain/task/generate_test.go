package task

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestAGateKeepsTheTermsItOpenedUnder(t *testing.T) {
	s := begin(t)
	s.settings.ApprovalTimeoutHours, s.settings.MaxVersions, s.settings.Rev = 24, 3, 7
	s.do(s.extract, s.finishPrompt)
	by := s.head.ChangedAt.Add(24 * time.Hour)
	want := aggregate.Terms{ApprovalRequired: true, DecideBy: &by, Executor: "steps", L4TimeoutSeconds: 360,
		AutoApproveTools: true, MaxVersions: 3, ApprovalHours: 24, SettingsRev: 7, Locale: "ja"}
	s.settings.ApprovalTimeoutHours, s.settings.MaxVersions = 1, 1
	s.do(s.rejectPrompt) // not the last: three versions are allowed
	expect.That(t, s.head.Ended == nil, "ended %+v", s.head.Ended)
	expect.Same(t, want, s.load().Prompt().Terms)
}

func TestAFailedGenerationIsParkedUntilSomebodyTriesAgain(t *testing.T) {
	for _, tt := range []struct {
		name     string
		from     func(testing.TB) *story
		layer    Layer
		resource string
	}{
		{"L1", begin, L1, "task"},
		{"L2", told(begin, func(s *story) { s.do(s.extract) }), L2, "prompt"},
		{"L3", told(waitingPrompt, func(s *story) { s.do(s.approvePrompt) }), L3, "process"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.from(t)
			s.do(s.park)
			expect.Same(t, &Parked{tt.layer, ReasonModelRefused, ""}, s.head.Parked)
			a := s.load()
			id := map[Layer]string{L1: a.Head.TaskID, L2: idOf(a.Prompt()), L3: idOf(a.Process())}[tt.layer]
			last := s.audit[len(s.audit)-1]
			expect.That(t, last.Action == AuditGenerationFailed && last.ResourceType == tt.resource && last.ResourceID == id,
				"recorded %+v, want %s %s", last, tt.resource, id)
			s.nothing(s.park)
			s.refused(s.restart, aggregate.ErrSuperseded)
			before := s.load().Next(s.now)
			s.do(s.retryGeneration)
			last = s.audit[len(s.audit)-1]
			expect.That(t, last.Action == AuditGenerationRetried && last.ActorID == requester &&
				last.ResourceType == tt.resource && last.ResourceID == id, "recorded %+v", last)
			after := s.load().Next(s.now)
			expect.That(t, before.State == StateFail && after.State != StateFail && s.head.Run == 2 && s.head.Parked == nil,
				"next %+v, then %+v in %+v", before, after, s.head)
			s.nothing(s.retryGeneration) // the same person's second click
		})
	}
}

func TestStepsThatCouldNotBeStampedAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func([]Step) []Step
		field  string
	}{
		{"none", func([]Step) []Step { return nil }, "steps"},
		{"sixty-one", func([]Step) []Step { return many(61) }, "steps"},
		{"numbered wrongly", func(s []Step) []Step { s[1].Order = 3; return s }, "steps[1].order"},
		{"one id twice", func(s []Step) []Step { s[1].StepID = "step-1"; return s }, "steps[1].stepId"},
		{"no id", func(s []Step) []Step { s[0].StepID = ""; return s }, "steps[0].stepId"},
		{"input that is no JSON", func(s []Step) []Step { s[2].ToolInput = `{"a":`; return s }, "steps[2].toolInput"},
		{"no effect", func(s []Step) []Step { s[2].Access = ""; return s }, "steps[2].effect"},
		{"sixty", func([]Step) []Step { return many(60) }, ""},
		{"no input", func(s []Step) []Step { s[0].ToolInput = ""; return s }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := waitingPrompt(t)
			s.do(s.approvePrompt)
			s.steps = tt.change(threeSteps())
			c, err := s.try(s.finishProcess)
			var field aggregate.Problem
			switch {
			case tt.field == "" && (err != nil || c.Empty()):
				t.Errorf("refused: %v", err)
			case tt.field != "" && (!errors.As(err, &field) || field.Field != tt.field):
				t.Errorf("%v, want %s", err, tt.field)
			}
		})
	}
}

func many(n int) []Step {
	steps := make([]Step, n)
	for i := range steps {
		steps[i] = threeSteps()[0]
		steps[i].Order, steps[i].StepID = i+1, strings.Repeat("s", i+1)
	}
	return steps
}

func TestARunThatIsNotTheHeadsCommitsNothing(t *testing.T) {
	for _, state := range states {
		s := state.reach(t)
		old := s.decisions(s.head.Rev)
		s.head.Run++
		for _, name := range []string{"extract", "begin prompt", "finish prompt", "begin process", "finish process", "park",
			"pause", "start", "claim", "open gate", "complete", "fail", "give up", "restart"} {
			expect.Fails(t, expect.Err(old[name](s.load(), s.now)), aggregate.ErrSuperseded, "%s, %s", state.name, name)
		}
	}
}

// How many versions may follow counts down to the last one, and a step's gate has none.
func TestHowManyVersionsMayFollow(t *testing.T) {
	a := &Aggregate{}
	for n := range 3 {
		p := &Process{Version: n + 1, Steps: []Step{{StepID: fmt.Sprint(n)}}}
		p.Terms.MaxVersions = 3
		a.Processes = append(a.Processes, p)
		expect.Is(t, a.Further(p), 2-n, "after version %d", n+1)
		expect.That(t, a.Last(p) == (n == 2), "version %d", n+1)
	}
	gate := &StepGate{}
	expect.That(t, a.Further(gate) == 0 && !a.Last(gate), "a step has versions")
}

// What a reason turned into something else has another title, which the log says beside the version.
func TestATitleFollowsAFurtherVersion(t *testing.T) {
	s := begin(t)
	s.do(s.extract)
	finish := func(title string) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.FinishPrompt(s.head.Run, Drafted{"方針", title}, s.settings, now)
		}
	}
	first := s.load().Task.Title
	s.do(finish("別の件名"))
	expect.Is(t, s.load().Task.Title, first)
	s.do(s.rejectPrompt, s.beginPrompt, finish("10月の勤怠集計"), s.approvePrompt)
	last := s.audit[len(s.audit)-1]
	expect.That(t, s.load().Task.Title == "10月の勤怠集計" && last.Action == AuditPromptApproved &&
		strings.Contains(string(last.Details), `"title":"10月の勤怠集計"`), "%s, %+v", s.load().Task.Title, last)
}
