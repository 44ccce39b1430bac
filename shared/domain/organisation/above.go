package organisation

import "slices"

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
	post := Post{Department: folded(department), Position: posted(position)}
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
