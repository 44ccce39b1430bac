package people

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
)

func TestOnlyMembersAndGroupsThatAreThereCanBeChosen(t *testing.T) {
	slack := slacktest.Start(t)
	var r Roster
	m := expect.Value(r.Of(t.Context(), slack.Client, slacktest.Team, time.Now()))(t)
	got := expect.Value(m.Refused(t.Context(), slack.Client,
		[]string{webapi.Sato, webapi.Guest, webapi.Stranger, webapi.Bot, "U0NOBODY"},
		[]string{webapi.Approvers, "S0GONE"}))(t)
	expect.Same(t, map[string]tenancy.Rule{
		webapi.Guest: RuleGuest, webapi.Stranger: RuleOutsider, webapi.Bot: RuleBot, "U0NOBODY": RuleOutsider,
		"S0GONE": RuleNoGroup,
	}, got)
}

func TestWhatSlackCantSayIsRefused(t *testing.T) {
	slack := slacktest.Start(t)
	for _, method := range []string{"users.list", "usergroups.list"} {
		slack.Faults.Add(webapi.Fault{Method: method, Kind: webapi.Unavailable})
		if _, err := (&Roster{}).Of(t.Context(), slack.Client, slacktest.Team, time.Now()); !errors.Is(err,
			explain.ErrUnverified) {
			t.Errorf("%s is away: %v", method, err)
		}
	}
	m := expect.Value((&Roster{}).Of(t.Context(), slack.Client, slacktest.Team, time.Now()))(t)
	slack.Faults.Add(webapi.Fault{Method: "users.info", Kind: webapi.Unavailable})
	if _, err := m.Refused(t.Context(), slack.Client, []string{"U0NOBODY"}, nil); !errors.Is(err,
		explain.ErrUnverified) {
		t.Errorf("users.info is away: %v", err)
	}
}

func TestMembersAreListedOnceAMinute(t *testing.T) {
	slack, now := slacktest.Start(t), time.Now()
	var r Roster
	for _, after := range []time.Duration{0, 59 * time.Second, 61 * time.Second} {
		expect.Value(r.Of(t.Context(), slack.Client, slacktest.Team, now.Add(after)))(t)
	}
	n := len(slack.Calls("users.list"))
	expect.That(t, n == 2, "%d calls, want one for each minute", n)
}

// company has n people.
type company struct{ n, seen int }

func (c *company) User(context.Context, string) (slackapi.User, error) { return slackapi.User{}, nil }

func (c *company) Users(context.Context) iter.Seq2[slackapi.User, error] {
	return func(yield func(slackapi.User, error) bool) {
		for i := range c.n {
			if c.seen++; !yield(slackapi.User{ID: fmt.Sprintf("U%05d", i), Team: "T1", Name: fmt.Sprintf("佐藤 %d", i)}, nil) {
				return
			}
		}
	}
}

func (c *company) Usergroups(context.Context) ([]slackapi.Group, error) {
	return []slackapi.Group{{ID: "S1", Name: "人事部 承認者", Handle: "hr"}, {ID: "S2", Name: "佐藤会", Disabled: true}}, nil
}

func TestAPersonIsFoundAmongThousands(t *testing.T) {
	c := &company{n: MaxListed + 500}
	m := expect.Value((&Roster{}).Of(t.Context(), c, "T1", time.Now()))(t)
	expect.That(t, len(m.People) == MaxListed && m.More && c.seen == MaxListed+1,
		"%d are listed of %d that were read, more: %v", len(m.People), c.seen, m.More)
	for text, want := range map[string]string{
		"佐藤 4321": "U04321", "佐藤4321": "U04321", "＠佐藤　4321": "U04321", "u00007": "U00007", "人事部承認者": "S1", "HR": "S1", "佐藤会": "", "nobody": "",
	} {
		users, groups, more := m.Find(text, 20)
		got := ""
		for _, u := range users {
			got += u.ID
		}
		for _, g := range groups {
			got += g.ID
		}
		expect.That(t, got == want && !more, "%q finds %q, want %q", text, got, want)
	}
	if users, _, more := m.Find("佐藤", 20); len(users) != 20 || !more {
		t.Errorf("%d people are shown, more: %v", len(users), more)
	}
}

func TestAccountsAreThoseOfPeopleWithTheirAddresses(t *testing.T) {
	slack := slacktest.Start(t)
	all, more, err := Accounts(t.Context(), slack.Client, slacktest.Team)
	expect.NoError(t, err)
	var ids []string
	for _, u := range all {
		ids = append(ids, u.ID)
		expect.That(t, u.Mail != "", "%+v has no address", u)
	}
	for id, there := range map[string]bool{webapi.Sato: true, webapi.Guest: true, webapi.Bot: false,
		webapi.Stranger: false} {
		expect.Is(t, slices.Contains(ids, id), there, "%s", id)
	}
	expect.That(t, !more && len(slack.Calls("users.list")) == 1, "%d accounts, more: %v", len(all), more)
	slack.Faults.Add(webapi.Fault{Method: "users.list", Kind: webapi.Unavailable})
	_, _, err = Accounts(t.Context(), slack.Client, slacktest.Team)
	expect.Fails(t, err, explain.ErrUnverified)
}

func TestAListOfAccountsHasAnEnd(t *testing.T) {
	c := &company{n: MaxAccounts + 5}
	all, more, err := Accounts(t.Context(), c, "T1")
	expect.That(t, err == nil && more && len(all) == MaxAccounts, "%d accounts, more: %v, %v", len(all), more, err)
	all, more, err = Accounts(t.Context(), &company{n: MaxAccounts}, "T1")
	expect.That(t, err == nil && !more && len(all) == MaxAccounts, "%d accounts, more: %v, %v", len(all), more, err)
}
