package contest_test

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
)

var at = time.Date(2025, 11, 5, 10, 0, 15, 0, time.UTC)

// golden checks that a file of testdata is unchanged after it was read into v and written again.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	file := expect.Value(os.ReadFile("testdata/" + name))(t)
	expect.NoError(t, json.Unmarshal(file, v))
	same(t, file, expect.Value(json.Marshal(v))(t))
}

func same(t *testing.T, a, b []byte) {
	t.Helper()
	var x, y any
	expect.NoError(t, json.Unmarshal(a, &x))
	expect.NoError(t, json.Unmarshal(b, &y))
	expect.Same(t, x, y)
}

func TestThePublishedExamplesComeBackAsTheyWere(t *testing.T) {
	var record contest.MemberSubmissionsRecord
	golden(t, "member_submissions_record.json", &record)
	expect.That(t, len(record.Submissions) == 1 && record.Submissions[0].AgentType == "system" &&
		record.TotalUsage().OutputTokens == 100, "%+v", record)
	var results []contest.RoundResult
	golden(t, "team_results.json", &results)
	for _, r := range results {
		expect.NoError(t, r.Check())
	}
	var info contest.UsageInfo
	golden(t, "usage_info.json", &info)
	expect.Same(t, info, results[0].Usage.Info())
	var messages []contest.ModelMessage
	golden(t, "message_history.json", &messages)
}

func TestARecordWithoutComputedFieldsIsRead(t *testing.T) {
	file := expect.Value(os.ReadFile("testdata/record_of_before.json"))(t)
	var record contest.MemberSubmissionsRecord
	expect.NoError(t, json.Unmarshal(file, &record))
	u := record.TotalUsage()
	expect.That(t, u.InputTokens == 250 && u.OutputTokens == 500 && u.Requests == 2, "%+v", u)
	expect.Is(t, record.Submissions[0].Timestamp.Format(time.RFC3339Nano), "2025-10-23T10:30:45.123456Z")
	err := record.Check()
	expect.That(t, err != nil && strings.Contains(err.Error(), "execution_id"), "written without an execution: %v", err)
}

func TestComputedFieldsAreComputed(t *testing.T) {
	why := "timeout"
	record := contest.MemberSubmissionsRecord{ExecutionID: "e", TeamID: "t", TeamName: "T", RoundNumber: 2,
		Submissions: []contest.MemberSubmission{
			{AgentName: "a", AgentType: contest.Plain, Status: contest.Success, Timestamp: at,
				Usage: contest.RunUsage{InputTokens: 1, CacheWriteTokens: 2, CacheReadTokens: 3, OutputTokens: 4,
					InputAudioTokens: 5, CacheAudioReadTokens: 6, OutputAudioTokens: 7, Details: map[string]int64{"thinking": 8},
					Requests: 9, ToolCalls: 10}},
			{AgentName: "b", AgentType: contest.CodeExec, Status: contest.Error, ErrorMessage: &why, Timestamp: at,
				Usage: contest.RunUsage{InputTokens: 1, Details: map[string]int64{"thinking": 1, "audio": 1}}},
		}}
	expect.NoError(t, record.Check())
	want := contest.RunUsage{InputTokens: 2, CacheWriteTokens: 2, CacheReadTokens: 3, OutputTokens: 4,
		InputAudioTokens: 5, CacheAudioReadTokens: 6, OutputAudioTokens: 7, Details: map[string]int64{"thinking": 9,
			"audio": 1}, Requests: 9, ToolCalls: 10}
	expect.Same(t, want, record.TotalUsage())
	expect.Is(t, record.Submissions[0].Usage.Details["thinking"], 8, "the sum changed what it was made of")
	text := expect.Value(json.Marshal(record))(t)
	var read struct {
		Successful   []contest.MemberSubmission `json:"successful_submissions"`
		Failed       []contest.MemberSubmission `json:"failed_submissions"`
		TotalCount   int                        `json:"total_count"`
		SuccessCount int                        `json:"success_count"`
		FailureCount int                        `json:"failure_count"`
		TotalUsage   contest.RunUsage           `json:"total_usage"`
	}
	expect.NoError(t, json.Unmarshal(text, &read))
	expect.That(t, len(read.Successful) == 1 && len(read.Failed) == 1 && read.TotalCount == 2 && read.SuccessCount == 1 &&
		read.FailureCount == 1 && reflect.DeepEqual(read.TotalUsage, want), "%s", text)
	empty := expect.Value(json.Marshal(contest.MemberSubmissionsRecord{}))(t)
	expect.That(t, !strings.Contains(string(empty), "null"), "%s", empty)
}

func TestWhatCantBeIsNotWritten(t *testing.T) {
	why, slow := "x", -1.0
	good := contest.MemberSubmission{AgentName: "a", AgentType: contest.Plain, Status: contest.Success, Timestamp: at}
	for name, change := range map[string]func(*contest.MemberSubmission){
		"agent_name":        func(s *contest.MemberSubmission) { s.AgentName = " 　" },
		"agent_type":        func(s *contest.MemberSubmission) { s.AgentType = "system" },
		"status":            func(s *contest.MemberSubmission) { s.Status = "success" },
		"error_message":     func(s *contest.MemberSubmission) { s.ErrorMessage = &why },
		"timestamp":         func(s *contest.MemberSubmission) { s.Timestamp = time.Time{} },
		"execution_time_ms": func(s *contest.MemberSubmission) { s.ExecutionTimeMS = &slow },
	} {
		bad := good
		change(&bad)
		record := contest.MemberSubmissionsRecord{ExecutionID: "e", TeamID: "t", TeamName: "T", RoundNumber: 1,
			Submissions: []contest.MemberSubmission{good, bad}}
		err := record.Check()
		expect.That(t, err != nil && strings.HasPrefix(err.Error(), "submissions[1]."+name), "%s: %v", name, err)
	}
	err := (contest.MemberSubmissionsRecord{ExecutionID: "e", TeamID: "t", TeamName: "T"}).Check()
	expect.That(t, err != nil && strings.Contains(err.Error(), "round_number must be 1 or more, got 0"), "%v", err)
}

func TestFeedbackIsALineForEachMetric(t *testing.T) {
	got := contest.Feedback([]contest.MetricScore{
		{MetricName: "Relevance", Score: 90, EvaluatorComment: "  高品質な情報が提供されています。\n"}, {MetricName: "Coverage",
			Score: 85.004, EvaluatorComment: "包括的な\r\n分析が\u2028含まれています。"}, {MetricName: "Clarity", Score: 88},
	})
	expect.That(t, got == "Relevance (0.90): 高品質な情報が提供されています。\nCoverage (0.85): 包括的な 分析が 含まれています。\nClarity (0.88):", "%q",
		got)
	for locale, want := range map[string]string{
		"ja": "関連性 (90): 高品質な情報が提供されています。\n網羅性 (85): 包括的な 分析が 含まれています。\nClarity (88):\nWhole (100): Coverage (0.50): x\n" +
			"明確さと一貫性 (7):",
		"en": "Relevance (90): 高品質な情報が提供されています。\nCoverage (85): 包括的な 分析が 含まれています。\nClarity (88):\nWhole (100): Coverage " +
			"(0.50): x\nClarity and coherence (7):",
	} {
		shown := contest.InPoints(got+"\nWhole (1.00): Coverage (0.50): x\nClarityCoherence (0.07):", locale)
		expect.Is(t, shown, want, "%s: people are shown", locale)
	}
	expect.That(t, contest.Round2(84.994999) == 84.99 && contest.Round2(84.995001) == 85 &&
		contest.Scaled(70.59) == 0.7059 && !math.Signbit(contest.Round2(math.Copysign(0, -1))) &&
		math.IsNaN(contest.Round2(math.NaN())), "two decimals")
}

func TestABestRoundIsTheLaterOneInATie(t *testing.T) {
	scored := []contest.RoundResult{{EvaluationScore: 0.5}, {EvaluationScore: 0.9}, {EvaluationScore: 0.9},
		{EvaluationScore: 0.1}}
	expect.Same(t, []int{2, 0, -1}, []int{contest.Best(scored), contest.Best(scored[:1]), contest.Best(nil)})
}
