package organisation_test

import (
	"fmt"
	"slices"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

func TestAccountsAreReadFromTheirBatches(t *testing.T) {
	o := twelve(t)
	kept := o.Match([]organisation.Account{
		{ID: "U2", Mails: []string{"T.Kobayashi@midori.example"}, Guest: true}, {ID: "U1",
			Mails: []string{"kobayashi@midori.example"}},
		{ID: "U3", Mails: []string{"sato@midori.example"}}, {ID: "U9", Mails: []string{"nobody@midori.example"}},
	}, day(firstDay)).Kept()
	expect.Is(t, string(kept.Canonical()), `{"number":"","accounts":null}
{"number":"1003","accounts":[{"id":"U3"}]}
{"number":"1010","accounts":[{"id":"U1"},{"id":"U2","guest":true}]}
`)
	again := expect.Value(organisation.AssembleAccounts(kept.Batches()))(t)
	expect.Is(t, again.SHA256(), kept.SHA256())
	number, known := again.Number("U2")
	expect.That(t, number == "1010" && known && again.People() == 2 && len(again.ByNumber("1010")) == 2, "%q of U2",
		number)
	_, known = again.Number("U9")
	expect.That(t, !known, "an account of nobody's is somebody's")
	without := again.Without(o.Chart(day(firstDay)))
	expect.Is(t, len(without), 9)
	expect.That(t, !slices.ContainsFunc(without, func(p organisation.Person) bool { return p.Number == "1003" }), "%v",
		without)
}

// Accounts that are nobody's, and the day of the listing, make no other list.
func TestOnlyWhoseAccountsAreCounts(t *testing.T) {
	o, sato := twelve(t), organisation.Account{ID: "U3", Mails: []string{"sato@midori.example"}}
	want := o.Match([]organisation.Account{sato}, day(firstDay)).Kept().SHA256()
	more := []organisation.Account{{ID: "U8", Mails: []string{"x@midori.example"}}, sato}
	expect.Is(t, o.Match(more, day("2030-01-01")).Kept().SHA256(), want)
	none := o.Match(nil, day(firstDay)).Kept()
	expect.That(t, none.SHA256() != want && len(none.Batches()) == 1, "nobody has an account: %s", none.Canonical())
	expect.Is(t, expect.Value(organisation.AssembleAccounts(none.Batches()))(t).SHA256(), none.SHA256())
}

func TestAccountsThatAreNotWhatWasWritten(t *testing.T) {
	o := read(t, written(company(5000, seeded())))
	var accounts []organisation.Account
	for i, p := range o.Chart(day(firstDay)).People() {
		accounts = append(accounts, organisation.Account{ID: fmt.Sprintf("U0%09d", i), Mails: p.Mails})
	}
	all := o.Match(accounts, day(firstDay)).Kept().Batches()
	for _, b := range all {
		expect.That(t, len(b.Rows) <= organisation.MaxBatch, "part %d has %d bytes", b.Part, len(b.Rows))
	}
	cut := slices.Clone(all)
	cut[0].Rows = cut[0].Rows[:len(cut[0].Rows)-10]
	for name, some := range map[string][]organisation.Batch{"none": nil, "another": append(slices.Clone(all), all[0]),
		"cut": cut, "other": {{Part: 1, Parts: 1, Rows: `{"number":"","accounts":null,"x":1}` + "\n"}}} {
		_, err := organisation.AssembleAccounts(some)
		expect.That(t, err != nil, "%s", name)
	}
}

func TestWhoseAccountsDiffer(t *testing.T) {
	o := twelve(t)
	matched := func(accounts ...organisation.Account) *organisation.Accounts {
		return o.Match(accounts, day(firstDay)).Kept()
	}
	sato, suzuki := organisation.Account{ID: "U3", Mails: []string{"sato@midori.example"}},
		organisation.Account{ID: "U4", Mails: []string{"suzuki@midori.example"}}
	guest := suzuki
	guest.Guest = true
	was := matched(sato, suzuki)
	sato.ID = "U5"
	for name, c := range map[string]struct {
		is   *organisation.Accounts
		want string
	}{
		"the same": {was, "null"}, "one is gone": {matched(suzuki), `[{"Number":"1003","Was":[{"id":"U3"}],"Is":null}]`},
		"another account": {matched(suzuki, sato), `[{"Number":"1003","Was":[{"id":"U3"}],"Is":[{"id":"U5"}]}]`},
		"a guest by now": {matched(guest, organisation.Account{ID: "U3", Mails: []string{"sato@midori.example"}}),
			`[{"Number":"1004","Was":[{"id":"U4"}],"Is":[{"id":"U4","guest":true}]}]`},
	} {
		expect.Is(t, encoded(t, c.is.Compare(was)), c.want, "%s", name)
	}
	expect.Is(t, len(was.Compare(nil)), 2)
}

func TestAccountsAreMatchedByAddress(t *testing.T) {
	o := read(t, file(
		"1,Ann,ann@x.example;a.ann@x.example,A,,,boss,1,,,employee,,",
		"2,Bob,bob@x.example,A,,,,,,,employee,,",
		"3,Cem,cem@x.example,A,,,,,,,employee,,",
		"4,Dora,dora@x.example,A,,,,,,,employee,,2027-03-31",
		"5,Eve,,A,,,,,,,employee,,",
		"6,Fay,fay@x.example;f@x.example,A,,,,,,,employee,,",
		"7,Gus,gus@x.example,A,,,,,,,employee,2027-04-01,",
	))
	accounts := []organisation.Account{
		{ID: "U9", Mails: []string{"a.ann@x.example"}, Guest: true},
		{ID: "U1", Mails: []string{" ANN@x.example"}},
		{ID: "U2", Mails: []string{"bob@x.example", "cem@x.example"}},
		{ID: "U3", Mails: []string{"stranger@x.example"}},
		{ID: "U4", Mails: []string{"dora@x.example"}},
		{ID: "U5"},
		{ID: "U6", Mails: []string{"fay@x.example"}},
		{ID: "U7", Mails: []string{"fay@x.example", "f@x.example"}},
		{ID: "U8", Mails: []string{"gus@x.example", "GUS@x.example"}},
		{ID: "U8", Mails: []string{"gus@x.example"}},
	}
	want := organisation.Matching{
		Accounts: map[string][]organisation.Matched{
			"1": {{ID: "U1"}, {ID: "U9", Guest: true}},
			"4": {{ID: "U4"}},
			"6": {{ID: "U7"}}, // by f@, which is nobody else's
			"7": {{ID: "U8"}},
		},
		Nobody:  []string{"U3", "U5", "U6"},
		Without: []string{"2", "3", "5"},
		Shared:  []organisation.Shared{{Mail: "fay@x.example", Accounts: []string{"U6", "U7"}}},
		Several: []organisation.Several{{Account: "U2", Numbers: []string{"2", "3"}}},
	}
	for range 2 {
		m := o.Match(accounts, day(lastDay))
		expect.Same(t, want, *m)
		slices.Reverse(accounts) // the order of the listing makes no difference
	}
	expect.Same(t, map[string]string{"U1": "1", "U9": "1", "U4": "4", "U7": "6", "U8": "7"},
		o.Match(accounts, day(lastDay)).Numbers())
	expect.Same(t, []string{"1", "2", "3", "5", "6", "7"}, o.Match(nil, day(firstDay)).Without)
}

// Somebody who has no row on the day is still matched: they may come, or may have stamped.
func TestWithoutAnAccountAreThoseOfTheDay(t *testing.T) {
	o := twelve(t)
	expect.Is(t, slices.Contains(o.Match(nil, day(lastDay)).Without, "1006"), false)
	expect.Is(t, slices.Contains(o.Match(nil, day(firstDay)).Without, "1006"), true)
	expect.Is(t, slices.Contains(o.Match(nil, day(firstDay)).Without, "1008"), false)
	expect.Same(t, map[string]string{"U1": "1008"},
		o.Match([]organisation.Account{{ID: "U1", Mails: []string{"yamamoto@midori.example"}}}, day(firstDay)).Numbers())
}
