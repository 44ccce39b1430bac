package organisation

import (
	"cmp"
	"maps"
	"slices"
)

// Chart is an organisation on one day.
type Chart struct {
	day         Date
	people      map[string]Person
	posts       map[string][]Post // by number
	departments map[string]Department
	members     map[string][]Post // by department, those who lead first
	ranks       map[string]int    // by position
	adrift      map[string]bool   // departments of which nobody knows what is above them
}

// Chart returns the organisation on a day, which is one of the tenant's zone.
func (o *Organisation) Chart(day Date) *Chart {
	c := &Chart{
		day: day, people: map[string]Person{}, posts: map[string][]Post{}, departments: map[string]Department{},
		members: map[string][]Post{}, ranks: map[string]int{}, adrift: map[string]bool{},
	}
	for _, p := range o.positions {
		c.ranks[p.Name] = p.Rank
	}
	for _, d := range o.departments {
		if d.Has(day) {
			c.departments[d.Code] = d
		}
	}
	c.unstated(o)
	for _, p := range o.people {
		if p.Has(day) {
			c.people[p.Number] = p
		}
	}
	for _, p := range o.posts {
		if p.Has(day) {
			c.posts[p.Number] = append(c.posts[p.Number], p)
			c.members[p.Department] = append(c.members[p.Department], p)
		}
	}
	for _, all := range c.members {
		slices.SortFunc(all, c.byRank)
	}
	return c
}

// unstated adds the departments that the day only names as the parent of others: who led them alone may have left.
// Their name and parent are those of their last day before, else of the first after, else unknown.
func (c *Chart) unstated(o *Organisation) {
	for {
		var codes []string
		for _, d := range c.departments {
			if _, ok := c.departments[d.Parent]; !ok && d.Parent != "" {
				codes = append(codes, d.Parent)
			}
		}
		if len(codes) == 0 {
			return
		}
		slices.Sort(codes)
		for _, code := range slices.Compact(codes) {
			d := o.nearest(code, c.day)
			adrift := d.Code == ""
			if slices.ContainsFunc(c.Path(d.Parent), func(x Department) bool { return x.Parent == code }) {
				d.Parent, adrift = "", true // it has come to stand below itself meanwhile
			}
			c.departments[code] = Department{Code: code, Name: d.Name, Parent: d.Parent, Unstated: true}
			c.adrift[code] = adrift
		}
	}
}

// byRank orders posts of a department: by rank, main posts first, then by number. So it is decided, though arbitrary,
// who of two with one rank leads; Gaps names them.
func (c *Chart) byRank(a, b Post) int {
	main := func(p Post) int {
		if p.Main {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(c.rank(a), c.rank(b)), cmp.Compare(main(a), main(b)), cmp.Compare(a.Number, b.Number),
		cmp.Compare(a.Position, b.Position))
}

// unranked is the rank of a post without one.
const unranked = MaxRank + 1

func (c *Chart) rank(p Post) int {
	if rank := c.ranks[p.Position]; rank > 0 {
		return rank
	}
	return unranked
}

// Day returns the day that the chart shows.
func (c *Chart) Day() Date { return c.day }

// Person returns a person by number; false if they don't work for the tenant on that day.
func (c *Chart) Person(number string) (Person, bool) {
	p, ok := c.people[number]
	return p, ok
}

// People returns everybody, by number.
func (c *Chart) People() []Person {
	return slices.SortedFunc(maps.Values(c.people), func(a, b Person) int { return cmp.Compare(a.Number, b.Number) })
}

// Departments returns all departments, by code.
func (c *Chart) Departments() []Department {
	return slices.SortedFunc(maps.Values(c.departments), func(a, b Department) int { return cmp.Compare(a.Code, b.Code) })
}

// Posts returns a person's posts, the main one first.
func (c *Chart) Posts(number string) []Post {
	all := slices.Clone(c.posts[number])
	slices.SortStableFunc(all, func(a, b Post) int {
		switch {
		case a.Main == b.Main:
			return 0
		case a.Main:
			return -1
		}
		return 1
	})
	return all
}

// Main returns a person's main post. Its department is the one that counts for what they ask for.
func (c *Chart) Main(number string) (Post, bool) {
	for _, p := range c.posts[number] {
		if p.Main {
			return p, true
		}
	}
	return Post{}, false
}

// Path returns a department and those above it, the topmost last.
func (c *Chart) Path(code string) (all []Department) {
	for {
		d, ok := c.departments[code]
		if !ok || slices.ContainsFunc(all, func(x Department) bool { return x.Code == code }) {
			return all
		}
		all, code = append(all, d), d.Parent
	}
}

// Holder is a person with all their posts, the main one first.
type Holder struct {
	Person
	Posts []Post
}

// HoldersOf returns who has a position in a department, also as a second post, by number. Without kinds it returns
// employees only.
func (c *Chart) HoldersOf(position, department string, of ...Kind) (all []Holder) {
	position, department = posted(position), folded(department)
	for _, post := range c.members[department] {
		if p := c.people[post.Number]; post.Position == position && counts(p.Kind, of) {
			all = append(all, Holder{p, c.Posts(p.Number)})
		}
	}
	slices.SortFunc(all, func(a, b Holder) int { return cmp.Compare(a.Number, b.Number) })
	return all
}

// counts reports whether a person of a kind is among those who were asked for: employees unless kinds are given.
func counts(kind Kind, of []Kind) bool {
	if len(of) == 0 {
		return kind == Employee
	}
	return slices.Contains(of, kind)
}
