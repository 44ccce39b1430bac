package organisation_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

func TestWhatIsWrongWithAFileIsNamed(t *testing.T) {
	many := func(n int, row func(int) string) string {
		var b strings.Builder
		b.WriteString(header)
		for i := range n {
			b.WriteString(row(i) + "\n")
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		file string
		want []problem
	}{
		"empty":        {"", []problem{{Rule: organisation.RuleEmpty}}},
		"blank":        {"\ufeff\r\n\r\n", []problem{{Rule: organisation.RuleEmpty}}},
		"header alone": {header + ",,,,\n", []problem{{Rule: organisation.RuleEmpty}}},
		"another code": {header + top + "\n2,\x8e\x52\x93\x63,,A,,,,,,,employee",
			[]problem{{Row: 3, Rule: organisation.RuleEncoding, Value: "0x8E"}}},
		"a wrong quote": {file(top, `2,B"o"b,,A,,,,,,,employee`),
			[]problem{{Row: 3, Rule: organisation.RuleQuotes}}},
		"an open quote": {file(top, "", `2,"Bob,,A,,,,,,,employee`),
			[]problem{{Row: 4, Rule: organisation.RuleQuotes}}},
		"a wrong quote in the header": {`a"b,c`, []problem{{Row: 1, Rule: organisation.RuleQuotes}}},
		"what is wrong above a wrong quote": {file(",,,,", "2,,,,,,,,,,employee", `"`),
			[]problem{{Row: 3, Column: organisation.ColumnDepartment, Rule: organisation.RuleRequired},
				{Row: 4, Rule: organisation.RuleQuotes}}},
		"somebody who may stand below a wrong quote": {file(top, "2,Bob,,A,,,,,,9,employee", `9,"`),
			[]problem{{Row: 4, Rule: organisation.RuleQuotes}}},
		"headers that are missing": {"employee_number,hobby,\n1,go\n", []problem{
			{Row: 1, Column: organisation.ColumnName, Rule: organisation.RuleMissingColumn},
			{Row: 1, Column: organisation.ColumnDepartment, Rule: organisation.RuleMissingColumn},
			{Row: 1, Column: organisation.ColumnParent, Rule: organisation.RuleMissingColumn},
			{Row: 1, Column: organisation.ColumnEmployment, Rule: organisation.RuleMissingColumn},
		}},
		"a header that stands there twice": {"name," + file(top),
			[]problem{{Row: 1, Column: organisation.ColumnName, Rule: organisation.RuleTwice}}},
		"too many bytes": {file(top) + strings.Repeat("\n", organisation.MaxBytes),
			[]problem{{Rule: organisation.RuleBytes, Limit: organisation.MaxBytes}}},
		"too many rows": {many(organisation.MaxRows+1, func(int) string { return top }),
			[]problem{{Row: organisation.MaxRows + 2, Rule: organisation.RuleRows, Limit: organisation.MaxRows}}},
		"too many people": {many(organisation.MaxPeople+2,
			func(i int) string { return fmt.Sprintf("%d,Ann,,A,,,,,,,employee", i) }),
			[]problem{{Row: organisation.MaxPeople + 2, Column: organisation.ColumnNumber, Rule: organisation.RulePeople,
				Limit: organisation.MaxPeople}}},
		"too many departments": {many(organisation.MaxDepartments+2,
			func(i int) string { return fmt.Sprintf(",,,%d,,,,,,,,,", i) }),
			[]problem{{Row: organisation.MaxDepartments + 2, Column: organisation.ColumnDepartment,
				Rule: organisation.RuleDepartments, Limit: organisation.MaxDepartments}}},
		"too many departments above each other": {many(51,
			func(i int) string { return fmt.Sprintf(",,,%d,,%d,,,,,,,", i, i+1) }) +
			",,,51,,,,,,,,,\n", []problem{{Row: 2, Column: organisation.ColumnParent, Rule: organisation.RuleDepth, Limit: 50,
			Value: "0"}}},
	} {
		t.Run(name, func(t *testing.T) { expect.Same(t, c.want, problemsOf(t, c.file).Listed) })
	}
}

// A department below a long chain, or below a cycle, is told once: the chain by its lowest, the cycle by its members.
func TestWhatStandsBelowACycleIsNotToldAgain(t *testing.T) {
	got := problemsOf(t, file(top, ",,,B,,C,,,,,,,", ",,,C,,B,,,,,,,", ",,,D,,C,,,,,,,")).Listed
	expect.Is(t, len(got), 2, "%v", got)
}

// As many as may be are taken: limits are inclusive.
func TestAFileMayBeAsLargeAsItsLimits(t *testing.T) {
	rows := []string{}
	for i := range organisation.MaxPeople {
		rows = append(rows, fmt.Sprintf("%d,Ann,,%d,,,,,,,employee", i, i%organisation.MaxDepartments))
	}
	for i := len(rows); i < organisation.MaxRows; i++ {
		rows = append(rows, fmt.Sprintf(",,,%d,,,,,,,,,", i%organisation.MaxDepartments))
	}
	text := file(rows...)
	text += strings.Repeat("\n", organisation.MaxBytes-len(text))
	o := read(t, text)
	expect.Is(t, len(o.People()), organisation.MaxPeople)
	chain := []string{}
	for i := range 51 {
		chain = append(chain, fmt.Sprintf(",,,%d,,%d,,,,,,,", i, i+1))
	}
	o = read(t, file(append(chain[:50:50], ",,,50,,,,,,,,,", top)...))
	expect.Is(t, len(o.Path("0")), 51)
}

// A row is counted as a spreadsheet counts it: empty rows count, lines within a cell don't.
func TestRowsAreCountedAsASpreadsheetDoes(t *testing.T) {
	got := problemsOf(t, "\ufeff"+strings.ReplaceAll(file("", `1,Ann,"a@x.example`,
		`b@x.example",A,,,boss,1,,,employee`, "", ",,,,",
		"2,Bob,,A,,,,,,,nobody"), "\n", "\r\n"))
	expect.Same(t, []organisation.Problem{{Row: 6, Column: organisation.ColumnEmployment, Rule: organisation.RuleKind,
		Value: "nobody"}}, got.Listed)
}

// Order and language of the headers, the line ends, a byte order mark and the width of letters make no difference.
func TestTheSameSaidDifferently(t *testing.T) {
	japanese := string(expect.Value(os.ReadFile("testdata/twelve.csv"))(t))
	want := twelve(t).SHA256()
	_, body, _ := strings.Cut(japanese, "\n")
	english := header + strings.NewReplacer("主務", "main", "兼務", "Concurrent", "社員", "employee", "派遣", "temporary",
		"委託", "CONTRACTOR").Replace(body)
	reversed := ""
	for _, line := range strings.Split(strings.TrimSpace(japanese), "\n") {
		cells := strings.Split(line, ",")
		for i := range cells {
			reversed += cells[len(cells)-1-i] + ","
		}
		reversed += "\n"
	}
	for name, text := range map[string]string{
		"CRLF and a byte order mark":    "\ufeff" + strings.ReplaceAll(japanese, "\n", "\r\n"),
		"English":                       english,
		"another order, a blank column": reversed,
		"full width": strings.NewReplacer("1010", "１０１０", "部長,2", "部長,２", "S10", " Ｓ１０", "@",
			"＠").Replace(japanese),
		"headers as people type them": strings.NewReplacer("社員番号", "Employee_Number", "氏名", "　氏名 ",
			"区分", "ＥＭＰＬＯＹＭＥＮＴ").Replace(japanese),
	} {
		t.Run(name, func(t *testing.T) { expect.Is(t, read(t, text).SHA256(), want) })
	}
	expect.That(t, read(t, strings.Replace(japanese, "鈴木 花", "鈴木 華", 1)).SHA256() != want, "a name makes no difference")
}

// All problems are counted, the first 200 by row are listed, and a row that can't be read accuses no other.
func TestOfManyProblemsTheFirstAreListed(t *testing.T) {
	rows := []string{}
	for i := range 1500 {
		rows = append(rows, fmt.Sprintf("%d,Bob,,A,,,,,,%d,nobody", 10+i, 11+i))
	}
	rows = append(rows, "5,Cem,,A,,,,,,10,employee", "5,,,A,,,,,second,,,")
	got := problemsOf(t, file(rows...))
	expect.Is(t, len(got.Listed), organisation.MaxProblems)
	expect.Is(t, got.More, 1501-organisation.MaxProblems)
	expect.Is(t, got.Listed[0].Row, 2)
	expect.Is(t, got.Listed[199].Row, 201)
	text := got.Error()
	expect.Has(t, text, `row 2: employment: it must be employee, contractor or temporary: "nobody"`+"\nrow 3")
	expect.Has(t, text, "\nand 1301 more")
}

// A rule without words would be told by its code alone.
func TestEachRuleHasWords(t *testing.T) {
	source := string(expect.Value(os.ReadFile("problems.go"))(t))
	rules := regexp.MustCompile(`(?m)^\tRule\w+ +Rule = "(\w+)"`).FindAllStringSubmatch(source, -1)
	expect.Must(t, len(rules) >= 30, "only %d rules", len(rules))
	for _, rule := range rules {
		said := organisation.Problem{Rule: organisation.Rule(rule[1])}.Error()
		expect.That(t, strings.Contains(said, " "), "%s is told as %q", rule[1], said)
	}
}

func TestAProblemSaysRowColumnAndLimit(t *testing.T) {
	for want, p := range map[string]organisation.Problem{
		"row 3: name: it is too long (limit 100): \"x\"": {Row: 3, Column: organisation.ColumnName,
			Rule:  organisation.RuleLength,
			Limit: 100, Value: "x"},
		"there are too many rows (limit 50000)": {Rule: organisation.RuleRows, Limit: organisation.MaxRows},
		"row 4: post: the person has two main posts, see row 3": {Row: 4, Column: organisation.ColumnPost,
			Rule: organisation.RuleTwoMains, Other: 3},
	} {
		expect.Is(t, p.Error(), want)
	}
	expect.Is(t, encoded(t, organisation.Problem{Row: 4, Column: organisation.ColumnPost,
		Rule: organisation.RuleTwoMains}), `{"row":4,"column":"post","what":"two_mains"}`)
}

// What spreadsheet programs make of a file is named, and nothing is said that only follows from it.
func TestAFileOfAnotherFormIsNamed(t *testing.T) {
	header := strings.TrimSpace(header)
	for about, tt := range map[string]struct {
		file string
		want problem
	}{
		"a workbook": {"PK\x03\x04\x14\x00", problem{Rule: organisation.RuleForm}},
		"an old one": {"\xd0\xcf\x11\xe0\xa1\xb1", problem{Rule: organisation.RuleForm}},
		"an exponent": {file(top, "1.2E+11,Bob,,A,,,,,,,employee"),
			problem{Row: 3, Column: organisation.ColumnNumber, Rule: organisation.RuleExponent, Value: "1.2E+11"}},
		"a decimal": {file(top, "101.0,Bob,,A,,,,,,,employee"),
			problem{Row: 3, Column: organisation.ColumnNumber, Rule: organisation.RuleExponent, Value: "101.0"}},
		"another encoding": {header + "\n2,\xe9,,A\n", problem{Row: 2, Rule: organisation.RuleEncoding, Value: "0xE9"}},
	} {
		t.Run(about, func(t *testing.T) { expect.Same(t, []problem{tt.want}, problemsOf(t, tt.file).Listed) })
	}
}

// What formulas leave for lack of a value is no value, wherever it stands, and a character that can't be read is none.
func TestWhatFormulasLeaveIsNoValue(t *testing.T) {
	for cell, rule := range map[string]organisation.Rule{"#N/A": organisation.RuleFormula,
		"#REF!":  organisation.RuleFormula,
		"＃NAME?": organisation.RuleFormula, "#DIV/0!": organisation.RuleFormula, "####": organisation.RuleFormula,
		"Err:502": organisation.RuleFormula, "a\ufffd": organisation.RuleDamaged} {
		for i, column := range []organisation.Column{organisation.ColumnNumber, organisation.ColumnName,
			organisation.ColumnMail,
			organisation.ColumnDepartment, organisation.ColumnDepartmentName, organisation.ColumnParent,
			organisation.ColumnPosition, organisation.ColumnRank, organisation.ColumnPost, organisation.ColumnManager,
			organisation.ColumnEmployment} {
			cells := strings.Split("2,Bob,b@x.example,A,,,aide,,,,employee", ",")
			cells[i] = cell
			want := []problem{{Row: 3, Column: column, Rule: rule, Value: cell}}
			expect.Same(t, want, problemsOf(t, file(top, strings.Join(cells, ","))).Listed)
		}
	}
	for i, column := range map[int]organisation.Column{1: organisation.ColumnName, 4: organisation.ColumnDepartmentName,
		6: organisation.ColumnPosition} {
		cells := strings.Split("2,Bob,,B,Sales,A,aide,,,,employee", ",")
		cells[i] = "0"
		expect.Same(t, []problem{{Row: 3, Column: column, Rule: organisation.RuleFormula, Value: "0"}},
			problemsOf(t, file(top, strings.Join(cells, ","))).Listed)
	}
	expect.Same(t, []problem{{Row: 3, Column: organisation.ColumnParent, Rule: organisation.RuleFormula, Value: "0"}},
		problemsOf(t, file(top, "2,Bob,,B,Sales,0,,,,,employee")).Listed)
	o := read(t, file(top, "2,Bob,,B,Sales,0,,,,,employee", ",,,0,Head office,,,,,,,,"))
	expect.Is(t, len(o.Path("B")), 2, "a department whose code is 0")
}

// Programs guard zeros by a formula, and end lines by other signs. It is the same file.
func TestGuardedNumbersAndOtherEndsOfLinesAreRead(t *testing.T) {
	plain := file(top, "00102,Bob,,A,,,,,,,employee")
	want := read(t, plain).SHA256()
	for _, same := range []string{strings.ReplaceAll(plain, "00102", `"=""00102"""`),
		strings.ReplaceAll(plain, "\n", "\r\n")} {
		expect.Is(t, read(t, same).SHA256(), want, "%q", same)
	}
}

// A company of 300 people in 25 departments: everybody but the top has a manager.
func TestACompanyOf300(t *testing.T) {
	o := read(t, written(company(300, seeded())))
	for _, p := range o.People() {
		chain, top := o.Above(p.Number)
		expect.Must(t, (len(chain) == 0) == (p.Number == number(0)) && len(chain) <= 6 && top, "%s has %d above", p.Number,
			len(chain))
		expect.Must(t, p.Number == number(0) || chain[len(chain)-1].Number == number(0),
			"the chain of %s ends below the top", p.Number)
	}
	expect.Is(t, len(o.People()), 300)
}

// Whatever is read never ends the program, is written as it can be read again, and leads to no endless chain. Whatever
// is refused says why, row by row.
func FuzzRead(f *testing.F) {
	f.Add(expect.Value(os.ReadFile("testdata/twelve.csv"))(f))
	f.Add([]byte("\ufeff" + strings.ReplaceAll(file(top, ",,,B,,A,,,,,,,",
		"2,Bob,\"b@x.example\nc@x.example\",B,,,,,兼務,1,派遣"), "\n", "\r\n")))
	f.Add([]byte(file("1,Ann,,B,,A,chief,2,,,employee", "2,Bob,,D,,C,chief,2,,,employee",
		"1,,,C,,,chief,,concurrent,,,,", "2,,,A,,,chief,,concurrent,,,,")))
	f.Add([]byte("\x8e\xd0\x88\xf5\x94\xd4\x8d\x86,"))
	f.Add([]byte(`"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		o, err := organisation.Read(text)
		if err != nil {
			refusedInOrder(t, err)
			return
		}
		again := expect.Value(organisation.Assemble(o.Batches()))(t)
		expect.Is(t, again.SHA256(), o.SHA256())
		expect.Is(t, asShown(again), asShown(o))
		for _, p := range o.People() {
			_, main := o.Main(p.Number)
			expect.That(t, main && !below(o, p.Number, p.Number), "%+v", p)
		}
	})
}

func refusedInOrder(t *testing.T, err error) {
	t.Helper()
	problems, ok := errors.AsType[organisation.Problems](err)
	expect.Must(t, ok && len(problems.Listed) > 0 && len(problems.Listed) <= organisation.MaxProblems, "%v", err)
	row := 0
	for _, p := range problems.Listed {
		expect.That(t, p.Row >= row && p.Error() != "" && p.Rule != "", "%+v stands below row %d", p, row)
		row = p.Row
	}
}

// large returns the file of the largest company that is taken.
func large() []byte { return []byte(written(company(organisation.MaxPeople, seeded()))) }

func BenchmarkRead10000People(b *testing.B) {
	text := large()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		expect.Value(organisation.Read(text))(b)
	}
}

func BenchmarkAssemble10000People(b *testing.B) {
	batches := expect.Value(organisation.Read(large()))(b).Batches()
	b.ReportMetric(float64(len(batches)), "batches")
	for b.Loop() {
		expect.Value(organisation.Assemble(batches))(b)
	}
}

func BenchmarkAbove(b *testing.B) {
	chart := expect.Value(organisation.Read(large()))(b)
	people := chart.People()
	deepest := slices.MaxFunc(people, func(x, y organisation.Person) int {
		return len(above(chart, x.Number)) - len(above(chart, y.Number))
	})
	b.ReportMetric(float64(len(above(chart, deepest.Number))), "superiors")
	for b.Loop() {
		above(chart, deepest.Number)
	}
}
