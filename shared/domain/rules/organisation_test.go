package rules_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// twelve is a company of eleven people in three departments.
func twelve(t expect.T) *rules.Organisation {
	t.Helper()
	return listed(t, string(expect.Value(os.ReadFile("testdata/twelve.csv"))(t)))
}

func listed(t expect.T, file string) *rules.Organisation {
	t.Helper()
	o, wrong := rules.ReadOrganisation([]byte(file))
	expect.Must(t, len(wrong) == 0, "%v of %s", wrong, file)
	return o
}

const header = "email,name,department,position,head,manager,main\n"

// file returns a file with the usual header and these rows, whose cells stand in the header's order.
func file(rows ...string) string { return header + strings.Join(rows, "\n") + "\n" }

func above(o *rules.Organisation, who string) string {
	chain, _ := o.Above(who)
	return strings.Join(chain, " ")
}

func TestWhoStandsAboveWhom(t *testing.T) {
	o := twelve(t)
	mails := strings.NewReplacer("@midori.example", "", "@yoshida.example", "")
	for who, want := range map[string]string{
		"midorikawa@midori.example": "", "takahashi@midori.example": "midorikawa", "sato@midori.example": "midorikawa",
		"suzuki@midori.example": "sato midorikawa", "U0ITO": "sato midorikawa",
		"nakamura@midori.example":  "takahashi midorikawa", // of two posts the main one decides
		"kobayashi@midori.example": "takahashi midorikawa",
		"kato@midori.example":      "kobayashi takahashi midorikawa", // who is named
		"yoshida@yoshida.example":  "nakamura takahashi midorikawa", "nobody@midori.example": "",
	} {
		expect.Is(t, mails.Replace(above(o, who)), want, "%s", who)
	}
	for who, top := range map[string]bool{"midorikawa@midori.example": true, "U0ITO": true, "U0NOBODY": false} {
		_, ends := o.Above(who)
		expect.Is(t, ends, top, "the chain of %s ends at the top", who)
	}
}

func TestPeopleHaveTheirPosts(t *testing.T) {
	o := twelve(t)
	var posts []string
	for _, p := range o.All() {
		if p.Person == "nakamura@midori.example" {
			posts = append(posts, fmt.Sprint(p.Department, " ", p.Position, " ", p.Main))
		}
	}
	expect.Same(t, posts, []string{"みどり製作所/管理部 課長 true", "みどり製作所/営業部 課長 false"}) // the main post stands first
	expect.Same(t, o.Departments("nakamura@midori.example"), []string{"みどり製作所/管理部", "みどり製作所"})
	expect.Is(t, len(o.Departments("nobody")), 0)
	expect.Same(t, o.AllDepartments(), []string{"みどり製作所", "みどり製作所/営業部", "みどり製作所/管理部"})
	expect.That(t, o.Has("watanabe@haken.example") && !o.Has("x@midori.example") && !o.Has(""), "who is there")
	expect.Is(t, o.Name("watanabe@haken.example")+o.Name("U9"), "渡辺 翔U9")
	expect.That(t, o.People() == 11 && len(o.All()) == len(o.Rows("en"))-1, "%d people", o.People())
}

func TestHoldersOfAPositionHaveItAsAnyPost(t *testing.T) {
	o := listed(t, file("U1,Ann,A,boss,yes,,", "U2,Bob,A/B,chief,yes,,", "U3,Cem,A/B,chief,,,", "U5,Eve,A,,,,yes",
		"U5,Eve,A/B,chief,,,", "U7,Gus,A/B,aide,,,", "U8,Hal,A/C,chief,,,"))
	expect.Same(t, o.Holders("A/B", "chief"), []string{"U2", "U3", "U5"})
	expect.Same(t, o.Holders("Ａ／C", "ｃhief"), []string{"U8"})
	expect.Same(t, o.Holders("A/B", ""), []string{"U2"})
	expect.Is(t, len(o.Holders("A", "aide"))+len(o.Holders("A/C", "")), 0)
	expect.That(t, o.Knows("A/C", "") && o.Knows("", "aide") && o.Knows("A/B", "aide") && !o.Knows("A/C", "aide") &&
		!o.Knows("C", "") && !o.Knows("", "bos"), "what is known")
}

// staff is a company below a boss, U1 of A, in shorthand: person, department, and what is unusual.
func workforce(t *testing.T, people string) *rules.Organisation {
	t.Helper()
	rows := []string{"U1,Ann,A,boss,yes,,yes"}
	for p := range strings.SplitSeq(people, ", ") {
		words := strings.Fields(p)
		cells := []string{"U" + words[0], "P" + words[0], words[1], "", "", "", "yes"}
		for _, word := range words[2:] {
			switch who, named := strings.CutPrefix(word, "below:"); {
			case named:
				cells[5] = "U" + who
			case word == "second":
				cells[6] = ""
			case word == "head":
				cells[4] = "yes"
			default:
				cells[3] = word
			}
		}
		rows = append(rows, strings.Join(cells, ","))
	}
	return listed(t, file(rows...))
}

func TestWhoLeadsADepartment(t *testing.T) {
	for name, c := range map[string]struct{ people, want string }{ // who stands above 2
		"the head of the department":     {"2 A/B, 3 A/B head, 4 A/B chief", "U3 U1"},
		"not oneself":                    {"2 A/B head, 4 A/B", "U1"},
		"no colleague":                   {"2 A/B, 0 A/B chief", "U1"},
		"a head above":                   {"2 A/B/C head, 3 A/B head", "U3 U1"},
		"the department above":           {"2 A/B/C, 3 A/B head", "U3 U1"},
		"none in between":                {"2 A/B/C", "U1"},
		"who leads by a second post":     {"2 A/B, 3 A/D, 3 A/B head second", "U3 U1"},
		"not oneself by a second post":   {"2 A/B/C, 2 A/B head second, 3 A/B", "U1"},
		"who is named comes first":       {"2 A/B below:4, 3 A/B head, 4 A/B", "U4 U3 U1"},
		"a second post's manager not":    {"2 A/B, 2 A/D second below:4, 3 A/B head, 4 A/D", "U3 U1"},
		"no part of a department's name": {"2 A/BC, 3 A/B head", "U1"},
	} {
		t.Run(name, func(t *testing.T) { expect.Is(t, above(workforce(t, c.people), "U2"), c.want) })
	}
}

// Who takes the place of a post stands above it: over the head's own position, and over one that nobody has there, that
// is the department above.
func TestWhoStandsOverAPost(t *testing.T) {
	o := workforce(t, "2 A/B 部長 head, 3 A/B 課長, 4 A/B/C 課長, 5 A/D 部長, 6 A/E 課長 head, 7 A/E 係長")
	for post, want := range map[[2]string]string{
		{"A/B", "部長"}: "U1", {"A/B", ""}: "U1", {"A/B", "課長"}: "U2 U1", {"A/B/C", "課長"}: "U2 U1", {"A/B/C", ""}: "U2 U1",
		{"A/E", "部長"}: "U1", {"A/E", "係長"}: "U6 U1",
		{"A/D", "部長"}: "U1", {"A", "boss"}: "", {"A", ""}: "", {"A", "部長"}: "U1", {"Z", "部長"}: "",
	} {
		expect.Is(t, strings.Join(o.Over(post[0], post[1]), " "), want, "%v", post)
	}
}

// Heads by second posts can stand above each other. A chain ends before it repeats somebody.
func TestAChainEndsAtACycle(t *testing.T) {
	o := listed(t, file("U1,Ann,A/B,chief,yes,,yes", "U2,Bob,C/D,chief,yes,,yes", "U1,,C,chief,yes,,", "U2,,A,chief,yes,,",
		"U3,Cem,A/B,,,,"))
	expect.Same(t, []string{above(o, "U1"), above(o, "U2"), above(o, "U3")}, []string{"U2", "U1", "U1 U2"})
	_, top := o.Above("U3")
	expect.That(t, !top, "nobody knows who is above U2")
}

// drawCompany draws the rows of a valid company. Managers have smaller numbers.
func drawCompany(t *rapid.T) (rows []string) {
	departments, led := []string{"A"}, map[string]bool{}
	for i := range rapid.IntRange(0, 4).Draw(t, "departments") {
		d := string(rune('B' + i))
		if rapid.IntRange(0, 3).Draw(t, "below") > 0 {
			d = rapid.SampledFrom(departments).Draw(t, "parent") + "/" + d
		}
		departments = append(departments, d)
	}
	for person := range rapid.IntRange(1, 8).Draw(t, "people") {
		manager := ""
		if person > 0 && rapid.IntRange(0, 3).Draw(t, "named") == 0 {
			manager = fmt.Sprint("u", rapid.IntRange(0, person-1).Draw(t, "manager"))
		}
		seen := map[string]bool{}
		for n := range rapid.IntRange(1, 3).Draw(t, "posts") {
			d, called := rapid.SampledFrom(departments).Draw(t, "department"),
				rapid.SampledFrom([]string{"", "boss", "clerk"}).Draw(t, "position")
			if seen[d+called] {
				continue
			}
			head, main := "", ""
			if !led[d] && rapid.IntRange(0, 2).Draw(t, "heads") == 0 {
				head, led[d] = "yes", true
			}
			if n == 0 {
				main = "yes"
			}
			seen[d+called] = true
			rows = append(rows, fmt.Sprintf("U%d,P%d,%s,%s,%s,%s,%s", person, person, d, called, head, manager, main))
		}
	}
	return rows
}

// Chains end and never repeat anybody; each goes on as that of its first member.
func TestChainsOfAnyCompany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := listed(t, file(drawCompany(t)...))
		for _, p := range o.All() {
			chain, _ := o.Above(p.Person)
			for i, s := range chain {
				expect.Must(t, s != p.Person && !slices.Contains(chain[:i], s), "the chain of %s repeats %s", p.Person, s)
			}
			if len(chain) > 0 {
				next, _ := o.Above(chain[0])
				expect.That(t, len(next) >= len(chain)-1 && slices.Equal(chain[1:], next[:len(chain)-1]),
					"%s is below %v, and %s below %v", p.Person, chain, chain[0], next)
			}
		}
	})
}

// What is written is read as the same, in every language.
func TestAnyCompanyIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := listed(t, file(drawCompany(t)...))
		readBack(t, o)
	})
}

func readBack(t expect.T, o *rules.Organisation) {
	t.Helper()
	for _, locale := range language.All {
		var b strings.Builder
		for _, row := range o.Rows(locale) {
			for i, cell := range row {
				if i > 0 {
					b.WriteByte(',')
				}
				b.WriteString(`"` + strings.ReplaceAll(cell, `"`, `""`) + `"`)
			}
			b.WriteByte('\n')
		}
		expect.Is(t, string(listed(t, b.String()).Bytes()), string(o.Bytes()))
	}
	expect.Is(t, string(listed(t, string(o.Bytes())).Bytes()), string(o.Bytes()))
}

const top = "U1,Ann,A,boss,yes,,"

// wrongWith returns what is wrong with a file.
func wrongWith(text string) (all []string) {
	_, wrong := rules.ReadOrganisation([]byte(text))
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
		"too many bytes":        {file(top) + strings.Repeat("\n", rules.MaxOrganisationBytes), []string{" csv_bytes 2"}},
		"too many rows":         {header + strings.Repeat(top+"\n", rules.MaxPosts) + top + "\n", nil},
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
			c.want = []string{fmt.Sprint(rules.MaxPosts+2, " csv_rows ", rules.MaxPosts)}
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
		expect.Is(t, string(listed(t, text).Bytes()), want, name)
	}
	other := strings.Replace(japanese, "鈴木 花", "鈴木 華", 1)
	expect.That(t, string(listed(t, other).Bytes()) != want, "a name makes no difference")
	guarded := listed(t, file(`U1,'=cmd,A,'+x,,,`)) // from a spreadsheet
	expect.Is(t, guarded.Name("U1")+guarded.All()[0].Position, "=cmd+x")
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, mail := range []string{"a", "a@", "@x.example", "a@x", "a@@x.example", "a@x.example.", "a@.x.example",
		"a@x..example", "a b@x.example", "a@x.example a", "<a@x.example>", "あ@x.example", "a@x.exa\"mple",
		"a@x.example;b@x.example", strings.Repeat("a", 245) + "@x.example", "u 1", "C0123"} {
		got := wrongWith(file(top, `"`+strings.ReplaceAll(mail, `"`, `""`)+`",Bob,A`))
		expect.That(t, len(got) == 1 && strings.HasPrefix(got[0], "3.person csv_person "), "%q: %v", mail, got)
	}
	longest := strings.Repeat("a", 244) + "@x.example"
	o := listed(t, file(top, " B@X.example ,Bob,A", longest+",Cem,A"))
	expect.That(t, o.Has("b@x.example") && o.Has(longest), "%v", o.All())
}

// A position is one position, however it is typed.
func TestAPositionIsTheSameHoweverItIsTyped(t *testing.T) {
	for typed, want := range map[string]string{
		"部　長": "部長", " 部 長 ": "部長", "営業　部長": "営業部長", "ﾏﾈｰｼﾞｬｰ": "マネージャー", "ＧＭ": "GM", "第 1 課長": "第1課長",
		"General  Manager": "General Manager", "영업 부장": "영업부장", "課長代理": "課長代理",
	} {
		o := listed(t, file("U1,One,A,\""+typed+"\""))
		expect.Is(t, o.All()[0].Position, want, typed)
		expect.That(t, o.Knows("A", typed) && o.Knows("Ａ", want) && !o.Knows("A", "長"), "%q", typed)
	}
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
		o, wrong := rules.ReadOrganisation(text)
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
			expect.That(t, !slices.Contains(chain, p.Person), "%+v", p)
			expect.That(t, !p.Main || o.Departments(p.Person)[0] == p.Department, "%+v isn't their main post", p)
		}
	})
}
