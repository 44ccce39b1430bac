package organisation

import (
	"cmp"
	"maps"
	"slices"
	"sort"
)

// Chart is an organisation on one day. Whoever is away is none of its people.
type Chart struct {
	day         Date
	people      map[string]Person
	away        map[string]Person
	posts       map[string][]Post // by number
	left        map[string][]Post // of whoever is away, by department
	departments map[string]Department
	members     map[string][]Post // by department, those who lead first
	ranks       map[string]int    // by position
	adrift      map[string]bool   // departments of which nobody knows what is above them
}

// Chart returns the organisation on a day, which is one of the tenant's zone.
func (o *Organisation) Chart(day Date) *Chart {
	c := &Chart{
		day: day, people: map[string]Person{}, away: map[string]Person{}, posts: map[string][]Post{},
		left: map[string][]Post{}, departments: map[string]Department{}, members: map[string][]Post{},
		ranks: map[string]int{}, adrift: map[string]bool{},
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
		switch {
		case p.Has(day) && p.Away:
			c.away[p.Number] = p
		case p.Has(day):
			c.people[p.Number] = p
		}
	}
	for _, p := range o.posts {
		if _, away := c.away[p.Number]; away && p.Has(day) {
			c.left[p.Department] = append(c.left[p.Department], p)
		}
		if _, here := c.people[p.Number]; here && p.Has(day) {
			c.posts[p.Number] = append(c.posts[p.Number], p)
			c.members[p.Department] = append(c.members[p.Department], p)
		}
	}
	for _, all := range c.members {
		sort.Slice(all, func(i, j int) bool { return c.byRank(all[i], all[j]) < 0 })
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

// Outranks reports whether a person's main post has a higher rank than a position: both have one.
func (c *Chart) Outranks(number, position string) bool {
	post, ok := c.Main(number)
	return ok && c.rank(post) < c.ranks[Posted(position)]
}

// StandsOver reports whether a position has a higher rank than whoever leads a department. Of a position without a
// rank, and where nobody leads, it isn't known that it hasn't.
func (c *Chart) StandsOver(position, department string) bool {
	head, led := c.head(folded(department))
	rank := c.rank(Post{Position: Posted(position)})
	return !led || rank == unranked || rank < c.rank(head)
}

// Day returns the day that the chart shows.
func (c *Chart) Day() Date { return c.day }

// Person returns a person by number; false if they don't work for the tenant on that day.
func (c *Chart) Person(number string) (Person, bool) {
	p, ok := c.people[number]
	return p, ok
}

// Away returns a person by number who is away on that day.
func (c *Chart) Away(number string) (p Person, is bool) { p, is = c.away[number]; return p, is }

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
	sort.SliceStable(all, func(i, j int) bool { return all[i].Main && !all[j].Main })
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
	position, department = Posted(position), folded(department)
	for _, post := range c.members[department] {
		if p := c.people[post.Number]; post.Position == position && counts(p.Kind, of) {
			all = append(all, Holder{p, c.Posts(p.Number)})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Number < all[j].Number })
	return all
}

// counts reports whether a person of a kind is among those who were asked for: employees unless kinds are given.
func counts(kind Kind, of []Kind) bool {
	if len(of) == 0 {
		return kind == Employee
	}
	return slices.Contains(of, kind)
}

// How says why somebody is a person's superior.
type How string

const (
	Named How = "named" // the file names them
	Head  How = "head"  // they lead the department
)

// Superior is who stands above a person.
type Superior struct {
	Number     string `json:"number"`
	How        How    `json:"how"`
	Department string `json:"department,omitempty"` // code of the department that they lead
}

// Manager returns who stands directly above a person: who the file names, if they work for the tenant that day, else
// the head of the person's main department, else of the nearest department above that has one who stands above them.
//
// In the person's own department a head has a higher rank than the person: where a department has no manager, none of
// equal colleagues becomes one. In a department above an equal rank suffices.
func (c *Chart) Manager(number string) (Superior, bool) {
	p := c.people[number]
	if _, here := c.people[p.Manager]; here && p.Manager != number {
		return Superior{Number: p.Manager, How: Named}, true
	}
	post, ok := c.Main(number)
	if !ok {
		return Superior{}, false
	}
	return c.over(post)
}

// Topmost reports whether nobody stands above a person because the file says so. It doesn't where the manager whom it
// names isn't there that day, where people stand above each other, nor where no row on any day says what is above a
// department.
func (c *Chart) Topmost(number string) bool {
	p, here := c.people[number]
	if _, below := c.Manager(number); below || !here || p.Manager != "" && p.Manager != number {
		return false
	}
	post, _ := c.Main(number)
	path := c.Path(post.Department)
	return len(path) > 0 && path[len(path)-1].Parent == "" && !c.adrift[path[len(path)-1].Code]
}

// Over returns who stands over a position of a department, whoever holds it: as above its holder if nobody is named.
// A head of the department may stand below a position whose rank isn't known, so then only those above it count.
func (c *Chart) Over(department, position string) (Superior, bool) {
	post := Post{Department: folded(department), Position: Posted(position)}
	if c.rank(post) == unranked {
		post.Department = c.departments[post.Department].Parent
	}
	return c.over(post)
}

// over returns who stands over a post, beside whoever holds it.
func (c *Chart) over(post Post) (Superior, bool) {
	lowest := c.rank(post) - 1
	for _, d := range c.Path(post.Department) {
		head, ok := c.head(d.Code)
		if ok && head.Number != post.Number && c.rank(head) <= lowest {
			return Superior{Number: head.Number, How: Head, Department: d.Code}, true
		}
		lowest = c.rank(post)
	}
	return Superior{}, false
}

// head returns the post that leads a department: the one with the highest rank; false if none of its posts has a rank.
func (c *Chart) head(department string) (Post, bool) {
	all := c.members[department]
	if len(all) == 0 || c.rank(all[0]) == unranked {
		return Post{}, false
	}
	return all[0], true
}

// chain returns everybody above a person, the nearest first. It ends at the top, or before it would repeat somebody.
func (c *Chart) chain(number string) (all []Superior) {
	for at := number; ; {
		s, ok := c.Manager(at)
		if !ok || s.Number == number || slices.ContainsFunc(all, func(x Superior) bool { return x.Number == s.Number }) {
			return all
		}
		all, at = append(all, s), s.Number
	}
}

// ManagersAbove returns who stands above a person: the first is the manager, the second the manager's manager. Without
// kinds it returns employees only. Others are passed over: who stands above them takes their place.
func (c *Chart) ManagersAbove(number string, of ...Kind) []Superior {
	return slices.DeleteFunc(c.chain(number), func(s Superior) bool { return !counts(c.people[s.Number].Kind, of) })
}

// Below reports whether a person stands below another, of whatever kind, over any number of others.
func (c *Chart) Below(number, other string) bool {
	return slices.ContainsFunc(c.chain(number), func(s Superior) bool { return s.Number == other })
}

// GapRule is what is missing on one day. A file with gaps is valid: a post may be vacant.
type GapRule string

const (
	// GapNoHead: nobody with a rank is in the department.
	GapNoHead GapRule = "no_head"
	// GapNoRow: no row of the department holds, others name it as their parent. Its own parent may be unknown.
	GapNoRow GapRule = "no_row"
	// GapHeads: the people of Numbers share the highest rank of the department. The first leads it.
	GapHeads GapRule = "heads"
	// GapNoManager: nobody stands above the person, who isn't at the top.
	GapNoManager GapRule = "no_manager"
	// GapManagerGone: the manager whom the file names, Numbers, doesn't work for the tenant that day.
	GapManagerGone GapRule = "manager_gone"
	// GapManagerAway: the manager whom the file names, Numbers, is away that day.
	GapManagerAway GapRule = "manager_away"
	// GapCycle: the people of Numbers stand above each other.
	GapCycle GapRule = "cycle"
)

// Gap is what is missing for a department or a person, or for the people of a cycle.
type Gap struct {
	Rule       GapRule  `json:"what"`
	Department string   `json:"department,omitempty"` // code
	Number     string   `json:"number,omitempty"`
	Numbers    []string `json:"numbers,omitempty"`
}

// Gaps returns what is missing on the chart's day: of departments by code, then of people by number.
func (c *Chart) Gaps() (all []Gap) {
	for _, d := range c.Departments() {
		switch heads := c.heads(d.Code); {
		case d.Unstated:
			all = append(all, Gap{Rule: GapNoRow, Department: d.Code})
		case len(heads) == 0:
			all = append(all, Gap{Rule: GapNoHead, Department: d.Code})
		case len(heads) > 1:
			all = append(all, Gap{Rule: GapHeads, Department: d.Code, Numbers: heads})
		}
	}
	for _, p := range c.People() {
		if _, here := c.people[p.Manager]; p.Manager != "" && !here {
			gap := Gap{Rule: GapManagerGone, Number: p.Number, Numbers: []string{p.Manager}}
			if _, away := c.Away(p.Manager); away {
				gap.Rule = GapManagerAway
			}
			all = append(all, gap)
		}
		if _, ok := c.Manager(p.Number); !ok && !c.top(p.Number) {
			all = append(all, Gap{Rule: GapNoManager, Number: p.Number})
		}
	}
	return append(all, c.cycles()...)
}

// heads returns who has the highest rank in a department, the one who leads it first.
func (c *Chart) heads(department string) (numbers []string) {
	first, ok := c.head(department)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for _, p := range c.members[department] {
		if c.rank(p) == c.rank(first) && !seen[p.Number] {
			seen[p.Number], numbers = true, append(numbers, p.Number)
		}
	}
	return numbers
}

// cycles returns each cycle of people once, beginning with its smallest number. Read refuses those that come of named
// managers alone; these come of heads who lead a department besides their main one.
func (c *Chart) cycles() (all []Gap) {
	above, done := map[string]string{}, map[string]bool{}
	for number := range c.people {
		if s, ok := c.Manager(number); ok {
			above[number] = s.Number
		}
	}
	for _, from := range slices.Sorted(maps.Keys(above)) {
		var passed []string
		at, ok := from, true
		for ; ok && !done[at]; at, ok = above[at], above[at] != "" {
			done[at], passed = true, append(passed, at)
		}
		if i := slices.Index(passed, at); ok && i >= 0 {
			all = append(all, Gap{Rule: GapCycle, Numbers: fromSmallest(passed[i:])})
		}
	}
	slices.SortFunc(all, func(a, b Gap) int { return cmp.Compare(a.Numbers[0], b.Numbers[0]) })
	return all
}

func fromSmallest(circle []string) []string {
	i := slices.Index(circle, slices.Min(circle))
	return slices.Concat(circle[i:], circle[:i])
}
