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

// Holders returns who has a position in a department, also as a second post, by number.
func (o *Organisation) Holders(department, position string) (numbers []string) {
	position = Posted(position)
	for _, post := range o.members[folded(department)] {
		if post.Position == position {
			numbers = append(numbers, post.Number)
		}
	}
	sort.Strings(numbers)
	return numbers
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

// manager returns who stands directly above a person: who the file names, else the head of the person's main
// department, else of the nearest department above that has one who stands above them.
//
// In the person's own department a head has a higher rank than the person: where a department has no manager, none of
// equal colleagues becomes one. In a department above an equal rank suffices.
func (o *Organisation) manager(number string) (Superior, bool) {
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

// Over returns who stands over a position of a department, whoever holds it, and above them: as above its holder if
// nobody is named. A head of the department may stand below a position whose rank isn't known, so then only those above
// it count.
func (o *Organisation) Over(department, position string) []Superior {
	post := Post{Department: folded(department), Position: Posted(position)}
	if o.rank(post) == unranked {
		post.Department = o.byCode[post.Department].Parent
	}
	over, ok := o.over(post)
	if !ok {
		return nil
	}
	chain, _ := o.Above(over.Number)
	return append([]Superior{over}, chain...)
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

// Head returns who leads a department; "" if nobody does.
func (o *Organisation) Head(department string) string {
	post, _ := o.head(folded(department))
	return post.Number
}

// head returns the post that leads a department: the one with the highest rank; false if none of its posts has a rank.
func (o *Organisation) head(department string) (Post, bool) {
	all := o.members[department]
	if len(all) == 0 || o.rank(all[0]) == unranked {
		return Post{}, false
	}
	return all[0], true
}

// Above returns everybody above a person, of whatever kind, the nearest first, and whether it ends at the top. Else it
// ends before it would repeat somebody, or the person isn't there.
func (o *Organisation) Above(number string) (chain []Superior, top bool) {
	for at := number; ; {
		s, ok := o.manager(at)
		if !ok {
			_, top = o.byNumber[at]
			return chain, top
		}
		if s.Number == number || slices.ContainsFunc(chain, func(x Superior) bool { return x.Number == s.Number }) {
			return chain, false
		}
		chain, at = append(chain, s), s.Number
	}
}
