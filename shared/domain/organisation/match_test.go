package organisation_test

import (
	"slices"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

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
