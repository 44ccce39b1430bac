package task

import (
	"net/url"
	"strings"
	"time"
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
	from, to                         time.Time // of the days
}

// readTaskFilter reads an address. Invalid values are reported and not used.
func readTaskFilter(q url.Values) (taskFilter, web.BadFilter) {
	f := taskFilter{
		Status: q.Get("status"), Person: q.Get("person"), From: q.Get("from"), To: q.Get("to"),
		Search: strings.TrimSpace(legible.Visible(q.Get("q"))), cursor: q.Get("cursor"),
	}
	bad := web.BadFilter{}
	bad.Refuse("status", &f.Status, task.Filter{Status: task.Status(f.Status)}.Check() != nil)
	bad.Person(&f.Person)
	f.from, f.to = bad.Days(&f.From, &f.To)
	bad.Refuse("q", &f.Search, utf8.RuneCountInString(f.Search) > maxSearch)
	return f, bad
}

// of converts the filter for the store.
func (f taskFilter) of(v *web.Viewer) task.Filter {
	return task.Filter{Status: task.Status(f.Status), Requester: web.Whom(f.Person, v), From: f.from, To: f.to}
}

// form is the filter as people fill it in.
func (f taskFilter) form(words web.Texts, people []web.Choice) web.Filter {
	search := web.Field{Name: "q", Label: words.Say("search"), Type: "search", Most: maxSearch, Value: f.Search,
		Hint: words.Say("search_hint")}
	statuses := web.Choices(words, "statuses", f.Status, task.Statuses...)
	return web.Filter{Path: tasksPath, Search: true, Submit: words.Say("filter"),
		Links: web.Cleared(tasksPath, words.Say("clear"), f.narrows()),
		Fields: []web.Field{search, web.Select("status", words.Say("status"), words.Say("anything"), statuses),
			web.Select("person", words.Say("person"), words.Say("anybody"), people),
			web.Day("from", words.Say("from"), f.From), web.Day("to", words.Say("to"), f.To)}}
}

// tasksPath is the address of the list of requests.
const tasksPath = "/console/tasks"

// at returns the address of the page at a cursor.
func (f taskFilter) at(cursor string) string {
	return web.At(tasksPath, map[string]string{
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
