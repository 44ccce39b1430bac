package task

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
)

// leaveToContest starts a contest, or opens the gate with its result. It reports whether the run has nothing else to
// do.
func (w *world) leaveToContest(run int) bool {
	p := w.view().Prompt()
	if p == nil {
		return false
	}
	if !p.Contest.Over() {
		w.decideAs(run, "ask for a contest", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.AskContest(run, Contest{ExecutionID: fmt.Sprint("contest-of-", a.Prompt().version()), Order: "{}",
				Until: now.Add(5 * time.Minute)}, now)
		})
		return !w.calm || w.load().Contesting() != nil
	}
	if len(p.Contest.Entries) == 0 {
		return false
	}
	team := p.Contest.Entries[0].TeamID
	w.decideAs(run, "finish a contest's prompt", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.FinishContest(run, team, "方針", w.settings, now)
	})
	return true
}

func (p *Prompt) version() int {
	if p == nil {
		return 0
	}
	return p.Version
}

// makeContests creates and withdraws contests like the relay.
func (w *world) makeContests() {
	for _, lost := range w.load().Head.LostContests {
		w.decide("relay: contest withdrawn", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.contestWithdrawn(lost)
		})
	}
	for _, p := range w.load().Prompts {
		if p.Contest != nil && p.Contest.Order != "" {
			w.decide("relay: contest made", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.contestMade(p.Key())
			})
		}
	}
}

// contestEnds starts the contest if necessary and ends it. Sometimes it reports the end twice, and sometimes all teams
// fail.
func (w *world) contestEnds() {
	w.makeContests()
	for _, p := range w.load().Prompts {
		if p.Contest == nil {
			continue
		}
		o := contest.Outcome{Execution: p.Contest.ExecutionID, Status: contest.Closed,
			Summary: &contest.Summary{Status: contest.SummaryCompleted}, Usage: w.usage(p.Contest.ExecutionID)}
		for _, team := range []string{"a", "b"}[:rapid.IntRange(0, 2).Draw(w.rt, "teams")] {
			o.Summary.Places = append(o.Summary.Places, contest.Place{TeamID: team, TeamName: team, RoundNumber: 1, Score: 0.9,
				Hash: aggregate.HashOf("方針")})
		}
		w.decide("contest: ended", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.ContestEnded(p.Key(), o, now)
		})
	}
}

// contestsAreOver reports whether every contest has ended and every lost contest was withdrawn.
func (w *world) contestsAreOver(a *Aggregate) bool {
	for _, p := range a.Prompts {
		if p.Contest != nil && !p.Contest.Over() {
			return false
		}
	}
	return len(a.Head.LostContests) == 0
}
