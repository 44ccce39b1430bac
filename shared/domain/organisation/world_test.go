package organisation_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

// day reads a day that a test names.
func day(s string) organisation.Date {
	d, err := organisation.ParseDate(s)
	if err != nil {
		panic(err)
	}
	return d
}

// twelve is a company of twelve people in two departments, in which much changes on 2027-04-01.
func twelve(t expect.T) *organisation.Organisation {
	t.Helper()
	return read(t, string(expect.Value(os.ReadFile("testdata/twelve.csv"))(t)))
}

func read(t expect.T, file string) *organisation.Organisation {
	t.Helper()
	return expect.Value(organisation.Read([]byte(file)))(t)
}

const header = "employee_number,name,email,department_code,department_name,parent_department,position,rank,post," +
	"manager,employment,valid_from,valid_to\n"

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
// and others, some of them from or until a day, some with second posts, contractors and named managers.
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
		position, rank, manager, kind, from := "", "", "", "社員", ""
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
		if i%perDepartment > 1 && random.IntN(4) == 0 {
			from = fmt.Sprintf("20%02d-%02d-01", 10+random.IntN(18), 1+random.IntN(12))
		}
		rows = append(rows, []string{number(i), fmt.Sprintf("山田 %d郎", i), fmt.Sprintf("p%d@example.com", i), code, name,
			parent, position, rank, "主務", manager, kind, from, ""})
		if i > perDepartment && random.IntN(10) == 0 {
			code, name, parent = department(random.IntN(i / perDepartment))
			rows = append(rows, []string{number(i), "", "", code, name, parent, "委員", "", "兼務", "", "", from, ""})
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

// asShown returns what a chart says, without the days from which and until which it does.
func asShown(c *organisation.Chart) string {
	var b strings.Builder
	for _, d := range c.Departments() {
		fmt.Fprintln(&b, d.Code, d.Name, d.Parent, d.Unstated)
	}
	for _, p := range c.People() {
		fmt.Fprintln(&b, p.Number, p.Name, p.Mails, p.Kind, p.Manager)
		for _, x := range c.Posts(p.Number) {
			fmt.Fprintln(&b, "-", x.Department, x.Position, x.Main)
		}
	}
	return b.String()
}
