package contest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// TeamResult is the final result of one team.
type TeamResult struct {
	Team  Team
	Best  *Board // nil: the team failed
	Usage aggregate.Usage
}

// Result returns the team's final result. It returns ErrInFlight while the team is running.
func (w *Work) Result() (TeamResult, error) {
	if w.Team == nil {
		return TeamResult{}, fmt.Errorf("the team's row is not there: %w", aggregate.ErrConflict)
	}
	if w.Team.Status == TeamRunning {
		return TeamResult{}, fmt.Errorf("team %.50q: %w", w.Team.TeamID, aggregate.ErrInFlight)
	}
	return TeamResult{Team: *w.Team, Best: w.Best(), Usage: w.Used()}, nil
}

// Ranked returns the teams with a result in the board's order.
func Ranked(teams []TeamResult) []TeamResult {
	out := slices.DeleteFunc(slices.Clone(teams), func(t TeamResult) bool { return t.Best == nil })
	slices.SortFunc(out, func(a, b TeamResult) int { return ByRank(a.Best, b.Best) })
	return out
}

// Close ends the contest and writes its summary of all teams. results are the best rounds of the teams that have one.
// For a cancelled contest Close only writes the summary. It returns ErrNotDue if the contest is settled,
// ErrSuperseded if the head names another run, and Problem if teams are not the contest's.
func (a *Aggregate) Close(
	run int, teams []TeamResult, results aggregate.Blob, now time.Time,
) (aggregate.Change, error) {
	if a.settled() {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	if a.Head.Run != run {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	c := a.begin(now)
	c.Fail(c.these(teams))
	if c.Contest.Status == Running {
		c.to(Closed)
	}
	s := c.summary(teams, results, c.Now)
	c.Put(s)
	c.Contest.Outcome, c.Contest.BestTeamName, c.Contest.BestScore = s.Status, s.BestTeamName, s.BestScore
	for _, t := range teams {
		c.Contest.Usage = c.Contest.Usage.Plus(t.Usage.Sum())
	}
	c.Contest.Usage.ID = a.Head.ExecutionID
	c.settle()
	details := map[string]any{"result": s.Status, "teams": s.TotalTeams, "failed_teams": len(s.FailedTeams)}
	if s.BestTeamID != nil {
		details["best_team"], details["best_score"] = s.BestTeamName, Round2(*s.BestScore*100)
	}
	c.audit(aggregate.System(), AuditEnded, details)
	return c.done()
}

// these checks that teams are exactly the contest's, in order, and have ended.
func (c *change) these(teams []TeamResult) error {
	if len(teams) != len(c.Contest.Teams) {
		return aggregate.Problem{Field: "teams", Code: fmt.Sprintf("must be all %d of the contest, got %d",
			len(c.Contest.Teams), len(teams))}
	}
	for i, t := range teams {
		if t.Team.TeamID != c.Contest.Teams[i].TeamID || t.Team.ExecutionID != c.Head.ExecutionID {
			return aggregate.Problem{Field: fmt.Sprintf("teams[%d]", i), Code: "must be the contest's, in their order"}
		}
		if t.Team.Status == TeamRunning {
			return aggregate.ErrInFlight
		}
	}
	return nil
}

func (c *change) summary(teams []TeamResult, results aggregate.Blob, now time.Time) *Summary {
	s := &Summary{
		ExecutionID: c.Head.ExecutionID, UserPrompt: c.Contest.UserPrompt, TeamResults: results, TotalTeams: len(teams),
		TotalExecutionTimeSeconds: now.Sub(c.Contest.CreatedAt).Seconds(), CompletedAt: now, CreatedAt: now,
		Places: []Place{}, FailedTeams: []FailedTeam{},
	}
	for _, t := range teams {
		if t.Best == nil {
			s.FailedTeams = append(s.FailedTeams, FailedTeam{t.Team.TeamID, t.Team.TeamName, t.Team.ExitReason, t.Team.Reason,
				t.Team.Detail})
		}
	}
	s.Status = StatusOf(len(s.FailedTeams), len(teams)-len(s.FailedTeams))
	for _, t := range Ranked(teams) {
		s.Places = append(s.Places, Place{t.Best.TeamID, t.Best.TeamName, t.Best.RoundNumber, t.Best.EvaluationScore,
			t.Best.SubmissionHash, t.Team.ExitReason, t.Team.Reason})
	}
	if len(s.Places) > 0 {
		first := s.Places[0]
		s.BestTeamID, s.BestScore, s.BestTeamName = &first.TeamID, &first.Score, first.TeamName
	}
	return s
}

// settle records that the contest is finished.
func (c *change) settle() {
	c.Contest.SettledAt, c.Head.OverAt = &c.Now, cmp.Or(c.Head.OverAt, &c.Now)
	c.Head.Restarts = 0
}

// settled reports whether the contest is finished.
func (a *Aggregate) settled() bool { return a.Contest != nil && a.Contest.SettledAt != nil }

// Withdraw cancels the contest for the aggregate that asked for it: its teams call no more models, and their results so
// far count. It returns ErrNotDue if the contest is over, and ErrNotFound if another aggregate asked for it.
func (a *Aggregate) Withdraw(by aggregate.Ref, now time.Time) (aggregate.Change, error) {
	if a.Contest == nil || a.Contest.Status != Running {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	if by.Tenant != a.Head.TenantID || by.Kind != a.Contest.ForKind || by.ID != a.Contest.ForID {
		return aggregate.Change{}, fmt.Errorf("%s did not ask for %s: %w", by, a.Ref(), aggregate.ErrNotFound)
	}
	c := a.begin(now)
	c.to(Cancelled)
	c.Head.OverAt, c.Contest.Reason = &c.Now, ReasonCancelled
	c.audit(aggregate.System(), AuditCancelled, map[string]any{"why": ReasonCancelled})
	return c.done()
}

// abandon stops a contest after several of its runs died. Its teams stop, and later runs only write the summary.
func (a *Aggregate) abandon(now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	c.abandon()
	c.Head.OverAt = cmp.Or(c.Head.OverAt, &c.Now)
	c.Head.Run++
	c.Head.Restarts, c.Contest.ClosesFrom = 0, c.Head.Run
	return c.done()
}

// abandon moves a running contest to Abandoned.
func (c *change) abandon() {
	if c.Contest.Status != Running {
		return
	}
	c.Contest.Reason = ReasonRunFailed
	c.audit(aggregate.System(), AuditAbandoned, map[string]any{"why": ReasonRunFailed})
	c.to(Abandoned)
}

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
	return []aggregate.Overdue{aggregate.Restarting(now, func(a *Aggregate, now time.Time) bool {
		return a.work() && !now.Before(a.Contest.DeadlineAt.Add(aggregate.StuckAfter))
	})}
}

// RestartRun supersedes a run that died. After MaxRestarts it abandons the contest; after MaxClosings it gives up on
// the summary too. It returns ErrSuperseded if the head names another run or there is nothing to run.
func (a *Aggregate) RestartRun(run int, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || !a.work() {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	c := a.begin(now)
	switch plays := a.plays(); {
	case plays && a.Head.Restarts >= MaxRestarts:
		return a.abandon(now)
	case !plays && a.Head.Restarts >= MaxClosings: // nobody could write a summary
		c.abandon()
		c.settle()
	default:
		c.Head.Run++
		c.Head.Restarts++
	}
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
