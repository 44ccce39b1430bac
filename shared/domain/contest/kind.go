// Package contest holds the rules for contests between teams of agents: the rows of contests, teams and rounds, their
// state machines, and every decision about them. The records of a round (members' answers, the leader's submission, its
// score and the messages) have the names and the JSON that other tools read.
//
// A contest is a kind, and each team's work in it another one, without a machine: teams commit to rows of their own and
// never wait for each other. A team that ended changes no more. Its best round stands in the row of the board
// (is_best), which moves with the round that is better.
//
// A contest's id follows from the row that orders it, so that an order makes one contest however often it is carried
// out. The day counts the whole budget when the contest begins, on condition that there is room, and gets back what was
// not spent when it ends, once. So contests that begin at the same time never share what is left for one.
//
// A contest whose runs die is begun anew by the sweeper; after five it is abandoned: no team calls a model any more,
// and the runs that follow only sum up, twenty at most. A contest that people end early, or whose task has ended, ends
// the same way within seconds, and what its teams have is summed up.
//
// Where its bounds come from:
//
//   - 20 teams of 10 rounds are a tenth of the 25,000 events that a run's history may have, and an inline Map runs 40
//     branches at once.
//
//   - Ten rounds, 16 KiB of each text in the row, are one page of a Query (1 MB). A configuration and all teams'
//     results over 64 KiB are in the bucket, since a row has 400 KB.
//
//   - 16 answers of a leader and 100 calls of members in a round, and 8 answers to a call, keep a model that calls in
//     circles from spending the team's budget in one round.
//
//   - A round is written in four tries over seven seconds, as the specification says; then the team ends
//     (DatabaseWriteError).
//
//   - A model's answer is kept for seven days, as long as somebody may want to begin a contest's run anew.
package contest

import (
	"crypto/rand"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

const kindName = "contest"

// Kind describes contests to the store, the relay and the sweeper.
var Kind = aggregate.Kind{
	Name: kindName, Prefix: "CONTEST#",
	New: func() aggregate.Aggregate { return &Aggregate{} }, Begin: beginOrdered,
	Rows: aggregate.RowsOf(&Head{}, &Contest{}, &Summary{}),
}

// TeamKind describes a team's work in a contest. Each team has its own aggregate, so that teams never conflict with
// each other. It has no run: the contest's run does the work.
var TeamKind = aggregate.Kind{
	Name: "team", Prefix: "TEAM#", Lists: []string{TurnsList}, Still: true,
	New:  func() aggregate.Aggregate { return &Work{} },
	Rows: aggregate.RowsOf(&TeamHead{}, &Team{}, &Round{}, &Board{}),
}

// All returns the index partition of a tenant's contests.
func All(tenant string) string { return "TENANT#" + tenant + "#CONTESTS" }

// Indexes lists the contest among the tenant's.
func (c *Contest) Indexes(aggregate.Root) []aggregate.Index {
	return []aggregate.Index{{N: 1, PK: All(c.TenantID), SK: aggregate.TimeText(c.CreatedAt) + "#" + c.ExecutionID}}
}

// Aggregate is every row of one contest; see aggregate.Aggregate.
type Aggregate struct {
	aggregate.Shared
	Head    Head
	Contest *Contest
	Summary *Summary // nil until the contest is closed
}

func (a *Aggregate) Ref() aggregate.Ref   { return Ref(a.Head.TenantID, a.Head.ExecutionID) }
func (a *Aggregate) Root() aggregate.Root { return &a.Head }

func (a *Aggregate) Add(r aggregate.Row) {
	switch r := r.(type) {
	case *Head:
		a.Head = *r
	case *Contest:
		a.Contest = r
	case *Summary:
		a.Summary = r
	default:
		a.Shared.Add(r)
	}
}

func (a *Aggregate) After(c aggregate.Change) aggregate.Aggregate {
	n := *a
	return aggregate.Committed(&n, c)
}

// Work is every row of one team's work in a contest.
type Work struct {
	aggregate.Shared
	Head   TeamHead
	Team   *Team
	Rounds []*Round // sorted by number
	Board  []*Board // sorted by number
}

func (w *Work) Ref() aggregate.Ref {
	return aggregate.Ref{Tenant: w.Head.TenantID, Kind: TeamKind.Name, ID: w.Head.WorkID}
}

func (w *Work) Root() aggregate.Root { return &w.Head }

func (w *Work) Add(r aggregate.Row) {
	switch r := r.(type) {
	case *TeamHead:
		w.Head = *r
	case *Team:
		w.Team = r
	case *Round:
		w.Rounds = aggregate.Insert(w.Rounds, r)
	case *Board:
		w.Board = aggregate.Insert(w.Board, r)
	default:
		w.Shared.Add(r)
	}
}

func (w *Work) After(c aggregate.Change) aggregate.Aggregate {
	n := *w
	n.Rounds, n.Board, n.Uses = slices.Clone(w.Rounds), slices.Clone(w.Board), slices.Clone(w.Uses)
	return aggregate.Committed(&n, c)
}

// Best returns the board's row of the team's best round, or nil.
func (w *Work) Best() *Board {
	return aggregate.First(w.Board, func(b *Board) bool { return b.IsBest })
}

// NewID returns a random execution_id, a UUID of version 4, for a contest that no other aggregate asks for.
func NewID() string { return aggregate.UUID(4, rand.Text()) }

// IDFor returns the execution_id of the contest that a row asks for. It is derived from the row, so that each row gets
// only one contest, but has the form of a version 4.
func IDFor(by aggregate.Ref, row string) string {
	return aggregate.UUID(4, "contest", by.Tenant, by.Kind, by.ID, row)
}

var form = language.Regexp{Text: `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`}

// ValidID reports whether id has the form of an execution_id.
func ValidID(id string) bool { return form.Get().MatchString(id) }

// Ref returns the Ref of a contest.
func Ref(tenant, execution string) aggregate.Ref {
	return aggregate.Ref{Tenant: tenant, Kind: kindName, ID: execution}
}

// TeamRef returns the Ref of a team's work in a contest. The team's id comes from a file, so keys contain its hash.
func TeamRef(tenant, execution, teamID string) aggregate.Ref {
	return aggregate.Ref{Tenant: tenant, Kind: TeamKind.Name, ID: execution + "." + TeamHash(teamID)}
}

// TeamHash returns the form of a team's id that is used in keys.
func TeamHash(teamID string) string { return aggregate.HashOf(teamID)[:16] }

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

// TeamStatus is the status of a team, which ends once.
type TeamStatus string

const (
	TeamRunning TeamStatus = "running"
	TeamEnded   TeamStatus = "ended"  // with a scored round
	TeamFailed  TeamStatus = "failed" // without a scored round
)

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
	// a round's result could not be saved, or an answer not be read back
	ReasonWrite     aggregate.Reason = "write_failed"
	ReasonRunFailed aggregate.Reason = "contest_run_failed"
)

// ReasonOf returns the reason for a team that was stopped by its time or budget limit, else "".
func ReasonOf(exit ExitReason) aggregate.Reason {
	return map[ExitReason]aggregate.Reason{TeamTimeout: ReasonTimeout, BudgetExhausted: ReasonBudget}[exit]
}

// Reasons lists all reasons.
var Reasons = []aggregate.Reason{
	ReasonCancelled, ReasonUnfinished, ReasonNeverBegan, ReasonLeader, ReasonEvaluator, ReasonTimeout, ReasonBudget,
	ReasonWrite, ReasonRunFailed,
}

// Audit actions for contests.
const (
	AuditStarted   aggregate.Action = "contest.started"
	AuditEnded     aggregate.Action = "contest.ended"
	AuditCancelled aggregate.Action = "contest.cancelled"
	AuditAbandoned aggregate.Action = "contest.abandoned"
)
