package organisation_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/organisation"
	"ringi/shared/runtime/expect"
)

// ranks are the positions of drawn companies.
var ranks = map[string]int{"": 0, "adviser": 0, "boss": 1, "chief": 2, "deputy": 3, "clerk": 9}

// drawCompany draws the rows of a valid company. Managers have smaller numbers.
func drawCompany(t *rapid.T) (rows [][]string) {
	departments := rapid.IntRange(1, 5).Draw(t, "departments")
	for i := range departments {
		parent := ""
		if i > 0 && rapid.IntRange(0, 3).Draw(t, "below") > 0 {
			parent = code(rapid.IntRange(0, i-1).Draw(t, "parent"))
		}
		rows = append(rows, []string{"", "", "", code(i), "", parent, "", "", "", "", ""})
	}
	for i := range rapid.IntRange(1, 8).Draw(t, "people") {
		rows = append(rows, drawPosts(t, i, departments)...)
	}
	return rows
}

func code(i int) string { return string(rune('A' + i)) }

// drawPosts draws what a person does.
func drawPosts(t *rapid.T, person, departments int) (rows [][]string) {
	position := rapid.SampledFrom([]string{"", "adviser", "boss", "chief", "deputy", "clerk"})
	manager := ""
	if person > 0 && rapid.IntRange(0, 3).Draw(t, "named") == 0 {
		manager = strconv.Itoa(rapid.IntRange(0, person-1).Draw(t, "manager"))
	}
	kind := rapid.SampledFrom([]string{"employee", "employee", "contractor"}).Draw(t, "kind")
	seen := map[string]bool{}
	for n := range rapid.IntRange(1, 3).Draw(t, "posts") {
		department, called := code(rapid.IntRange(0, departments-1).Draw(t, "department")), position.Draw(t, "position")
		if seen[department+called] {
			continue
		}
		seen[department+called] = true
		rank, post := "", "concurrent"
		if ranks[called] > 0 {
			rank = strconv.Itoa(ranks[called])
		}
		if n == 0 {
			post = "main"
		}
		rows = append(rows, []string{strconv.Itoa(person), fmt.Sprintf("P%d", person), "", department, "", "", called, rank,
			post, manager, kind})
	}
	return rows
}

// managerOf finds who stands above a person by looking at everybody.
func managerOf(c *organisation.Organisation, p organisation.Person) string {
	if _, here := c.Person(p.Manager); here {
		return p.Manager
	}
	main, _ := c.Main(p.Number)
	rank := func(position string) int { return cmp.Or(ranks[position], 1000) }
	for i, d := range c.Path(main.Department) {
		type leader struct {
			organisation.Post
			second int
		}
		var all []leader
		for _, other := range c.People() {
			for n, post := range c.Posts(other.Number) {
				if post.Department == d.Code && ranks[post.Position] > 0 {
					all = append(all, leader{post, min(n, 1)})
				}
			}
		}
		slices.SortFunc(all, func(a, b leader) int {
			return cmp.Or(rank(a.Position)-rank(b.Position), a.second-b.second, cmp.Compare(a.Number, b.Number))
		})
		if len(all) > 0 && all[0].Number != p.Number {
			if at := rank(all[0].Position); at < rank(main.Position) || i > 0 && at == rank(main.Position) {
				return all[0].Number
			}
		}
	}
	return ""
}

// Chains end and never repeat anybody; each of their members is the manager of the one before.
func TestChainsOfAnyCompany(t *testing.T) {
	cycles := 0
	rapid.Check(t, func(t *rapid.T) {
		chart := read(t, written(drawCompany(t)))
		above, circular := map[string][]string{}, false
		for _, p := range chart.People() {
			at := p.Number
			chain, top := chart.Above(p.Number)
			for _, s := range chain {
				expect.Must(t, s.Number != p.Number && !slices.Contains(above[p.Number], s.Number), "the chain of %s repeats %s",
					p.Number, s.Number)
				member, _ := chart.Person(at)
				expect.Is(t, s.Number, managerOf(chart, member), "above %s", at)
				above[p.Number], at = append(above[p.Number], s.Number), s.Number
			}
			last, _ := chart.Person(at)
			after := managerOf(chart, last)
			repeats := after == p.Number || slices.Contains(above[p.Number], after)
			expect.That(t, after == "" || repeats, "the chain of %s ends at %s, below %s", p.Number, at, after)
			expect.Is(t, top, after == "", "the chain of %s ends at the top", p.Number)
			circular = circular || repeats && after != ""
		}
		if circular {
			cycles++
		}
		for _, a := range chart.People() {
			for _, b := range chart.People() {
				both := slices.Contains(above[a.Number], b.Number) && slices.Contains(above[b.Number], a.Number)
				expect.That(t, circular || !both, "%s and %s are below each other", a.Number, b.Number)
			}
		}
	})
	t.Logf("%d companies had a cycle", cycles)
}

// What is written is read as the same, in whatever order its rows stood.
func TestAnyCompanyIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawCompany(t)
		o := read(t, written(rows))
		again := expect.Value(organisation.Assemble(o.Batches()))(t)
		shuffled := read(t, written(rapid.Permutation(rows).Draw(t, "shuffled")))
		for _, other := range []*organisation.Organisation{again, shuffled} {
			expect.Is(t, string(other.Canonical()), string(o.Canonical()))
			expect.Is(t, other.SHA256(), o.SHA256())
			expect.Is(t, asShown(other), asShown(o))
		}
	})
}
