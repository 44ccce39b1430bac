package contest

import (
	"encoding/json"
	"fmt"
	"maps"
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

// ModelMessage is one message between an agent and its model, in Pydantic AI's format.
type ModelMessage struct {
	Kind  MessageKind `json:"kind"`
	Parts []Part      `json:"parts"`
	// Only for a response.
	ModelName string     `json:"model_name,omitempty"`
	Timestamp *time.Time `json:"timestamp,omitempty"`
	Usage     *RunUsage  `json:"usage,omitempty"`
}

// MessageKind says who speaks.
type MessageKind string

const (
	KindRequest  MessageKind = "request"
	KindResponse MessageKind = "response"
)

// PartKind is the type of a message's part.
type PartKind string

const (
	SystemPrompt PartKind = "system-prompt"
	UserPrompt   PartKind = "user-prompt"
	Text         PartKind = "text"
	ToolCall     PartKind = "tool-call"
	ToolReturn   PartKind = "tool-return"
	RetryPrompt  PartKind = "retry-prompt"
)

// Part is a part of a message.
type Part struct {
	PartKind   PartKind        `json:"part_kind"`
	Content    string          `json:"content,omitempty"` // absent for tool calls
	ToolName   string          `json:"tool_name,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"` // arguments of a tool call: an object
	ToolCallID string          `json:"tool_call_id,omitempty"`
	Timestamp  *time.Time      `json:"timestamp,omitempty"`
}

// RunUsage is the usage of model calls.
type RunUsage struct {
	InputTokens          int64            `json:"input_tokens"` // including those read from and written to a cache
	CacheWriteTokens     int64            `json:"cache_write_tokens"`
	CacheReadTokens      int64            `json:"cache_read_tokens"`
	OutputTokens         int64            `json:"output_tokens"`
	InputAudioTokens     int64            `json:"input_audio_tokens"`
	CacheAudioReadTokens int64            `json:"cache_audio_read_tokens"`
	OutputAudioTokens    int64            `json:"output_audio_tokens"`
	Details              map[string]int64 `json:"details"`    // other counts of a vendor
	Requests             int64            `json:"requests"`   // model calls
	ToolCalls            int64            `json:"tool_calls"` // executed tool calls
}

// MarshalJSON writes details as an object even if there are none.
func (u RunUsage) MarshalJSON() ([]byte, error) {
	type plain RunUsage
	if u.Details == nil {
		u.Details = map[string]int64{}
	}
	return json.Marshal(plain(u))
}

// Plus returns the sum of two usages.
func (u RunUsage) Plus(v RunUsage) RunUsage {
	sum := RunUsage{
		InputTokens: u.InputTokens + v.InputTokens, CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		CacheReadTokens: u.CacheReadTokens + v.CacheReadTokens,
		OutputTokens:    u.OutputTokens + v.OutputTokens, InputAudioTokens: u.InputAudioTokens + v.InputAudioTokens,
		CacheAudioReadTokens: u.CacheAudioReadTokens + v.CacheAudioReadTokens, OutputAudioTokens: u.OutputAudioTokens +
			v.OutputAudioTokens,
		Requests: u.Requests + v.Requests, ToolCalls: u.ToolCalls + v.ToolCalls,
	}
	if len(u.Details)+len(v.Details) > 0 {
		sum.Details = maps.Clone(u.Details)
		if sum.Details == nil {
			sum.Details = map[string]int64{}
		}
		for name, n := range v.Details {
			sum.Details[name] += n
		}
	}
	return sum
}

// Info returns the short form for the leader board.
func (u RunUsage) Info() UsageInfo { return UsageInfo{u.InputTokens, u.OutputTokens, u.Requests} }

// UsageInfo is the short form of a RunUsage. Null fields of a row are read as 0.
type UsageInfo struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	Requests     int64 `json:"requests"`
}
