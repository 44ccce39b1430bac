package contest

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// Head is the head row of a contest.
type Head struct {
	aggregate.Head
	ExecutionID string `json:"execution_id"`
	// OverAt is when teams must stop calling models. Teams read the head before every call.
	OverAt *time.Time `json:"over_at,omitempty"`
}

func (h *Head) ID() string              { return h.ExecutionID }
func (h Head) At(rev int) aggregate.Row { h.Rev = rev; return &h }

// Entry is a team that takes part.
type Entry struct {
	TeamID   string `json:"team_id"`
	TeamName string `json:"team_name"`
}

// Contest is the contest's order and its state.
type Contest struct {
	aggregate.Meta
	ExecutionID string `json:"execution_id"`
	TenantID    string `json:"tenant_id"`
	UserPrompt  string `json:"user_prompt"`
	Title       string `json:"title,omitempty"` // title of the task that asked for it
	Status      Status `json:"status"`
	Locale      string `json:"locale"`

	Teams              []Entry            `json:"teams"`
	MaxRounds          int                `json:"max_rounds"`
	TeamTimeoutSeconds int                `json:"timeout_per_team_seconds"`
	Config             aggregate.Blob     `json:"config"` // teams and evaluator as of the beginning
	Budget             aggregate.MicroUSD `json:"budget_micro_usd"`
	Share              aggregate.MicroUSD `json:"share_micro_usd"` // of each team

	ForKind string `json:"for_kind"` // the aggregate that asked for it
	ForID   string `json:"for_id"`
	ForRow  string `json:"for_row"` // key of the row that asked

	CreatedAt  time.Time        `json:"created_at"`
	DeadlineAt time.Time        `json:"deadline_at"`          // when the last team's time is over
	SettledAt  *time.Time       `json:"settled_at,omitempty"` // when all teams' results were known
	Reason     aggregate.Reason `json:"reason,omitempty"`     // why it ended early
	Usage      aggregate.Usage  `json:"usage"`                // of all teams, once settled
	// Outcome, BestTeamName and BestScore are copies from the summary, for lists.
	Outcome      SummaryStatus `json:"outcome,omitempty"`
	BestTeamName string        `json:"best_team_name,omitempty"`
	BestScore    *float64      `json:"best_score,omitempty"`
	Told         bool          `json:"told,omitempty"` // the outcome was reported to the aggregate that asked
	// ClosesFrom is the first run that only writes the summary; 0: none yet.
	ClosesFrom int `json:"closes_from,omitempty"`
}

// FailedTeam is a team without a result.
type FailedTeam struct {
	TeamID     string           `json:"team_id"`
	TeamName   string           `json:"team_name"`
	ExitReason ExitReason       `json:"exit_reason"`
	Reason     aggregate.Reason `json:"reason,omitempty"`
	Detail     string           `json:"detail,omitempty"`
}

// Place is a team's entry in the ranking, with its best round.
type Place struct {
	TeamID      string           `json:"team_id"`
	TeamName    string           `json:"team_name"`
	RoundNumber int              `json:"round_number"`
	Score       float64          `json:"evaluation_score"` // 0.0 to 1.0
	Hash        string           `json:"hash"`             // aggregate.HashOf the submission
	ExitReason  ExitReason       `json:"exit_reason"`
	Reason      aggregate.Reason `json:"reason,omitempty"`
}

// Points are the score of 0 to 100, with two decimals.
func (p Place) Points() float64 { return Round2(p.Score * 100) }

// Summary is a contest's execution_summary, which is written when the contest ends.
type Summary struct {
	aggregate.Meta
	ExecutionID               string         `json:"execution_id"`
	UserPrompt                string         `json:"user_prompt"`
	Status                    SummaryStatus  `json:"status"`
	TeamResults               aggregate.Blob `json:"team_results"` // the best RoundResult of each team that has one
	TotalTeams                int            `json:"total_teams"`
	BestTeamID                *string        `json:"best_team_id"` // null if all teams failed, as is BestScore
	BestScore                 *float64       `json:"best_score"`   // 0.0 to 1.0
	TotalExecutionTimeSeconds float64        `json:"total_execution_time_seconds"`
	CompletedAt               time.Time      `json:"completed_at"`
	CreatedAt                 time.Time      `json:"created_at"`

	BestTeamName string       `json:"best_team_name,omitempty"`
	Places       []Place      `json:"places"` // teams with a result, best first
	FailedTeams  []FailedTeam `json:"failed_teams"`
}

// TeamHead is the head row of a team.
type TeamHead struct {
	aggregate.Head
	WorkID string `json:"work_id"` // execution_id and the hash of the team's id
}

func (h *TeamHead) ID() string { return h.WorkID }

func (h TeamHead) At(rev int) aggregate.Row { h.Rev = rev; return &h }

// Team is a team's state in one contest.
type Team struct {
	aggregate.Meta
	ExecutionID string     `json:"execution_id"`
	TeamID      string     `json:"team_id"`
	TeamName    string     `json:"team_name"`
	Status      TeamStatus `json:"status"`
	Rounds      int        `json:"rounds"` // number of scored rounds
	BestRound   int        `json:"best_round,omitempty"`
	BestScore   *float64   `json:"best_score"`

	ExitReason ExitReason         `json:"exit_reason,omitempty"`
	Reason     aggregate.Reason   `json:"reason,omitempty"`
	Detail     string             `json:"detail,omitempty"` // a sentence for people
	Budget     aggregate.MicroUSD `json:"budget_micro_usd"`
	MaxRounds  int                `json:"max_rounds"`
	CreatedAt  time.Time          `json:"created_at"` // start of the team's time
	DeadlineAt time.Time          `json:"deadline_at"`
	EndedAt    *time.Time         `json:"ended_at,omitempty"`
}

// Round is a team's row of round_history.
type Round struct {
	aggregate.Meta
	ID                      string         `json:"id"`
	ExecutionID             string         `json:"execution_id"`
	TeamID                  string         `json:"team_id"`
	TeamName                string         `json:"team_name"`
	RoundNumber             int            `json:"round_number"` // from 1
	MessageHistory          aggregate.Blob `json:"message_history"`
	MemberSubmissionsRecord aggregate.Blob `json:"member_submissions_record"`
	CreatedAt               time.Time      `json:"created_at"`

	SubmissionContent    aggregate.Blob `json:"submission_content"` // a JSON text
	EvaluationScore      float64        `json:"evaluation_score"`
	EvaluationFeedback   string         `json:"evaluation_feedback"`
	Metrics              []MetricScore  `json:"metrics"`
	Usage                RunUsage       `json:"usage"`
	ExecutionTimeSeconds float64        `json:"execution_time_seconds"`
	CompletedAt          time.Time      `json:"completed_at"`
}

// Check validates the score before the row is written.
func (r *Round) Check() error { return CheckScore(r.EvaluationScore) }

// Board is a scored round's row of leader_board.
type Board struct {
	aggregate.Meta
	ID                 string    `json:"id"`
	TenantID           string    `json:"tenant_id"`
	ExecutionID        string    `json:"execution_id"`
	TeamID             string    `json:"team_id"`
	TeamName           string    `json:"team_name"`
	RoundNumber        int       `json:"round_number"`
	EvaluationScore    float64   `json:"evaluation_score"` // 0.0 to 1.0
	EvaluationFeedback string    `json:"evaluation_feedback"`
	SubmissionContent  string    `json:"submission_content"` // at most 1 KiB; the full text is in the round's row or in S3
	SubmissionFormat   string    `json:"submission_format"`
	UsageInfo          UsageInfo `json:"usage_info"`
	CreatedAt          time.Time `json:"created_at"`

	IsBest         bool   `json:"is_best"`         // best round of its team in this contest
	SubmissionHash string `json:"submission_hash"` // aggregate.HashOf the full text
}

// Check validates the score before the row is written.
func (b *Board) Check() error { return CheckScore(b.EvaluationScore) }

// Turn is a model's answer within a round. It is saved so that after a crash the model is not asked again, in a list of
// its own (see aggregate.Listed).
type Turn struct {
	aggregate.Unrevised
	Name        string         `json:"name"` // identifies the turn
	Answer      aggregate.Blob `json:"answer"`
	CreatedAt   time.Time      `json:"created_at"`
	DeleteAfter int64          `json:"delete_after"`
}

// TurnsList is the prefix of the list of a team's turns. Leader stands for the team's leader in their names.
const (
	TurnsList = "TURNS#"
	Leader    = "leader"
	CutOff    = "cut-off" // the last part of the name of an answer that was cut off and asked for again
)

// WebSearchTool is the tool with which members have their model's vendor search the web.
const WebSearchTool = "web_search"

// RoundKey returns the key of the round with this number.
func RoundKey(number int) string { return fmt.Sprintf("ROUND#%02d", number) }

// BoardKey returns the key of the board's row for the round with this number.
func BoardKey(number int) string { return fmt.Sprintf("BOARD#%02d", number) }

func (c *Contest) Key() string { return "CONTEST" }
func (s *Summary) Key() string { return "SUMMARY" }
func (t *Team) Key() string    { return "TEAM" }
func (r *Round) Key() string   { return RoundKey(r.RoundNumber) }
func (b *Board) Key() string   { return BoardKey(b.RoundNumber) }
func (t *Turn) Key() string    { return t.Name }

func (c *Contest) Type() string { return "contest" }
func (s *Summary) Type() string { return "execution_summary" }
func (t *Team) Type() string    { return "team" }
func (r *Round) Type() string   { return "round_history" }
func (b *Board) Type() string   { return "leader_board" }
func (t *Turn) Type() string    { return "turn" }

func (c Contest) At(rev int) aggregate.Row { c.Rev = rev; return &c }
func (s Summary) At(rev int) aggregate.Row { s.Rev = rev; return &s }
func (t Team) At(rev int) aggregate.Row    { t.Rev = rev; return &t }
func (r Round) At(rev int) aggregate.Row   { r.Rev = rev; return &r }
func (b Board) At(rev int) aggregate.Row   { b.Rev = rev; return &b }
func (t Turn) At(int) aggregate.Row        { return &t }
