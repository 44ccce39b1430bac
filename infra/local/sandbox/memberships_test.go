package sandbox_test

import (
	"testing"

	"github.com/slack-go/slack"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// https://docs.slack.dev/reference/methods/users.conversations documents that the method lists public channels of the
// person and direct messages that the bot shares, at most 999 at once and without is_member.
func TestThePersonsOwnChannels(t *testing.T) {
	w := newWorld(t)
	list := func(p slack.GetConversationsForUserParameters) []string {
		t.Helper()
		channels, _, err := w.slack.GetConversationsForUser(&p)
		expect.NoError(t, err)
		ids := []string{}
		for _, c := range channels {
			expect.That(t, !c.IsMember, "%s says is_member", c.ID)
			ids = append(ids, c.ID)
		}
		return ids
	}
	all := list(slack.GetConversationsForUserParameters{UserID: webapi.Tanaka, Limit: 999})
	expect.NoError(t, w.Workspace().SetMember(webapi.HR, webapi.Tanaka, false))
	left := list(slack.GetConversationsForUserParameters{UserID: webapi.Tanaka,
		Types: []string{"public_channel", "private_channel"}})
	expect.That(t, len(left) == len(all)-1, "%v, before %v", left, all)
	expect.NoError(t, w.Workspace().SetArchived(left[0], true))
	expect.Same(t, left[1:], list(slack.GetConversationsForUserParameters{UserID: webapi.Tanaka, ExcludeArchived: true}))
	expect.Same(t, []string{webapi.DirectMessage(webapi.Tanaka)},
		list(slack.GetConversationsForUserParameters{UserID: webapi.Tanaka, Types: []string{"im"}}))
	for name, p := range map[string]slack.GetConversationsForUserParameters{
		"invalid_limit": {Limit: 1000}, "invalid_types": {Types: []string{"channel"}}, "user_not_found": {UserID: "U0NOBODY"},
	} {
		_, _, err := w.slack.GetConversationsForUser(&p)
		expect.That(t, err != nil && err.Error() == name, "%v, want %s", err, name)
	}
}
