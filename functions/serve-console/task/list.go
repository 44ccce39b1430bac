package task

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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

// rowsOfPage is the number of requests on a page of the list, fewFound that of a search while somebody types.
const rowsOfPage, fewFound = 50, 8

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
	d := web.Document{Here: "tasks", Data: list, Status: list.Status()}
	if list.Searched {
		n := strconv.Itoa(len(list.Rows))
		if list.More {
			n += "+"
		}
		d.Title = words.Say("found", "text", f.Search, "n", n)
	}
	return c.Show(w, r, v, d, "tasks")
}

// visible reads the page of requests that an address asks for. Members see only their own requests and those in their
// channels; a search also finds those whose route names them now.
func (c *Pages) visible(r *http.Request, v *web.Viewer, f taskFilter, reach people.Reach,
) (store.Page[store.ListedTask], error) {
	filter := task.Filter{Status: task.Status(f.Status), Requester: web.Whom(f.Person, v), From: f.from, To: f.to}
	limit := rowsOfPage
	var keep, sees func(store.ListedTask) bool
	if !v.Admin && filter.Requester != v.User {
		keep = func(x store.ListedTask) bool { return reach.Sees(originOf(v, x)) }
	}
	if f.Search != "" {
		words, called := strings.Fields(web.Searchable(f.Search)), c.called(r, v)
		sees, keep = keep, func(x store.ListedTask) bool {
			text := web.Searchable(strings.Join([]string{x.Title, x.Text, x.Description, x.Glance.Made,
				called[x.Requester()]}, " "))
			lacks := func(word string) bool { return !strings.Contains(text, word) }
			return (sees == nil || sees(x) || x.ListedAs.Open()) && !slices.ContainsFunc(words, lacks)
		}
	}
	if f.Search != "" || filter.Status.Open() { // which of the open ones wait is only known once they are read
		limit = store.MaxPage
	}
	page, err := c.Store.Search(r.Context(), v.Tenant, filter, f.cursor, limit, web.MostLooked, keep)
	page.Items = slices.DeleteFunc(page.Items, func(x store.ListedTask) bool {
		return sees != nil && !sees(x) && !slices.Contains(x.Glance.Who, v.User)
	})
	return page, err
}

// fill adds a page of requests with the names of people and channels, and what happens next with each.
func (l *taskList) fill(c *Pages, r *http.Request, v *web.Viewer, page store.Page[store.ListedTask],
	reach people.Reach) error {
	words := v.Texts("tasks")
	if l.Searched {
		l.More = len(page.Items) == store.MaxPage && page.Next != ""
		l.Next, l.Prev, l.Live = "", "", "" // a search is of the latest thousand, not of any before
	}
	if l.of.few != "" && len(page.Items) > fewFound {
		page.Items, l.More = page.Items[:fewFound], true
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
	few                              string    // not empty: only the first few are shown
	from, to                         time.Time // of the days
}

// readTaskFilter reads an address. What isn't known is reported and not used.
func readTaskFilter(q url.Values) (taskFilter, web.BadFilter) {
	f := taskFilter{Status: q.Get("status"), Person: q.Get("person"), From: q.Get("from"), To: q.Get("to"),
		Search: strings.TrimSpace(legible.Visible(q.Get("q"))), cursor: q.Get("cursor"), few: q.Get("few")}
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
		"q": f.Search, "cursor": cursor, "few": f.few})
}

// narrows reports whether the filter excludes anything.
func (f taskFilter) narrows() bool { f.cursor = ""; return f != taskFilter{} }

// find leads from what somebody typed to where it is shown: a number to the register, or members to the request that
// has it, if they may read that; anything else to the requests whose titles or requesters have it.
func (c *Pages) find(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	text := strings.TrimSpace(legible.Visible(r.URL.Query().Get("q")))
	to := taskFilter{Search: text, few: r.URL.Query().Get("few")}.at("")
	if x, is := task.ParseNumber(text); is && v.Admin { // only they may read the register
		to = web.At("/console/register", map[string]string{"q": x.String()})
	} else if is {
		id, err := c.numbered(r.Context(), v.Tenant, x)
		if err != nil {
			return err
		}
		if id != "" {
			a, err := c.Store.Load(r.Context(), task.RefOf(v.Tenant, id))
			if err == nil {
				_, err = c.Readable(r.Context(), v, a)
			}
			if err == nil {
				to = tasksPath + "/" + id
			} else if !errors.Is(err, aggregate.ErrNotFound) {
				return err
			}
		}
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// numbered returns the id of the request that has the number x, its own or that of its document, or "".
func (c *Pages) numbered(ctx context.Context, tenant string, x task.Numbered) (id string, err error) {
	if x.Series != "" {
		found, err := c.Store.Numbered(ctx, tenant, x)
		for _, is := range found {
			id = is.TaskID
		}
		return id, err
	}
	found, err := c.Store.RequestNumbers(ctx, tenant, x.Year, x.Key(), 1)
	if len(found) > 0 && found[0].N == x.N {
		id = found[0].TaskID
	}
	return id, err
}

// called returns people's names by id, with and without the space in a name; none if Slack doesn't answer.
func (c *Pages) called(r *http.Request, v *web.Viewer) map[string]string {
	m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now())
	if err != nil {
		slog.WarnContext(r.Context(), "only titles are searched", "err", err)
	}
	names := map[string]string{}
	for _, u := range m.People {
		names[u.ID] = u.Name + " " + strings.ReplaceAll(web.Searchable(u.Name), " ", "")
	}
	return names
}
