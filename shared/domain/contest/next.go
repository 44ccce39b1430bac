package contest

import (
	"encoding/json"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// Outcome is what a contest came to, for what asked for it. Of one without a Summary nobody knows what its teams came
// to.
type Outcome struct {
	Execution string
	Status    Status
	Reason    aggregate.Reason
	Summary   *Summary
	Usage     aggregate.Usage // of all teams
	At        time.Time
}

// Asker is an aggregate that asks for contests. ContestEnded tells the row that asked what became of it. It returns
// ErrNotDue when the row knows, or needs it no more.
type Asker interface {
	ContestEnded(row string, o Outcome, now time.Time) (aggregate.Change, error)
}

// Outcome is what the contest came to. It reports false before it is settled.
func (a *Aggregate) Outcome() (Outcome, bool) {
	if !a.settled() {
		return Outcome{}, false
	}
	return Outcome{a.Head.ExecutionID, a.Contest.Status, a.Contest.Reason, a.Summary, a.Contest.Usage, *a.Contest.SettledAt}, true
}

// run is the head's, as Step Functions starts it. Its input names the teams by their places, from 1.
func (a *Aggregate) run() *aggregate.Run {
	type team struct {
		Team int `json:"team"`
	}
	in := struct {
		Tenant string `json:"tenant"`
		Kind   string `json:"kind"`
		ID     string `json:"id"`
		Run    int    `json:"run"`
		Teams  []team `json:"teams"`
	}{a.Head.TenantID, kindName, a.Head.ExecutionID, a.Head.Run, []team{}}
	for i := range a.Contest.Teams {
		if a.plays() {
			in.Teams = append(in.Teams, team{i + 1})
		}
	}
	input, _ := json.Marshal(in) // of strings and numbers it can't fail
	return &aggregate.Run{Name: fmt.Sprintf("%s-%d", a.Head.ExecutionID, a.Head.Run), Input: string(input), Run: a.Head.Run}
}

// plays reports whether the head's run plays rounds, and not only sums up.
func (a *Aggregate) plays() bool {
	return a.Contest.ClosesFrom == 0 || a.Head.Run < a.Contest.ClosesFrom
}

// work reports whether a run has something to do.
func (a *Aggregate) work() bool { return a.Contest != nil && !a.settled() }

// untold reports whether what asked for the contest does not know the outcome.
func (a *Aggregate) untold() bool { return a.settled() && a.Contest.ForRow != "" && !a.Contest.Told }

func (a *Aggregate) Effects(now time.Time) (out aggregate.Effects) {
	if a.work() {
		out.Run = a.run()
	}
	if a.untold() {
		out.Tell = append(out.Tell, a.telling(now))
	}
	out.Wake = a.Waits // nobody waits by a token
	return out
}

func (a *Aggregate) telling(now time.Time) aggregate.Telling {
	outcome, _ := a.Outcome()
	row := a.Contest.ForRow
	return aggregate.Telling{
		Ref: aggregate.Ref{Tenant: a.Head.TenantID, Kind: a.Contest.ForKind, ID: a.Contest.ForID},
		Decide: func(x aggregate.Aggregate) (aggregate.Change, error) {
			asker, ok := x.(Asker)
			if !ok {
				return aggregate.Change{}, fmt.Errorf("%s asks for no contests", x.Ref())
			}
			return asker.ContestEnded(row, outcome, now)
		},
		Told: func(x aggregate.Aggregate) (aggregate.Change, error) { return x.(*Aggregate).told(now) },
	}
}

// told notes that what asked for the contest knows.
func (a *Aggregate) told(now time.Time) (aggregate.Change, error) {
	if !a.untold() {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	c.Contest.Told = true
	return c.done()
}

func (a *Aggregate) DueAt(now time.Time) *time.Time {
	if !a.work() && !a.untold() {
		return nil
	}
	soon := now.Add(5 * time.Minute)
	return &soon
}

// Beside is none: a contest stands alone.
func (a *Aggregate) Beside() (aggregate.Ref, bool) { return aggregate.Ref{}, false }

// MaxRestarts is how many runs in a row may die before a contest is abandoned, and MaxClosings how many of those that
// only sum up before it is given up: some twenty minutes of failures, each with its own tries.
const MaxRestarts, MaxClosings = 5, 20

// Late reports whether the contest should have been settled long ago.
func (a *Aggregate) Late(now time.Time) bool {
	return a.work() && now.After(a.Contest.DeadlineAt.Add(aggregate.StuckAfter))
}

func (a *Aggregate) Overdue(now time.Time, _ aggregate.Aggregate) []aggregate.Overdue {
	return []aggregate.Overdue{{Repair: true, Decide: func(x aggregate.Aggregate) (aggregate.Change, error) {
		a := x.(*Aggregate)
		if !a.work() || now.Before(a.Contest.DeadlineAt.Add(aggregate.StuckAfter)) || now.Sub(a.Head.ChangedAt) < aggregate.StuckAfter {
			return aggregate.Change{}, aggregate.ErrNotDue
		}
		return a.RestartRun(a.Head.Run, now)
	}}}
}

// RestartRun supersedes a run that died; when several have, the contest is abandoned, and when it can't be summed up
// either, given up. It returns ErrSuperseded when the head's run is another, or there is nothing to run.
func (a *Aggregate) RestartRun(run int, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || !a.work() {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	switch plays := a.plays(); {
	case plays && a.Head.Restarts >= MaxRestarts:
		return a.abandon(now)
	case !plays && a.Head.Restarts >= MaxClosings:
		return a.giveUp(now)
	}
	c := a.begin(now)
	c.Head.Run++
	c.Head.Restarts++
	return c.done()
}

// PauseRun is RestartRun for a run that found no room to run in. It counts as no restart, and the next one need not
// wait: its states try long enough.
func (a *Aggregate) PauseRun(run int, _, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || !a.work() {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	c := a.begin(now)
	c.Head.Run++
	return c.done()
}

// TryAgainAt is never: a contest has no cards of its own.
func (a *Aggregate) TryAgainAt(*aggregate.Card) *time.Time { return nil }

// Entrant is the team at a place, from 1.
func (a *Aggregate) Entrant(place int) (Entry, error) {
	if a.Contest == nil || place < 1 || place > len(a.Contest.Teams) {
		return Entry{}, fmt.Errorf("team %d of %s: %w", place, a.Ref(), aggregate.ErrNotFound)
	}
	return a.Contest.Teams[place-1], nil
}

// Effects are none: the contest's run does the team's work, and a team that stays behind is settled with its contest.
func (w *Work) Effects(time.Time) aggregate.Effects { return aggregate.Effects{Wake: w.Waits} }

func (w *Work) DueAt(time.Time) *time.Time                                 { return nil }
func (w *Work) Beside() (aggregate.Ref, bool)                              { return aggregate.Ref{}, false }
func (w *Work) Overdue(time.Time, aggregate.Aggregate) []aggregate.Overdue { return nil }

// RestartRun is ErrSuperseded: a team has no run of its own.
func (w *Work) RestartRun(int, time.Time) (aggregate.Change, error) {
	return aggregate.Change{}, aggregate.ErrSuperseded
}

func (w *Work) PauseRun(int, time.Time, time.Time) (aggregate.Change, error) {
	return aggregate.Change{}, aggregate.ErrSuperseded
}

// TryAgainAt is never: a team has no cards.
func (w *Work) TryAgainAt(*aggregate.Card) *time.Time { return nil }
