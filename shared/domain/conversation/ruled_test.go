package conversation

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// What was settled along a route begins within the days for which that is good, or ends without a turn of the agent's.
func TestAnActionThatWasSettledTooLongAgoExpires(t *testing.T) {
	for _, days := range []int{0, 3} {
		tb := circulating(t, along(desk(suzuki)))
		tb.forged(func(x *Action) {
			x.Gate.Terms.ApprovalDays = days
			tb.head.Routes = nil
			tb.head.Opens(x.Key(), &x.Gate)
		})
		tb.makes(tb.acting(circulation.Stamp, suzuki), "action.approved")
		settled := tb.now
		expect.NoError(t, tb.begin())
		good := days
		if days == 0 {
			good = aggregate.DefaultApprovalDays
		}
		expires := func(a *Aggregate) (aggregate.Change, error) { return a.ExpireAged(a.Head.Run, tb.now) }
		tb.now = settled.AddDate(0, 0, good)
		_, err := expires(tb.load())
		expect.Fails(t, err, aggregate.ErrNotDue)
		_, err = tb.load().Claim(tb.head.Run, "i1", tb.now.Add(time.Minute), tb.now)
		expect.NoError(t, err)

		tb.now = tb.now.Add(time.Hour)
		_, err = tb.load().Claim(tb.head.Run, "i1", tb.now.Add(time.Minute), tb.now)
		expect.Fails(t, err, ErrAged)
		_, err = tb.load().ExpireAged(tb.head.Run+1, tb.now)
		expect.Fails(t, err, aggregate.ErrSuperseded)
		waiting := len(tb.load().Inbox)
		tb.makes(expires, "action.expired")
		a := tb.load()
		x := a.Actions[0]
		expect.That(t, a.Current() == nil && x.Status == ActionCancelled && x.CancelReason == ReasonAged &&
			x.Gate.Status == aggregate.Approved && x.CompletedAt != nil, "%+v", x)
		expect.Is(t, len(a.Inbox), waiting, "the agent has a turn")
		_, err = expires(tb.load())
		expect.Fails(t, err, aggregate.ErrNotDue)
		for locale, want := range map[string]string{
			"ja": "操作 #1 は、承認の有効期間内に始まらなかったため、取り消されました。",
			"en": "Action #1 was cancelled because it didn’t begin while its approval was good.",
		} {
			expect.Is(t, x.told(locale).Content, want)
		}
	}
}

func TestAnActionWithoutARuleNeverAges(t *testing.T) {
	tb, x := pending(t, ShellCommand)
	expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin()))
	tb.now = tb.now.AddDate(1, 0, 0)
	expect.NoError(t, tb.claim("i1"))
}

func TestRulesDecideEverywhere(t *testing.T) {
	for _, channelType := range []string{"channel", "group", "im"} {
		s := &Conversation{ChannelType: channelType}
		expect.That(t, s.ByRules(tenancy.Settings{RulesRev: 1}), "%s", channelType)
		expect.That(t, !s.ByRules(tenancy.Settings{}), "%s: there are no rules", channelType)
	}
}

// A proposal relies on what the rules depended on beside the settings.
func TestAProposalReliesOnTheRowsOfItsRoute(t *testing.T) {
	tb := opened(t)
	p := proposal(ShellCommand, tb.now, "")
	p.Terms.ApprovalHours, p.Opening = 72, along(desk(suzuki))
	p.Rows = []aggregate.Owned{{Key: tenancy.OrganisationKey, Rev: 4, Err: aggregate.ErrSettings}}
	a := tb.load()
	c := expect.Value(a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok", Usage: tb.used(), Proposal: p}, tb.now))(t)
	expect.Is(t, len(c.Owned), 2)
	expect.That(t, c.Owned[0].Key == tenancy.SettingsKey && c.Owned[1] == p.Rows[0], "%+v", c.Owned)
}
