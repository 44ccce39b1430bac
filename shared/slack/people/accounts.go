package people

import (
	"context"
	"fmt"

	"ringi/shared/explain"
	"ringi/shared/slack/slackapi"
)

// MaxAccounts is how many accounts of a workspace are listed: as many as the 20 calls of users.list return that Slack
// allows in a minute (Tier 2).
const MaxAccounts = 20_000

// Accounts lists the accounts of a workspace's people, guests included: no bots, nobody who has left, nobody of another
// workspace. More says that there are others. It returns errorclass.ErrUnverified when Slack can't be asked.
func Accounts(ctx context.Context, slack Listing, team string) (all []slackapi.User, more bool, err error) {
	listed := 0
	for u, err := range slack.Users(ctx) {
		if err != nil {
			return nil, false, fmt.Errorf("%w: list the accounts of %s: %w", explain.ErrUnverified, team, err)
		}
		if listed++; listed > MaxAccounts {
			return all, true, nil
		}
		if !u.Bot && !u.Gone && u.Of(team) {
			all = append(all, u)
		}
	}
	return all, false, nil
}
