package tenancy

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestAPermissionIsSavedWithItsEntry(t *testing.T) {
	pin := &Pin{URL: "https://example.com", Input: `{"type":"object"}`, Access: aggregate.Write, Hash: "h"}
	for name, test := range map[string]struct {
		p     ToolPermission
		wrong string
		audit string
	}{
		"forbidden within bounds": {ToolPermission{ToolName: "send_slack_dm", Constraints: `{"recipients":["U123"]}`}, "", `{"allowed":false,"constraints":{"recipients":["U123"]},"tool":"send_slack_dm"}`},
		"without constraints":     {ToolPermission{ToolName: "send_slack_dm", Allowed: true}, "", `{"allowed":true,"tool":"send_slack_dm"}`},
		"a server's": {ToolPermission{ToolName: "rooms.book", Allowed: true, Pin: pin}, "",
			`{"allowed":true,"effect":"write","hash":"h","tool":"rooms.book","url":"https://example.com"}`},
		"a server's, forbidden":           {ToolPermission{ToolName: "rooms.book", Pin: pin}, "", `{"allowed":false,"tool":"rooms.book"}`},
		"a server's, forbidden, no pin":   {ToolPermission{ToolName: "rooms.book"}, "", `{"allowed":false,"tool":"rooms.book"}`},
		"no name":                         {ToolPermission{}, "tool_name", ""},
		"a long name":                     {ToolPermission{ToolName: strings.Repeat("x", 101)}, "tool_name", ""},
		"constraints that are no JSON":    {ToolPermission{ToolName: "x", Constraints: "{"}, "constraints", ""},
		"an unknown constraint":           {ToolPermission{ToolName: "x", Constraints: `{"departments":["人事部"]}`}, "constraints.departments", ""},
		"a server's without a pin":        {ToolPermission{ToolName: "rooms.book", Allowed: true}, "pin", ""},
		"an own one with a pin":           {ToolPermission{ToolName: "send_email", Allowed: true, Pin: pin}, "pin", ""},
		"listed for contests, and writes": {ToolPermission{ToolName: "rooms.book", Allowed: true, Contests: true, Pin: &Pin{Access: aggregate.Write}}, "contests", ""},
		"listed for contests, and off":    {ToolPermission{ToolName: "rooms.list", Contests: true, Pin: &Pin{Access: aggregate.Read}}, "contests", ""},
		"listed for contests, an own one": {ToolPermission{ToolName: "list_employees", Allowed: true, Contests: true}, "contests", ""},
		"listed for contests":             {ToolPermission{ToolName: "rooms.list", Allowed: true, Contests: true, Pin: &Pin{Access: aggregate.Read}}, "", `{"allowed":true,"contests":true,"effect":"read","hash":"","tool":"rooms.list","url":""}`},
		"a pin without an effect":         {ToolPermission{ToolName: "rooms.book", Pin: &Pin{}}, "pin.effect", ""},
		"a schema that is no JSON":        {ToolPermission{ToolName: "rooms.book", Pin: &Pin{Access: aggregate.Read, Input: "{"}}, "pin", ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.p.TenantID = "T1"
			saved, c, err := test.p.Save("P1", person, now, []Constraint{OnlyRecipients})
			expect.Must(t, fieldOf(err) == test.wrong, "%v, want %q", err, test.wrong)
			if err != nil {
				return
			}
			expect.Is(t, details(c)[0], "tool_permission.updated "+test.audit)
			if saved.ID != "P1" || saved.Rev != 1 || !saved.CreatedAt.Equal(now) || !saved.UpdatedAt.Equal(now) || c.Writes[0].Over != 0 {
				t.Errorf("%+v", saved)
			}
			again, c, err := saved.Save("P2", person, now.Add(time.Hour), []Constraint{OnlyRecipients})
			if err != nil || again.ID != "P1" || again.Rev != 2 || !again.CreatedAt.Equal(now) || c.Writes[0].Over != 1 {
				t.Errorf("%+v, %v", again, err)
			}
		})
	}
}
