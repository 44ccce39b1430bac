package contest

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"ringi/shared/words/language"
)

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

func newline(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// Round2 rounds to two decimals. Scores of 0 to 100 are compared after this rounding.
func Round2(x float64) float64 { return rounded(x, 2) }

// Scaled converts a score of 0 to 100 to an evaluation_score: 70.59 becomes 0.7059.
func Scaled(score float64) float64 { return rounded(score/100, 4) }

// rounded rounds in the same way as Python.
func rounded(x float64, decimals int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', decimals, 64), 64)
	if err != nil {
		return x // can't happen: NaN and infinities can be parsed too
	}
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
	return fmt.Sprintf("evaluation_score must be between 0.0 and 1.0, got %s. This violates the contract specification.", number(e.Score))
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
