package organisation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

const (
	lastDay  = "2027-03-31"
	firstDay = "2027-04-01"
)

// On 2027-04-01 the head of sales goes to administration, whose head leaves, and a section head of sales succeeds.
func TestWhoStandsAboveWhomFollowsTheDay(t *testing.T) {
	o := twelve(t)
	for number, want := range map[string][2]string{
		"1001": {"", ""},
		"1002": {"1001", "1001"},
		"1003": {"1002 1001", "1001"},
		"1004": {"1002 1001", "1003 1001"},
		"1005": {"1002 1001", "1003 1001"},
		"1006": {"", "1003 1001"},
		"1007": {"1002 1001", "1003 1001"},
		"1008": {"1001", ""},
		"1009": {"1008 1001", "1002 1001"}, // of two posts the main one decides
		"1010": {"1008 1001", "1002 1001"},
		"1011": {"1010 1008 1001", "1010 1002 1001"}, // 1010 is named
		"1012": {"1009 1008 1001", "1009 1002 1001"},
		"9999": {"", ""},
	} {
		expect.Is(t, numbersOf(o.Chart(day(lastDay)).ManagersAbove(number)), want[0], "%s on the last day", number)
		expect.Is(t, numbersOf(o.Chart(day(firstDay)).ManagersAbove(number)), want[1], "%s on the first day", number)
	}
	expect.Same(t, []organisation.Superior{
		{Number: "1010", How: organisation.Named},
		{Number: "1002", How: organisation.Head, Department: "K20"},
		{Number: "1001", How: organisation.Head, Department: "M00"},
	}, o.Chart(day(firstDay)).ManagersAbove("1011"))
}

func TestPeopleHaveTheirPostsOfTheDay(t *testing.T) {
	o := twelve(t)
	for _, c := range []struct{ number, on, main, posts string }{
		{"1002", lastDay, "S10", "S10 部長"},
		{"1002", firstDay, "K20", "K20 部長"},
		{"1009", firstDay, "K20", "K20 課長, S10 課長"}, // the main post stands first
		{"1006", lastDay, "", ""},
		{"1006", firstDay, "S10", "S10 "},
	} {
		chart := o.Chart(day(c.on))
		var posts []string
		for _, p := range chart.Posts(c.number) {
			posts = append(posts, p.Department+" "+p.Position)
		}
		main, _ := chart.Main(c.number)
		expect.Is(t, main.Department, c.main, "%s on %s", c.number, c.on)
		expect.Is(t, strings.Join(posts, ", "), c.posts, "%s on %s", c.number, c.on)
	}
	chart := o.Chart(day(firstDay))
	expect.Is(t, chart.Day(), day(firstDay))
	expect.Is(t, encoded(t, chart.Path("S10")),
		`[{"code":"S10","name":"営業部","parent":"M00"},{"code":"M00","name":"みどり製作所"}]`)
	expect.Is(t, len(chart.Path("nowhere")), 0)
	p, ok := chart.Person("1007")
	expect.Same(t, organisation.Person{Number: "1007", Name: "渡辺 翔", Mails: []string{"watanabe@haken.example"},
		Kind: organisation.Temporary, Period: organisation.Period{To: day("2027-09-30")}}, p)
	expect.That(t, ok, "1007 is not there")
	_, ok = chart.Person("1008")
	expect.That(t, !ok, "1008 has left and is there")
}

func TestWhoHasLeft(t *testing.T) {
	o := read(t, file(top, "2,Bob,,A,,,,,,,employee,2020-04-01,2021-03-31",
		"2,Bob,,A,,,,,,,employee,2026-04-01,2026-04-01"))
	for on, want := range map[string]organisation.Presence{
		"2020-03-31": organisation.Later, "2020-04-01": organisation.Here, "2021-03-31": organisation.Here,
		"2021-04-01": organisation.Left,
		"2026-03-31": organisation.Left, "2026-04-01": organisation.Here, "2026-04-02": organisation.Left,
	} {
		expect.Is(t, o.Presence("2", day(on)), want, "on %s", on)
	}
	expect.Is(t, o.Presence("1", day("1900-01-01")), organisation.Here)
	for _, nobody := range []string{"0", "11", "9"} {
		expect.Is(t, o.Presence(nobody, day("2026-04-01")), organisation.Stranger, "%s", nobody)
	}
}

func TestANumberThatChangesItsNameIsTold(t *testing.T) {
	o := read(t, file(top, "2,Bob,,A,,,,,,,employee,,2020-03-31", "2,Bob,,A,,,,,,1,employee,2020-04-01,2021-03-31",
		"2,Rob,,A,,,,,,,employee,2022-04-01,2023-03-31", "2,Zoe,,A,,,,,,,employee,2023-04-01,", "3,Cem,,A,,,,,,,employee,,"))
	expect.Same(t, []organisation.NameChange{
		{Number: "2", Was: "Bob", Is: "Rob", On: day("2022-04-01")},
		{Number: "2", Was: "Rob", Is: "Zoe", On: day("2023-04-01")},
	}, o.NameChanges())
	expect.Is(t, len(twelve(t).NameChanges()), 0)
}

func TestHoldersOfAPositionAreEmployeesUnlessOthersAreAskedFor(t *testing.T) {
	o := read(t, file(top, "2,Bob,,B,,A,chief,2,,,employee,,", "3,Cem,,B,,A,chief,2,,,contractor,,",
		"4,Dora,,B,,A,chief,2,,,temporary,,", "5,Eve,,A,,,,,,,employee,,", "5,Eve,,B,,A,chief,2,concurrent,,employee,,",
		"6,Fay,,B,,A,chief,2,,,employee,2030-01-01,", "0,Zoe,,A,,,,,,,employee,,", "0,,,B,,,chief,,concurrent,,,,",
		"7,Gus,,B,,A,aide,,,,employee,,", "8,Hal,,C,,A,chief,2,,,employee,,"))
	holders := func(of ...organisation.Kind) string {
		var all []string
		for _, h := range o.Chart(day(firstDay)).HoldersOf("chief", "B", of...) {
			all = append(all, h.Number+" in "+h.Posts[0].Department)
		}
		return strings.Join(all, ", ")
	}
	expect.Is(t, holders(), "0 in A, 2 in B, 5 in A")
	expect.Is(t, holders(organisation.Employee, organisation.Contractor), "0 in A, 2 in B, 3 in B, 5 in A")
	expect.Is(t, holders(organisation.Temporary), "4 in B")
}

// staffRanks are the ranks of positions in the shorthand of staff.
var staffRanks = map[string]string{"chief": "3", "deputy": "4", "clerk": "9"}

// staff is a company below a boss, 1 in A, in shorthand: number, department with the one above it, position or -, and
// what is unusual.
func staff(t *testing.T, people ...string) *organisation.Chart {
	t.Helper()
	rows := [][]string{strings.Split(top, ","), {"", "", "", "B", "", "A", "", "", "", "", "", "", ""}}
	for _, p := range people {
		words := strings.Fields(p)
		code, parent, _ := strings.Cut(words[1], "<")
		row := []string{words[0], "P" + words[0], "", code, "", parent, strings.Trim(words[2], "-"), staffRanks[words[2]],
			"", "", "", "", ""}
		kind := "employee"
		for _, word := range words[3:] {
			switch number, named := strings.CutPrefix(word, "below:"); {
			case named:
				row[9] = number
			case word == "second":
				row[8], kind = "concurrent", ""
			case word == "gone":
				row[12] = lastDay
			default:
				kind = word
			}
		}
		row[10] = kind
		rows = append(rows, row)
	}
	return read(t, written(rows)).Chart(day(firstDay))
}

func TestWhoLeadsADepartment(t *testing.T) {
	for name, c := range map[string]struct {
		people string
		want   string // who stands above 2
	}{
		"the highest rank of the department": {"2 B<A -, 3 B<A chief, 4 B<A deputy", "3 1"},
		"not oneself":                        {"2 B<A chief, 4 B<A deputy", "1"},
		"no colleague of equal rank":         {"2 B<A clerk, 0 B<A clerk", "1"},
		"an equal rank above":                {"2 C<B chief, 3 B<A chief", "3 1"},
		"nobody without rank":                {"2 B<A -, 3 B<A -", "1"},
		"the department above":               {"2 C<B -, 3 B<A chief", "3 1"},
		"nobody of a lower rank above":       {"2 C<B chief, 3 B<A deputy", "1"},
		"who leads by a second post":         {"2 B<A -, 3 D<A -, 3 B<A chief second", "3 1"},
		"not oneself by a second post":       {"2 C<B -, 2 B<A chief second, 3 B<A deputy", "1"},
		"of two the one whose main it is":    {"2 B<A -, 3 D<A -, 3 B<A chief second, 4 B<A chief", "4 1"},
		"of two else the lower number":       {"2 B<A -, 4 B<A chief, 3 B<A chief", "3 1"},
		"who is named comes first":           {"2 B<A - below:4, 3 B<A chief, 4 B<A -", "4 3 1"},
		"not who is named and has left":      {"2 B<A - below:4, 3 B<A chief, 4 B<A - gone", "3 1"},
		"contractors are passed over":        {"2 B<A - below:4, 3 B<A chief, 4 B<A - contractor", "3 1"},
		"a head who is a contractor":         {"2 B<A -, 3 B<A chief contractor", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			chart := staff(t, strings.Split(c.people, ", ")...)
			expect.Is(t, numbersOf(chart.ManagersAbove("2")), c.want)
		})
	}
}

// Whoever stands between is above, also a contractor, who is passed over where employees are asked for.
func TestBelowAsksForEverybodyBetween(t *testing.T) {
	chart := read(t, file(top, "2,Bob,,B,,A,,,,3,employee,,", "3,Cem,,B,,A,,,,,contractor,,")).Chart(day(firstDay))
	expect.Is(t, numbersOf(chart.ManagersAbove("2")), "1")
	expect.Is(t, numbersOf(chart.ManagersAbove("2", organisation.Employee, organisation.Contractor)), "3 1")
	for pair, want := range map[[2]string]bool{
		{"2", "1"}: true, {"2", "3"}: true, {"3", "1"}: true, {"1", "2"}: false, {"2", "2"}: false, {"3", "2"}: false,
		{"9", "1"}: false,
	} {
		expect.Is(t, chart.Below(pair[0], pair[1]), want, "%v", pair)
	}
}

// Heads by second posts can stand above each other. A chain ends before it repeats somebody.
func TestAChainEndsAtACycle(t *testing.T) {
	chart := read(t, file("1,Ann,,B,,A,chief,2,,,employee,,", "2,Bob,,D,,C,chief,2,,,employee,,",
		"1,,,C,,,chief,,concurrent,,,,",
		"2,,,A,,,chief,,concurrent,,,,", "3,Cem,,B,,A,,,,,employee,,")).Chart(day(firstDay))
	expect.Is(t, numbersOf(chart.ManagersAbove("1")), "2")
	expect.Is(t, numbersOf(chart.ManagersAbove("2")), "1")
	expect.Is(t, numbersOf(chart.ManagersAbove("3")), "1 2")
	expect.That(t, !chart.Below("1", "1"), "1 is below themselves")
	expect.Same(t, []organisation.Gap{{Rule: organisation.GapCycle, Numbers: []string{"1", "2"}}}, chart.Gaps())
}

// Rows of the table that no file could make, such as of a faulty release, end no chart in a loop.
func TestAChartOfRowsThatNoFileMakes(t *testing.T) {
	chart := expect.Value(organisation.Decode([]byte(`{"department":{"code":"A","parent":"B"}}
{"department":{"code":"B","parent":"A"}}
{"person":{"number":"1","name":"Ann","kind":"employee","manager":"1"}}
{"person":{"number":"2","name":"Bob","kind":"employee"}}
{"post":{"number":"1","department":"A","main":true}}
`)))(t).Chart(day(firstDay))
	expect.Is(t, len(chart.Path("A")), 2)
	expect.Is(t, len(chart.ManagersAbove("1")), 0)
	_, ok := chart.Manager("1")
	expect.That(t, !ok, "1 stands above themselves")
	expect.Is(t, len(chart.ManagersAbove("2")), 0)
}

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

// Numbers stand in their order, as people count, and before addresses and ids.
func TestPeopleStandByTheirNumbers(t *testing.T) {
	var all []organisation.Person
	for _, number := range []string{"tanaka@example.com", "100", "2", "10", "1", "A7"} {
		all = append(all, organisation.Person{Number: number})
	}
	slices.SortStableFunc(all, organisation.ByNumber)
	var got []string
	for _, p := range all {
		got = append(got, p.Number)
	}
	expect.Is(t, strings.Join(got, " "), "1 2 10 100 A7 tanaka@example.com", "numbers")
}
