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
