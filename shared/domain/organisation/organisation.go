// Package organisation holds who works for a tenant: people, their posts, departments and superiors. It reads them from
// one CSV file, checks them, and says who stands above whom.
//
// A row of the file is one post of one person. A row without employee number describes a department only; a department
// without posts of its own needs one. The columns stand in any order, named in Japanese or English (columns.go); other
// columns are ignored:
//
//   - employee_number is the identity of a person: one number never means two people, and accounts are matched to it.
//   - name, email (several with ; or line breaks between), employment and manager belong to the person. Rows must agree
//     on them, or leave them empty. Addresses of all rows add up.
//   - department_name and parent_department (a code) belong to the department, by the same rule. A parent has a
//     row, too.
//   - rank belongs to the position: 1 is the highest, and a position without rank leads nobody.
//   - post says whether it is the person's main post, which it is unless said otherwise. Each person has exactly one
//     main post.
package organisation

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// Position is what posts are called, and where they stand among others.
type Position struct {
	Name string `json:"name"`
	Rank int    `json:"rank,omitempty"` // 1 is the highest; 0 is none, below all others
}

// Department is a department.
type Department struct {
	Code   string `json:"code"`
	Name   string `json:"name,omitempty"`
	Parent string `json:"parent,omitempty"` // code; none at the top
}

// Person is a person.
type Person struct {
	Number  string   `json:"number"`
	Name    string   `json:"name"`
	Mails   []string `json:"mails,omitempty"` // sorted
	Kind    Kind     `json:"kind"`
	Manager string   `json:"manager,omitempty"` // number, where the file names one
}

// Post is what a person does in a department.
type Post struct {
	Number     string `json:"number"`
	Department string `json:"department"`
	Position   string `json:"position,omitempty"`
	Main       bool   `json:"main,omitempty"`
}

// Organisation is who works for a tenant. It doesn't change once it is made. Two of them that say the same are equal,
// whatever the rows of their files.
type Organisation struct {
	positions   []Position   // by name
	departments []Department // by code
	people      []Person     // by number
	posts       []Post       // by number, department and position

	byNumber map[string]Person
	byCode   map[string]Department
	held     map[string][]Post // by number
	members  map[string][]Post // by department, those who lead first
	ranks    map[string]int    // by position
}

// sort brings everything into the order of Canonical, and indexes it. Package slices would link its sort once more for
// each type into each function that reads an organisation: 10 to 20 kB each.
func (o *Organisation) sort() {
	sort.Slice(o.positions, func(i, j int) bool { return o.positions[i].Name < o.positions[j].Name })
	sort.Slice(o.departments, func(i, j int) bool { return o.departments[i].Code < o.departments[j].Code })
	sort.Slice(o.people, func(i, j int) bool { return o.people[i].Number < o.people[j].Number })
	sort.Slice(o.posts, func(i, j int) bool {
		a, b := &o.posts[i], &o.posts[j]
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Department, b.Department),
			cmp.Compare(a.Position, b.Position)) < 0
	})
	o.byNumber, o.byCode, o.ranks = map[string]Person{}, map[string]Department{}, map[string]int{}
	o.held, o.members = map[string][]Post{}, map[string][]Post{}
	for _, p := range o.positions {
		o.ranks[p.Name] = p.Rank
	}
	for _, d := range o.departments {
		o.byCode[d.Code] = d
	}
	for _, p := range o.people {
		o.byNumber[p.Number] = p
	}
	for _, p := range o.posts {
		o.held[p.Number] = append(o.held[p.Number], p)
		o.members[p.Department] = append(o.members[p.Department], p)
	}
	for _, all := range o.members {
		sort.Slice(all, func(i, j int) bool { return o.byRank(all[i], all[j]) < 0 })
	}
}

// byRank orders posts of a department: by rank, main posts first, then by number. So it is decided, though arbitrary,
// who of two with one rank leads.
func (o *Organisation) byRank(a, b Post) int {
	main := func(p Post) int {
		if p.Main {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(o.rank(a), o.rank(b)), cmp.Compare(main(a), main(b)), cmp.Compare(a.Number, b.Number),
		cmp.Compare(a.Position, b.Position))
}

// NameOf returns what a department is called, or its code if it has no name.
func (o *Organisation) NameOf(code string) string { return cmp.Or(o.byCode[folded(code)].Name, code) }

// Name returns a person's name; none for a stranger.
func (o *Organisation) Name(number string) string { return o.byNumber[number].Name }

// Person returns a person by number; false if they don't work for the tenant.
func (o *Organisation) Person(number string) (Person, bool) {
	p, ok := o.byNumber[number]
	return p, ok
}

// People returns everybody, by number.
func (o *Organisation) People() []Person { return slices.Clone(o.people) }

// Departments returns all departments, by code.
func (o *Organisation) Departments() []Department { return slices.Clone(o.departments) }

// Search finds people by number, a part of their name, or an address. Blanks in names don't matter.
func (o *Organisation) Search(text string) (all []Person) {
	folded := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }
	want := folded(text)
	for _, p := range o.people {
		if strings.EqualFold(p.Number, want) || strings.Contains(folded(p.Name), want) ||
			slices.Contains(p.Mails, want) {
			all = append(all, p)
		}
	}
	return all
}

// Has reports whether there is a department and, if one is given, a position in it: without a department, in any.
func (o *Organisation) Has(department, position string) bool {
	department, position = folded(department), Posted(position)
	if position != "" {
		return slices.ContainsFunc(o.posts, func(p Post) bool {
			return (department == "" || p.Department == department) && p.Position == position
		})
	}
	_, is := o.byCode[department]
	return is
}
