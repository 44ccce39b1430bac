package contest

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Limits on long texts, in bytes. Longer texts are shortened.
const (
	maxShown         = 1 << 10  // of a submission on the board; ten rows then are a few pages to read
	maxShownFeedback = 4 << 10  // of a round's feedback on the board
	maxFeedback      = 16 << 10 // of a round's feedback and of a metric's comment in the round's row
	maxDetail        = 1 << 10  // of a sentence about a failure
)

// RankAll returns the index partition that ranks all of a tenant's scored rounds.
func RankAll(tenant string) string { return "TENANT#" + tenant + "#BOARD" }

// RankOf returns the partition that ranks one team's rounds.
func RankOf(tenant, teamID string) string { return "BOARD#" + tenant + "#" + TeamHash(teamID) }

// Indexes ranks a scored round: higher scores first, and the earlier of equal scores.
func (b *Board) Indexes(aggregate.Root) []aggregate.Index {
	return []aggregate.Index{
		{N: 1, PK: RankAll(b.TenantID), SK: b.place()},
		{N: 3, PK: RankOf(b.TenantID, b.TeamID), SK: b.place()},
	}
}

// place returns a sort key in the board's order.
func (b *Board) place() string {
	return fmt.Sprintf("%07d#%s#%02d", 1_000_000-Millionths(b.EvaluationScore), aggregate.TimeText(b.CreatedAt),
		b.RoundNumber)
}

// Millionths returns a score in millionths, so that sums of scores are exact.
func Millionths(score float64) int { return int(math.Round(score * 1e6)) }

// ByRank compares rows by the board's order, then by team.
func ByRank(a, b *Board) int {
	return cmp.Or(cmp.Compare(a.place(), b.place()), cmp.Compare(a.TeamID, b.TeamID))
}

// ByBest compares teams by the board's order of their best rounds; those without one come last, as they were listed.
func ByBest(a, b *Work) int {
	switch of, other := a.Best(), b.Best(); {
	case of != nil && other != nil:
		return ByRank(of, other)
	case of != nil:
		return -1
	case other != nil:
		return 1
	}
	return 0
}

// best returns the number of the team's round with the highest score, the later of equal ones, or 0 without rounds.
func best(board []*Board) (number int) {
	score := -1
	for _, b := range board { // sorted by number
		if s := Millionths(b.EvaluationScore); s >= score {
			score, number = s, b.RoundNumber
		}
	}
	return number
}

// onBoard returns the board's row of a round. It keeps the id, team name and creation time of an existing row.
func (r *Round) onBoard(tenant, content string, was *Board) *Board {
	b := Board{ID: aggregate.Derive(r.CreatedAt, "board", r.ExecutionID, r.TeamID, fmt.Sprint(r.RoundNumber)),
		TeamName: r.TeamName, CreatedAt: r.CreatedAt}
	if was != nil {
		b = *was
	}
	b.TenantID, b.ExecutionID, b.TeamID, b.RoundNumber = tenant, r.ExecutionID, r.TeamID, r.RoundNumber
	b.EvaluationScore, b.EvaluationFeedback = r.EvaluationScore, shortened(r.EvaluationFeedback, maxShownFeedback)
	b.SubmissionContent, b.SubmissionFormat, b.UsageInfo = shortened(content, maxShown), Format, r.Usage.Info()
	b.SubmissionHash = aggregate.HashOf(content)
	return &b
}

// shortened cuts a text to at most most bytes, between characters, and marks the cut with an ellipsis.
func shortened(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	return language.FirstBytes(s, most-len("…")) + "…"
}

// MetricScore is an evaluator's score for one metric.
type MetricScore struct {
	MetricName       string  `json:"metric_name"`
	Score            float64 `json:"score"` // 0 to 100
	EvaluatorComment string  `json:"evaluator_comment"`
}

// Feedback formats an evaluator's scores, one line per metric: "Relevance (0.90): comment".
func Feedback(metrics []MetricScore) string {
	lines := make([]string, len(metrics))
	for i, m := range metrics {
		newline := func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }
		comment := strings.Join(strings.FieldsFunc(m.EvaluatorComment, newline), " ")
		lines[i] = strings.TrimSpace(fmt.Sprintf("%s (%.2f): %s", m.MetricName, m.Score/100, strings.TrimSpace(comment)))
	}
	return strings.Join(lines, "\n")
}

var scoreOfLine = language.Regexp{Text: `(?m)^(.*?) \(([01])\.(\d\d)\):`}

// InPoints formats a Feedback for people, with scores out of 100 and translated names of metrics.
func InPoints(feedback, locale string) string {
	return scoreOfLine.Get().ReplaceAllStringFunc(feedback, func(line string) string {
		m := scoreOfLine.Get().FindStringSubmatch(line)
		points, _ := strconv.Atoi(m[2] + m[3])
		return fmt.Sprintf("%s (%d):", MetricName(m[1], locale), points)
	})
}

// metricNames are the display names of the built-in metrics.
var metricNames = language.InEach(
	map[string]string{"ClarityCoherence": "明確さと一貫性", "Coverage": "網羅性", "Relevance": "関連性"},
	map[string]string{"ClarityCoherence": "Clarity and coherence", "Coverage": "Coverage", "Relevance": "Relevance"},
)

// MetricName returns a metric's display name. A metric that a file defines keeps its name.
func MetricName(name, locale string) string { return cmp.Or(metricNames.In(locale)[name], name) }

// Round2 rounds to two decimals. Scores of 0 to 100 are compared after this rounding.
func Round2(x float64) float64 { return rounded(x, 2) }

// Scaled converts a score of 0 to 100 to an evaluation_score: 70.59 becomes 0.7059.
func Scaled(score float64) float64 { return rounded(score/100, 4) }

// rounded rounds in the same way as Python.
func rounded(x float64, decimals int) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', decimals, 64), 64)
	return rounded + 0 // avoids -0, which would be written with its sign
}

// CheckScore returns an error for an evaluation_score outside of 0.0 to 1.0 or NaN.
func CheckScore(score float64) error {
	if score >= 0 && score <= 1 {
		return nil
	}
	return ScoreError{score}
}

// ScoreError reports an invalid evaluation_score.
type ScoreError struct{ Score float64 }

func (e ScoreError) Error() string {
	return fmt.Sprintf("evaluation_score must be between 0.0 and 1.0, got %s. This violates the contract specification.",
		number(e.Score))
}

// number formats a number as Python does, because the error texts are Python's.
func number(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(x, 'f', -1, 64), "+"))
	case x != 0 && (math.Abs(x) < 1e-4 || math.Abs(x) >= 1e16):
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// ExitReason says why a team stopped.
type ExitReason string

const (
	MaxRoundsReached      ExitReason = "max_rounds_reached"
	NoImprovementExpected ExitReason = "no_improvement_expected"
	TeamTimeout           ExitReason = "team_timeout"
	BudgetExhausted       ExitReason = "budget_exhausted"
	PartialFailure        ExitReason = "partial_failure" // the leader or the evaluator failed
)

// ExitReasons lists all exit reasons.
var ExitReasons = []ExitReason{MaxRoundsReached, NoImprovementExpected, TeamTimeout, BudgetExhausted, PartialFailure}

// DatabaseWriteError says that a write still failed after all retries. The data is lost unless the caller keeps it. The
// log has the details.
type DatabaseWriteError struct {
	What     string // what was to be written
	Attempts int
	Err      error // the last error
}

func (e *DatabaseWriteError) Error() string {
	return fmt.Sprintf("DatabaseWriteError: write %s: failed %d times, last: %v", e.What, e.Attempts, e.Err)
}

func (e *DatabaseWriteError) Unwrap() error { return e.Err }
