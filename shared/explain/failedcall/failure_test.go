package failedcall_test

import (
	"strings"
	"testing"

	"ringi/shared/explain/failedcall"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestEverySentenceIsThereInBothLanguages(t *testing.T) {
	args := map[failedcall.Problem][]any{
		failedcall.ProblemRejected:     {failedcall.Google, "400 bad"},
		failedcall.ProblemDown:         {failedcall.Google, 500},
		failedcall.ProblemBadArguments: {"send_slack_dm", "text is missing"},
		failedcall.ProblemBadData:      {3, "A twice"},
		failedcall.ProblemNoRecipient:  {"U1"},
		failedcall.ProblemChanged:      {failedcall.Provider("mcp:rooms"), "book_room"},
		failedcall.ProblemInternal:     {"send_slack_dm"},
		failedcall.ProblemNotListed:    {"send_slack_dm", "recipients", "U1", "U2, U3"},
		failedcall.ProblemNoValue:      {"list_employees", "department", "1", "departments.0.above"},
		failedcall.ProblemTooMany:      {"write_rows_to_google_sheet", "max_rows", 10, 11},
		failedcall.ProblemTooLong:      {"send_slack_dm", "details.3.value", 4001, 4000},
		failedcall.ProblemUnbound:      {"send_slack_dm", "constraints.x is no constraint"},
		failedcall.ProblemTooLarge:     {"list_employees", "8 MiB"},
		failedcall.ProblemPayMonth:     {failedcall.Freee, "weekly"},
		failedcall.ProblemPeriod:       {failedcall.Freee, "3510001", "2026-02", "2026-01-01", "2026-01-31"},
		failedcall.ProblemDenied:       {failedcall.Freee, "no"},
		failedcall.ProblemLimitedUntil: {failedcall.Freee, "18:00"},
		failedcall.ProblemSheetFull:    {failedcall.Google, 10_000_001, 10_000_000},
		failedcall.ProblemCellTooLong:  {failedcall.Google, 2, "B", "理由", 50_001, 50_000},
		failedcall.ProblemNoDepartment: {failedcall.Freee, "人事部", "営業部, 開発部"},
	}
	for _, p := range failedcall.Problems {
		a, ok := args[p]
		if !ok {
			a = []any{failedcall.Freee}
		}
		for _, locale := range language.All {
			s := failedcall.Sentence(locale, p, a...)
			if s == string(p) || strings.Contains(s, "%!") || strings.Contains(s, "%v") || strings.Contains(s, "%[") {
				t.Errorf("%s %s: %q", locale, p, s)
			}
		}
	}
	expect.Has(t, failedcall.Sentence("ja", failedcall.ProblemTimeout, failedcall.Google), "Google スプレッドシート")
}
