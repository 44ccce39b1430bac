package contest

import (
	"encoding/json"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// Outcome is the result of a contest for the aggregate that asked for it. Without a Summary the teams' results are
// unknown.
type Outcome struct {
	Execution string
	Status    Status
	Summary   *Summary
	Usage     aggregate.Usage // of all teams
}

// Asker is an aggregate that asks for contests. ContestEnded records the outcome in the row that asked. It returns
// ErrNotDue if the row already has it or no longer needs it.
type Asker interface {
	ContestEnded(row string, o Outcome, now time.Time) (aggregate.Change, error)
}

// Outcome returns the result of the contest, and false until it is settled.
func (a *Aggregate) Outcome() (Outcome, bool) {
	if !a.settled() {
		return Outcome{}, false
	}
	return Outcome{a.Head.ExecutionID, a.Contest.Status, a.Summary, a.Contest.Usage}, true
}

// run returns the head's run for Step Functions. Its input numbers the teams from 1.
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
	input, _ := json.Marshal(in) // can't fail for strings and numbers
	return &aggregate.Run{Name: fmt.Sprintf("%s-%d", a.Head.ExecutionID, a.Head.Run), Input: string(input),
		Run: a.Head.Run}
}

// plays reports whether the head's run plays rounds; otherwise it only writes the summary.
func (a *Aggregate) plays() bool {
	return a.Contest.ClosesFrom == 0 || a.Head.Run < a.Contest.ClosesFrom
}

// work reports whether a run has something to do.
func (a *Aggregate) work() bool { return a.Contest != nil && !a.settled() }

// untold reports whether the outcome must still be reported to the aggregate that asked for the contest.
func (a *Aggregate) untold() bool { return a.settled() && a.Contest.ForRow != "" && !a.Contest.Told }

func (a *Aggregate) Effects(now time.Time) (out aggregate.Effects) {
	if a.work() {
		out.Run = a.run()
	}
	if a.untold() {
		out.Tell = append(out.Tell, a.telling(now))
	}
	out.Wake = a.Waits // a contest's run never waits for a token
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

// told records that the outcome was reported.
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

// MaxRestarts is how many consecutive runs may die before a contest is abandoned. MaxClosings is how many runs that
// only write the summary may die before it is given up, which takes some twenty minutes.
const MaxRestarts, MaxClosings = 5, 20

func (a *Aggregate) Overdue(now time.Time) []aggregate.Overdue {
	return []aggregate.Overdue{{Repair: true, Decide: func(x aggregate.Aggregate) (aggregate.Change, error) {
		a := x.(*Aggregate)
		if !a.work() || now.Before(a.Contest.DeadlineAt.Add(aggregate.StuckAfter)) ||
			now.Sub(a.Head.ChangedAt) < aggregate.StuckAfter {
			return aggregate.Change{}, aggregate.ErrNotDue
		}
		return a.RestartRun(a.Head.Run, now)
	}}}
}

// RestartRun supersedes a run that died. After MaxRestarts it abandons the contest; after MaxClosings it gives up on
// the summary too. It returns ErrSuperseded if the head names another run or there is nothing to run.
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

// PauseRun starts another run after one that ended because Lambda had no capacity. It does not count as a restart. It
// doesn't wait, because the states of a run retry for long enough.
func (a *Aggregate) PauseRun(run int, _, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || !a.work() {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	c := a.begin(now)
	c.Head.Run++
	return c.done()
}

// Entrant returns the team with this number, from 1.
func (a *Aggregate) Entrant(place int) (Entry, error) {
	if a.Contest == nil || place < 1 || place > len(a.Contest.Teams) {
		return Entry{}, fmt.Errorf("team %d of %s: %w", place, a.Ref(), aggregate.ErrNotFound)
	}
	return a.Contest.Teams[place-1], nil
}

// Effects only ends waits: the contest's run does the team's work.
func (w *Work) Effects(time.Time) aggregate.Effects { return aggregate.Effects{Wake: w.Waits} }

func (w *Work) DueAt(time.Time) *time.Time            { return nil }
func (w *Work) Overdue(time.Time) []aggregate.Overdue { return nil }

// RestartRun returns ErrSuperseded: a team has no run of its own.
func (w *Work) RestartRun(int, time.Time) (aggregate.Change, error) {
	return aggregate.Change{}, aggregate.ErrSuperseded
}

func (w *Work) PauseRun(int, time.Time, time.Time) (aggregate.Change, error) {
	return aggregate.Change{}, aggregate.ErrSuperseded
}
