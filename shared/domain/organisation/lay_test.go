package organisation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// employees says that people of files without employments are employees.
var employees = organisation.Kept{
	Values: map[string]string{"employment ": "employee"}}

func named(name, text string) organisation.File {
	return organisation.File{Name: name, Text: []byte(text)}
}

// same checks that files say what a file of Ringi's own says.
func same(t *testing.T, kept organisation.Kept, own string, files ...organisation.File) {
	t.Helper()
	expect.Same(t, lines(read(t, own)), lines(laid(t, kept, files...).Organisation))
}

const ownHeader = "社員番号,氏名,メール,部署コード,部署名,親部署,役職,順位,主務/兼務,上長,区分,適用開始日,適用終了日,状態\n"

func TestHeadersAreKnownHoweverTheyAreWritten(t *testing.T) {
	for header, want := range map[string]string{
		"社員番号": "employee_number", "＊従業員ID": "employee_number", "従業員番号 (必須)": "employee_number",
		"Employee ID": "employee_number", "employee_number": "employee_number", "氏名【必須】": "name",
		"ビジネスネーム：姓": "family_name", "職場氏名（名）": "given_name", "E-Mail(社用)": "email",
		"Email Address [Required]": "email", "User name [userPrincipalName] Required": "email",
		"部署": "department", "部署1": "department", "部署1 部署": "department", "部署2 部署": "department.2",
		"部署10 部署": "department.10", "兼務部署": "department.2", "兼務部署2": "department.3", "部門2": "department.2",
		"所属グループ(主務)": "department", "所属グループ（兼務1）": "department.2", "Org Unit Path [Required]": "department",
		"役職2 役職": "position.2", "役職2 役職名": "position.2", "兼務1_役職": "position.2", "Job title [jobTitle]": "position",
		"兼務所属コード": "department_code.2", "主務/兼務": "post", "Status [READ ONLY]": "status", "在籍状況": "status",
		"入社年月日": "valid_from", "退社日": "valid_to", "発令年月日": "since", "level3": "department_level.3",
		"Block sign in (Yes/No) [accountEnabled] Required": "blocked", "Block credential": "blocked",
		"accountEnabled": "status", "姓名": "name", "上司(主務)": "manager", "上司(兼務1)": "ignored",
		"New Status [UPLOAD ONLY]": "ignored", "氏名（カナ）": "ignored", "フリガナ": "ignored", "役職コード": "ignored",
		"部署1 役職2": "ignored", "部署0": "ignored", "部署21": "ignored", "E-Mail(個人)": "ignored", "社員番号2": "ignored",
		"": "ignored", "2": "ignored", "兼務": "ignored",
	} {
		l := expect.Value(organisation.Lay([]organisation.File{named("", "x,"+header+"\n1,2\n")}, employees, 0))(t)
		got := "ignored"
		for _, c := range l.Sheets[0].Columns[1:] {
			got = c.Reading.String()
		}
		expect.Is(t, got, want, "%s", header)
	}
}

func TestReadingsAreWrittenAndRead(t *testing.T) {
	for _, s := range []string{"ignored", "name", "department", "department.2", "position.20", "level_code"} {
		r, ok := organisation.ParseReading(s)
		expect.That(t, ok && r.String() == s, "%q is read as %q", s, r)
	}
	for _, s := range []string{"", "x", "name.2", "department.1", "department.0", "department.21", "department.x",
		"position.-1", "department.02", "department."} {
		r, ok := organisation.ParseReading(s)
		expect.That(t, !ok, "%q is read as %q", s, r)
	}
	for _, l := range language.All {
		for _, c := range []organisation.Column{organisation.ColumnSince, organisation.ColumnStatus,
			organisation.ColumnFamily} {
			expect.That(t, c.Header(l) != "", "%s has no name in %s", c, l)
		}
	}
}

// A file that no layout knows is read once its columns are named, and the next one of its kind without a question.
func TestAnUnknownLayoutIsAssignedOnce(t *testing.T) {
	const file = "Personalnr;Vorname;Zuname;Adresse;Bereich;Funktion;Vertrag;Hobby\n" +
		"7;Anna;Berg;anna@example.com;Leitung;Chefin;fest;Go\n8;Bert;Thal;bert@example.com;Leitung > Einkauf;;frei;\n"
	l := expect.Value(organisation.Lay([]organisation.File{named("", strings.ReplaceAll(file, ";", ","))},
		organisation.Kept{}, 0))(t)
	expect.Same(t, []organisation.Column{organisation.ColumnNumber, organisation.ColumnName, organisation.ColumnPath},
		l.Missing)
	kept := organisation.Kept{Columns: map[string]string{}}
	for i, as := range []string{"employee_number", "given_name", "family_name", "email", "department", "position",
		"employment"} {
		kept.Columns[l.Sheets[0].Columns[i].Key] = as
	}
	text := strings.ReplaceAll(file, ";", ",")
	l = expect.Value(organisation.Lay([]organisation.File{named("", text)}, kept, 0))(t)
	expect.Same(t, []organisation.Valued{{Column: "employment", Value: "fest", Count: 1},
		{Column: "employment", Value: "frei", Count: 1}}, l.Values)
	kept.Values = map[string]string{"employment fest": "employee", "employment frei": "contractor"}
	kept.Ranks = map[string]int{"Chefin": 1}
	same(t, kept, ownHeader+",,,Leitung,Leitung,,,,,,,,,\n,,,Leitung/Einkauf,Einkauf,Leitung,,,,,,,,\n"+
		"7,Anna Berg,anna@example.com,Leitung,,,Chefin,1,,,社員,,,\n8,Bert Thal,bert@example.com,Leitung/Einkauf,,,,,,,委託,,,\n",
		named("", text))
	kept.Columns["bereich"], kept.Without = "ignored", true
	same(t, kept, ownHeader+",,,*,,,,,,,,,,\n7,Anna Berg,anna@example.com,*,,,Chefin,1,,,社員,,,\n"+
		"8,Bert Thal,bert@example.com,*,,,,,,,委託,,,\n", named("", text))
}

func TestPathsAreTrees(t *testing.T) {
	file := func(department string) organisation.File {
		return named("", "社員番号,氏名,部署\n1,One,"+department+"\n")
	}
	for department, want := range map[string]string{
		"本社/営業部/営業一課":         "営業一課 営業部 本社",
		"本社 ／ 営業部":            "営業部 本社",
		"/本社//営業部/":           "営業部 本社",
		"本社＞営業部":              "営業部 本社",
		"営業部":                 "営業部",
		"営業 一課":               "営業 一課",
		`"Sales, East/Tokyo"`: "Tokyo Sales, East",
	} {
		o := laid(t, employees, file(department)).Organisation
		c := o.Chart(0)
		post, _ := c.Main("1")
		var names []string
		for _, d := range c.Path(post.Department) {
			names = append(names, d.Name)
		}
		expect.Is(t, strings.Join(names, " "), want, "%s", department)
		expect.That(t, !strings.ContainsAny(post.Department, " #"), "%q is a code", post.Department)
	}
	for split, want := range map[string]int{organisation.Whole: 1, "-": 2, "/": 1, " ": 1} {
		kept := employees
		kept.Split = split
		l := laid(t, kept, file("営業部-営業一課"))
		post, _ := l.Organisation.Chart(0).Main("1")
		expect.Is(t, len(l.Organisation.Chart(0).Path(post.Department)), want, "%q", split)
		expect.That(t, l.Paths, "nobody may ask what parts a path")
	}
}

// Of two columns that name the same department, the one with more of its path counts in each row.
func TestTheFullerPathCounts(t *testing.T) {
	l := laid(t, employees, named("", "Email Address,First Name,Last Name,Org Unit Path,Department\n"+
		"a@x.example,A,A,/Sales,Sales / East\nb@x.example,B,B,/Sales/West,Sales\nc@x.example,C,C,/Sales/West,West\n"+
		"d@x.example,D,D,/,Sales\ne@x.example,E,E,/Sales,\n"))
	var got []string
	for _, p := range l.Organisation.Chart(0).People() {
		post, _ := l.Organisation.Chart(0).Main(p.Number)
		got = append(got, post.Department)
	}
	expect.Same(t, []string{"Sales/East", "Sales/West", "Sales/West", "Sales", "Sales"}, got)
	expect.Is(t, len(l.Sheets[0].Doubts), 0)
}

// Whoever is away holds no post, stands above nobody and is no employee on those days; the file says so when it is
// written again.
func TestLeaveEmptiesAPost(t *testing.T) {
	o := read(t, ownHeader+"1,Ann,,A,,,boss,1,,,社員,,,\n2,Bob,,B,,A,chief,2,,,社員,,2026-05-31,\n"+
		"2,Bob,,B,,A,chief,2,,,社員,2026-06-01,2026-08-31,休職\n2,Bob,,B,,A,chief,2,,,社員,2026-09-01,,在籍\n"+
		"3,Cem,,B,,A,,,,2,社員,,,\n4,Dan,,B,,A,,,,,社員,,,\n")
	for on, want := range map[string]string{"2026-05-31": "2 2 1 here", "2026-06-01": "1 1 0 away",
		"2026-08-31": "1 1 0 away",
		"2026-09-01": "2 2 1 here"} {
		c := o.Chart(day(on))
		named, _ := c.Manager("3")
		head, _ := c.Manager("4")
		got := fmt.Sprint(named.Number, " ", head.Number, " ", len(c.HoldersOf("chief", "B")), " ", o.Presence("2", day(on)))
		expect.Is(t, got, want, "%s", on)
		_, here := c.Person("2")
		expect.Is(t, here, strings.HasSuffix(want, "here"), "%s", on)
	}
	for _, l := range language.All {
		expect.Is(t, read(t, asFile(t, o.Rows(l))).SHA256(), o.SHA256())
	}
	expect.That(t, o.Has("B", "chief"), "a post of whoever is away is unknown")
	expect.Is(t, len(o.Match(nil, day("2026-07-01")).Without), 3, "whoever is away needs no account")
	for _, rows := range []string{"2,Bob,,A,,,,,,,社員,,,退職\n", "2,Bob,,A,,,,,,,社員,,,x\n"} {
		got := problemsOf(t, ownHeader+"1,Ann,,A,,,boss,1,,,社員,,,\n"+rows).Listed
		expect.That(t, len(got) == 1 && got[0].Rule == organisation.RuleStatus, "%v", got)
	}
	got := problemsOf(t, ownHeader+"1,Ann,,A,,,boss,1,,,社員,,,休職\n1,Ann,,B,,A,,,兼務,,社員,,,在籍\n").Listed
	expect.That(t, len(got) == 1 && got[0].Rule == organisation.RuleConflict, "%v", got)
}

func TestDaysOfProducts(t *testing.T) {
	for s, want := range map[string]string{"2026/4/1": "2026-04-01", "2026年4月1日": "2026-04-01", "20260401": "2026-04-01",
		"令和8年4月1日": "2026-04-01", "令和元年5月1日": "2019-05-01", "R8/4/1": "2026-04-01", "H31.4.30": "2019-04-30",
		"昭和64年1月7日": "1989-01-07", "2026.4.1": "2026-04-01", "2026/04/01 00:00:00": "2026-04-01",
		"2026-4-1 0:00": "2026-04-01",
		"２０２６年４月１日":     "2026-04-01", "S64-1-7": "1989-01-07"} {
		o := read(t, ownHeader+"1,Ann,,A,,,boss,1,,,社員,"+s+",,\n")
		_, before := o.Chart(day(want) - 1).Person("1")
		_, here := o.Chart(day(want)).Person("1")
		expect.That(t, here && !before, "%s is not %s", s, want)
	}
	for s, rule := range map[string]organisation.Rule{"46113": organisation.RuleDayNumber, "8/4/1": organisation.RuleDate,
		"令和8年": organisation.RuleDate, "平成1年2月30日": organisation.RuleDate, "2026/04/01 12:00": organisation.RuleDate,
		"4/1/2026": organisation.RuleDate} {
		got := problemsOf(t, ownHeader+"1,Ann,,A,,,boss,1,,,社員,"+s+",,\n").Listed
		expect.That(t, len(got) == 1 && got[0].Rule == rule, "%s: %v", s, got)
	}
}

// Signs other than commas, a line for Excel and a version above the header are read; rows still count as a spreadsheet
// counts them.
func TestOtherSignsBetweenCellsAreRead(t *testing.T) {
	own := file(top, "2,Bob,,A,,,,,,,employee,,")
	for _, by := range []string{";", "\t"} {
		expect.Is(t, read(t, strings.ReplaceAll(own, ",", by)).SHA256(), read(t, own).SHA256(), "%q", by)
	}
	for _, above := range []string{"sep=;\n", "sep=;\r\n", "\"sep=;\"\n", "\ufeffSEP=;\n"} {
		text := above + strings.ReplaceAll(own, ",", ";")
		expect.Is(t, read(t, text).SHA256(), read(t, own).SHA256(), "%q", above)
		got := problemsOf(t, text+"3;Cem;;A;;;;;;;nobody;;\n").Listed
		expect.That(t, len(got) == 1 && got[0].Row == 5, "%q: %v", above, got)
	}
	expect.Is(t, read(t, "version:v1.0\n"+own).SHA256(), read(t, own).SHA256())
	expect.That(t, len(problemsOf(t, "sep=;").Listed) > 0, "a line alone is a file")
}

// Fixtures are never refused for a reason of the own file, and each own file is laid as Read reads it.
func TestOwnFilesAreLaidAsTheyAreRead(t *testing.T) {
	for _, name := range expect.Value(filepath.Glob("testdata/layouts/*.own.csv"))(t) {
		text := expect.Value(os.ReadFile(name))(t)
		l := laid(t, organisation.Kept{}, organisation.File{Text: text})
		expect.Is(t, l.Organisation.SHA256(), read(t, string(text)).SHA256(), "%s", name)
		expect.That(t, l.Sheets[0].Layout == organisation.Own && slices.Index(l.Missing, "") < 0, "%s: %+v", name, l.Sheets)
	}
}
