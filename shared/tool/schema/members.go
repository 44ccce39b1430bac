package schema

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Member is a part of a value that a schema declares.
type Member struct {
	Path         []string // from the value's root; Rows stands for every row of a list
	Title, About string   // what the schema says of it or, of rows, of their list
	Leaf         bool     // it may be a text, a number, or yes or no
}

// Rows is the part of a path that stands for every row of a list.
const Rows = "*"

const maxDepth = 8

// Members returns what a schema declares of objects and lists: required members come first, in the schema's order. It
// returns nothing for a schema that can't be read.
func Members(text string) (all []Member) {
	declared(&all, Parsed(text), Member{})
	return slices.DeleteFunc(all, func(m Member) bool { return m.Path == nil })
}

// Parsed returns a schema without references, nil if it can't be read.
func Parsed(text string) any {
	r, err := read(text)
	if err != nil {
		return nil
	}
	return r.root
}

func declared(all *[]Member, v any, is Member) {
	s, ok := v.(map[string]any)
	if !ok && v != true || len(is.Path) > maxDepth {
		return
	}
	title, _ := s["title"].(string)
	about, _ := s["description"].(string)
	is.Title, is.About = cmp.Or(title, is.Title), cmp.Or(about, is.About)
	is.Leaf = s["enum"] != nil && s["type"] == nil || slices.ContainsFunc(Types(s), func(name string) bool {
		return slices.Contains([]string{"number", "integer", "string", "boolean"}, name)
	})
	same := func(m Member) bool { return slices.Equal(m.Path, is.Path) }
	if at := slices.IndexFunc(*all, same); at < 0 {
		*all = append(*all, is)
	} else if !(*all)[at].Leaf {
		(*all)[at] = is
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		for _, one := range List(s[keyword]) {
			declared(all, one, Member{Path: is.Path, Title: is.Title, About: is.About})
		}
	}
	members, _ := s["properties"].(map[string]any)
	required := List(s["required"])
	place := func(name string) int { return slices.Index(append(required, name), any(name)) }
	for _, name := range slices.SortedFunc(maps.Keys(members), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
	}) {
		if name != "" && name != Rows {
			declared(all, members[name], Member{Path: append(slices.Clone(is.Path), name)})
		}
	}
	if s["items"] != nil {
		declared(all, s["items"], Member{Path: append(slices.Clone(is.Path), Rows), Title: is.Title, About: is.About})
	}
}

// List returns a keyword's list, nil if it has none.
func List(v any) []any {
	all, _ := v.([]any)
	return all
}

// Types are those that a schema allows.
func Types(s map[string]any) (all []string) {
	for _, v := range append(List(s["type"]), s["type"]) {
		if name, ok := v.(string); ok {
			all = append(all, name)
		}
	}
	return all
}
