package organisation_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

const members = "社員番号,氏名,所属コード,役職,入社日,退職日\n"

// Posts of a file of numbers last no longer than their person is there, and belong to nobody else.
func TestPostsOfAnotherFile(t *testing.T) {
	kept := employees
	kept.Ranks = map[string]int{"部長": 1, "課長": 2}
	people := named("people.csv", members+"1,One,A,部長,2020-04-01,2027-03-31\n2,Two,B,,,\n")
	for name, c := range map[string]struct {
		posts organisation.File
		want  string // rows of Ringi's own file besides those of departments
	}{
		"second posts": {named("x.csv", "社員番号,所属コード,役職\n1,B,課長\n"),
			"1,One,,A,,,部長,1,,,社員,2020-04-01,2027-03-31,\n" +
				"1,One,,B,,,課長,2,兼務,,社員,2020-04-01,2027-03-31,\n2,Two,,B,,,,,,,社員,,,\n"},
		"the same post again": {named("x.csv", "社員番号,所属コード,役職\n1,A,部長\n"),
			"1,One,,A,,,部長,1,,,社員,2020-04-01,2027-03-31,\n2,Two,,B,,,,,,,社員,,,\n"},
		"main posts, by the file's name": {named("所属（主務）.csv", "社員番号,所属コード,役職\n1,B,課長\n"),
			"1,One,,B,,,課長,2,,,社員,2020-04-01,2027-03-31,\n2,Two,,B,,,,,,,社員,,,\n"},
		"as each row says": {named("x.csv", "社員番号,所属コード,役職,主務/兼務\n1,B,課長,兼務\n2,A,,主務\n"),
			"1,One,,A,,,部長,1,,,社員,2020-04-01,2027-03-31,\n" +
				"1,One,,B,,,課長,2,兼務,,社員,2020-04-01,2027-03-31,\n2,Two,,A,,,,,,,社員,,,\n"},
		"from a day on": {named("x.csv", "社員番号,所属コード,役職,発令日\n1,B,課長,2024-04-01\n1,A,課長,2025-04-01\n1,B,部長,2026-04-01\n"),
			"1,One,,B,,,課長,2,,,社員,2024-04-01,2025-03-31,\n1,One,,A,,,課長,2,,,社員,2025-04-01,2026-03-31,\n" +
				"1,One,,B,,,部長,1,,,社員,2026-04-01,2027-03-31,\n2,Two,,B,,,,,,,社員,,,\n"},
		"until a row without a post": {named("兼務.csv", "社員番号,所属コード,役職,発令日\n1,B,課長,2024-04-01\n1,,,2025-04-01\n"),
			"1,One,,A,,,部長,1,,,社員,2020-04-01,2027-03-31,\n" +
				"1,One,,B,,,課長,2,兼務,,社員,2024-04-01,2025-03-31,\n2,Two,,B,,,,,,,社員,,,\n"},
		"after they left": {named("x.csv", "社員番号,所属コード,役職,発令日\n1,B,課長,2028-04-01\n"),
			"1,One,,A,,,部長,1,,,社員,2020-04-01,2027-03-31,\n2,Two,,B,,,,,,,社員,,,\n"},
	} {
		t.Run(name, func(t *testing.T) {
			own := ownHeader + ",,,A,,,,,,,,,,\n,,,B,,,,,,,,,,\n" + c.want
			same(t, kept, own, people, c.posts)
			same(t, kept, own, c.posts, people)
		})
	}
}

// Files of posts that repeat who people are tell it only of those whom no other file is about.
func TestPostsWithNames(t *testing.T) {
	kept := organisation.Kept{Ranks: map[string]int{"部長": 1, "課長": 2}}
	own := ownHeader + ",,,A,,,,,,,,,,\n,,,B,,,,,,,,,,\n"
	const posts = "社員番号,氏名,雇用区分,在籍区分,所属コード,役職,発令日,上司\n"
	people := named("people.csv", "社員番号,氏名,メール,雇用区分,在籍区分,退職日\n1,One,one@example.com,正社員,在籍,2027-03-31\n"+
		"2,Two,,正社員,休職,\n3,Three,,正社員,退職,\n")
	main := named("main.csv", posts+"1,One,正社員,在籍,A,課長,2024-04-01,\n1,One,正社員,在籍,A,部長,2026-04-01,\n"+
		"2,Two,正社員,休職,A,,2024-04-01,One\n3,Three,正社員,在籍,A,,2024-04-01,\n4,Four,正社員,在籍,B,,2024-04-01,Two\n")
	further := named("兼務.csv", posts+"1,One,正社員,在籍,B,課長,2025-04-01,\n")
	withPeople := own + "1,One,one@example.com,A,,,課長,2,,,社員,2024-04-01,2026-03-31,\n" +
		"1,One,,A,,,部長,1,,,社員,2026-04-01,2027-03-31,\n1,One,,B,,,課長,2,兼務,,社員,2025-04-01,2027-03-31,\n" +
		"2,Two,,A,,,,,,1,社員,2024-04-01,,休職\n4,Four,,B,,,,,,2,社員,2024-04-01,,\n"
	same(t, kept, withPeople, people, main, further)
	same(t, kept, withPeople, further, main, people)
	same(t, kept, own+"1,One,,A,,,課長,2,,,社員,2024-04-01,2026-03-31,\n1,One,,A,,,部長,1,,,社員,2026-04-01,,\n"+
		"1,One,,B,,,課長,2,兼務,,社員,2025-04-01,,\n2,Two,,A,,,,,,1,社員,2024-04-01,,休職\n"+
		"3,Three,,A,,,,,,,社員,2024-04-01,,\n4,Four,,B,,,,,,2,社員,2024-04-01,,\n", main, further)
	_, err := organisation.Lay([]organisation.File{people,
		named("x.csv", "社員番号,氏名,所属コード,発令日\n1,One,A,\n3,Three,A,\n4,Four,A,\n")}, kept, 0)
	expect.Is(t, err.Error(), `file 2: row 4: employee_number: there is no such number: "4"`)
	same(t, employees, own+"1,One,,A,,,,,,,社員,,,\n1,One,,B,,,,,兼務,,社員,,,\n",
		named("x.csv", "社員番号,氏名,所属コード\n1,One,A\n"), named("y.csv", "社員番号,氏名,兼務所属コード\n1,One,B\n"))
}

// An administrator may say that whoever can't sign in is away.
func TestBlockedAccountsMayBeAway(t *testing.T) {
	kept := organisation.Kept{Values: map[string]string{"employment ": "employee", "blocked yes": "away"}}
	o := laid(t, kept, named("", "User name [userPrincipalName] Required,Name [displayName] Required,"+
		"Block sign in (Yes/No) [accountEnabled] Required,Department [department]\na@example.com,One,No,A\n"+
		"b@example.com,Two,Yes,A\n")).Organisation
	expect.Is(t, string(o.Presence("a@example.com", day("2026-04-01"))), "here")
	expect.Is(t, string(o.Presence("b@example.com", day("2026-04-01"))), "away")
}

// Whoever is left out has no posts either; a number of nobody is told.
func TestPostsOfNobody(t *testing.T) {
	people := named("people.csv", "社員番号,氏名,所属コード,在籍区分\n1,One,A,在籍\n2,Two,A,退職\n")
	same(t, employees, ownHeader+",,,A,,,,,,,,,,\n,,,B,,,,,,,,,,\n1,One,,A,,,,,,,社員,,,\n", people,
		named("x.csv", "社員番号,所属コード\n2,B\n"))
	_, err := organisation.Lay([]organisation.File{people, named("x.csv", "社員番号,所属コード\n\n2,B\n3,B\n")}, employees, 0)
	expect.Same(t, []organisation.Problem{{File: 1, Row: 4, Column: organisation.ColumnNumber,
		Header: "社員番号", Rule: organisation.RuleUnknown, Value: "3"}}, err.(organisation.Problems).Listed)
	expect.Is(t, err.Error(), `file 2: row 4: employee_number: there is no such number: "3"`)
}

// Files without departments get them from another, and people without one stand above all.
func TestWhoHasNoDepartment(t *testing.T) {
	people := named("people.csv", "社員番号,氏名\n1,One\n2,Two\n")
	same(t, employees, ownHeader+",,,B,B,,,,,,,,,\n1,One,,B,,,,,,,社員,,,\n2,Two,,B,,,,,,,社員,,,\n",
		named("people.csv", "社員番号,氏名,部署\n1,One,\n2,Two,B\n"))
	same(t, employees, ownHeader+",,,*,,,,,,,,,,\n,,,B,B,*,,,,,,,,\n,,,C,C,*,,,,,,,,\n,,,C/D,D,C,,,,,,,,\n"+
		"1,One,,*,,,,,,,社員,,,\n2,Two,,B,,,,,,,社員,,,\n3,Three,,C/D,,,,,,,社員,,,\n",
		named("people.csv", "社員番号,氏名,部署\n1,One,\n2,Two,B\n3,Three,C/D\n"))
	same(t, employees, ownHeader+",,,B,,,,,,,,,,\n1,One,,B,,,,,,,社員,,,\n2,Two,,B,,,,,,,社員,,,\n", people,
		named("x.csv", "社員番号,所属コード\n2,B\n"))
}

// A department's file gives paths their codes, wherever it stands, and a name of one department alone is that one.
func TestDepartmentsOfAnotherFile(t *testing.T) {
	own := ownHeader + ",,,H,本社,,,,,,,,,\n,,,S,営業部,H,,,,,,,,\n,,,S1,一課,S,,,,,,,,\n" +
		"1,One,,S1,,,,,,,社員,,,\n2,Two,,S,,,,,,,社員,,,\n3,Three,,S1,,,,,,,社員,,,\n"
	people := named("people.csv", "社員番号,氏名,部署\n1,One,本社/営業部/一課\n2,Two,営業部\n3,Three,本社/営業 部/一 課\n")
	for _, tree := range []string{"部署コード,部署名,親部署コード\nH,本社,\nS,営業部,H\nS1,一課,S\n",
		"部門コード,部門名,上位部門コード,並び順\nH,本社,,1\nS,営業部,H,2\nS1,一課,S,3\n",
		"code,level1,level2,level3\nS1,本社,営業部,一課\nH,本社,,\nS,本社,営業部,\n"} {
		same(t, employees, own, people, named("tree.csv", tree))
		same(t, employees, own, named("tree.csv", tree), people)
	}
}

// A superior is found by number, address or name; one whom nobody knows is listed and keeps nobody from being read.
func TestSuperiorsOfProducts(t *testing.T) {
	const file = "社員番号,氏名,メール,部署,上司\n1,山田 太郎,yamada@example.com,A,山田太郎\n2,Two,,A,山田　太郎\n3,Three,,A,Yamada@example.com\n" +
		"4,Four,,A,1\n5,Five,,A,鈴木\n6,Twin,,A,\n7,Twin,,A,Twin\n"
	l := laid(t, employees, named("", file))
	expect.Same(t, []string{"Twin", "鈴木"}, l.Strangers)
	var managers []string
	for _, p := range l.Organisation.Everybody() {
		managers = append(managers, p.Number+p.Manager)
	}
	expect.Is(t, strings.Join(managers, " "), "1 21 31 41 5 6 7")
}

// Whom a product lists and who is nobody to Ringi is left out, and told.
func TestWhoIsLeftOut(t *testing.T) {
	const file = "社員番号,氏名,部署,雇用形態,在籍状況,退職日\n1,One,A,正社員,在職中,\n2,Two,A,正社員,退職済,\n3,Three,A,正社員,退職済,2027-03-31\n" +
		"4,Four,A,監査役,在職中,\n"
	l := expect.Value(organisation.Lay([]organisation.File{named("", file)}, organisation.Kept{}, 0))(t)
	expect.Same(t, []organisation.Valued{{Column: "employment", Value: "正社員", As: "employee", Count: 3},
		{Column: "employment", Value: "監査役", Count: 1}, {Column: "status", Value: "在職中", As: "here", Count: 2},
		{Column: "status", Value: "退職済", As: "ignored", Count: 2}}, l.Values)
	expect.That(t, l.Asks() && l.Organisation == nil, "%+v", l)
	l = laid(t, organisation.Kept{Values: map[string]string{"employment 監査役": organisation.Ignored}}, named("", file))
	expect.Is(t, len(l.Organisation.Everybody()), 2)
	l = laid(t, organisation.Kept{Values: map[string]string{"employment 監査役": "contractor", "status 退職済": "away"}},
		named("", file))
	expect.Is(t, len(l.Organisation.Away(day("2026-04-01"))), 2)
}

func TestFilesAreNotTooMany(t *testing.T) {
	f := named("", members+"1,One,A,,,\n")
	_, err := organisation.Lay([]organisation.File{f, f, f, f}, employees, 0)
	expect.Same(t, []organisation.Problem{{Rule: organisation.RuleFiles, Limit: organisation.MaxFiles}},
		err.(organisation.Problems).Listed)
	big := named("", strings.Repeat("\n", 100)+members+strings.Repeat("1,One,A,,,\n", organisation.MaxRows/2+1))
	_, err = organisation.Lay([]organisation.File{big, big}, employees, 0)
	p := err.(organisation.Problems).Listed
	expect.That(t, len(p) == 1 && p[0].Rule == organisation.RuleRows && p[0].File == 1, "%v", p)
}
