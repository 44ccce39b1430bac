package task

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

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
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Reject(a.Process().ID, why, person(suzuki), s.policy, now)
	})
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
