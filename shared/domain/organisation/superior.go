package organisation

import (
	"slices"
	"sort"
)

// unranked is the rank of a post without one.
const unranked = MaxRank + 1

func (o *Organisation) rank(p Post) int {
	if rank := o.ranks[p.Position]; rank > 0 {
		return rank
	}
	return unranked
}

// Posts returns a person's posts, the main one first.
func (o *Organisation) Posts(number string) []Post {
	all := slices.Clone(o.held[number])
	sort.SliceStable(all, func(i, j int) bool { return all[i].Main && !all[j].Main })
	return all
}

// Main returns a person's main post. Its department is the one that counts for what they ask for.
func (o *Organisation) Main(number string) (Post, bool) {
	for _, p := range o.held[number] {
		if p.Main {
			return p, true
		}
	}
	return Post{}, false
}

// Path returns a department and those above it, the topmost last.
func (o *Organisation) Path(code string) (all []Department) {
	for {
		d, ok := o.byCode[code]
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
func (o *Organisation) HoldersOf(position, department string, of ...Kind) (all []Holder) {
	position, department = Posted(position), folded(department)
	for _, post := range o.members[department] {
		if p := o.byNumber[post.Number]; post.Position == position && counts(p.Kind, of) {
			all = append(all, Holder{p, o.Posts(p.Number)})
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

// Manager returns who stands directly above a person: who the file names, else the head of the person's main
// department, else of the nearest department above that has one who stands above them.
//
// In the person's own department a head has a higher rank than the person: where a department has no manager, none of
// equal colleagues becomes one. In a department above an equal rank suffices.
func (o *Organisation) Manager(number string) (Superior, bool) {
	p := o.byNumber[number]
	if _, here := o.byNumber[p.Manager]; here && p.Manager != number {
		return Superior{Number: p.Manager, How: Named}, true
	}
	post, ok := o.Main(number)
	if !ok {
		return Superior{}, false
	}
	return o.over(post)
}

// Topmost reports whether somebody is there and nobody stands above them.
func (o *Organisation) Topmost(number string) bool {
	_, here := o.byNumber[number]
	_, below := o.Manager(number)
	return here && !below
}

// Over returns who stands over a position of a department, whoever holds it: as above its holder if nobody is named.
// A head of the department may stand below a position whose rank isn't known, so then only those above it count.
func (o *Organisation) Over(department, position string) (Superior, bool) {
	post := Post{Department: folded(department), Position: Posted(position)}
	if o.rank(post) == unranked {
		post.Department = o.byCode[post.Department].Parent
	}
	return o.over(post)
}

// over returns who stands over a post, beside whoever holds it.
func (o *Organisation) over(post Post) (Superior, bool) {
	lowest := o.rank(post) - 1
	for _, d := range o.Path(post.Department) {
		head, ok := o.head(d.Code)
		if ok && head.Number != post.Number && o.rank(head) <= lowest {
			return Superior{Number: head.Number, How: Head, Department: d.Code}, true
		}
		lowest = o.rank(post)
	}
	return Superior{}, false
}

// head returns the post that leads a department: the one with the highest rank; false if none of its posts has a rank.
func (o *Organisation) head(department string) (Post, bool) {
	all := o.members[department]
	if len(all) == 0 || o.rank(all[0]) == unranked {
		return Post{}, false
	}
	return all[0], true
}

// chain returns everybody above a person, the nearest first. It ends at the top, or before it would repeat somebody.
func (o *Organisation) chain(number string) (all []Superior) {
	for at := number; ; {
		s, ok := o.Manager(at)
		if !ok || s.Number == number || slices.ContainsFunc(all, func(x Superior) bool { return x.Number == s.Number }) {
			return all
		}
		all, at = append(all, s), s.Number
	}
}

// ManagersAbove returns who stands above a person: the first is the manager, the second the manager's manager. Without
// kinds it returns employees only. Others are passed over: who stands above them takes their place.
func (o *Organisation) ManagersAbove(number string, of ...Kind) []Superior {
	return slices.DeleteFunc(o.chain(number), func(s Superior) bool { return !counts(o.byNumber[s.Number].Kind, of) })
}

// Below reports whether a person stands below another, of whatever kind, over any number of others.
func (o *Organisation) Below(number, other string) bool {
	return slices.ContainsFunc(o.chain(number), func(s Superior) bool { return s.Number == other })
}
