// Package organisation holds who works for a tenant: people, their posts, departments and superiors, each for a period
// of days. It reads them from a CSV file, checks them, and says for any day who stands above whom.
//
// A row of the file is one post of one person. A row without employee number describes a department only; a department
// without posts of its own needs one. The columns stand in any order, named in Japanese or English (columns.go):
//
//   - employee_number is the identity of a person: one number never means two people, and accounts are matched to it.
//   - name, email (several with ; or line breaks between), employment and manager belong to the person. Rows that hold
//     on the same day must agree on them, or leave them empty. Addresses of all rows add up, whatever their days.
//   - department_name and parent_department (a code) belong to the department, by the same rule. A department exists on
//     the days on which one of its rows holds, and has no name but its code where no row names it. Where it is only
//     named as a parent it exists, too: Gaps says so, as its own parent is then that of other days, or unknown.
//   - rank belongs to the position: 1 is the highest, and a position without rank leads nobody.
//   - post says whether it is the person's main post, which it is unless said otherwise. Each person has exactly one
//     main post on each day.
//   - status says that the person is away: on leave, or sent to another company. On those days they count as nobody's
//     superior, hold no post, and stamp nothing.
//   - valid_from and valid_to are the first and the last day on which the row holds; empty means without bound. Days
//     are those of the tenant's zone. No function of this package asks what day it is.
package organisation

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"
)

// Position is what posts are called, and where they stand among others.
type Position struct {
	Name string `json:"name"`
	Rank int    `json:"rank,omitempty"` // 1 is the highest; 0 is none, below all others
}

// Department is a department on some days.
type Department struct {
	Code   string `json:"code"`
	Name   string `json:"name,omitempty"`
	Parent string `json:"parent,omitempty"` // code; none at the top
	Period
	Unstated bool `json:"-"` // of a chart: no row of it holds on the day, others only name it as their parent
}

// Person is a person on some days.
type Person struct {
	Number  string   `json:"number"`
	Name    string   `json:"name"`
	Mails   []string `json:"mails,omitempty"` // the same on all days, sorted
	Kind    Kind     `json:"kind"`
	Manager string   `json:"manager,omitempty"` // number, where the file names one
	Away    bool     `json:"away,omitempty"`    // on leave, or sent to another company
	Period
}

// Post is what a person does in a department on some days.
type Post struct {
	Number     string `json:"number"`
	Department string `json:"department"`
	Position   string `json:"position,omitempty"`
	Main       bool   `json:"main,omitempty"`
	Period
}

// Organisation is one version of who works for a tenant, on all days. It doesn't change once it is made. Two of them
// that say the same of each day are equal, whatever the rows of their files.
type Organisation struct {
	positions   []Position   // by name
	departments []Department // by code, then by day
	people      []Person     // by number, then by day
	posts       []Post       // by number, department, position, then by day
	days        []Date       // on which something differs from the day before
}

// sort brings everything into the order of Canonical. Package slices would link its sort once more for each type into
// each function that reads an organisation: 10 to 20 kB each.
func (o *Organisation) sort() {
	sort.Slice(o.positions, func(i, j int) bool { return o.positions[i].Name < o.positions[j].Name })
	sort.Slice(o.departments, func(i, j int) bool {
		a, b := &o.departments[i], &o.departments[j]
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.From, b.From)) < 0
	})
	sort.Slice(o.people, func(i, j int) bool {
		a, b := &o.people[i], &o.people[j]
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.From, b.From)) < 0
	})
	sort.Slice(o.posts, func(i, j int) bool {
		a, b := &o.posts[i], &o.posts[j]
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Department, b.Department),
			cmp.Compare(a.Position, b.Position), cmp.Compare(a.From, b.From)) < 0
	})
	o.days = nil
	for _, p := range o.periods() {
		o.days = append(o.days, p.From) // 0 lies before each day that anybody asks for
		if p.To > 0 {
			o.days = append(o.days, p.end())
		}
	}
	slices.Sort(o.days)
	o.days = slices.Compact(o.days)
}

func (o *Organisation) periods() (all []Period) {
	for _, d := range o.departments {
		all = append(all, d.Period)
	}
	for _, p := range o.people {
		all = append(all, p.Period)
	}
	for _, p := range o.posts {
		all = append(all, p.Period)
	}
	return all
}

// nearest returns what is said of a department on the last of its days before a day on which it has none, else on the
// first after it.
func (o *Organisation) nearest(code string, day Date) Department {
	first := func(d Department, c string) int { return cmp.Compare(d.Code, c) }
	i, _ := slices.BinarySearchFunc(o.departments, code, first)
	var near Department
	for _, d := range o.departments[i:] {
		if d.Code != code || near.Code != "" && d.From > day {
			break
		}
		near = d
	}
	return near
}

// NameOf returns what a department is called on the last of its days, or its code if it has no name then.
func (o *Organisation) NameOf(code string) string {
	return cmp.Or(o.nearest(folded(code), math.MaxInt32).Name, code)
}

// NextChange returns the first day after another on which anything differs from the day before; false if nothing
// changes any more.
func (o *Organisation) NextChange(after Date) (Date, bool) {
	i, found := slices.BinarySearch(o.days, after)
	if found {
		i++
	}
	if i == len(o.days) {
		return 0, false
	}
	return o.days[i], true
}

// of returns the phases of a person.
func (o *Organisation) of(number string) []Person {
	i, _ := slices.BinarySearchFunc(o.people, number, func(p Person, n string) int { return cmp.Compare(p.Number, n) })
	n := i
	for n < len(o.people) && o.people[n].Number == number {
		n++
	}
	return o.people[i:n]
}

// Everybody returns each person of any day once, as they are on the last of their days, by number.
func (o *Organisation) Everybody() (all []Person) {
	for i, p := range o.people {
		if i+1 == len(o.people) || o.people[i+1].Number != p.Number {
			all = append(all, p)
		}
	}
	return all
}

// Search finds people of any day by number, a part of their name, or an address. Blanks in names don't matter.
func (o *Organisation) Search(text string) (all []Person) {
	folded := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }
	want := folded(text)
	for _, p := range o.Everybody() {
		if strings.EqualFold(p.Number, want) || strings.Contains(folded(p.Name), want) ||
			slices.Contains(p.Mails, want) {
			all = append(all, p)
		}
	}
	return all
}

// ByNumber puts 2 before 10, and all numbers before what else people are told apart by.
func ByNumber(a, b Person) int {
	length := func(s string) int {
		if strings.Trim(s, "0123456789") != "" {
			return math.MaxInt
		}
		return len(s)
	}
	return cmp.Or(cmp.Compare(length(a.Number), length(b.Number)), strings.Compare(a.Number, b.Number))
}

// Away returns who is away on a day, by number.
func (o *Organisation) Away(day Date) (all []Person) {
	for _, p := range o.people {
		if p.Away && p.Has(day) {
			all = append(all, p)
		}
	}
	return all
}

// AwayPosts returns the posts of whoever is away on a day.
func (o *Organisation) AwayPosts(day Date) (all []Post) {
	away := map[string]bool{}
	for _, p := range o.Away(day) {
		away[p.Number] = true
	}
	for _, p := range o.posts {
		if away[p.Number] && p.Has(day) {
			all = append(all, p)
		}
	}
	return all
}

// AwayFrom returns who is away from a position of a department on a day, by number; without a position, who is away.
func (o *Organisation) AwayFrom(position, department string, day Date) (numbers []string) {
	position, department = Posted(position), folded(department)
	for _, p := range o.AwayPosts(day) {
		if (position == "" || p.Position == position && p.Department == department) && !slices.Contains(numbers, p.Number) {
			numbers = append(numbers, p.Number)
		}
	}
	return numbers
}

// OnlyIn returns the code of the department in which alone people hold these positions, or "": also where everybody's
// department is it, or below it.
func (c *Chart) OnlyIn(positions []string) (only string) {
	for department, posts := range c.members {
		for _, p := range posts {
			held := func(position string) bool { return Posted(position) == p.Position }
			switch {
			case !slices.ContainsFunc(positions, held):
			case only != "" && only != department:
				return ""
			default:
				only = department
			}
		}
	}
	for department := range c.members {
		of := func(d Department) bool { return d.Code == only }
		if only != "" && !slices.ContainsFunc(c.Path(department), of) {
			return only
		}
	}
	return ""
}

// AwayAbove returns who would stand directly above a person on a day but is away, by number: the manager whom the file
// names, else who would lead the department whose head does so now, or one that is nearer.
func (c *Chart) AwayAbove(number string) (numbers []string) {
	p, here := c.people[number]
	post, placed := c.Main(number)
	if _, away := c.away[p.Manager]; away {
		return []string{p.Manager}
	}
	if _, named := c.people[p.Manager]; !here || !placed || named && p.Manager != number {
		return nil
	}
	lowest := c.rank(post) - 1
	for _, d := range c.Path(post.Department) {
		least, head, led := lowest, Post{}, false
		if head, led = c.head(d.Code); led {
			least = min(least, c.rank(head)-1)
		}
		for _, x := range c.left[d.Code] {
			switch rank := c.rank(x); {
			case rank == unranked || rank > least:
			case rank < least || numbers == nil:
				numbers, least = []string{x.Number}, rank
			case !slices.Contains(numbers, x.Number):
				numbers = append(numbers, x.Number)
			}
		}
		if numbers != nil || led && head.Number != number && c.rank(head) <= lowest {
			break
		}
		lowest = c.rank(post)
	}
	return numbers
}

// top reports whether a person may have nobody above them: who has the highest rank in a department without parent.
func (c *Chart) top(number string) bool {
	return slices.ContainsFunc(c.posts[number], func(p Post) bool {
		first, ok := c.head(p.Department)
		return ok && c.departments[p.Department].Parent == "" && c.rank(p) == c.rank(first)
	})
}

// Name returns a person's name on a day, or on the last of their days if they aren't there; none for a stranger.
func (o *Organisation) Name(number string, day Date) string {
	phases := o.of(number)
	if p, here := on(phases, day); here || len(phases) == 0 {
		return p.Name
	}
	return phases[len(phases)-1].Name
}

// Has reports whether any day has a department, also one that is only named as a parent, and a position in it if one is
// given.
func (o *Organisation) Has(department, position string) bool {
	department, position = folded(department), Posted(position)
	if position != "" {
		return slices.ContainsFunc(o.posts, func(p Post) bool {
			return (department == "" || p.Department == department) && p.Position == position
		})
	}
	return department != "" && slices.ContainsFunc(o.departments, func(d Department) bool {
		return d.Code == department || d.Parent == department
	})
}

// Presence says whether a person works for the tenant on a day.
type Presence string

const (
	Stranger Presence = ""      // there is no row of them
	Later    Presence = "later" // they begin on a later day
	Here     Presence = "here"
	Away     Presence = "away" // they have a row, but hold no post
	Left     Presence = "left" // also if they come back on a later day
)

// Presence returns whether a person works for the tenant on a day.
func (o *Organisation) Presence(number string, day Date) Presence {
	phases := o.of(number)
	phase, here := on(phases, day)
	switch {
	case here && phase.Away:
		return Away
	case here:
		return Here
	case len(phases) == 0:
		return Stranger
	case day < phases[0].From:
		return Later
	}
	return Left
}

// NameChange is a number whose name differs from a day on. The person may have married, or the number was given to
// another person, who would be taken for the first: no file tells these apart, so people have to look.
type NameChange struct {
	Number string `json:"number"`
	Was    string `json:"was"`
	Is     string `json:"is"`
	On     Date   `json:"on"`
}

// NameChanges returns all numbers whose name differs, by number, then by day.
func (o *Organisation) NameChanges() (all []NameChange) {
	for i, p := range o.people {
		if i > 0 && o.people[i-1].Number == p.Number && o.people[i-1].Name != p.Name {
			all = append(all, NameChange{p.Number, o.people[i-1].Name, p.Name, p.From})
		}
	}
	return all
}
