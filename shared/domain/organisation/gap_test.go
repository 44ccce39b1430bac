package organisation_test

import (
	"fmt"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

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
