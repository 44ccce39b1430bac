package task

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

// rowsOfPage is the number of requests on a page of the list.
const rowsOfPage = 50

type taskList struct {
	web.List
	Rows     []Request
	Searched bool
	More     bool // there are more matches than the page shows
	of       taskFilter
}

func (c *Pages) tasks(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words := v.Texts("tasks")
	f, bad := readTaskFilter(r.URL.Query())
	bad.Stranger(r, c.Site, v, "asked_by", &f.Person)
	if id, err := c.named(r.Context(), v, f.Search); err != nil || id != "" {
		http.Redirect(w, r, tasksPath+"/"+id, http.StatusSeeOther)
		return err
	}
	list := taskList{of: f, Searched: f.Search != ""}
	list.Ignored, list.Narrowed = bad.Said(words), f.narrows()
	mine, all := f, f
	mine.Person, all.Person = web.Myself, ""
	list.Views = []web.View{{Path: all.at(""), Text: words.Say("all"), Here: f.Person == ""},
		{Path: mine.at(""), Text: words.Say("mine"), Here: web.Whom(f.Person, v) == v.User}}
	read := func(reach people.Reach) (store.Page[store.ListedTask], error) { return c.visible(r, v, f, reach) }
	page, reach, led, err := web.ReadList(c.Site, w, r, v, &list.List, f.cursor, f.at, read)
	if err != nil || led {
		return err
	}
	if err := list.fill(c, r, v, page, reach); err != nil {
		return err
	}
	return c.Show(w, r, v, web.Document{Here: "tasks", Data: list, Status: list.Status()}, "tasks")
}

// visible reads the page of requests that an address asks for. Members see only their own requests and those in their
// channels.
func (c *Pages) visible(r *http.Request, v *web.Viewer, f taskFilter, reach people.Reach,
) (store.Page[store.ListedTask], error) {
	filter := task.Filter{Status: task.Status(f.Status), Requester: web.Whom(f.Person, v), From: f.from, To: f.to}
	limit := rowsOfPage
	var keep func(store.ListedTask) bool
	if !v.Admin && filter.Requester != v.User {
		keep = func(x store.ListedTask) bool { return reach.Sees(originOf(v, x)) }
	}
	if f.Search != "" {
		begins, sees := web.Searchable(f.Search), keep
		keep = func(x store.ListedTask) bool {
			return (sees == nil || sees(x)) && strings.HasPrefix(web.Searchable(cmp.Or(x.Title, x.Text)), begins)
		}
	}
	if f.Search != "" || filter.Status.Open() { // which of the open ones wait is only known once they are read
		limit = store.MaxPage
	}
	return c.Store.Search(r.Context(), v.Tenant, filter, f.cursor, limit, web.MostLooked, keep)
}

// fill adds a page of requests with the names of people and channels, and what happens next with each.
func (l *taskList) fill(c *Pages, r *http.Request, v *web.Viewer, page store.Page[store.ListedTask],
	reach people.Reach) error {
	words := v.Texts("tasks")
	if l.Searched {
		l.More = len(page.Items) == store.MaxPage && page.Next != ""
		l.Next, l.Prev, l.Live = "", "", "" // a search is of the latest thousand, not of any before
	}
	names := map[string]string{}
	channels := map[string]string{}
	maps.Copy(channels, reach.Channels())
	rows, err := c.requests(r.Context(), v, page.Items, channels, nil)
	if err != nil {
		return err
	}
	for _, row := range rows {
		by := l.of
		by.Person = row.Person
		row.PersonPath, names[row.Person] = by.at(""), row.Name
		l.Rows = append(l.Rows, row)
	}
	if whom := web.Whom(l.of.Person, v); whom != "" && names[whom] == "" {
		names[whom] = c.Called(r.Context(), v, whom)(whom)
	}
	l.Filter = l.of.form(words, web.PeopleToChoose(v, words, names, web.Whom(l.of.Person, v)))
	return nil
}

// maxSearch is the longest search text, in characters.
const maxSearch = 100

type taskFilter struct {
	Status, Person, From, To, Search string
	cursor                           string
	from, to                         time.Time // of the days
}

// readTaskFilter reads an address. What isn't known is reported and not used.
func readTaskFilter(q url.Values) (taskFilter, web.BadFilter) {
	f := taskFilter{Status: q.Get("status"), Person: q.Get("person"), From: q.Get("from"), To: q.Get("to"),
		Search: strings.TrimSpace(legible.Visible(q.Get("q"))), cursor: q.Get("cursor")}
	bad := web.BadFilter{}
	bad.Refuse("status", &f.Status, task.Filter{Status: task.Status(f.Status)}.Check() != nil)
	bad.Person("asked_by", &f.Person)
	f.from, f.to = bad.Days(&f.From, &f.To)
	bad.Refuse("request", &f.Search, utf8.RuneCountInString(f.Search) > maxSearch)
	return f, bad
}

func (f taskFilter) form(words web.Texts, people []web.Choice) web.Filter {
	search := web.Field{Name: "q", Label: words.Say("search"), Type: "search", Most: maxSearch, Value: f.Search,
		Hint: words.Say("search_hint"), HintID: "q-hint"}
	statuses := web.Choices(words, "statuses", f.Status, task.Statuses...)
	return web.Filter{Path: tasksPath, Search: true, Submit: words.Say("filter"),
		Links: web.Cleared(tasksPath, words.Say("clear"), f.narrows()),
		Fields: []web.Field{search, web.Select("status", words.Say("status"), words.Say("anything"), statuses),
			web.Select("person", words.Say("asked_by"), words.Say("anybody"), people),
			web.Day("from", words.Say("from"), f.From), web.Day("to", words.Say("to"), f.To)}}
}

const tasksPath = "/console/tasks"

func (f taskFilter) at(cursor string) string {
	return web.At(tasksPath, map[string]string{"status": f.Status, "person": f.Person, "from": f.From, "to": f.To,
		"q": f.Search, "cursor": cursor})
}

// narrows reports whether the filter excludes anything.
func (f taskFilter) narrows() bool { f.cursor = ""; return f != taskFilter{} }

// named returns the id of the request that a number or an id is of, or "" if the viewer may read none by it.
func (c *Pages) named(ctx context.Context, v *web.Viewer, text string) (id string, err error) {
	if x, is := task.ParseNumber(text); is {
		if id, err = c.numbered(ctx, v.Tenant, x); err != nil {
			return "", err
		}
	} else if aggregate.ValidID(text) {
		id = text
	}
	if id == "" {
		return "", nil
	}
	a, err := c.Store.Load(ctx, task.RefOf(v.Tenant, id))
	if err == nil {
		_, err = c.Readable(ctx, v, a)
	}
	if errors.Is(err, aggregate.ErrNotFound) {
		return "", nil
	}
	return id, err
}

// numbered returns the id of the request whose decision has the number x, or "".
func (c *Pages) numbered(ctx context.Context, tenant string, x task.Numbered) (id string, err error) {
	found, err := c.Store.Numbered(ctx, tenant, x)
	for _, is := range found {
		id = is.TaskID
	}
	return id, err
}
