package contest

import (
	"cmp"
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
func Ranked(teams []TeamResult) (out []TeamResult) {
	for _, t := range teams {
		if t.Best != nil {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b TeamResult) int { return ByRank(a.Best, b.Best) })
	return out
}

// Close ends the contest and writes its summary of all teams. results are the best RoundResults of the teams that have
// one. For a cancelled contest Close only writes the summary. It returns ErrNotDue if the contest is settled,
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

// giveUp settles a contest without a summary, because none could be written.
func (a *Aggregate) giveUp(now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	c.abandon()
	c.settle()
	return c.done()
}
