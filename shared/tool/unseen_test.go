package tool_test

import (
	"testing"

	"ringi/shared/task"
	"ringi/shared/tool"
)

func TestADestinationThatNobodySawIsUnseen(t *testing.T) {
	const policy = "依頼者とU0KEIRI001と jinji@Example.co.jp に知らせ、https://docs.google.com/spreadsheets/d/1aB-c_D/edit の「4月」に書く。hr.sheet も見る。"
	c, err := builtin(t).Under([]task.ToolPermission{{ToolName: "write_rows_to_google_sheet", Allowed: true, Constraints: `{"spreadsheet_ids":["listed"]}`}})
	if err != nil {
		t.Fatal(err)
	}
	notes, ok := tool.Pinned(task.ToolPermission{ToolName: "notes.post", Allowed: true, Pin: &task.Pin{URL: "https://x", Effect: task.Write, Input: `{"type":"object"}`}}, []task.MCPServer{{Name: "notes", URL: "https://x"}})
	if !ok {
		t.Fatal("notes.post is not allowed")
	}
	if c, err = c.With(notes); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		tool, args string
		want       bool
	}{
		"the requester":            {"send_slack_dm", `{"recipient":"U0REQUESTER","text":"x"}`, false},
		"named between kana":       {"send_slack_dm", `{"recipient":"U0KEIRI001"}`, false},
		"an address in capitals":   {"send_slack_dm", `{"recipient":"JINJI@example.co.jp"}`, false},
		"somebody else":            {"send_slack_dm", `{"recipient":"U0EVIL001"}`, true},
		"the beginning of a name":  {"send_slack_dm", `{"recipient":"U0KEIRI00"}`, true},
		"the end of a name":        {"send_slack_dm", `{"recipient":"KEIRI001"}`, true},
		"a shorter domain":         {"send_slack_dm", `{"recipient":"jinji@example.co"}`, true},
		"another first name":       {"send_slack_dm", `{"recipient":"a.jinji@example.co.jp"}`, true},
		"nothing":                  {"send_slack_dm", `{"recipient":" "}`, true},
		"a reference is Dynamic's": {"send_slack_dm", `{"recipient":{"$ref":"step-1.result.x"}}`, false},
		"a sheet by its address":   {"write_rows_to_google_sheet", `{"spreadsheet_id":"1aB-c_D","sheet":"4月"}`, false},
		"a sheet that is listed":   {"write_rows_to_google_sheet", `{"spreadsheet_id":"listed","sheet":"4月"}`, false},
		"a tab that no list has":   {"write_rows_to_google_sheet", `{"spreadsheet_id":"listed","sheet":"5月"}`, true},
		"a part of a dotted name":  {"write_rows_to_google_sheet", `{"spreadsheet_id":"listed","sheet":"sheet"}`, true},
		"a read":                   {"list_employees", `{"department":"経理部"}`, false},
		"a server's, named":        {"notes.post", `{"to":"hr.sheet","day":4,"notify":true,"cc":[{"$ref":"step-1.result.x"}]}`, false},
		"a server's, all named":    {"notes.post", `{"to":"hr.sheet","month":"4月","notify":true,"cc":["U0KEIRI001",null]}`, false},
		"a server's, a number":     {"notes.post", `{"amount":40}`, true},
		"a server's, deep inside":  {"notes.post", `{"to":{"list":["U0EVIL001"]}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := tool.Parse(task.JSON(test.args))
			if err != nil {
				t.Fatal(err)
			}
			s, _ := c.Lookup(test.tool)
			if got := tool.Unseen(s, a, policy, "U0REQUESTER"); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}
