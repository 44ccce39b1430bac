package main

import (
	"os"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

// Both files of the sandbox's company can be uploaded as they are: every full member is in them, with a superior.
func TestTheCompanysFilesFitItsPeople(t *testing.T) {
	var accounts []organisation.Account
	for _, u := range webapi.NewWorkspace(webapi.Config{TeamID: "T0", Company: true}).Users() {
		if !u.Bot && !u.Stranger && !u.Restricted {
			accounts = append(accounts, organisation.Account{ID: u.ID, Mails: []string{u.Email}})
		}
	}
	expect.Is(t, len(accounts), 12)
	day := expect.Value(organisation.ParseDate("2026-11-25"))(t)
	for _, name := range []string{"organisation.csv", "organisation.en.csv"} {
		o := expect.Value(organisation.Read(expect.Value(os.ReadFile(name))(t)))(t)
		all := o.Match(accounts, day)
		expect.That(t, len(all.Numbers()) == 12, "%s: %v", name, all.Numbers())
		for _, x := range accounts {
			_, found := o.Chart(day).Manager(all.Numbers()[x.ID])
			expect.That(t, found != (x.ID == webapi.Kato), "%s: %s has a superior: %v", name, x.ID, found)
		}
	}
}
