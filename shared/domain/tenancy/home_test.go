package tenancy

import (
	"testing"

	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// Nobody approves direct messages unless a channel or people are named.
func TestWhoApprovesDirectMessages(t *testing.T) {
	for name, c := range map[string]struct {
		home  rules.Home
		field string
		rule  Rule
	}{
		"nobody":           {rules.Home{}, "", ""},
		"a channel":        {rules.Home{Channel: "C0HOME"}, "", ""},
		"people":           {rules.Home{Users: []string{"U1", "W2"}}, "", ""},
		"a channel first":  {rules.Home{Channel: "C0HOME", Users: []string{"U1"}}, "", ""},
		"a channel's name": {rules.Home{Channel: "#hr"}, "direct_approvers.channel", RuleChannelID},
		"direct messages":  {rules.Home{Channel: "D0HOME"}, "direct_approvers.channel", RuleChannelID},
		"a person's name":  {rules.Home{Users: []string{"sato"}}, "direct_approvers.users[0]", RuleUserID},
		"too many people":  {rules.Home{Users: make([]string, rules.MaxPeople+1)}, "direct_approvers.users", RuleCount},
	} {
		s := DefaultSettings()
		s.Name, s.Slug, s.DirectApprovers = "x", "x", c.home
		all := s.Problems()
		if c.field == "" {
			expect.That(t, len(all) == 0, "%s: %+v", name, all)
			continue
		}
		expect.That(t, len(all) > 0 && all[0].Field == c.field && all[0].Rule == c.rule && all[0].Err().Limit != "",
			"%s: %+v", name, all)
	}
	expect.That(t, DefaultSettings().DirectApprovers.None(), "%+v", DefaultSettings().DirectApprovers)
}
