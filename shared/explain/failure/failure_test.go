package failure_test

import (
	"strings"
	"testing"

	"ringi/shared/explain/failure"
)

func TestEverySentenceIsThereInBothLanguages(t *testing.T) {
	args := map[failure.Problem][]any{
		failure.ProblemRejected:     {failure.Google, "400 bad"},
		failure.ProblemDown:         {failure.Google, 500},
		failure.ProblemBadArguments: {"send_slack_dm", "text is missing"},
		failure.ProblemBadData:      {3, "A twice"},
		failure.ProblemNoRecipient:  {"U1"},
		failure.ProblemChanged:      {failure.Provider("mcp:rooms"), "book_room"},
		failure.ProblemInternal:     {"send_slack_dm"},
		failure.ProblemNotListed:    {"send_slack_dm", "recipients", "U1", "U2, U3"},
		failure.ProblemNoValue:      {"list_employees", "department", "1", "departments.0.above"},
		failure.ProblemTooMany:      {"write_rows_to_google_sheet", "max_rows", 10, 11},
		failure.ProblemUnbound:      {"send_slack_dm", "constraints.x is no constraint"},
		failure.ProblemTooLarge:     {"list_employees", "8 MiB"},
		failure.ProblemPayMonth:     {failure.Freee, "weekly"},
		failure.ProblemPeriod:       {failure.Freee, "3510001", "2026-02", "2026-01-01", "2026-01-31"},
		failure.ProblemDenied:       {failure.Freee, "no"},
		failure.ProblemLimitedUntil: {failure.Freee, "18:00"},
		failure.ProblemSheetFull:    {failure.Google, 10_000_001, 10_000_000},
		failure.ProblemNoDepartment: {failure.Freee, "人事部", "営業部, 開発部"},
	}
	for _, p := range failure.Problems {
		a, ok := args[p]
		if !ok {
			a = []any{failure.Freee}
		}
		for _, locale := range []string{"ja", "en"} {
			s := failure.Sentence(locale, p, a...)
			if s == string(p) || strings.Contains(s, "%!") || strings.Contains(s, "%v") || strings.Contains(s, "%[") {
				t.Errorf("%s %s: %q", locale, p, s)
			}
		}
	}
	if s := failure.Sentence("ja", failure.ProblemTimeout, failure.Google); !strings.Contains(s, "Google スプレッドシート") {
		t.Error(s)
	}
}
