package slackapi_test

import (
	"context"
	"testing"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
)

// Rows name a former id, which Slack doesn't know any more.
func TestACallForAFormerIDIsMadeUnderThePresentOne(t *testing.T) {
	slack := slacktest.Start(t)
	ctx := slackapi.For(t.Context(), aggregate.TenantID(slacktest.Team))
	_, _, err := slack.Client.Members(ctx, "C0FORMER", 10)
	expect.Is(t, slackapi.Code(err), "channel_not_found")
	slack.Client.Follow(func(context.Context, string) (tenancy.Channels, error) {
		return tenancy.Channels{"C0FORMER": {To: workspace.HR, At: "1612206778.000000"}}, nil
	})
	ids, _, err := slack.Client.Members(ctx, "C0FORMER", 10)
	expect.That(t, err == nil && len(ids) > 0, "%v, %v", ids, err)
	_, _, err = slack.Client.Members(ctx, "C0NOBODY", 10)
	expect.Is(t, slackapi.Code(err), "channel_not_found")
	for ch, err := range slack.Client.Channels(ctx, workspace.Suzuki, "public_channel") {
		expect.NoError(t, err)
		expect.That(t, ch.ID != workspace.HR, "listed under its present id, which rows don't know")
	}
}
