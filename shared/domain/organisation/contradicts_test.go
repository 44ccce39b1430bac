package organisation_test

import (
	"errors"
	"strings"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

// saidRanks answer what files of positions leave open.
var saidRanks = organisation.Kept{Ranks: map[string]int{"社長": 1, "部長": 2, "課長": 3}}

// on lays files of a day that leave nothing to be asked, and returns what is told of them.
func on(t *testing.T, kept organisation.Kept, files ...string) (*organisation.Laid, *organisation.Chart, string) {
	t.Helper()
	var all []organisation.File
	for _, text := range files {
		all = append(all, named("x.csv", text))
	}
	l, err := organisation.Lay(all, kept, exportedOn)
	expect.Must(t, err == nil && !l.Asks(), "%v: %+v", err, l)
	return l, l.Organisation.Chart(exportedOn), strings.Join(doubts(l), "; ")
}

// manager returns who stands above somebody.
func manager(c *organisation.Chart, number string) string {
	m, _ := c.Manager(number)
	return m.Number
}

// One code in two places is refused, as in Ringi's own file: else the first row would say who stands above the second's.
func TestOneCodeIsInOnePlace(t *testing.T) {
	const people = "社員番号,姓,名,部署コード,部署名,上位部署コード,役職,雇用形態\n1,甲,一,A,営業部,,部長,正社員\n" +
		"2,乙,二,B,経理部,,部長,正社員\n3,丙,三,X,一課,A,,正社員\n4,丁,四,X,一課,B,,正社員\n"
	const paths = "社員番号,姓,名,部署コード,部署,役職,雇用形態\n1,甲,一,A,営業部,部長,正社員\n" +
		"2,乙,二,B,経理部,部長,正社員\n3,丙,三,X,一課,,正社員\n4,丁,四,X,営業部/一課,,正社員\n5,戊,五,X,経理部/一課,,正社員\n"
	const levels = "所属1コード,所属名1,所属2コード,所属名2\nA,営業部,X,一課\nB,経理部,X,一課\n"
	for file, want := range map[string]problem{
		people: {Row: 5, Column: organisation.ColumnParent, Header: "上位部署コード", Value: "B", Other: 4},
		paths:  {Row: 6, Column: organisation.ColumnPath, Header: "部署", Value: "経理部/一課", Other: 5},
		levels: {Row: 3, Column: organisation.ColumnParent, Header: "所属1コード", Value: "B", Other: 2},
	} {
		files := []organisation.File{named("", file)}
		if file == levels {
			files = append(files, named("", "社員番号,姓,名,所属コード,雇用形態\n1,甲,一,X,正社員\n"))
		}
		want.Rule = organisation.RuleConflict
		_, err := organisation.Lay(files, saidRanks, exportedOn)
		p, _ := errors.AsType[organisation.Problems](err)
		expect.Same(t, []problem{want}, p.Listed)
	}
	_, c, _ := on(t, saidRanks, strings.NewReplacer("X,一課", "X,営業部/一課", "経理部/一課", "一課").Replace(paths))
	expect.Is(t, manager(c, "5"), "1", "a path in fewer words")
}

// A path beside a code that contradicts the file of departments is told; one in fewer words or more is not.
func TestAPathThatContradictsTheFileOfDepartmentsIsTold(t *testing.T) {
	const departments = "部署コード,部署名,上位部署コード\nA,営業部,\nB,経理部,\nX,一課,A\n"
	for path, told := range map[string]string{"経理部/一課": "elsewhere X: 経理部/一課 ≠ 営業部/一課", "営業部/一課": "", "一課": "",
		"本社/営業部/一課": "", "二課": "elsewhere X: 二課 ≠ 営業部/一課"} {
		_, c, is := on(t, saidRanks, "社員番号,姓,名,部署コード,部署,役職,雇用形態\n1,甲,一,A,営業部,部長,正社員\n"+
			"2,乙,二,B,経理部,部長,正社員\n3,丙,三,X,"+path+",,正社員\n", departments)
		expect.Is(t, is, told, path)
		expect.Is(t, manager(c, "3"), "1", path)
	}
}

// Whoever has no department is put into the only one above all, and leads nobody there; unless they stand above all.
func TestWhoHasNoDepartmentLeadsNoHeads(t *testing.T) {
	const staff = "社員番号,姓,名,部署,役職,雇用形態\n2,乙,二,本社/営業部,部長,正社員\n3,丙,三,本社/経理部,部長,正社員\n"
	for post, leads := range map[string]string{"部長": "", "課長": "", "社長": "9"} {
		_, c, told := on(t, saidRanks, staff+"9,新,人,,"+post+",正社員\n")
		expect.Is(t, manager(c, "2"), leads, post)
		want := "placed 新 人 (9)"
		if leads != "" {
			want = ""
		}
		expect.Is(t, told, want, post)
	}
	_, c, told := on(t, saidRanks, staff+"1,甲,一,本社,社長,正社員\n9,新,人,,社長,正社員\n8,新,顔,,,正社員\n")
	expect.Is(t, manager(c, "2")+manager(c, "8")+told, "11placed 新 人 (9)", "a second president")
	_, c, _ = on(t, saidRanks, strings.ReplaceAll(staff, "本社/", "")+"9,新,人,,部長,正社員\n")
	expect.Is(t, manager(c, "2"), "", "above several departments")
}

// Whoever is on leave by their status is so today, whatever days are planned or over; the status is today's.
func TestAStatusSaysMoreThanDays(t *testing.T) {
	for days, want := range map[string]string{"2025-04-01,2025-09-30": "here away away", "2027-04-01,": "away away away",
		"2026-11-01,2026-12-31": "here away here", ",": "away away away"} {
		l, c, _ := on(t, saidRanks, "社員番号,姓,名,部署,役職,雇用形態,在籍状況,休職開始日,休職終了日\n"+
			"1,甲,一,営業部,部長,正社員,休職中,"+days+"\n2,乙,二,営業部,,正社員,在籍中,,\n")
		var got []string
		for _, d := range []string{"2025-03-31", exportedOn.String(), "2027-01-01"} {
			got = append(got, string(l.Organisation.Presence("1", day(d))))
		}
		expect.Is(t, strings.Join(got, " ")+manager(c, "2"), want, days)
	}
}

// Names that only signs tell apart are two departments; those that only blanks do are one, and that is told.
func TestNamesOfOneDepartmentAreTold(t *testing.T) {
	_, c, told := on(t, saidRanks, "社員番号,姓,名,部署,役職,雇用形態\n1,甲,一,R#D部,部長,正社員\n2,乙,二,R_D部,,正社員\n"+
		"3,a,b,Sales A B,部長,正社員\n4,c,d,Sales AB,,正社員\n5,e,f,＊,部長,正社員\n6,g,h,営業　部,,正社員\n7,i,j,営業部,,正社員\n")
	expect.Is(t, manager(c, "2")+" "+manager(c, "4")+" "+manager(c, "1"), " 3 ")
	expect.Is(t, told, "spelled Sales A B = Sales AB")
}

// Whoever has a row of somebody who left and one of somebody who works keeps the posts of other files.
func TestWhoWasHiredAgainKeepsTheirPosts(t *testing.T) {
	_, c, _ := on(t, saidRanks, "社員番号,姓,名,部署,役職,雇用形態,在籍状況\n1,甲,一,営業部,部長,正社員,退職\n"+
		"1,甲,一,営業部,部長,正社員,在籍中\n2,乙,二,営業部,,正社員,退職\n", "社員番号,部署,役職\n1,経理部,課長\n2,経理部,課長\n")
	expect.Is(t, len(c.Posts("1")), 2)
	expect.Is(t, len(c.People()), 1, "who left for good")
}

// A radical is the kanji that it looks like. Positions that look alike and are not the same are told.
func TestPositionsThatLookAlike(t *testing.T) {
	kept := saidRanks
	kept.Ranks = map[string]int{"課長": 1, "二課長": 1, "ニ課長": 1, "センター長": 1, "センタ―長": 1}
	_, c, told := on(t, kept, "社員番号,姓,名,部署,役職,雇用形態\n1,甲,一,営業部,課\u2ed1,正社員\n2,乙,二,営業部,二課長,正社員\n"+
		"3,丙,三,営業部,ニ課長,正社員\n4,丁,四,営業部,センター長,正社員\n5,戊,五,営業部,センタ―長,正社員\n")
	expect.Is(t, told, "alike センタ―長 = センター長; alike ニ課長 = 二課長")
	expect.Is(t, len(c.HoldersOf("課長", "営業部")), 1)
}

// Part-timers whose position is in no order have none, which is told. A position of others is asked about as ever.
func TestAPartTimersPositionStopsNoFile(t *testing.T) {
	const head = "社員番号,姓,名,部署,役職,雇用形態\n2,乙,二,営業部,部長,正社員\n"
	for row, want := range map[string]string{"レジ係,パート": "unposted 丙 三 (3)", "パート,正社員": "unposted 丙 三 (3)",
		"レジ係,アルバイト": "unposted 丙 三 (3)", ",パート": "", "課長,パート": ""} {
		l, c, told := on(t, saidRanks, head+"3,丙,三,営業部,"+row+"\n")
		expect.Is(t, told, want, row)
		p, here := c.Person("3")
		expect.That(t, here && p.Kind == organisation.Employee && manager(c, "3") == "2", "%s: %+v", row, p)
		expect.Is(t, l.Organisation.Has("営業部", "課長"), row == "課長,パート", row)
		expect.That(t, !l.Organisation.Has("", "レジ係"), "%s", row)
	}
	known := organisation.Kept{Ranks: map[string]int{"部長": 1, "レジ係": 0}}
	l, _, told := on(t, known, head+"3,丙,三,営業部,レジ係,パート\n")
	expect.That(t, told == "" && l.Organisation.Has("", "レジ係"), "a position that has its rank: %s", told)
	_, _, told = on(t, saidRanks, "社員番号,姓,名,部署,役職,役職順位,雇用形態\n2,乙,二,営業部,部長,1,正社員\n3,丙,三,営業部,,9,パート\n")
	expect.Is(t, told, "unposted 丙 三 (3)", "a rank without a position")
	l, err := organisation.Lay([]organisation.File{named("", head+"3,丙,三,営業部,レジ係,正社員\n")}, saidRanks, exportedOn)
	expect.That(t, err == nil && l.Asks(), "nobody was asked about a position: %v", err)
}
