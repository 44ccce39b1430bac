package explain_test

import (
	"strings"
	"testing"

	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestEverySentenceIsThereInBothLanguages(t *testing.T) {
	args := map[explain.Problem][]any{
		explain.ProblemRejected:     {explain.Google, "400 bad"},
		explain.ProblemDown:         {explain.Google, 500},
		explain.ProblemBadArguments: {"send_slack_dm", "text is missing"},
		explain.ProblemBadData:      {3, "A twice"},
		explain.ProblemNoRecipient:  {"U1"},
		explain.ProblemChanged:      {explain.Provider("mcp:rooms"), "book_room"},
		explain.ProblemInternal:     {"send_slack_dm"},
		explain.ProblemNotListed:    {"send_slack_dm", "recipients", "U1", "U2, U3"},
		explain.ProblemNoValue:      {"list_employees", "department", "1", "departments.0.above"},
		explain.ProblemTooMany:      {"write_rows_to_google_sheet", "max_rows", 10, 11},
		explain.ProblemTooLong:      {"send_slack_dm", "details.3.value", 4001, 4000},
		explain.ProblemUnbound:      {"send_slack_dm", "constraints.x is no constraint"},
		explain.ProblemTooLarge:     {"list_employees", "8 MiB"},
		explain.ProblemPayMonth:     {explain.Freee, "weekly"},
		explain.ProblemPeriod:       {explain.Freee, "3510001", "2026-02", "2026-01-01", "2026-01-31"},
		explain.ProblemDenied:       {explain.Freee, "no"},
		explain.ProblemLimitedUntil: {explain.Freee, "18:00"},
		explain.ProblemSheetFull:    {explain.Google, 10_000_001, 10_000_000},
		explain.ProblemCellTooLong:  {explain.Google, 2, "B", "理由", 50_001, 50_000},
		explain.ProblemNoDepartment: {explain.Freee, "人事部", "営業部, 開発部"},
	}
	for _, p := range explain.Problems {
		a, ok := args[p]
		if !ok {
			a = []any{explain.Freee}
		}
		for _, locale := range language.All {
			s := explain.FailedCall(locale, p, a...)
			if s == string(p) || strings.Contains(s, "%!") || strings.Contains(s, "%v") || strings.Contains(s, "%[") {
				t.Errorf("%s %s: %q", locale, p, s)
			}
		}
	}
	expect.Has(t, explain.FailedCall("ja", explain.ProblemTimeout, explain.Google), "Google スプレッドシート")
}
