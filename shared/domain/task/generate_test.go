package task

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
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

// glance is what the head says of the same name, by the rows alone: see listed. What reasons led to it takes from the
// head.
func (a *Aggregate) glance() Glance {
	is := a.Head.Glance
	g := Glance{Back: is.Back, Detail: is.Detail, Version: is.Version}
	if p := a.Process(); p != nil && len(p.Steps) > 0 && p.PromptID == a.Prompt().ID {
		g.Act, g.Amount = movedBy(p.Steps)
	}
	if open, waits := a.OpenGate(); waits && open.Terms.ApprovalRequired {
		g.asked(a.Asked(open.ID).Gate)
	}
	for _, e := range a.Executions {
		g.Number = cmp.Or(e.Number, g.Number)
	}
	return g
}

// What was sent back says so until the next version waits.
func TestAListSaysWhyAVersionWasSentBack(t *testing.T) {
	s := waitingProcess(t)
	why := strings.Repeat("長", 200)
	s.do(s.on(s.load().Process().ID, rejecting(why), person(suzuki)))
	g := s.load().Head.Glance
	expect.That(t, g.Back == 1 && strings.HasPrefix(why, g.Detail) && len(g.Detail) > 90 && len(g.Detail) <= maxGlanceOf,
		"%+v", g)
	g = s.do(s.beginProcess, s.finishProcess).load().Head.Glance
	expect.That(t, g.Back == 0 && g.Detail == "" && g.Need == 1, "%+v", g)
}

// A version that a reason led to may be about something else than the title. What somebody picked is of the same
// matter.
func TestAListKnowsWhichVersionsItsTitleIsNotOf(t *testing.T) {
	s := waitingPrompt(t)
	says := func(version, back int) {
		t.Helper()
		g := s.load().Head.Glance
		expect.That(t, g.Version == version && g.Back == back && (g.Detail != "") == (back > 0), "%+v", g)
	}
	says(0, 0)
	s.do(s.rejectPrompt, s.beginPrompt)
	says(2, 1)
	s.do(s.finishPrompt)
	says(2, 0)
	s = waitingProcess(t)
	s.do(s.rejectProcess, s.beginProcess)
	says(2, 1)
	s.do(s.finishProcess)
	says(2, 0)

	s = waitingProcess(t)
	s.do(s.cancel)
	says(0, 0)
	s = waitingPrompt(t)
	s.settings.MaxVersions = 2
	s.do(s.rejectPrompt, s.beginPrompt, s.finishPrompt)
	says(2, 0)

	s = contested(t)
	s.do(s.pick(person(suzuki)))
	says(0, 0)
	s = waitingPrompt(t)
	s.do(s.rejectPrompt, s.beginPrompt, s.finishPrompt, s.approvePrompt)
	says(2, 0)
}

// The row of a request that is over has what its lists show, in the commit that ends it.
func TestTheRowOfWhatEndedHasItsGlance(t *testing.T) {
	s := allDone(t)
	a := s.do(s.complete).load()
	expect.Is(t, a.Task.Glance.Act, rules.ActSheet)
	expect.Is(t, a.Task.Glance.Why, ReasonDone)
	a = told(begin, func(s *story) { s.do(plain(KindUnsupported)) })(t).load()
	expect.Is(t, a.Listing.Glance.Why, ReasonUnsupported)
	expect.That(t, strings.HasSuffix(a.Listing.Indexes(&a.Head)[0].PK, "#CHATTER"), "it is among all requests")
}

// The largest glance leaves the head's write as dear as it was.
func TestAGlanceIsSmall(t *testing.T) {
	long := strings.Repeat("x", maxGlanceOf)
	steps := threeSteps()[1:2]
	steps[0].Order, steps[0].Tool, steps[0].ToolInput = 1, "shop__order", `{"total":298000}`
	steps[0].Mark = &rules.Mark{Version: "v1", How: rules.HowSum, Pointers: []string{"/total"}, Currency: "JPY"}
	act, amount := movedBy(steps)
	expect.Is(t, amount, rules.Amount{Value: "298000", Currency: "JPY"})
	amount.Value = "9999999999999999999999"
	for name, g := range map[string]Glance{
		"asked": {Stage: long, Given: 10, Need: 99, Who: slices.Repeat([]string{"U0123456789"}, maxWho)},
		"back":  {Back: 99, Detail: long, Version: 100}, "ended": {Why: ReasonUnsupported, Detail: long},
		"asked again": {Stage: long, Given: 10, Need: 99, Who: slices.Repeat([]string{"U0123456789"}, maxWho),
			Back: 99, Detail: long, Version: 100},
	} {
		if g.Version, g.Number = 100, "2026-000123"; name != "asked again" { // of a policy: no steps are planned
			g.Act, g.Amount = act, amount
		}
		text := expect.Value(json.Marshal(g))(t)
		expect.That(t, len(text) <= maxGlance, "%s: %d bytes", name, len(text))
	}
}
