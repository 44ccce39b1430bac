package task

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

const (
	// maxSearch is the longest search text, in characters.
	maxSearch = 100
)

// taskFilter is the filter in the list's address.
type taskFilter struct {
	Status, Person, From, To, Search string
	cursor                           string
}

// readTaskFilter reads an address. Invalid values are reported and not used.
func readTaskFilter(q url.Values) (taskFilter, web.BadFilter) {
	f := taskFilter{
		Status: q.Get("status"), Person: q.Get("person"), From: q.Get("from"), To: q.Get("to"),
		Search: strings.TrimSpace(legible.Visible(q.Get("q"))), cursor: q.Get("cursor"),
	}
	bad := web.BadFilter{}
	refuse := func(field string, value *string) { bad[field], *value = true, "" }
	if (task.Filter{Status: task.Status(f.Status)}).Check() != nil {
		refuse("status", &f.Status)
	}
	if f.Person != "" && !web.PersonForm.Get().MatchString(f.Person) {
		refuse("person", &f.Person)
	}
	from, errFrom := web.DayOf(f.From)
	to, errTo := web.DayOf(f.To)
	if errFrom != nil {
		refuse("from", &f.From)
	}
	if errTo != nil || f.From != "" && f.To != "" && from.After(to) {
		refuse("to", &f.To)
	}
	if utf8.RuneCountInString(f.Search) > maxSearch {
		refuse("q", &f.Search)
	}
	return f, bad
}

// of converts the filter for the store; the viewer replaces "myself".
func (f taskFilter) of(viewer string) task.Filter {
	out := task.Filter{Status: task.Status(f.Status), Requester: f.Person}
	if f.Person == web.Myself {
		out.Requester = viewer
	}
	out.From, _ = web.DayOf(f.From) // they were read before
	if to, _ := web.DayOf(f.To); !to.IsZero() {
		out.To = to.AddDate(0, 0, 1)
	}
	return out
}

// address returns the address of the list's first page with this filter.
func (f taskFilter) address() string { return f.at("") }

// at returns the address of the page at a cursor.
func (f taskFilter) at(cursor string) string {
	return web.At("/console/tasks", map[string]string{
		"status": f.Status, "person": f.Person, "from": f.From, "to": f.To, "q": f.Search, "cursor": cursor,
	})
}

// narrows reports whether the filter excludes anything.
func (f taskFilter) narrows() bool { f.cursor = ""; return f != taskFilter{} }

// matcher reports whether a title has every word of a search, ignoring case and width.
func matcher(search string) func(title string) bool {
	words := strings.Fields(searchable(search))
	return func(title string) bool {
		title = searchable(title)
		for _, w := range words {
			if !strings.Contains(title, w) {
				return false
			}
		}
		return true
	}
}

// searchable converts a text to lower case and half width.
func searchable(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '！' && r <= '～' { // the full-width forms of ASCII
			r -= '！' - '!'
		}
		if unicode.IsSpace(r) {
			return ' '
		}
		return unicode.ToLower(r)
	}, legible.Visible(s))
}
