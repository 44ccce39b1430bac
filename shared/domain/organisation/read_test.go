package organisation_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

const top = "U1,Ann,A,boss,yes,,"

// wrongWith returns what is wrong with a file.
func wrongWith(text string) (all []string) {
	_, wrong := organisation.Read([]byte(text))
	for _, p := range wrong {
		all = append(all, p.Error())
	}
	return all
}

func TestWhatIsWrongWithAFileIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"empty":                 {"", []string{" csv_empty"}},
		"blank":                 {"\ufeff\r\n\r\n", []string{" csv_empty"}},
		"header alone":          {header + ",,,,\n", []string{" csv_empty"}},
		"another code":          {header + top + "\n\x8e\x52\x93\x63,,A", []string{"3 csv_encoding"}},
		"a workbook":            {"PK\x03\x04\x14\x00", []string{" csv_workbook"}},
		"an old one":            {"\xd0\xcf\x11\xe0\xa1\xb1", []string{" csv_workbook"}},
		"a wrong quote":         {file(top, `U2,B"o"b,A`), []string{"3 csv_quotes"}},
		"an open quote":         {file(top, "", `U2,"Bob,A`), []string{"4 csv_quotes"}},
		"in the header":         {`a"b,c`, []string{"1 csv_quotes"}},
		"also above it":         {file(",Bob,A", `"`), []string{"2.person csv_required", "3 csv_quotes"}},
		"who may stand below":   {file(top, "U2,Bob,A,,,U9,", `U9,"`), []string{"4 csv_quotes"}},
		"headers are missing":   {"hobby,name\ngo,Ann\n", []string{"1.person csv_missing", "1.department csv_missing"}},
		"a header twice":        {"mail," + file(top), []string{"1.person csv_twice"}},
		"too many bytes":        {file(top) + strings.Repeat("\n", organisation.MaxBytes), []string{" csv_bytes 2"}},
		"too many rows":         {header + strings.Repeat(top+"\n", organisation.MaxRows) + top + "\n", nil},
		"a cell without header": {file(top + ",x"), []string{"2 csv_extra x"}},
		"no person":             {file(top, ",Bob,A"), []string{"3.person csv_required"}},
		"no department":         {file(top, "U2,Bob, / "), []string{"3.department csv_required"}},
		"neither":               {file(top, ",Bob,"), []string{"3.person csv_required"}},
		"no address":            {file(top, "Bob,Bob,A"), []string{"3.person csv_person Bob"}},
		"a long name":           {file(top, "U2,"+strings.Repeat("あ", 101)+",A"), []string{"3.name csv_length 100"}},
		"a long position":       {file(top, "U2,B,A,"+strings.Repeat("あ", 51)), []string{"3.position csv_length 50"}},
		"neither yes nor no": {file(top, "U2,Bob,A,,maybe,,perhaps"), []string{"3.head csv_yes maybe",
			"3.main csv_yes perhaps"}},
		"two heads": {file(top, "U2,Bob,A,,yes,,"), []string{"3.head csv_two_heads 2"}},
		"two names, the first has none": {file(top, "U2,,A,,,,yes", "U2,Bob,A/B,,,,", "U2,Rob,A/C,,,,"),
			[]string{"5.name csv_two_names 4"}},
		"a post twice":       {file(top, "U2,Bob,A,x,,,yes", "U2,Bob,A,x,,,"), []string{"4.position csv_same_post 3"}},
		"two names":          {file(top, "U2,Bob,A,,,,yes", "U2,Rob,A/B,,,,"), []string{"4.name csv_two_names 3"}},
		"two main posts":     {file(top, "U2,Bob,A,,,,yes", "U2,,A/B,,,,yes"), []string{"4.main csv_two_mains 3"}},
		"no main post":       {file(top, "U2,Bob,A,,,,", "U2,,A/B,,,,"), []string{"3.main csv_no_main"}},
		"an unknown manager": {file(top, "U2,Bob,A,,,b@x.example,"), []string{"3.manager csv_unknown b@x.example"}},
		"one's own manager":  {file(top, "U2,Bob,A,,,u2,"), []string{"3.manager csv_cycle"}},
		"a cycle, and below it": {file(top, "U2,B,A,,,U3,", "U3,C,A,,,U2,", "U4,D,A,,,U3,"),
			[]string{"3.manager csv_cycle", "4.manager csv_cycle"}},
		// A row that can't be read may say what others lack.
		"nothing that follows": {file(top, "U2,Bob,A,,,U3,", "U3,Cem,A,,x,,", "U4,Dora,A,,,,", "U4,,A/B,,,,"),
			[]string{"4.head csv_yes x"}},
	} {
		got := wrongWith(c.file)
		if name == "too many rows" {
			c.want = []string{fmt.Sprint(organisation.MaxRows+2, " csv_rows ", organisation.MaxRows)}
			got = got[len(got)-1:]
		}
		expect.That(t, slices.Equal(got, c.want), "%s: %q, want %q", name, got, c.want)
	}
}

// What formulas leave for lack of a value is no value, wherever it stands, and a character that can't be read is none.
func TestWhatFormulasLeaveIsNoValue(t *testing.T) {
	columns := []string{"person", "name", "department", "position", "head", "manager", "main"}
	for cell, code := range map[string]string{"#N/A": "csv_formula", "#REF!": "csv_formula", "＃NAME?": "csv_formula",
		"#DIV/0!": "csv_formula", "####": "csv_formula", "Err:502": "csv_formula", "0": "csv_formula",
		"a\ufffd": "csv_unreadable", "a\u200b": "csv_unreadable", "葛\U000E0100城\u00a0x": "csv_unreadable"} {
		for i, column := range columns {
			if cell == "0" && (column == "head" || column == "main") {
				continue // no
			}
			cells := []string{"U2", "Bob", "A", "aide", "", "U1", "yes"}
			cells[i] = cell
			expect.Same(t, wrongWith(file(top, strings.Join(cells, ","))), []string{"3." + column + " " + code + " " + cell})
		}
	}
}

// Order and language of the headers, the line ends, a byte order mark and the width of letters make no difference.
func TestTheSameSaidDifferently(t *testing.T) {
	japanese := string(expect.Value(os.ReadFile("testdata/twelve.csv"))(t))
	want := string(twelve(t).Bytes())
	_, body, _ := strings.Cut(japanese, "\n")
	reversed := ""
	for line := range strings.SplitSeq(strings.TrimSpace(japanese), "\n") {
		cells := strings.Split(line, ",")
		slices.Reverse(cells)
		reversed += strings.Join(cells, ",") + ",\n"
	}
	for name, text := range map[string]string{
		"CRLF and a byte order mark":    "\ufeff" + strings.ReplaceAll(japanese, "\n", "\r\n"),
		"English":                       header + strings.ReplaceAll(body, "はい", "Yes"),
		"another order, a blank column": reversed,
		"full width": strings.NewReplacer("U0ITO", "ｕ0ｉｔｏ", "@", "＠", "/", "／", "sato",
			"SATO").Replace(japanese),
		"parts apart":                 strings.NewReplacer("みどり製作所/営業部", "/ みどり製作所 / 営 業部/").Replace(japanese),
		"headers as people type them": strings.NewReplacer("メール", "E-Mail", "氏名", "　名前 ", "部署の長", "ＨＥＡＤ").Replace(japanese),
		"what it writes":              want,
	} {
		expect.Is(t, string(read(t, text).Bytes()), want, name)
	}
	other := strings.Replace(japanese, "鈴木 花", "鈴木 華", 1)
	expect.That(t, string(read(t, other).Bytes()) != want, "a name makes no difference")
	guarded := read(t, file(`U1,'=cmd,A,'+x,,,`)) // from a spreadsheet
	expect.Is(t, guarded.Name("U1")+guarded.Posts("U1")[0].Position, "=cmd+x")
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, mail := range []string{"a", "a@", "@x.example", "a@x", "a@@x.example", "a@x.example.", "a@.x.example",
		"a@x..example", "a b@x.example", "a@x.example a", "<a@x.example>", "あ@x.example", "a@x.exa\"mple",
		"a@x.example;b@x.example", strings.Repeat("a", 245) + "@x.example", "u 1", "C0123"} {
		got := wrongWith(file(top, `"`+strings.ReplaceAll(mail, `"`, `""`)+`",Bob,A`))
		expect.That(t, len(got) == 1 && strings.HasPrefix(got[0], "3.person csv_person "), "%q: %v", mail, got)
	}
	longest := strings.Repeat("a", 244) + "@x.example"
	o := read(t, file(top, " B@X.example ,Bob,A", longest+",Cem,A"))
	expect.That(t, o.Has("b@x.example") && o.Has(longest), "%v", o.All())
}

// A position is one position, however it is typed.
func TestAPositionIsTheSameHoweverItIsTyped(t *testing.T) {
	for typed, want := range map[string]string{
		"部　長": "部長", " 部 長 ": "部長", "営業　部長": "営業部長", "ﾏﾈｰｼﾞｬｰ": "マネージャー", "ＧＭ": "GM", "第 1 課長": "第1課長",
		"General  Manager": "General Manager", "영업 부장": "영업부장", "課長代理": "課長代理",
	} {
		o := read(t, file("U1,One,A,\""+typed+"\""))
		expect.Is(t, o.Posts("U1")[0].Position, want, typed)
		expect.That(t, o.Knows("A", typed) && o.Knows("Ａ", want) && !o.Knows("A", "長"), "%q", typed)
	}
}

// drawn is a row of a small file, in which much meets: three people, three departments.
type drawn struct{ person, name, department, position, head, manager, main string }

func draw(t *rapid.T) drawn {
	of := func(label string, values ...string) string { return rapid.SampledFrom(values).Draw(t, label) }
	return drawn{of("person", "U1", "U1", "U2", "U3", "U3", ""), of("name", "n", "n", "n", "m", ""),
		of("department", "A", "A/B", "A/C"), of("position", "", "p"), of("head", "", "", "yes"),
		of("manager", "", "", "", "U1", "U2", "U3"), of("main", "yes", "yes", "")}
}

// expected looks at rows one field at a time: whether they are valid, and what the organisation then shows.
func expected(rows []drawn) (shown string, valid bool) {
	valid = true
	count := func(is func(drawn) bool) (n int) {
		for _, r := range rows {
			if is(r) {
				n++
			}
		}
		return n
	}
	managers := map[string]string{}
	for _, r := range rows {
		mine := func(x drawn) bool { return x.person == r.person }
		only := count(mine) == 1
		mains := count(func(x drawn) bool { return mine(x) && x.main == "yes" })
		if only || r.main == "yes" {
			managers[r.person] = r.manager
		}
		valid = valid && r.person != "" && (only || mains == 1) &&
			(r.head == "" || count(func(x drawn) bool { return x.head == "yes" && x.department == r.department }) == 1) &&
			count(func(x drawn) bool { return mine(x) && x.department == r.department && x.position == r.position }) == 1 &&
			count(func(x drawn) bool { return mine(x) && x.name != "" && r.name != "" && x.name != r.name }) == 0 &&
			(r.manager == "" || count(func(x drawn) bool { return x.person == r.manager }) > 0)
		shown += fmt.Sprintln(r.person, r.name, r.department, r.position, r.head == "yes", r.manager, only || r.main == "yes")
	}
	for from := range maps.Keys(managers) {
		at := managers[from]
		for range managers {
			valid = valid && (at == "" || at != from)
			at = managers[at]
		}
	}
	return shown, valid
}

// A file is taken if and only if it is valid, and shows what its rows say.
func TestAFileIsTakenIfItIsValid(t *testing.T) {
	taken, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(draw), 1, rapid.SampledFrom([]int{2, 3, 5}).Draw(t, "most")).Draw(t, "rows")
		var lines []string
		for _, r := range rows {
			lines = append(lines, strings.Join([]string{r.person, r.name, r.department, r.position, r.head, r.manager, r.main},
				","))
		}
		o, wrong := organisation.Read([]byte(file(lines...)))
		want, valid := expected(rows)
		expect.Must(t, valid == (len(wrong) == 0), "valid: %v, but %v", valid, wrong)
		if !valid {
			refused++
			return
		}
		taken++
		got := ""
		for _, p := range o.All() {
			got += fmt.Sprintln(p.Person, p.Name, p.Department, p.Position, p.Head, p.Manager, p.Main)
		}
		expect.Is(t, got, want)
	})
	expect.That(t, taken > 0 && refused > 0 || testing.Short(), "%d taken, %d refused", taken, refused) // short: few tries
}

// Whatever is read never ends the program, is written as it can be read again, and leads to no endless chain. Whatever
// is refused says why, line by line.
func FuzzRead(f *testing.F) {
	f.Add(expect.Value(os.ReadFile("testdata/twelve.csv"))(f))
	f.Add([]byte("\ufeff" + strings.ReplaceAll(file(top, "U2,Bob,\"A/B\nC\",,,U1,"), "\n", "\r\n")))
	f.Add([]byte(file("U1,Ann,A/B,chief,yes,,yes", "U2,Bob,C/D,chief,yes,,yes", "U1,,C,chief,yes,,", "U2,,A,chief,yes,,")))
	f.Add([]byte("\x8e\xd0\x88\xf5\x94\xd4\x8d\x86,"))
	f.Add([]byte(`"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		o, wrong := organisation.Read(text)
		if o == nil {
			line := 0
			for _, p := range wrong {
				at := 0
				fmt.Sscan(strings.SplitN(p.Field, ".", 2)[0], &at)
				expect.That(t, at >= line && p.Code != "", "%+v stands below line %d", p, line)
				line = at
			}
			expect.That(t, len(wrong) > 0, "it is refused without a word")
			return
		}
		readBack(t, o)
		for _, p := range o.All() {
			chain, _ := o.Above(p.Person)
			expect.That(t, o.Posts(p.Person)[0].Main && !slices.Contains(chain, p.Person), "%+v", p)
		}
	})
}
