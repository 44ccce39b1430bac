package contest

import (
	"ringi/shared/domain/aggregate"
)

// Status is the status of a contest; see Moves.
type Status string

const (
	Running   Status = "running"
	Closed    Status = "closed"
	Cancelled Status = "cancelled" // its teams stop within seconds, and it is then settled as usual
	Abandoned Status = "abandoned" // its runs died; its teams are stopped, and their results so far count
)

// Moves lists the statuses that may follow a contest's status.
var Moves = aggregate.Moves[Status]{
	Running:   {Closed, Cancelled, Abandoned},
	Closed:    {},
	Cancelled: {},
	Abandoned: {},
}

// TeamStatus is the status of a team; see TeamMoves.
type TeamStatus string

const (
	TeamRunning TeamStatus = "running"
	TeamEnded   TeamStatus = "ended"  // with a scored round
	TeamFailed  TeamStatus = "failed" // without a scored round
)

// TeamMoves lists the statuses that may follow a team's status.
var TeamMoves = aggregate.Moves[TeamStatus]{
	TeamRunning: {TeamEnded, TeamFailed},
	TeamEnded:   {},
	TeamFailed:  {},
}

// SummaryStatus is the status of an execution_summary.
type SummaryStatus string

const (
	SummaryCompleted      SummaryStatus = "completed"       // no team failed
	SummaryPartialFailure SummaryStatus = "partial_failure" // some teams failed
	SummaryFailed         SummaryStatus = "failed"          // all teams failed
)

// SummaryStatuses lists all summary statuses.
var SummaryStatuses = []SummaryStatus{SummaryCompleted, SummaryPartialFailure, SummaryFailed}

// StatusOf returns the status for these numbers of failed teams and of teams with a result.
func StatusOf(failed, results int) SummaryStatus {
	switch {
	case failed == 0:
		return SummaryCompleted
	case results == 0:
		return SummaryFailed
	}
	return SummaryPartialFailure
}

// Reasons why a team failed or a contest ended, in addition to the exit reasons. Pages have a sentence for each.
const (
	ReasonCancelled  aggregate.Reason = "contest_cancelled" // by a person or by the aggregate that asked for it
	ReasonUnfinished aggregate.Reason = "team_unfinished"   // its run ended without an outcome
	ReasonNeverBegan aggregate.Reason = "team_never_began"
	ReasonLeader     aggregate.Reason = "leader_failed"
	ReasonEvaluator  aggregate.Reason = "evaluator_failed"
	ReasonTimeout    aggregate.Reason = "team_timeout"
	ReasonBudget     aggregate.Reason = "budget_exhausted"
	ReasonWrite      aggregate.Reason = "write_failed" // a round's result could not be saved, or an answer not be read back
	ReasonRunFailed  aggregate.Reason = "contest_run_failed"
)

// ReasonOf returns the reason for a team that was stopped by its time or budget limit, else "".
func ReasonOf(exit ExitReason) aggregate.Reason {
	switch exit {
	case TeamTimeout:
		return ReasonTimeout
	case BudgetExhausted:
		return ReasonBudget
	}
	return ""
}

// Reasons lists all reasons.
var Reasons = []aggregate.Reason{
	ReasonCancelled, ReasonUnfinished, ReasonNeverBegan, ReasonLeader, ReasonEvaluator, ReasonTimeout, ReasonBudget, ReasonWrite, ReasonRunFailed,
}

// Audit actions for contests.
const (
	AuditStarted   aggregate.Action = "contest.started"
	AuditEnded     aggregate.Action = "contest.ended"
	AuditCancelled aggregate.Action = "contest.cancelled"
	AuditAbandoned aggregate.Action = "contest.abandoned"
)
