package rules

import (
	"bytes"
	"encoding/csv"
	"maps"
	"slices"
	"strings"

	"ringi/shared/words/language"
)

// Post is a row: what a person does in a department.
type Post struct {
	Person     string // address in lower case, or Slack id
	Name       string
	Department string // path
	Position   string
	Head       bool   // they head the department
	Manager    string // the person who stands above them at this post; empty: who heads the department, or one above
	Main       bool   // the post that counts for what they ask for

	line int
}

// Organisation is who works for a tenant: people, their posts, their departments and who stands above whom. One CSV
// says it, a row a post (read.go), and it doesn't change once it is read.
//
// A person is an e-mail address, or a Slack id where the address isn't to be told. A department is its path, such as
// 本社/営業部: what stands above it is the path without its last part. One person at most heads a department.
type Organisation struct {
	posts   []Post            // as the file has them
	held    map[string][]Post // by person, the main post first
	heads   map[string]Post   // by department
	members map[string][]Post // by department
	known   map[string]bool   // all departments, also those that only stand above others
}

func newOrganisation(posts []Post) *Organisation {
	o := &Organisation{posts, map[string][]Post{}, map[string]Post{}, map[string][]Post{}, map[string]bool{}}
	for _, p := range posts {
		if all := o.held[p.Person]; p.Main {
			o.held[p.Person] = slices.Insert(all, 0, p)
		} else {
			o.held[p.Person] = append(all, p)
		}
		if p.Head {
			o.heads[p.Department] = p
		}
		for _, d := range upFrom(p.Department) {
			o.known[d] = true
		}
		o.members[p.Department] = append(o.members[p.Department], p)
	}
	return o
}

// All returns all posts in the order of the file.
func (o *Organisation) All() []Post { return slices.Clone(o.posts) }

// People returns how many people there are.
func (o *Organisation) People() int { return len(o.held) }

// Has reports whether somebody works here.
func (o *Organisation) Has(person string) bool { return len(o.held[person]) > 0 }

// Name returns what somebody is called, or their address or id.
func (o *Organisation) Name(person string) string {
	for _, p := range o.held[person] {
		if p.Name != "" {
			return p.Name
		}
	}
	return person
}

// upFrom returns a department and those above it, the topmost last.
func upFrom(department string) (all []string) {
	for at := department; at != ""; {
		all = append(all, at)
		at = at[:max(strings.LastIndexByte(at, '/'), 0)]
	}
	return all
}

// Departments returns the department of somebody's main post and those above it; none for a stranger.
func (o *Organisation) Departments(person string) []string {
	if all := o.held[person]; len(all) > 0 {
		return upFrom(all[0].Department)
	}
	return nil
}

// AllDepartments returns all departments, sorted.
func (o *Organisation) AllDepartments() []string {
	return slices.Sorted(maps.Keys(o.known))
}

// Knows reports whether there is a department and, if one is given, a position in it: without a department, in any.
func (o *Organisation) Knows(department, position string) bool {
	if department, position = language.Narrow(department), Posted(position); position != "" {
		return slices.ContainsFunc(o.posts, func(p Post) bool {
			return (department == "" || p.Department == department) && p.Position == position
		})
	}
	return o.known[department]
}

// Holders returns who has a position of a department, also as a second post, or without one who heads it.
func (o *Organisation) Holders(department, position string) (people []string) {
	department, position = language.Narrow(department), Posted(position)
	for _, p := range o.members[department] {
		if position == "" && p.Head || position != "" && p.Position == position {
			people = append(people, p.Person)
		}
	}
	return people
}

// head returns who heads a department or the nearest above it, beside somebody; "" if nobody does.
func (o *Organisation) head(department, but string) string {
	for _, d := range upFrom(department) {
		if p, is := o.heads[d]; is && p.Person != but {
			return p.Person
		}
	}
	return ""
}

// manager returns who stands directly above somebody: whom their main post names, else who heads its department or the
// nearest above; "" at the top.
func (o *Organisation) manager(person string) string {
	all := o.held[person]
	switch {
	case len(all) == 0:
		return ""
	case all[0].Manager != "":
		return all[0].Manager
	}
	return o.head(all[0].Department, person)
}

// Above returns everybody above a person, the nearest first, and whether it ends at the top. Else it ends before it
// would repeat somebody, or the person isn't there.
func (o *Organisation) Above(person string) (chain []string, top bool) {
	for at := person; ; {
		next := o.manager(at)
		if next == "" {
			return chain, o.Has(at)
		}
		if next == person || slices.Contains(chain, next) {
			return chain, false
		}
		chain, at = append(chain, next), next
	}
}

// Over returns who stands over a position of a department or, without one, over its head, whoever that is, and above
// them. That is the department's head where somebody else has the position there. A head might stand below a position
// that nobody has there, so then only who heads a department above counts, if anybody does.
func (o *Organisation) Over(department, position string) []string {
	department, position = language.Narrow(department), Posted(position)
	over := o.head(department[:max(strings.LastIndexByte(department, '/'), 0)], "")
	head, led := o.heads[department]
	if led && position != "" && position != head.Position && (over == "" || len(o.Holders(department, position)) > 0) {
		over = head.Person
	}
	if over == "" {
		return nil
	}
	chain, _ := o.Above(over)
	return append([]string{over}, chain...)
}

// Rows returns the rows of a file that says the same, with the header and words of a language. ReadOrganisation
// reads it.
func (o *Organisation) Rows(locale string) [][]string {
	out, yes := [][]string{OrganisationHeader(locale)}, func(is bool) string {
		if is {
			return affirmed.In(locale)
		}
		return ""
	}
	for _, p := range o.posts {
		out = append(out, []string{p.Person, p.Name, p.Department, p.Position, yes(p.Head), p.Manager, yes(p.Main)})
	}
	return out
}

// Bytes returns the file as it is kept.
func (o *Organisation) Bytes() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.WriteAll(o.Rows(language.English)) // to memory: it can't fail
	return b.Bytes()
}
