package organisation_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// twelve is a company of eleven people in three departments.
func twelve(t expect.T) *organisation.Organisation {
	t.Helper()
	return read(t, string(expect.Value(os.ReadFile("testdata/twelve.csv"))(t)))
}

func read(t expect.T, file string) *organisation.Organisation {
	t.Helper()
	o, wrong := organisation.Read([]byte(file))
	expect.Must(t, len(wrong) == 0, "%v of %s", wrong, file)
	return o
}

const header = "email,name,department,position,head,manager,main\n"

// file returns a file with the usual header and these rows, whose cells stand in the header's order.
func file(rows ...string) string { return header + strings.Join(rows, "\n") + "\n" }

func above(o *organisation.Organisation, who string) string {
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
	for _, p := range o.Posts("nakamura@midori.example") {
		posts = append(posts, fmt.Sprint(p.Department, " ", p.Position, " ", p.Main))
	}
	expect.Same(t, posts, []string{"みどり製作所/管理部 課長 true", "みどり製作所/営業部 課長 false"}) // the main post stands first
	expect.Same(t, o.Departments("nakamura@midori.example"), []string{"みどり製作所/管理部", "みどり製作所"})
	expect.Is(t, len(o.Departments("nobody")), 0)
	expect.Same(t, o.AllDepartments(), []string{"みどり製作所", "みどり製作所/営業部", "みどり製作所/管理部"})
	expect.That(t, o.Has("watanabe@haken.example") && !o.Has("x@midori.example") && !o.Has(""), "who is there")
	expect.Is(t, o.Name("watanabe@haken.example")+o.Name("U9"), "渡辺 翔U9")
	expect.Is(t, o.People(), 11)
}

func TestHoldersOfAPositionHaveItAsAnyPost(t *testing.T) {
	o := read(t, file("U1,Ann,A,boss,yes,,", "U2,Bob,A/B,chief,yes,,", "U3,Cem,A/B,chief,,,", "U5,Eve,A,,,,yes",
		"U5,Eve,A/B,chief,,,", "U7,Gus,A/B,aide,,,", "U8,Hal,A/C,chief,,,"))
	expect.Same(t, o.Holders("A/B", "chief"), []string{"U2", "U3", "U5"})
	expect.Same(t, o.Holders("Ａ／C", "ｃhief"), []string{"U8"})
	expect.Same(t, o.Holders("A/B", ""), []string{"U2"})
	expect.Is(t, len(o.Holders("A", "aide"))+len(o.Holders("A/C", "")), 0)
	expect.That(t, o.Knows("A/C", "") && o.Knows("", "aide") && o.Knows("A/B", "aide") && !o.Knows("A/C", "aide") &&
		!o.Knows("C", "") && !o.Knows("", "bos"), "what is known")
}

// staff is a company below a boss, U1 of A, in shorthand: person, department, and what is unusual.
func staff(t *testing.T, people string) *organisation.Organisation {
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
	return read(t, file(rows...))
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
		t.Run(name, func(t *testing.T) { expect.Is(t, above(staff(t, c.people), "U2"), c.want) })
	}
}

// Who takes the place of a post stands above it: over the head's own position, and over one that nobody has there, that
// is the department above.
func TestWhoStandsOverAPost(t *testing.T) {
	o := staff(t, "2 A/B 部長 head, 3 A/B 課長, 4 A/B/C 課長, 5 A/D 部長, 6 A/E 課長 head, 7 A/E 係長")
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
	o := read(t, file("U1,Ann,A/B,chief,yes,,yes", "U2,Bob,C/D,chief,yes,,yes", "U1,,C,chief,yes,,", "U2,,A,chief,yes,,",
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

// managerOf finds who stands above a person by looking at everybody.
func managerOf(o *organisation.Organisation, who string) string {
	mine := slices.DeleteFunc(o.All(), func(p organisation.Post) bool { return p.Person != who || !p.Main })
	if len(mine) == 0 || mine[0].Manager != "" {
		return append(mine, organisation.Post{})[0].Manager
	}
	leads := slices.DeleteFunc(o.All(), func(p organisation.Post) bool {
		return !p.Head || p.Person == who || !strings.HasPrefix(mine[0].Department+"/", p.Department+"/")
	})
	if len(leads) == 0 {
		return ""
	}
	return slices.MaxFunc(leads, func(a, b organisation.Post) int {
		return cmp.Compare(len(a.Department), len(b.Department))
	}).Person
}

// Chains end and never repeat anybody; each of their members is the manager of the one before.
func TestChainsOfAnyCompany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := read(t, file(drawCompany(t)...))
		below, circular := map[[2]string]bool{}, false
		for _, p := range o.All() {
			at := p.Person
			chain, top := o.Above(p.Person)
			for i, s := range chain {
				expect.Must(t, s != p.Person && !slices.Contains(chain[:i], s), "the chain of %s repeats %s", p.Person, s)
				expect.Is(t, s, managerOf(o, at), "above %s", at)
				below[[2]string{p.Person, s}], at = true, s
			}
			after := managerOf(o, at)
			repeats := after == p.Person || slices.Contains(chain, after)
			expect.That(t, after == "" || repeats, "the chain of %s ends at %s, below %s", p.Person, at, after)
			expect.Is(t, top, after == "", "the chain of %s ends at the top", p.Person)
			circular = circular || repeats && after != ""
		}
		for pair := range below {
			both := below[[2]string{pair[1], pair[0]}]
			expect.That(t, circular || !both, "%v are below each other", pair)
		}
	})
}

// What is written is read as the same, in every language.
func TestAnyCompanyIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := read(t, file(drawCompany(t)...))
		readBack(t, o)
	})
}

func readBack(t expect.T, o *organisation.Organisation) {
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
		expect.Is(t, string(read(t, b.String()).Bytes()), string(o.Bytes()))
	}
	expect.Is(t, string(read(t, string(o.Bytes())).Bytes()), string(o.Bytes()))
}
