package tenancy

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestConstraintsAreTyped(t *testing.T) {
	const sheet, dm, list = "write_rows_to_google_sheet", "send_slack_dm", "list_employees"
	known := map[string][]Constraint{sheet: {MaxRows, OnlySpreadsheets}, dm: {OnlyRecipients}, list: {OnlyDepartments}}
	for name, test := range map[string]struct {
		tool  string
		text  aggregate.JSON
		want  Constraints
		field string // field in ErrField
		says  string
	}{
		"none":                    {dm, `{}`, Constraints{}, "", ""},
		"a row of old times":      {dm, ``, Constraints{}, "", ""},
		"spreadsheets and rows":   {sheet, `{"spreadsheet_ids":["1aB_-"],"max_rows":500}`, Constraints{SpreadsheetIDs: []string{"1aB_-"}, MaxRows: 500}, "", ""},
		"recipients of two kinds": {dm, `{"recipients":["U0SATO","a@example.com"]}`, Constraints{Recipients: []string{"U0SATO", "a@example.com"}}, "", ""},
		"departments":             {list, `{"departments":["人事部"]}`, Constraints{Departments: []string{"人事部"}}, "", ""},
		"no object":               {dm, `[]`, Constraints{}, "constraints", "JSON object"},
		"null":                    {dm, `null`, Constraints{}, "constraints", "JSON object"},
		"no JSON":                 {dm, `{`, Constraints{}, "constraints", "JSON object"},
		"unknown":                 {dm, `{"recipient":["U0SATO"]}`, Constraints{}, "constraints.recipient", "it knows recipients"},
		"in other letters":        {dm, `{"Recipients":["U0SATO"]}`, Constraints{}, "constraints.Recipients", "it knows recipients"},
		"another tool's":          {dm, `{"spreadsheet_ids":["a"]}`, Constraints{}, "constraints.spreadsheet_ids", "is no constraint of send_slack_dm"},
		"of a tool without":       {"calculate_overtime", `{"max_rows":1}`, Constraints{}, "constraints.max_rows", "it knows none"},
		"of a server's tool":      {"rooms.book", `{"max_rows":1}`, Constraints{}, "constraints.max_rows", "it knows none"},
		"one beside a good one":   {dm, `{"recipients":["U0SATO"],"max_rows":1}`, Constraints{}, "constraints.max_rows", "is no constraint"},
		"a text for a list":       {dm, `{"recipients":"U0SATO"}`, Constraints{}, "constraints.recipients", "must be a list"},
		"numbers in a list":       {dm, `{"recipients":[1]}`, Constraints{}, "constraints.recipients", "must be a list"},
		"an empty list":           {dm, `{"recipients":[]}`, Constraints{}, "constraints.recipients", "forbid the tool"},
		"null for a list":         {dm, `{"recipients":null}`, Constraints{}, "constraints.recipients", "must be a list"},
		"null in a list":          {dm, `{"recipients":["U0SATO",null]}`, Constraints{}, "constraints.recipients[1]", "Slack user id"},
		"a channel":               {dm, `{"recipients":["C0GENERAL"]}`, Constraints{}, "constraints.recipients[0]", "Slack user id"},
		"a whole address":         {sheet, `{"spreadsheet_ids":["https://docs.google.com/x"]}`, Constraints{}, "constraints.spreadsheet_ids[0]", "id in the spreadsheet's address"},
		"space around":            {list, `{"departments":["人事部 "]}`, Constraints{}, "constraints.departments[0]", "no space"},
		"no rows":                 {sheet, `{"max_rows":0}`, Constraints{}, "constraints.max_rows", "from 1 to"},
		"rows as a text":          {sheet, `{"max_rows":"5"}`, Constraints{}, "constraints.max_rows", "from 1 to"},
		"half a row":              {sheet, `{"max_rows":1.5}`, Constraints{}, "constraints.max_rows", "from 1 to"},
		"more rows than anything": {sheet, `{"max_rows":1000001}`, Constraints{}, "constraints.max_rows", "from 1 to"},
		"201 of them":             {dm, aggregate.JSON(`{"recipients":["U0SATO"` + strings.Repeat(`,"U0SATO"`, 200) + `]}`), Constraints{}, "constraints.recipients", "1 to 200"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ToolPermission{ToolName: test.tool, Constraints: test.text}.Bounds(known[test.tool])
			var bad aggregate.ErrField
			if test.field != "" && (!errors.As(err, &bad) || bad.Field != test.field || !strings.Contains(bad.Limit, test.says)) {
				t.Errorf("%v, want ErrField of %s that says %q", err, test.field, test.says)
			}
			expect.That(t, test.field != "" || err == nil, "%v", err)
			if diff := cmp.Diff(test.want, got); test.field == "" && diff != "" || test.field != "" && !got.None() {
				t.Error(diff, got)
			}
		})
	}
}
