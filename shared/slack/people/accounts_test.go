package people

import (
	"slices"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
)

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
