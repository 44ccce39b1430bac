package organisation_test

import (
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

// The same organisation on two days: what happens on 2027-04-01.
func TestWhatChangesOnADay(t *testing.T) {
	o := twelve(t)
	type change = organisation.Change
	d := organisation.Compare(o.Chart(day(lastDay)), o.Chart(day(firstDay)))
	one := func(s string) []string { return []string{s} }
	expect.Same(t, organisation.Difference{
		PeopleAdded: []organisation.Person{{Number: "1006", Name: "伊藤 さくら", Kind: organisation.Employee,
			Period: organisation.Period{From: day(firstDay)}}},
		PeopleGone: []organisation.Person{{Number: "1008", Name: "山本 明", Mails: one("yamamoto@midori.example"),
			Kind:   organisation.Employee,
			Period: organisation.Period{To: day(lastDay)}}},
		PeopleChanged: []organisation.PersonChange{
			{Number: "1002", Name: "高橋 由美子", Changes: []change{{Column: organisation.DepartmentCode, Was: one("S10"),
				Is: one("K20")}}},
			{Number: "1003", Name: "佐藤 健一", Changes: []change{{Column: organisation.PositionName, Was: one("課長"), Is: one("部長")},
				{Column: organisation.ManagerNumber, Was: one("1002"), Is: one("1001")}}},
			{Number: "1004", Name: "鈴木 花", Changes: []change{{Column: organisation.ManagerNumber, Was: one("1002"),
				Is: one("1003")}}},
			{Number: "1005", Name: "田中 大輔", Changes: []change{{Column: organisation.ManagerNumber, Was: one("1002"),
				Is: one("1003")}}},
			{Number: "1007", Name: "渡辺 翔", Changes: []change{{Column: organisation.ManagerNumber, Was: one("1002"),
				Is: one("1003")}}},
			{Number: "1009", Name: "中村 恵", Changes: []change{{Column: organisation.ManagerNumber, Was: one("1008"),
				Is: one("1002")}}},
			{Number: "1010", Name: "小林 拓也", Changes: []change{{Column: organisation.ManagerNumber, Was: one("1008"),
				Is: one("1002")}}},
		},
	}, d)
	expect.Same(t, organisation.Difference{}, organisation.Compare(o.Chart(day(firstDay)), o.Chart(day("2027-09-30"))))
}

// Two versions on one day.
func TestWhatDiffersBetweenVersions(t *testing.T) {
	was := read(t, file(top, "2,Bob,b@x.example,B,Sales,A,,,,,employee,,", "2,Bob,,C,,A,aide,5,concurrent,,,,",
		",,,D,,A,,,,,,,", ",,,E,,A,,,,,,,"))
	is := read(t, file(top, "2,Rob,b@x.example;r@x.example,C,,A,aide,4,,1,contractor,,",
		"2,Rob,,B,Sale,A,,,concurrent,,,,", ",,,D,,B,,,,,,,", ",,,F,New,A,,,,,,,"))
	type change = organisation.Change
	expect.Same(t, organisation.Difference{
		PeopleChanged: []organisation.PersonChange{{Number: "2", Name: "Rob", Changes: []change{
			{Column: organisation.Name, Was: []string{"Bob"}, Is: []string{"Rob"}},
			{Column: organisation.Mail, Was: []string{"b@x.example"}, Is: []string{"b@x.example", "r@x.example"}},
			{Column: organisation.DepartmentCode, Was: []string{"B", "C"}, Is: []string{"C", "B"}}, // C has become the main one
			{Column: organisation.PositionName, Was: []string{"", "aide"}, Is: []string{"aide", ""}},
			{Column: organisation.Employment, Was: []string{"employee"}, Is: []string{"contractor"}},
		}}},
		DepartmentsAdded: []organisation.Department{{Code: "F", Name: "New", Parent: "A"}},
		DepartmentsGone:  []organisation.Department{{Code: "E", Parent: "A"}},
		DepartmentsChanged: []organisation.DepartmentChange{
			{Code: "B", Name: "Sale", Changes: []change{{Column: organisation.DepartmentName, Was: []string{"Sales"},
				Is: []string{"Sale"}}}},
			{Code: "D", Changes: []change{{Column: organisation.ParentCode, Was: []string{"A"}, Is: []string{"B"}}}},
		},
		Reranked: []organisation.Reranked{{Position: "aide", Was: 5, Is: 4}},
	}, organisation.Compare(was.Chart(day(firstDay)), is.Chart(day(firstDay))))
}
