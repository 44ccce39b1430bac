package organisation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

func TestWhoStandsAboveWhom(t *testing.T) {
	o := twelve(t)
	for number, want := range map[string]string{
		"1001": "", "1002": "1001", "1003": "1001", "1004": "1003 1001", "1006": "1003 1001",
		"1009": "1002 1001",                           // of two posts the main one decides
		"1010": "1002 1001", "1011": "1010 1002 1001", // 1010 is named
		"1012": "1009 1002 1001", "9999": "",
	} {
		expect.Is(t, numbersOf(above(o, number)), want, "%s", number)
	}
	expect.Same(t, []organisation.Superior{
		{Number: "1010", How: organisation.Named},
		{Number: "1002", How: organisation.Head, Department: "K20"},
		{Number: "1001", How: organisation.Head, Department: "M00"},
	}, above(o, "1011"))
	for number, top := range map[string]bool{"1001": true, "1002": true, "9999": false} {
		_, ends := o.Above(number)
		expect.Is(t, ends, top, "the chain of %s ends at the top", number)
	}
}

// above are those above a person.
func above(o *organisation.Organisation, number string) []organisation.Superior {
	chain, _ := o.Above(number)
	return chain
}

// below reports whether a person stands below another.
func below(o *organisation.Organisation, number, other string) bool {
	return slices.ContainsFunc(above(o, number), func(s organisation.Superior) bool { return s.Number == other })
}

func TestPeopleHaveTheirPosts(t *testing.T) {
	o := twelve(t)
	var posts []string
	for _, p := range o.Posts("1009") {
		posts = append(posts, p.Department+" "+p.Position)
	}
	main, _ := o.Main("1009")
	expect.Is(t, main.Department+": "+strings.Join(posts, ", "), "K20: K20 課長, S10 課長") // the main post stands first
	expect.Is(t, encoded(t, o.Path("S10")),
		`[{"code":"S10","name":"営業部","parent":"M00"},{"code":"M00","name":"みどり製作所"}]`)
	expect.Is(t, len(o.Path("nowhere")), 0)
	p, ok := o.Person("1007")
	expect.Same(t, organisation.Person{Number: "1007", Name: "渡辺 翔", Mails: []string{"watanabe@haken.example"},
		Kind: organisation.Temporary}, p)
	expect.That(t, ok, "1007 is not there")
	_, ok = o.Person("1008")
	expect.That(t, !ok, "1008 isn't in the file and is there")
}

func TestHoldersOfAPositionHaveItAsAnyPost(t *testing.T) {
	o := read(t, file(top, "2,Bob,,B,,A,chief,2,,,employee", "3,Cem,,B,,A,chief,2,,,contractor",
		"4,Dora,,B,,A,chief,2,,,temporary", "5,Eve,,A,,,,,,,employee", "5,Eve,,B,,A,chief,2,concurrent,,employee",
		"0,Zoe,,A,,,,,,,employee", "0,,,B,,,chief,,concurrent,,,,",
		"7,Gus,,B,,A,aide,,,,employee", "8,Hal,,C,,A,chief,2,,,employee"))
	expect.Same(t, o.Holders("B", "chief"), []string{"0", "2", "3", "4", "5"})
	expect.Same(t, o.Holders("C", "chief"), []string{"8"})
	expect.Is(t, len(o.Holders("A", "aide")), 0)
}

// staffRanks are the ranks of positions in the shorthand of staff.
var staffRanks = map[string]string{"chief": "3", "deputy": "4", "clerk": "9"}

// staff is a company below a boss, 1 in A, in shorthand: number, department with the one above it, position or -, and
// what is unusual.
func staff(t *testing.T, people ...string) *organisation.Organisation {
	t.Helper()
	rows := [][]string{strings.Split(top, ","), {"", "", "", "B", "", "A", "", "", "", "", ""}}
	for _, p := range people {
		words := strings.Fields(p)
		code, parent, _ := strings.Cut(words[1], "<")
		row := []string{words[0], "P" + words[0], "", code, "", parent, strings.Trim(words[2], "-"), staffRanks[words[2]],
			"", "", ""}
		kind := "employee"
		for _, word := range words[3:] {
			switch number, named := strings.CutPrefix(word, "below:"); {
			case named:
				row[9] = number
			case word == "second":
				row[8], kind = "concurrent", ""
			default:
				kind = word
			}
		}
		row[10] = kind
		rows = append(rows, row)
	}
	return read(t, written(rows))
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
		"a contractor who is named":          {"2 B<A - below:4, 3 B<A chief, 4 B<A - contractor", "4 3 1"},
		"a head who is a contractor":         {"2 B<A -, 3 B<A chief contractor", "3 1"},
	} {
		t.Run(name, func(t *testing.T) {
			chart := staff(t, strings.Split(c.people, ", ")...)
			expect.Is(t, numbersOf(above(chart, "2")), c.want)
		})
	}
}

// Whoever stands between is above, also a contractor.
func TestEverybodyBetweenIsAbove(t *testing.T) {
	chart := read(t, file(top, "2,Bob,,B,,A,,,,3,employee", "3,Cem,,B,,A,,,,,contractor"))
	expect.Is(t, numbersOf(above(chart, "2")), "3 1")
	for pair, want := range map[[2]string]bool{
		{"2", "1"}: true, {"2", "3"}: true, {"3", "1"}: true, {"1", "2"}: false, {"2", "2"}: false, {"3", "2"}: false,
		{"9", "1"}: false,
	} {
		expect.Is(t, below(chart, pair[0], pair[1]), want, "%v", pair)
	}
}

// Heads by second posts can stand above each other. A chain ends before it repeats somebody.
func TestAChainEndsAtACycle(t *testing.T) {
	chart := read(t, file("1,Ann,,B,,A,chief,2,,,employee", "2,Bob,,D,,C,chief,2,,,employee",
		"1,,,C,,,chief,,concurrent,,,,",
		"2,,,A,,,chief,,concurrent,,,,", "3,Cem,,B,,A,,,,,employee"))
	expect.Is(t, numbersOf(above(chart, "1")), "2")
	expect.Is(t, numbersOf(above(chart, "2")), "1")
	expect.Is(t, numbersOf(above(chart, "3")), "1 2")
	expect.That(t, !below(chart, "1", "1"), "1 is below themselves")
	_, top := chart.Above("3")
	expect.That(t, !top, "nobody knows who is above 2")
}

// Rows of the table that no file could make, such as of a faulty release, end no chart in a loop.
func TestAChartOfRowsThatNoFileMakes(t *testing.T) {
	chart := expect.Value(organisation.Decode([]byte(`{"department":{"code":"A","parent":"B"}}
{"department":{"code":"B","parent":"A"}}
{"person":{"number":"1","name":"Ann","kind":"employee","manager":"1"}}
{"person":{"number":"2","name":"Bob","kind":"employee"}}
{"post":{"number":"1","department":"A","main":true}}
`)))(t)
	expect.Is(t, len(chart.Path("A")), 2)
	expect.Is(t, len(above(chart, "1")), 0)
	_, top := chart.Above("1")
	expect.That(t, top, "1 stands above themselves")
	expect.Is(t, len(above(chart, "2")), 0)
}

func TestAccountsAreReadFromTheirBatches(t *testing.T) {
	o := twelve(t)
	kept := o.Match([]organisation.Account{
		{ID: "U2", Mail: "T.Kobayashi@midori.example", Guest: true}, {ID: "U1",
			Mail: "kobayashi@midori.example"},
		{ID: "U3", Mail: "sato@midori.example"}, {ID: "U9", Mail: "nobody@midori.example"},
	}).Kept()
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
	without := again.Without(o)
	expect.Is(t, len(without), 9)
	expect.That(t, !slices.ContainsFunc(without, func(p organisation.Person) bool { return p.Number == "1003" }), "%v",
		without)
}

// Accounts that are nobody's make no other list.
func TestOnlyWhoseAccountsAreCounts(t *testing.T) {
	o, sato := twelve(t), organisation.Account{ID: "U3", Mail: "sato@midori.example"}
	want := o.Match([]organisation.Account{sato}).Kept().SHA256()
	more := []organisation.Account{{ID: "U8", Mail: "x@midori.example"}, sato}
	expect.Is(t, o.Match(more).Kept().SHA256(), want)
	none := o.Match(nil).Kept()
	expect.That(t, none.SHA256() != want && len(none.Batches()) == 1, "nobody has an account: %s", none.Canonical())
	expect.Is(t, expect.Value(organisation.AssembleAccounts(none.Batches()))(t).SHA256(), none.SHA256())
}

func TestAccountsThatAreNotWhatWasWritten(t *testing.T) {
	o := read(t, written(company(5000, seeded())))
	var accounts []organisation.Account
	for i, p := range o.People() {
		accounts = append(accounts, organisation.Account{ID: fmt.Sprintf("U0%09d", i), Mail: strings.Join(p.Mails[:min(1,
			len(p.Mails))], "")})
	}
	all := o.Match(accounts).Kept().Batches()
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

func TestAccountsAreMatchedByAddress(t *testing.T) {
	o := read(t, file(
		"1,Ann,ann@x.example;a.ann@x.example,A,,,boss,1,,,employee",
		"2,Bob,bob@x.example,A,,,,,,,employee",
		"3,Cem,cem@x.example,A,,,,,,,employee",
		"4,Dora,dora@x.example,A,,,,,,,employee",
		"5,Eve,,A,,,,,,,employee",
		"6,Fay,fay@x.example;f@x.example,A,,,,,,,employee",
		"7,Gus,gus@x.example,A,,,,,,,employee",
	))
	accounts := []organisation.Account{
		{ID: "U9", Mail: "a.ann@x.example", Guest: true},
		{ID: "U1", Mail: " ANN@x.example"},
		{ID: "U2", Mail: "bob@x.example"},
		{ID: "U3", Mail: "stranger@x.example"},
		{ID: "U4", Mail: "dora@x.example"},
		{ID: "U5"},
		{ID: "U6", Mail: "fay@x.example"},
		{ID: "U7", Mail: "fay@x.example"},
		{ID: "U71", Mail: "f@x.example"},
		{ID: "U8", Mail: "GUS@x.example"},
		{ID: "U8", Mail: "gus@x.example"},
	}
	want := organisation.Matching{
		Accounts: map[string][]organisation.Matched{
			"1": {{ID: "U1"}, {ID: "U9", Guest: true}},
			"2": {{ID: "U2"}},
			"4": {{ID: "U4"}},
			"6": {{ID: "U71"}}, // by f@, which is nobody else's
			"7": {{ID: "U8"}},
		},
		Nobody:  []string{"U3", "U5", "U6", "U7"},
		Without: []string{"3", "5"},
		Shared:  []organisation.Shared{{Mail: "fay@x.example", Accounts: []string{"U6", "U7"}}},
	}
	for range 2 {
		m := o.Match(accounts)
		expect.Same(t, want, *m)
		slices.Reverse(accounts) // the order of the listing makes no difference
	}
	expect.Same(t, map[string]string{"U1": "1", "U9": "1", "U2": "2", "U4": "4", "U71": "6", "U8": "7"},
		o.Match(accounts).Numbers())
	expect.Same(t, []string{"1", "2", "3", "4", "5", "6", "7"}, o.Match(nil).Without)
}
