package contest

import (
	"ringi/shared/domain/aggregate"
)

// Status is where a contest stands; see Moves.
type Status string

const (
	Running   Status = "running"
	Closed    Status = "closed"
	Cancelled Status = "cancelled" // its teams stop at their next call; then it is settled like any other
	Abandoned Status = "abandoned" // its runs died: its teams are stopped, and what they have is counted
)

// Moves lists the statuses that may follow a contest's status.
var Moves = aggregate.Moves[Status]{
	Running:   {Closed, Cancelled, Abandoned},
	Closed:    {},
	Cancelled: {},
	Abandoned: {},
}

// TeamStatus is where a team stands; see TeamMoves.
type TeamStatus string

const (
	TeamRunning TeamStatus = "running"
	TeamEnded   TeamStatus = "ended"  // at its best scored round
	TeamFailed  TeamStatus = "failed" // before a round of it was scored
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
	SummaryPartialFailure SummaryStatus = "partial_failure" // some teams did
	SummaryFailed         SummaryStatus = "failed"          // all teams did
)

// SummaryStatuses are all of them.
var SummaryStatuses = []SummaryStatus{SummaryCompleted, SummaryPartialFailure, SummaryFailed}

// StatusOf is the status of a contest with so many teams that failed, and so many with a result.
func StatusOf(failed, results int) SummaryStatus {
	switch {
	case failed == 0:
		return SummaryCompleted
	case results == 0:
		return SummaryFailed
	}
	return SummaryPartialFailure
}

// Why a team failed or a contest ended, beside a team's exit reason. Pages have a sentence for each.
const (
	ReasonCancelled  aggregate.Reason = "contest_cancelled" // by a person, or with what it was for
	ReasonUnfinished aggregate.Reason = "team_unfinished"   // its run ended without an outcome
	ReasonNeverBegan aggregate.Reason = "team_never_began"
	ReasonLeader     aggregate.Reason = "leader_failed"
	ReasonEvaluator  aggregate.Reason = "evaluator_failed"
	ReasonTimeout    aggregate.Reason = "team_timeout"
	ReasonBudget     aggregate.Reason = "budget_exhausted"
	ReasonWrite      aggregate.Reason = "write_failed" // what a round came to could not be saved
	ReasonRunFailed  aggregate.Reason = "contest_run_failed"
)

// ReasonOf is that of a team which its time or its budget stopped, empty for any other exit.
func ReasonOf(exit ExitReason) aggregate.Reason {
	switch exit {
	case TeamTimeout:
		return ReasonTimeout
	case BudgetExhausted:
		return ReasonBudget
	}
	return ""
}

// Reasons are all of them.
var Reasons = []aggregate.Reason{
	ReasonCancelled, ReasonUnfinished, ReasonNeverBegan, ReasonLeader, ReasonEvaluator, ReasonTimeout, ReasonBudget, ReasonWrite, ReasonRunFailed,
}

// Actions that the audit log has of contests.
const (
	AuditStarted   aggregate.Action = "contest.started"
	AuditEnded     aggregate.Action = "contest.ended"
	AuditCancelled aggregate.Action = "contest.cancelled"
	AuditAbandoned aggregate.Action = "contest.abandoned"
)
