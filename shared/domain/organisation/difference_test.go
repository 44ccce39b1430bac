package organisation_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// toldOf returns differences as lines, in their order.
func toldOf(d organisation.Differences) string {
	var b strings.Builder
	differences := func(of string, all []organisation.Difference) {
		for _, x := range all {
			fmt.Fprintf(&b, "%s: %s %q, was %q\n", of, x.Column, x.Is, x.Was)
		}
	}
	for _, p := range d.PeopleAdded {
		fmt.Fprintf(&b, "%s %s comes\n", p.Number, p.Name)
	}
	for _, p := range d.PeopleGone {
		fmt.Fprintf(&b, "%s %s goes\n", p.Number, p.Name)
	}
	for _, p := range d.PeopleChanged {
		differences(p.Number+" "+p.Name, p.Differences)
	}
	for _, x := range d.DepartmentsAdded {
		fmt.Fprintf(&b, "%s %s begins\n", x.Code, x.Name)
	}
	for _, x := range d.DepartmentsGone {
		fmt.Fprintf(&b, "%s %s ends\n", x.Code, x.Name)
	}
	for _, x := range d.DepartmentsChanged {
		differences(x.Code+" "+x.Name, x.Differences)
	}
	for _, x := range d.Reranked {
		fmt.Fprintf(&b, "%s: rank %d, was %d\n", x.Position, x.Is, x.Was)
	}
	return b.String()
}

// The same organisation on two days: what happens on 2027-04-01.
func TestWhatChangesOnADay(t *testing.T) {
	o := twelve(t)
	expect.Same(t, `1006 伊藤 さくら comes
1008 山本 明 goes
1002 高橋 由美子: department_code ["K20"], was ["S10"]
1003 佐藤 健一: position ["部長"], was ["課長"]
1003 佐藤 健一: manager ["1001"], was ["1002"]
1004 鈴木 花: manager ["1003"], was ["1002"]
1005 田中 大輔: manager ["1003"], was ["1002"]
1007 渡辺 翔: manager ["1003"], was ["1002"]
1009 中村 恵: manager ["1002"], was ["1008"]
1010 小林 拓也: manager ["1002"], was ["1008"]
`, toldOf(organisation.Compare(o.Chart(day(lastDay)), o.Chart(day(firstDay)))))
	expect.Is(t, toldOf(organisation.Compare(o.Chart(day(firstDay)), o.Chart(day("2027-09-30")))), "")
	expect.Is(t, encoded(t, organisation.Compare(o.Chart(day("2027-09-30")), o.Chart(day("2027-10-01")))),
		`{"people_gone":[{"number":"1007","name":"渡辺 翔","mails":["watanabe@haken.example"],"kind":"temporary",`+
			`"valid_to":"2027-09-30"}]}`)
}

// Two versions on one day. A second post becomes the main one: its department and position come first.
func TestWhatDiffersBetweenVersions(t *testing.T) {
	was := read(t, file(top, "2,Bob,b@x.example,B,Sales,A,,,,,employee,,", "2,Bob,,C,,A,aide,5,concurrent,,,,",
		",,,D,,A,,,,,,,", ",,,E,,A,,,,,,,"))
	is := read(t, file(top, "2,Rob,b@x.example;r@x.example,C,,A,aide,4,,1,contractor,,",
		"2,Rob,,B,Sale,A,,,concurrent,,,,", ",,,D,,B,,,,,,,", ",,,F,New,A,,,,,,,"))
	expect.Same(t, `2 Rob: name ["Rob"], was ["Bob"]
2 Rob: email ["b@x.example" "r@x.example"], was ["b@x.example"]
2 Rob: department_code ["C" "B"], was ["B" "C"]
2 Rob: position ["aide" ""], was ["" "aide"]
2 Rob: employment ["contractor"], was ["employee"]
F New begins
E  ends
B Sale: department_name ["Sale"], was ["Sales"]
D : parent_department ["B"], was ["A"]
aide: rank 4, was 5
`, toldOf(organisation.Compare(was.Chart(day(firstDay)), is.Chart(day(firstDay)))))
}

// A position that only one of the versions has is no difference by itself: somebody's position differs then.
func TestAPositionOfOneVersionHasNoOtherRank(t *testing.T) {
	was, is := read(t, file(top)), read(t, file(top, "2,Bob,,A,,,aide,5,,,employee,2030-01-01,"))
	expect.Is(t, toldOf(organisation.Compare(was.Chart(day(firstDay)), is.Chart(day(firstDay)))), "")
	expect.Is(t, toldOf(organisation.Compare(is.Chart(day(firstDay)), was.Chart(day(firstDay)))), "")
}

// toldByDay returns what differs, each day with its lines.
func toldByDay(all []organisation.DayDifferences, more bool) string {
	text := ""
	if more {
		text = "more\n"
	}
	for _, d := range all {
		text += d.From.String() + "\n" + toldOf(d.Differences)
	}
	return text
}

// A difference is told on the first day on which it is one.
func TestWhatDiffersIsToldByDay(t *testing.T) {
	was := read(t, file(top, "2,Bob,,A,,,,,,,employee,,", "3,Eve,,A,,,,,,,employee,,2027-03-31"))
	is := read(t, file(top, "2,Bob,,A,,,,,,,employee,,2027-03-31", "2,Bob,,A,,,aide,5,,,employee,2027-04-01,",
		"4,Dan,,A,,,,,,,employee,2027-10-01,2027-12-31"))
	expect.Same(t, `2026-04-01
3 Eve goes
2027-04-01
2 Bob: position ["aide"], was [""]
2027-10-01
4 Dan comes
`, toldByDay(organisation.Changes(was, is, day("2026-04-01"))))
	expect.Is(t, toldByDay(organisation.Changes(is, is, day("2026-04-01"))), "")
	expect.Same(t, `2027-05-01
1 Ann comes
2 Bob comes
A  begins
2027-10-01
4 Dan comes
`, toldByDay(organisation.Changes(nil, is, day("2027-05-01"))))
}

func TestVersionsAreComparedOnSoManyDays(t *testing.T) {
	rows := []string{top}
	for i := range organisation.MaxChanges {
		rows = append(rows, fmt.Sprintf("%d,Bob,,A,,,,,,,employee,2027-01-%02d,", i+2, i+1))
	}
	all, more := organisation.Changes(nil, read(t, file(rows...)), day("2026-12-31"))
	expect.That(t, more && len(all) == organisation.MaxChanges, "%d days, more: %v", len(all), more)
	all, more = organisation.Changes(nil, read(t, file(rows[:len(rows)-1]...)), day("2026-12-31"))
	expect.That(t, !more && len(all) == organisation.MaxChanges, "%d days, more: %v", len(all), more)
}

// What is missing depends on the day: here before, on and after the days on which somebody leaves.
func TestGapsOfADay(t *testing.T) {
	type gap = organisation.Gap
	o := read(t, file(
		top,
		"2,Bob,,B,,A,chief,2,,,employee,,2027-03-31",
		"3,Cem,,B,,A,,,,2,employee,,",
		"4,Dora,,C,,A,chief,2,,,employee,,",
		"5,Eve,,C,,A,chief,2,,,employee,2027-04-01,",
		"6,Fay,,D,,,,,,,employee,2027-04-01,",
		"7,Gus,,D,,,,,,,contractor,2027-04-01,",
		"7,Gus,,D,,,chief,2,concurrent,,contractor,2027-04-02,",
	))
	expect.Same(t, []gap(nil), o.Chart(day(lastDay)).Gaps())
	expect.Same(t, []gap{
		{Rule: organisation.GapNoHead, Department: "B"},
		{Rule: organisation.GapHeads, Department: "C", Numbers: []string{"4", "5"}},
		{Rule: organisation.GapNoHead, Department: "D"},
		{Rule: organisation.GapManagerGone, Number: "3", Numbers: []string{"2"}},
		{Rule: organisation.GapNoManager, Number: "6"},
		{Rule: organisation.GapNoManager, Number: "7"},
	}, o.Chart(day(firstDay)).Gaps())
	expect.Same(t, []gap{
		{Rule: organisation.GapNoHead, Department: "B"},
		{Rule: organisation.GapHeads, Department: "C", Numbers: []string{"4", "5"}},
		{Rule: organisation.GapManagerGone, Number: "3", Numbers: []string{"2"}},
	}, o.Chart(day("2027-04-02")).Gaps())
}

// A manager who is on leave is said to be away, with their name, and not to be gone.
func TestAManagerOnLeaveIsAway(t *testing.T) {
	chart := read(t, file(top, "2,Bob,,A,,,,,,,employee,2027-04-01,,leave",
		"3,Cem,,A,,,,,,2,employee,,,", "4,Dora,,A,,,,,,5,employee,,,", "5,Eve,,A,,,,,,,employee,,2027-03-31,")).Chart(day(firstDay))
	gaps := slices.DeleteFunc(chart.Gaps(), func(g organisation.Gap) bool { return len(g.Numbers) != 1 })
	expect.Same(t, []organisation.Gap{{Rule: organisation.GapManagerAway, Number: "3", Numbers: []string{"2"}},
		{Rule: organisation.GapManagerGone, Number: "4", Numbers: []string{"5"}}}, gaps)
	bob, away := chart.Away("2")
	expect.That(t, away && bob.Name == "Bob", "%+v", bob)
}

// Whoever has the highest rank of a department below another needs somebody above them.
func TestOnlyTheTopHasNobodyAbove(t *testing.T) {
	chart := read(t, file(",,,A,,,,,,,,,", "2,Bob,,B,,A,chief,2,,,employee,,",
		"3,Cem,,B,,A,,,,,employee,,")).Chart(day(firstDay))
	expect.Same(t, []organisation.Gap{
		{Rule: organisation.GapNoHead, Department: "A"},
		{Rule: organisation.GapNoManager, Number: "2"},
	}, chart.Gaps())
}

// A department that others name as their parent is there without a row, as on its nearest other day, and it is said.
func TestAParentWithoutARowIsAGap(t *testing.T) {
	o := read(t, file(top, "2,Bob,,B,sales,A,chief,2,,,employee,,2027-03-31", "3,Cem,,C,,B,lead,3,,,employee,,",
		"4,Dora,,D,,Z,lead,3,,,employee,,"))
	expect.Same(t, []organisation.Gap{
		{Rule: organisation.GapNoRow, Department: "B"},
		{Rule: organisation.GapNoRow, Department: "Z"},
		{Rule: organisation.GapNoManager, Number: "4"},
	}, o.Chart(day(firstDay)).Gaps())
	expect.Is(t, numbersOf(o.Chart(day(lastDay)).ManagersAbove("3")), "2 1")
	expect.Is(t, numbersOf(o.Chart(day(firstDay)).ManagersAbove("3")), "1")
	expect.Same(t, organisation.Department{Code: "B", Name: "sales", Parent: "A", Unstated: true},
		o.Chart(day(firstDay)).Path("C")[1])
}

// Each cycle is told once, and not for those below it.
func TestCyclesOfAChart(t *testing.T) {
	chart := read(t, file(
		"1,Ann,,B,,A,chief,2,,,employee,,", "1,,,C,,,chief,,concurrent,,,,",
		"2,Bob,,D,,C,chief,2,,,employee,,", "2,,,A,,,chief,,concurrent,,,,",
		"0,Zoe,,D,,C,,,,,employee,,",
		"8,Hal,,E,,F,chief,2,,,employee,,", "8,,,G,,,chief,,concurrent,,,,",
		"7,Gus,,H,,G,chief,2,,,employee,,", "7,,,F,,,chief,,concurrent,,,,",
		"9,Ida,,I,,,boss,1,,,employee,,",
	)).Chart(day(firstDay))
	expect.Same(t, []organisation.Gap{
		{Rule: organisation.GapCycle, Numbers: []string{"1", "2"}},
		{Rule: organisation.GapCycle, Numbers: []string{"7", "8"}},
	}, chart.Gaps())
}

// Of many with one rank the lowest number leads. Somebody with two such posts is one of them.
func TestManyHeadsOfADepartment(t *testing.T) {
	rows := []string{top, "50,Bob,,B,,A,chief,2,,,employee,,", "50,,,B,,,lead,2,concurrent,,,,"}
	chart := read(t, file(append(rows, "60,Cem,,B,,A,,,,,employee,,")...)).Chart(day(firstDay))
	expect.Is(t, len(chart.Gaps()), 0)
	for i := 99; i > 60; i-- {
		rows = append(rows, fmt.Sprintf("%d,Bob,,B,,A,chief,2,,,employee,,", i))
	}
	chart = read(t, file(append(rows, "60,Cem,,B,,A,,,,,employee,,")...)).Chart(day(firstDay))
	gaps := chart.Gaps()
	expect.Must(t, len(gaps) == 1 && len(gaps[0].Numbers) == 40 && gaps[0].Numbers[0] == "50", "%+v", gaps)
	expect.Is(t, numbersOf(chart.ManagersAbove("60")), "50 1")
}

func TestTheCompanyOfTwelveHasNoGaps(t *testing.T) {
	o := twelve(t)
	for on := day("2027-03-01"); on < day("2027-12-01"); on++ {
		expect.Same(t, []organisation.Gap(nil), o.Chart(on).Gaps())
	}
}

// The hash stands in rows of the table, so that no release may change it for what is stored.
func TestTheHashOfAnOrganisationStays(t *testing.T) {
	expect.Is(t, twelve(t).SHA256(), "f9ee055bfc9fc0eb6ab19a2a487633c36876ef63b618e70a3fcefa5ee6fccce8")
	golden := expect.Value(os.ReadFile("testdata/twelve.jsonl"))(t)
	expect.Same(t, string(golden), string(twelve(t).Canonical()))
	o := read(t, file("1,Ann <a> & b,b@x.example;a@x.example,B,,,,,,,employee,,"))
	expect.Is(t, string(o.Canonical()), `{"department":{"code":"B"}}
{"person":{"number":"1","name":"Ann <a> & b","mails":["a@x.example","b@x.example"],"kind":"employee"}}
{"post":{"number":"1","department":"B","main":true}}
`)
}

// Rows in another order, and a period that is split into several rows, make the same organisation.
func TestTheHashFollowsFromWhatRowsSay(t *testing.T) {
	rows := company(300, seeded())
	want := read(t, written(rows))
	random := rand.New(rand.NewPCG(3, 4))
	var split [][]string
	for _, r := range rows {
		if r[11] == "" && random.IntN(3) == 0 {
			until, from := slices.Clone(r), slices.Clone(r)
			until[12], from[11] = lastDay, firstDay
			split = append(split, until, from)
			continue
		}
		split = append(split, r)
	}
	for range 5 {
		random.Shuffle(len(split), func(i, j int) { split[i], split[j] = split[j], split[i] })
		expect.Is(t, read(t, written(split)).SHA256(), want.SHA256())
	}
}

func TestAnOrganisationIsReadFromItsBatches(t *testing.T) {
	for _, people := range []int{1, 300, 3000} {
		o := read(t, written(company(people, seeded())))
		batches, size := o.Batches(), 0
		for i, b := range batches {
			expect.That(t, len(b.Rows) <= organisation.MaxBatch && strings.HasSuffix(b.Rows, "\n"), "part %d has %d bytes", i+1,
				len(b.Rows))
			expect.That(t, b.Part == i+1 && b.Parts == len(batches), "part %d is %d of %d", i+1, b.Part, b.Parts)
			size += len(b.Rows)
		}
		expect.Is(t, size, len(o.Canonical()))
		expect.Is(t, len(batches) == 1, people < 3000)
		slices.Reverse(batches)
		again := expect.Value(organisation.Assemble(batches))(t)
		expect.Is(t, again.SHA256(), o.SHA256())
		expect.Is(t, asShown(again.Chart(day(firstDay))), asShown(o.Chart(day(firstDay))))
	}
	expect.Is(t, encoded(t, organisation.Batch{Part: 1, Parts: 2, Rows: "{}\n"}), `{"part":1,"parts":2,"rows":"{}\n"}`)
}

func TestBatchesThatAreNotComplete(t *testing.T) {
	all := read(t, written(company(5000, seeded()))).Batches()
	expect.Must(t, len(all) >= 3, "only %d batches", len(all))
	for name, some := range map[string][]organisation.Batch{
		"none": nil, "the first alone": all[:1], "without the last": all[:len(all)-1], "without the first": all[1:],
		"one twice": slices.Concat(all, all[:1]), "one in place of another": slices.Concat(all[:1], all[:1], all[2:]),
	} {
		_, err := organisation.Assemble(some)
		expect.Fails(t, err, organisation.ErrIncomplete, "%s", name)
	}
}

// Only the very bytes that Canonical writes are read, so that one organisation has one hash.
func TestWhatIsNotCanonicalIsNotRead(t *testing.T) {
	const ann = `{"person":{"number":"1","name":"Ann","kind":"employee"}}` + "\n"
	for name, text := range map[string]string{
		"an unknown member":        `{"person":{"number":"1","name":"Ann","kind":"employee","heir":"2"}}` + "\n",
		"an unknown record":        `{"secretary":{}}` + "\n",
		"another order":            strings.Replace(ann, "1", "2", 1) + ann,
		"another order of members": `{"person":{"name":"Ann","number":"1","kind":"employee"}}` + "\n",
		"a line without end":       strings.TrimSpace(ann),
		"an empty line":            ann + "\n",
		"two records on a line":    strings.TrimSpace(ann) + ann,
		"two members":              `{"position":{"name":"a"},"department":{"code":"b"}}` + "\n",
		"an empty record":          "{}\n",
		"a day that is none":       `{"department":{"code":"A","valid_from":"2026-02-30"}}` + "\n",
		"what is no JSON":          "x\n",
	} {
		_, err := organisation.Decode([]byte(text))
		expect.That(t, err != nil, "%s is read", name)
	}
	o := expect.Value(organisation.Decode([]byte(ann)))(t)
	expect.Is(t, string(o.Canonical()), ann)
}

// asFile writes rows as a file.
func asFile(t *testing.T, rows [][]string) string {
	t.Helper()
	var b bytes.Buffer
	expect.NoError(t, csv.NewWriter(&b).WriteAll(rows))
	return b.String()
}

func TestWhatIsWrittenIsReadAsTheSameOrganisation(t *testing.T) {
	for name, o := range map[string]*organisation.Organisation{
		"twelve": twelve(t), "300": read(t, written(company(300, seeded()))), "1": read(t, written(company(1, seeded()))),
		"departments without posts, and with some later": read(t, file(top, ",,,X,Room,A,,,,,,2027-01-01,",
			"2,Bob,b@x.example,X,,A,,,,1,contractor,2028-01-01,2028-12-31", ",,,Y,,X,,,,,,2028-01-01,")),
		"what changes on other days than posts": read(t, file(top, "2,Bob,,B,Old,A,aide,5,,1,employee,,2027-03-31",
			"2,Rob,,B,New,A,aide,5,,,employee,2027-04-01,", "3,Eve,,B,,A,,,,,employee,,")),
	} {
		for _, locale := range language.All {
			text := asFile(t, o.Rows(locale))
			expect.Is(t, read(t, text).SHA256(), o.SHA256(), "%s, %s:\n%.2000s", name, locale, text)
		}
	}
}

// Whoever downloads what they uploaded finds their own rows.
func TestAFileIsWrittenAsPeopleWriteIt(t *testing.T) {
	uploaded := string(expect.Value(os.ReadFile("testdata/twelve.csv"))(t))
	want := strings.Replace(uploaded, "valid_from,valid_to", "適用開始日,適用終了日", 1)
	expect.Same(t, want, asFile(t, twelve(t).Rows("ja")))
	expect.Is(t, strings.Join(organisation.Header(language.English), ","), strings.TrimSpace(header))
}

func TestDaysAsPeopleAndSpreadsheetsWriteThem(t *testing.T) {
	for _, s := range []string{"2026-04-01", "2026/04/01", "2026/4/1", "2026-4-1", "20260401"} {
		expect.Is(t, day(s).String(), "2026-04-01", "%s", s)
	}
	for _, s := range []string{"", "2026-02-29", "2026-13-01", "2026-04", "04/01/2026", "260401", "2026-04-01T00:00:00Z",
		"1899-12-31", "3000-01-01", "46113", "令和8年4月1日"} {
		_, err := organisation.ParseDate(s)
		expect.That(t, err != nil, "%q is a day", s)
	}
	for _, s := range []string{"1900-01-01", "2028-02-29", "2999-12-31"} {
		expect.Is(t, day(s).String(), s)
	}
	expect.Is(t, day(firstDay)-day(lastDay), 1)
	expect.Is(t, organisation.Date(0).String(), "")
	expect.Is(t, organisation.Date(1).String(), "0001-01-01")
}

// At 15:00 UTC the next day begins in Japan.
func TestADayIsThatOfTheTimesZone(t *testing.T) {
	japan := time.FixedZone("JST", 9*60*60)
	before := time.Date(2027, 3, 31, 14, 59, 59, 999, time.UTC)
	expect.Is(t, organisation.DateOf(before.In(japan)).String(), lastDay)
	expect.Is(t, organisation.DateOf(before.Add(time.Second).In(japan)).String(), firstDay)
	expect.Is(t, organisation.DateOf(before.Add(time.Second)).String(), lastDay)
}

func TestTheNextChange(t *testing.T) {
	o := twelve(t)
	for after, want := range map[string]string{
		"1900-01-01": firstDay, "2027-03-30": firstDay, lastDay: firstDay, firstDay: "2027-10-01", "2027-09-30": "2027-10-01",
	} {
		got, ok := o.NextChange(day(after))
		expect.That(t, ok && got == day(want), "after %s: %s, %v", after, got, ok)
	}
	_, ok := o.NextChange(day("2027-10-01"))
	expect.That(t, !ok, "something changes after the last change")
}
