package contest

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"ringi/shared/words/language"
	"ringi/shared/words/lazy"
)

// MetricScore is what an evaluator gave for one metric.
type MetricScore struct {
	MetricName       string  `json:"metric_name"`
	Score            float64 `json:"score"` // 0 to 100
	EvaluatorComment string  `json:"evaluator_comment"`
}

// Feedback is what an evaluator said, a line for each metric: "Relevance (0.90): comment".
func Feedback(metrics []MetricScore) string {
	lines := make([]string, len(metrics))
	for i, m := range metrics {
		comment := strings.Join(strings.FieldsFunc(m.EvaluatorComment, newline), " ")
		lines[i] = strings.TrimSpace(fmt.Sprintf("%s (%.2f): %s", m.MetricName, m.Score/100, strings.TrimSpace(comment)))
	}
	return strings.Join(lines, "\n")
}

var scoreOfLine = lazy.Regexp(`(?m)^(.*?) \(([01])\.(\d\d)\):`)

// InPoints is a Feedback as people are shown it: its scores out of hundred, and its metrics by their names.
func InPoints(feedback, locale string) string {
	return scoreOfLine().ReplaceAllStringFunc(feedback, func(line string) string {
		m := scoreOfLine().FindStringSubmatch(line)
		points, _ := strconv.Atoi(m[2] + m[3])
		return fmt.Sprintf("%s (%d):", MetricName(m[1], locale), points)
	})
}

// metricNames are what people call the metrics that need no instruction.
var metricNames = language.InEach(
	map[string]string{"ClarityCoherence": "明確さと一貫性", "Coverage": "網羅性", "Relevance": "関連性"},
	map[string]string{"ClarityCoherence": "Clarity and coherence", "Coverage": "Coverage", "Relevance": "Relevance"},
)

// MetricName is what people call a metric: one of an evaluator's file by the name that it has there.
func MetricName(name, locale string) string { return cmp.Or(metricNames.In(locale)[name], name) }

func newline(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// Round2 is a number with two decimals. Scores of 0 to 100 are compared after it.
func Round2(x float64) float64 { return rounded(x, 2) }

// Scaled is a score of 0 to 100, which has two decimals, as an evaluation_score: 70.59 is 0.7059.
func Scaled(score float64) float64 { return rounded(score/100, 4) }

// rounded rounds as Python does.
func rounded(x float64, decimals int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', decimals, 64), 64)
	if err != nil {
		return x // never happens: NaN and the infinities parse, too
	}
	return rounded + 0 // not -0, which is written with its sign
}

// CheckScore refuses an evaluation_score outside of 0.0 to 1.0, NaN too.
func CheckScore(score float64) error {
	if score >= 0 && score <= 1 {
		return nil
	}
	return ScoreError{score}
}

// ScoreError is an evaluation_score that can't be.
type ScoreError struct{ Score float64 }

func (e ScoreError) Error() string {
	return fmt.Sprintf("evaluation_score must be between 0.0 and 1.0, got %s. This violates the contract specification.", number(e.Score))
}

// number is a number as Python writes it, whose messages these are.
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

// ExitReasons are all of them.
var ExitReasons = []ExitReason{MaxRoundsReached, NoImprovementExpected, TeamTimeout, BudgetExhausted, PartialFailure}

// DatabaseWriteError is a write that failed as often as it was tried. What was to be written is lost unless the caller
// keeps it; the log has the details.
type DatabaseWriteError struct {
	What     string // that was to be written
	Attempts int
	Err      error // of the last one
}

func (e *DatabaseWriteError) Error() string {
	return fmt.Sprintf("DatabaseWriteError: write %s: failed %d times, last: %v", e.What, e.Attempts, e.Err)
}

func (e *DatabaseWriteError) Unwrap() error { return e.Err }
