package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// takePoints is contestPoints from the click on that takes the best draft so far.
var takePoints = map[string]int{"ReceiveInteractionFunction": 1}

// taking is a scenario in which a person takes the best draft of two teams while the third one hangs.
func taking() scenario {
	return scenario{name: "take best", text: "従業員一覧を取得して demo: cost 0.01 contest demo: hang solo", act: func(d *scenarioRun) {
		d.untilTeamsEnded("careful", "swift")
		d.from = d.now()
		d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", card.TakeBest)
		d.approvesAll()
	}}
}

// untilTeamsEnded waits until these teams of the contest have played all of their rounds.
func (d *scenarioRun) untilTeamsEnded(teams ...string) {
	d.Eventually(fmt.Sprintf("%v have ended", teams), func() bool {
		for _, id := range teams {
			w, err := d.contests().Teams.Load(context.Background(), contest.TeamRef(d.Ref.Tenant, d.contest().ID, id))
			if err != nil || w.Team == nil || w.Team.Status == contest.TeamRunning {
				return false
			}
		}
		return true
	})
}

// approvesAll approves the policy and the steps, and waits until the work is done and the contest rests.
func (d *scenarioRun) approvesAll() {
	d.ClickUntilTaken(webapi.Tanaka, "CARD#prompt#0001", "approve_prompt")
	d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
	d.untilCompleted()
	d.Eventually("the contest rests", func() bool {
		a, err := d.contests().Load(context.Background(), d.contest())
		return err == nil && a.Contest != nil && a.Contest.Told
	})
}

// TestACrashWhileTheBestSoFarIsTakenLosesNothing kills processes anywhere from the click on to the end: the rows of
// task, contest and teams are those of an undisturbed run, and the contest is paid for once.
func TestACrashWhileTheBestSoFarIsTakenLosesNothing(t *testing.T) {
	b := running
	want, all := b.undisturbedAs(t, &b.taken, taking())
	checkTaken(t, want)
	b.survivesContests(t, want, all, takePoints)
}

// checkTaken checks that an undisturbed run ended as the person wanted.
func checkTaken(t *testing.T, c competed) {
	t.Helper()
	k, _ := c.Contest["CONTEST"].(map[string]any)
	p, _ := c.Task.Rows[task.PromptKey(1)].(map[string]any)
	x, _ := p["contest"].(map[string]any)
	if k["status"] != string(contest.Cancelled) || x["taken_by"] != webapi.Suzuki || countTaken(c) != 1 {
		t.Errorf("the contest %v, the version %v, log %v", k, x, c.Task.Audit)
	}
}

func countTaken(c competed) (n int) {
	for _, line := range c.Task.Audit {
		if strings.HasPrefix(line, string(task.AuditBestTaken)) {
			n++
		}
	}
	return n
}

// TestTwoClicksTakeTheBestSoFarOnce: the second click comes while the first is about to be written, and is faster.
func TestTwoClicksTakeTheBestSoFarOnce(t *testing.T) {
	expect.AtNight(t) // TestTheBestSoFarIsTakenAsTheLastTeamEnds is a sample
	b := running
	want, _ := b.undisturbedAs(t, &b.taken, taking())
	s := taking()
	s.act = func(d *scenarioRun) {
		d.untilTeamsEnded("careful", "swift")
		at := point{function: "ReceiveInteractionFunction", kind: "DynamoDB.TransactWriteItems", ordinal: 1}
		release := d.holds(at.moment())
		defer release()
		ts := d.Card("CARD#prompt#0001", card.TakeBest).TS
		var first sync.WaitGroup
		first.Go(func() { _ = d.Sandbox.Click(webapi.Suzuki, d.Channel, ts, card.TakeBest) })
		d.Eventually("the first click is about to be written", func() bool { return d.met(at.function, at.kind) >= 1 })
		_ = d.Sandbox.Click(webapi.Suzuki, d.Channel, ts, card.TakeBest)
		d.Eventually("the second click counts", func() bool { return d.Load().Prompt().Contest.TakenAt != nil })
		release()
		first.Wait()
		if n := d.met(at.function, at.kind); n < 2 {
			failf("only %d writes", n)
		}
		d.approvesAll()
	}
	d, err := b.run(s)
	if err == nil {
		err = d.cameTo(want)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestTheBestSoFarIsTakenAsTheLastTeamEnds: whichever of the two is written first, the task has one policy, the best
// draft of all that were scored, and the person is told if the contest was faster.
func TestTheBestSoFarIsTakenAsTheLastTeamEnds(t *testing.T) {
	b := running
	b.drafts(t)
	click := point{function: "ReceiveInteractionFunction", kind: "DynamoDB.TransactWriteItems", ordinal: 1}
	closing := point{function: "CloseContestFunction", kind: "DynamoDB.TransactWriteItems", ordinal: 1}
	for name, x := range map[string]struct {
		held  point // what is written last
		taken bool
	}{
		"the click is faster":   {closing, true},
		"the contest is faster": {click, false},
	} {
		t.Run(name, func(t *testing.T) {
			if !x.taken {
				expect.AtNight(t)
			}
			d, err := b.run(scenario{name: "race", text: "従業員一覧を取得して demo: cost 0.01 contest demo: slow 0.3", act: func(d *scenarioRun) {
				release := d.holds(x.held.moment())
				defer release()
				ts := d.Card("CARD#prompt#0001", card.TakeBest).TS
				var clicked sync.WaitGroup
				var pressed atomic.Bool
				press := func() { _ = d.Sandbox.Click(webapi.Suzuki, d.Channel, ts, card.TakeBest) }
				if x.taken {
					d.Eventually("the end is about to be written", func() bool { return d.met(closing.function, closing.kind) >= 1 })
					press()
					d.Eventually("the click counts", func() bool { return d.Load().Prompt().Contest.TakenAt != nil })
				} else {
					d.Eventually("the click is about to be written", func() bool {
						if pressed.CompareAndSwap(false, true) { // and again until something is scored
							clicked.Go(func() {
								defer pressed.Store(false)
								press()
							})
						}
						return d.met(click.function, click.kind) >= 1
					})
					d.Eventually("the contest has ended", func() bool { return d.Load().Prompt().Contest.Over() })
				}
				release()
				clicked.Wait()
				d.approvesAll()
			}})
			if err != nil {
				t.Fatal(err)
			}
			d.checkOnePolicy(t, x.taken)
		})
	}
}

// checkOnePolicy checks that the task's only policy is the best draft of a contest, which is paid for once.
func (d *scenarioRun) checkOnePolicy(t *testing.T, taken bool) {
	t.Helper()
	a := d.Load()
	p := a.Prompts[0]
	if len(a.Prompts) != 1 || p.Entry == nil || *p.Entry != p.Contest.Entries[0] || (p.Contest.TakenAt != nil) != taken || len(p.Contest.Entries) != 3 {
		t.Errorf("%d versions, of %+v by %+v", len(a.Prompts), p.Contest, p.Entry)
	}
	got, paid, _, err := d.competed()
	if err == nil {
		err = d.paidOnce(paid)
	}
	if err != nil {
		t.Error(err)
	}
	told := func(note string) bool { // that it was too late, or that nobody knows whether the held write was made
		return strings.Contains(note, "に終わっています") || strings.Contains(note, "保存できたか確認できませんでした")
	}
	if notes := d.Notes(webapi.Suzuki); slices.ContainsFunc(notes, told) == taken {
		t.Errorf("the person was told %q", notes)
	}
	if (countTaken(got) == 1) != taken {
		t.Errorf("log %v", got.Task.Audit)
	}
}
