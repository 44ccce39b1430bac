package organisation_test

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
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
