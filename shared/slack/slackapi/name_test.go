package slackapi

import (
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/runtime/expect"
)

func TestANameIsWhatPeopleSee(t *testing.T) {
	for name, tt := range map[string]struct {
		user slack.User
		want string
	}{
		"as it is":                    {slack.User{Name: "sato", Profile: slack.UserProfile{DisplayName: "佐藤 花子"}}, "佐藤 花子"},
		"with a sign that shows none": {slack.User{Name: "evil", Profile: slack.UserProfile{DisplayName: "佐藤\u200b 花子\u2060"}}, "佐藤 花子"},
		"that turns the rest around":  {slack.User{Name: "evil", RealName: "\u202e鈴木\u2066"}, "鈴木"},
		"of several lines":            {slack.User{Name: "evil", RealName: "鈴木\n管理者\u2028x"}, "鈴木 管理者 x"},
		"that shows nothing":          {slack.User{Name: "evil", RealName: "田中", Profile: slack.UserProfile{DisplayName: "\u3164\u200d"}}, "田中"},
	} {
		got := userOf(&tt.user).Name
		expect.That(t, got == tt.want, "%s: %q, want %q", name, got, tt.want)
	}
}
