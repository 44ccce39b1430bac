package contest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// AgentType is the type of a member.
type AgentType string

const (
	Plain     AgentType = "plain"
	WebSearch AgentType = "web-search"
	CodeExec  AgentType = "code-exec"
)

// AgentTypes lists the types that a member may have.
var AgentTypes = []AgentType{Plain, WebSearch, CodeExec}

// MemberStatus says whether a member answered.
type MemberStatus string

const (
	Success MemberStatus = "SUCCESS"
	Error   MemberStatus = "ERROR"
)

// MemberSubmission is the result of one call of a member.
type MemberSubmission struct {
	AgentName       string         `json:"agent_name"`
	AgentType       AgentType      `json:"agent_type"`
	Content         string         `json:"content"`
	Status          MemberStatus   `json:"status"`
	ErrorMessage    *string        `json:"error_message"` // only for an ERROR
	Usage           RunUsage       `json:"usage"`
	Timestamp       time.Time      `json:"timestamp"`         // time of the answer, UTC
	ExecutionTimeMS *float64       `json:"execution_time_ms"` // milliseconds
	AllMessages     []ModelMessage `json:"all_messages"`      // null: not saved
}

// Check returns an error that names the first invalid field.
func (s MemberSubmission) Check() error {
	switch {
	case blank(s.AgentName):
		return fmt.Errorf("agent_name must not be empty")
	case !slices.Contains(AgentTypes, s.AgentType):
		return fmt.Errorf("agent_type must be plain, web-search or code-exec, got %.50q", s.AgentType)
	case s.Status != Success && s.Status != Error:
		return fmt.Errorf("status must be SUCCESS or ERROR, got %.50q", s.Status)
	case s.Status == Success && s.ErrorMessage != nil:
		return fmt.Errorf("error_message must be null when status is SUCCESS")
	case s.Timestamp.IsZero():
		return fmt.Errorf("timestamp must be set")
	case s.ExecutionTimeMS != nil && !(*s.ExecutionTimeMS >= 0 && *s.ExecutionTimeMS <= math.MaxFloat64):
		return fmt.Errorf("execution_time_ms must be 0 or more, got %s", number(*s.ExecutionTimeMS))
	}
	return nil
}

// MemberSubmissionsRecord holds the submissions of a team's members in one round, in the order in which the leader
// called them. Its JSON also has computed fields, which are ignored when it is read.
type MemberSubmissionsRecord struct {
	ExecutionID string             `json:"execution_id"`
	TeamID      string             `json:"team_id"`
	TeamName    string             `json:"team_name"`
	RoundNumber int                `json:"round_number"` // from 1
	Submissions []MemberSubmission `json:"submissions"`
}

func (r MemberSubmissionsRecord) with(s MemberStatus) []MemberSubmission {
	out := []MemberSubmission{}
	for _, x := range r.Submissions {
		if x.Status == s {
			out = append(out, x)
		}
	}
	return out
}

// TotalUsage returns the sum of all members' usage.
func (r MemberSubmissionsRecord) TotalUsage() (sum RunUsage) {
	for _, x := range r.Submissions {
		sum = sum.Plus(x.Usage)
	}
	return sum
}

// Check returns an error that names the first invalid field.
func (r MemberSubmissionsRecord) Check() error {
	if err := checkRound(r.ExecutionID, r.TeamID, r.TeamName, r.RoundNumber); err != nil {
		return err
	}
	for i, s := range r.Submissions {
		if err := s.Check(); err != nil {
			return fmt.Errorf("submissions[%d].%w", i, err)
		}
	}
	return nil
}

// record is a MemberSubmissionsRecord without MarshalJSON.
type record MemberSubmissionsRecord

// MarshalJSON adds the computed fields.
func (r MemberSubmissionsRecord) MarshalJSON() ([]byte, error) {
	if r.Submissions == nil {
		r.Submissions = []MemberSubmission{}
	}
	good, bad := r.with(Success), r.with(Error)
	return json.Marshal(struct {
		record
		SuccessfulSubmissions []MemberSubmission `json:"successful_submissions"`
		FailedSubmissions     []MemberSubmission `json:"failed_submissions"`
		TotalCount            int                `json:"total_count"`
		SuccessCount          int                `json:"success_count"`
		FailureCount          int                `json:"failure_count"`
		TotalUsage            RunUsage           `json:"total_usage"`
	}{record(r), good, bad, len(r.Submissions), len(good), len(bad), r.TotalUsage()})
}

// RoundResult is the result of a team's scored round.
type RoundResult struct {
	ExecutionID          string    `json:"execution_id"`
	TeamID               string    `json:"team_id"`
	TeamName             string    `json:"team_name"`
	RoundNumber          int       `json:"round_number"` // from 1
	SubmissionContent    string    `json:"submission_content"`
	EvaluationScore      float64   `json:"evaluation_score"` // 0.0 to 1.0
	EvaluationFeedback   string    `json:"evaluation_feedback"`
	Usage                RunUsage  `json:"usage"` // of the leader and its members
	ExecutionTimeSeconds float64   `json:"execution_time_seconds"`
	CompletedAt          time.Time `json:"completed_at"`
}

// ScoredRound is a scored round with its complete records.
type ScoredRound struct {
	Result   RoundResult
	Record   MemberSubmissionsRecord
	Messages []ModelMessage // the leader's
	Metrics  []MetricScore
}

// Check returns an error that names the first invalid field.
func (s ScoredRound) Check() error {
	if err := s.Result.Check(); err != nil {
		return err
	}
	if err := s.Record.Check(); err != nil {
		return err
	}
	if r, x := s.Record, s.Result; r.ExecutionID != x.ExecutionID || r.TeamID != x.TeamID ||
		r.RoundNumber != x.RoundNumber {
		return fmt.Errorf("member_submissions_record is of round %d of team %.50q, the result of round %d of %.50q",
			r.RoundNumber, r.TeamID, x.RoundNumber, x.TeamID)
	}
	return nil
}

// Best returns the index of the round with the highest score, the later of equal ones, or -1 without rounds.
func Best(rounds []RoundResult) int {
	best := -1
	for i, r := range rounds {
		if best < 0 || r.EvaluationScore >= rounds[best].EvaluationScore {
			best = i
		}
	}
	return best
}

// Format is the submission_format of every submission.
const Format = "structured_json"

// Check returns an error that names the first invalid field; see CheckScore.
func (r RoundResult) Check() error {
	if err := checkRound(r.ExecutionID, r.TeamID, r.TeamName, r.RoundNumber); err != nil {
		return err
	}
	switch {
	case blank(r.SubmissionContent):
		return fmt.Errorf("submission_content must not be empty")
	case !(r.ExecutionTimeSeconds >= 0 && r.ExecutionTimeSeconds <= math.MaxFloat64):
		return fmt.Errorf("execution_time_seconds must be 0 or more, got %s", number(r.ExecutionTimeSeconds))
	case r.CompletedAt.IsZero():
		return fmt.Errorf("completed_at must be set")
	}
	return CheckScore(r.EvaluationScore)
}

func checkRound(execution, team, name string, number int) error {
	switch {
	case blank(execution):
		return fmt.Errorf("execution_id must not be empty")
	case blank(team):
		return fmt.Errorf("team_id must not be empty")
	case blank(name):
		return fmt.Errorf("team_name must not be empty")
	case number < 1:
		return fmt.Errorf("round_number must be 1 or more, got %d", number)
	}
	return nil
}

// blank reports whether a text is only white space, which includes the ideographic space.
func blank(s string) bool { return strings.TrimSpace(s) == "" }
