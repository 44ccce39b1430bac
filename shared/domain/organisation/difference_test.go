package organisation_test

import (
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

// The same organisation on two days: what happens on 2027-04-01.
func TestWhatChangesOnADay(t *testing.T) {
	o := twelve(t)
	type difference = organisation.Difference
	d := organisation.Compare(o.Chart(day(lastDay)), o.Chart(day(firstDay)))
	one := func(s string) []string { return []string{s} }
	expect.Same(t, organisation.Differences{
		PeopleAdded: []organisation.Person{{Number: "1006", Name: "伊藤 さくら", Kind: organisation.Employee,
			Period: organisation.Period{From: day(firstDay)}}},
		PeopleGone: []organisation.Person{{Number: "1008", Name: "山本 明", Mails: one("yamamoto@midori.example"),
			Kind:   organisation.Employee,
			Period: organisation.Period{To: day(lastDay)}}},
		PeopleChanged: []organisation.PersonDifference{
			{Number: "1002", Name: "高橋 由美子", Differences: []difference{{Column: organisation.ColumnDepartment, Was: one("S10"),
				Is: one("K20")}}},
			{Number: "1003", Name: "佐藤 健一", Differences: []difference{{Column: organisation.ColumnPosition, Was: one("課長"),
				Is: one("部長")},
				{Column: organisation.ColumnManager, Was: one("1002"), Is: one("1001")}}},
			{Number: "1004", Name: "鈴木 花", Differences: []difference{{Column: organisation.ColumnManager, Was: one("1002"),
				Is: one("1003")}}},
			{Number: "1005", Name: "田中 大輔", Differences: []difference{{Column: organisation.ColumnManager, Was: one("1002"),
				Is: one("1003")}}},
			{Number: "1007", Name: "渡辺 翔", Differences: []difference{{Column: organisation.ColumnManager, Was: one("1002"),
				Is: one("1003")}}},
			{Number: "1009", Name: "中村 恵", Differences: []difference{{Column: organisation.ColumnManager, Was: one("1008"),
				Is: one("1002")}}},
			{Number: "1010", Name: "小林 拓也", Differences: []difference{{Column: organisation.ColumnManager, Was: one("1008"),
				Is: one("1002")}}},
		},
	}, d)
	expect.Same(t, organisation.Differences{}, organisation.Compare(o.Chart(day(firstDay)), o.Chart(day("2027-09-30"))))
}

// Two versions on one day.
func TestWhatDiffersBetweenVersions(t *testing.T) {
	was := read(t, file(top, "2,Bob,b@x.example,B,Sales,A,,,,,employee,,", "2,Bob,,C,,A,aide,5,concurrent,,,,",
		",,,D,,A,,,,,,,", ",,,E,,A,,,,,,,"))
	is := read(t, file(top, "2,Rob,b@x.example;r@x.example,C,,A,aide,4,,1,contractor,,",
		"2,Rob,,B,Sale,A,,,concurrent,,,,", ",,,D,,B,,,,,,,", ",,,F,New,A,,,,,,,"))
	type difference = organisation.Difference
	expect.Same(t, organisation.Differences{
		PeopleChanged: []organisation.PersonDifference{{Number: "2", Name: "Rob", Differences: []difference{
			{Column: organisation.ColumnName, Was: []string{"Bob"}, Is: []string{"Rob"}},
			{Column: organisation.ColumnMail, Was: []string{"b@x.example"}, Is: []string{"b@x.example", "r@x.example"}},
			{Column: organisation.ColumnDepartment, Was: []string{"B", "C"}, Is: []string{"C", "B"}},
			// C has become the main one
			{Column: organisation.ColumnPosition, Was: []string{"", "aide"}, Is: []string{"aide", ""}},
			{Column: organisation.ColumnEmployment, Was: []string{"employee"}, Is: []string{"contractor"}},
		}}},
		DepartmentsAdded: []organisation.Department{{Code: "F", Name: "New", Parent: "A"}},
		DepartmentsGone:  []organisation.Department{{Code: "E", Parent: "A"}},
		DepartmentsChanged: []organisation.DepartmentDifference{
			{Code: "B", Name: "Sale", Differences: []difference{{Column: organisation.ColumnDepartmentName,
				Was: []string{"Sales"},
				Is:  []string{"Sale"}}}},
			{Code: "D", Differences: []difference{{Column: organisation.ColumnParent, Was: []string{"A"}, Is: []string{"B"}}}},
		},
		Reranked: []organisation.Reranked{{Position: "aide", Was: 5, Is: 4}},
	}, organisation.Compare(was.Chart(day(firstDay)), is.Chart(day(firstDay))))
}
