package organisation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

// drawn is a row of a small file, in which much meets: three people, three departments.
type drawn struct {
	number, name, department, departmentName, parent, position, manager, kind string
	main                                                                      bool
}

func (d drawn) cells() []string {
	main := "concurrent"
	if d.main {
		main = "main"
	}
	if d.number == "" {
		main = ""
	}
	return []string{d.number, d.name, "", d.department, d.departmentName, d.parent, d.position, "", main, d.manager,
		d.kind}
}

func draw(t *rapid.T) drawn {
	of := func(label string, values ...string) string { return rapid.SampledFrom(values).Draw(t, label) }
	d := drawn{
		department: of("department", "A", "B", "C"), parent: of("parent", "", "", "A", "B", "C"),
		departmentName: of("called", "", "", "d", "e"),
	}
	if d.number = of("number", "", "1", "1", "2", "3"); d.number != "" {
		d.name, d.kind = of("name", "n", "n", "n", "m", ""), of("kind", "employee", "employee", "employee", "contractor", "")
		d.manager = of("manager", "", "", "", "1", "2", "3")
		d.position, d.main = of("position", "", "p"), rapid.IntRange(0, 3).Draw(t, "main") > 0
	}
	return d
}

// sayOf returns what rows say of one field, and false if they don't agree.
func sayOf(rows []drawn, which func(drawn) bool, value func(drawn) string) (said string, agree bool) {
	agree = true
	for _, r := range rows {
		if v := value(r); which(r) && v != "" {
			agree = agree && (said == "" || said == v)
			said = v
		}
	}
	return said, agree
}

// expected looks at rows one field at a time: whether they are valid, and what the organisation then shows.
func expected(rows []drawn) (shown string, valid bool) {
	var b strings.Builder
	valid = true
	parents, managers, departments := map[string]string{}, map[string]string{}, map[string][]string{}
	for _, code := range []string{"A", "B", "C"} {
		its := func(r drawn) bool { return r.department == code }
		if !slices.ContainsFunc(rows, its) {
			continue
		}
		name, agree := sayOf(rows, its, func(r drawn) string { return r.departmentName })
		parent, agreeAbove := sayOf(rows, its, func(r drawn) string { return r.parent })
		parents[code] = parent
		known := parent == "" || slices.ContainsFunc(rows, func(r drawn) bool { return r.department == parent })
		valid = valid && agree && agreeAbove && known
		departments[code] = []string{name, parent}
	}
	if circular(parents) {
		return "", false
	}
	for _, code := range slices.Sorted(maps.Keys(departments)) {
		fmt.Fprintln(&b, code, strings.Join(departments[code], " "))
	}
	for _, number := range []string{"1", "2", "3"} {
		its := func(r drawn) bool { return r.number == number }
		if !slices.ContainsFunc(rows, its) {
			continue
		}
		name, agree := sayOf(rows, its, func(r drawn) string { return r.name })
		kind, agreeKind := sayOf(rows, its, func(r drawn) string { return r.kind })
		manager, agreeAbove := sayOf(rows, its, func(r drawn) string { return r.manager })
		managers[number] = manager
		isKnown := manager == "" || slices.ContainsFunc(rows, func(r drawn) bool { return r.number == manager })
		valid = valid && agree && agreeKind && agreeAbove && isKnown && name != "" && kind != ""
		fmt.Fprintln(&b, number, name, []string{}, kind, manager)
		valid = expectedPosts(&b, rows, number) && valid
	}
	return b.String(), valid && !circular(managers)
}

func expectedPosts(b *strings.Builder, rows []drawn, number string) (valid bool) {
	mains, seen := 0, map[string]bool{}
	var lines []string
	valid = true
	for _, r := range rows {
		if r.number != number {
			continue
		}
		place := r.department + " " + r.position
		valid = valid && !seen[place]
		seen[place] = true
		if r.main {
			mains++
		}
		lines = append(lines, fmt.Sprintf("%t - %s %t\n", !r.main, place, r.main)) // the main post sorts first
	}
	slices.Sort(lines)
	for _, line := range lines {
		_, line, _ = strings.Cut(line, " ")
		b.WriteString(line)
	}
	return valid && mains == 1
}

func circular(above map[string]string) bool {
	for from := range above {
		at := above[from]
		for range above {
			if at == from {
				return true
			}
			at = above[at]
		}
	}
	return false
}

// A file is taken if and only if it is valid, and shows what its rows say.
func TestAFileIsTakenIfItIsValid(t *testing.T) {
	taken, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(draw), 1, rapid.SampledFrom([]int{2, 3, 5}).Draw(t, "most")).Draw(t, "rows")
		var cells [][]string
		for _, r := range rows {
			cells = append(cells, r.cells())
		}
		o, err := organisation.Read([]byte(written(cells)))
		want, valid := expected(rows)
		expect.Must(t, valid == (err == nil), "valid: %v, but %v", valid, err)
		if !valid {
			refused++
			_, ok := errors.AsType[organisation.Problems](err)
			expect.That(t, ok, "%v", err)
			return
		}
		taken++
		expect.Is(t, asShown(o), want)
	})
	t.Logf("%d taken, %d refused", taken, refused)
	expect.That(t, taken > 0 && refused > 0 || testing.Short(), "%d taken, %d refused", taken, refused) // short: few tries
}

// twelve is a company of eleven people in three departments.
func twelve(t expect.T) *organisation.Organisation {
	t.Helper()
	return read(t, string(expect.Value(os.ReadFile("testdata/twelve.csv"))(t)))
}

func read(t expect.T, file string) *organisation.Organisation {
	t.Helper()
	return expect.Value(organisation.Read([]byte(file)))(t)
}

const header = "employee_number,name,email,department_code,department_name,parent_department,position,rank,post," +
	"manager,employment\n"

// file returns a file with the usual header and these rows, whose cells stand in the header's order.
func file(rows ...string) string { return header + strings.Join(rows, "\n") + "\n" }

// written returns a file with these rows.
func written(rows [][]string) string {
	var lines []string
	for _, r := range rows {
		lines = append(lines, strings.Join(r, ","))
	}
	return file(lines...)
}

// numbersOf returns the numbers of superiors.
func numbersOf(all []organisation.Superior) string {
	var numbers []string
	for _, s := range all {
		numbers = append(numbers, s.Number)
	}
	return strings.Join(numbers, " ")
}

// company makes the rows of a company: a tree of departments with up to three below each, each with a head, a deputy
// and others, some of them with second posts, contractors and named managers.
func company(people int, random *rand.Rand) (rows [][]string) {
	const perDepartment = 12
	department := func(i int) (code, name, parent string) {
		if i > 0 {
			parent = fmt.Sprintf("D%04d", (i-1)/3)
		}
		return fmt.Sprintf("D%04d", i), fmt.Sprintf("第%d部", i), parent
	}
	for i := range people {
		code, name, parent := department(i / perDepartment)
		position, rank, manager, kind := "", "", "", "社員"
		switch place := i % perDepartment; {
		case i == 0:
			position, rank = "社長", "1"
		case place == 0:
			position, rank = "部長", "2"
		case place == 1:
			position, rank = "課長", "3"
		case random.IntN(5) == 0:
			manager = number(i - place + 1)
		case random.IntN(8) == 0:
			kind = "派遣"
		}
		rows = append(rows, []string{number(i), fmt.Sprintf("山田 %d郎", i), fmt.Sprintf("p%d@example.com", i), code, name,
			parent, position, rank, "主務", manager, kind})
		if i > perDepartment && random.IntN(10) == 0 {
			code, name, parent = department(random.IntN(i / perDepartment))
			rows = append(rows, []string{number(i), "", "", code, name, parent, "委員", "", "兼務", "", ""})
		}
	}
	return rows
}

func number(i int) string { return fmt.Sprintf("E%05d", i) }

func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// encoded returns a value as JSON.
func encoded(t expect.T, v any) string {
	t.Helper()
	return string(expect.Value(json.Marshal(v))(t))
}

// asShown returns what an organisation says.
func asShown(c *organisation.Organisation) string {
	var b strings.Builder
	for _, d := range c.Departments() {
		fmt.Fprintln(&b, d.Code, d.Name, d.Parent)
	}
	for _, p := range c.People() {
		fmt.Fprintln(&b, p.Number, p.Name, p.Mails, p.Kind, p.Manager)
		for _, x := range c.Posts(p.Number) {
			fmt.Fprintln(&b, "-", x.Department, x.Position, x.Main)
		}
	}
	return b.String()
}
