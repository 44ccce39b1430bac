package subject

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

const (
	tasksPath = "/console/tasks"
	// rowsOfPage is the number of requests, conversations or calls on a page of their list.
	rowsOfPage = 50
	// myself stands for the viewer in addresses that other people may open too.
	myself = "me"
	// maxSearch is the longest search text, in characters.
	maxSearch = 100
)

type taskList struct {
	web.List
	Rows []request
}

// request is a row of the list.
type request struct {
	store.ListedTask
	Title         string
	Later         int // the version that a reason led to; 0: the first
	As            task.Status
	Kind          string // what its steps do, in a word
	Next          string // what happens next, or why it goes on no more
	Amount        string // empty: no money moves, or nothing is planned yet
	Pressing      string // its priority; empty if it isn't pressing
	Name, Channel string
}

type taskFilter struct{ Status, Person, Search string }

// readTaskFilter reads an address.
func readTaskFilter(q url.Values) (taskFilter, error) {
	f := taskFilter{Status: q.Get("status"), Person: q.Get("person"),
		Search: strings.TrimSpace(language.Visible(q.Get("q")))}
	return f, cmp.Or(web.Known("status", f.Status, task.Filter{Status: task.Status(f.Status)}.Check() == nil),
		web.Known("person", f.Person, f.Person == myself),
		web.Known("q", f.Search, utf8.RuneCountInString(f.Search) <= maxSearch))
}

func (f taskFilter) form(words web.Texts) web.Filter {
	search := web.Field{Name: "q", Label: words.Say("search"), Type: "search", Most: maxSearch, Value: f.Search,
		Hint: words.Say("search_hint"), HintID: "q-hint"}
	out := web.Filter{Path: tasksPath, Search: true, Submit: words.Say("filter"),
		Fields: []web.Field{search, web.Select("status", words.Say("status"), words.Say("anything"),
			web.Each(task.Statuses, func(s task.Status) web.Choice {
				return web.Choice{Value: string(s), Text: words.In("statuses", s), Chosen: string(s) == f.Status}
			}))}}
	if f.narrows() {
		out.Clear = words.Say("clear")
	}
	if f.Person != "" {
		out.Hidden = []web.Field{{Name: "person", Value: f.Person}}
	}
	return out
}

func (f taskFilter) at(cursor string) string {
	return web.At(tasksPath, map[string]string{"status": f.Status, "person": f.Person, "q": f.Search, "cursor": cursor})
}

// narrows reports whether the form excludes anything.
func (f taskFilter) narrows() bool { return f.Status != "" || f.Search != "" }

func (c *Pages) tasks(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words := v.Texts("tasks")
	f, err := readTaskFilter(r.URL.Query())
	if err != nil {
		return err
	}
	if id, err := c.named(r.Context(), v, f.Search); err != nil || id != "" {
		http.Redirect(w, r, tasksPath+"/"+id, http.StatusSeeOther)
		return err
	}
	list := taskList{}
	list.Narrowed, list.Hints = f.narrows(), []string{words.Say("empty_about"), words.Say("empty_example")}
	if !v.Admin {
		list.Hints = append(list.Hints, words.Say("empty_mine"))
	}
	mine, all := f, f
	mine.Person, all.Person = myself, ""
	list.Views = []web.View{{Path: all.at(""), Text: words.Say("all"), Here: f.Person == ""},
		{Path: mine.at(""), Text: words.Say("mine"), Here: f.Person != ""}}
	list.Filter = f.form(words)
	page, reach, err := web.ReadList(c.Site, r, v, &list.List, f.at,
		func(reach people.Reach, cursor string) (store.Page[store.ListedTask], error) {
			return c.visible(r, v, f, reach, cursor)
		})
	if err != nil {
		return err
	}
	var settings tenancy.Settings
	unruled := func(x store.ListedTask) bool { return x.Stands == task.StatusWaits && !x.Routed }
	if slices.ContainsFunc(page.Items, unruled) {
		if settings, err = c.Settings(r, v); err != nil {
			return err
		}
	}
	list.Rows = c.requests(r.Context(), v, page.Items, reach.Channels(), settings)
	return c.Show(w, r, v, web.Document{Here: "tasks", Data: list}, "tasks")
}

// visible reads the page of requests that an address asks for. Members see only their own requests and those in their
// channels.
func (c *Pages) visible(r *http.Request, v *web.Viewer, f taskFilter, reach people.Reach,
	cursor string) (store.Page[store.ListedTask], error) {
	filter := task.Filter{Status: task.Status(f.Status)}
	if f.Person == myself {
		filter.Requester = v.User
	}
	limit := rowsOfPage
	var keep func(store.ListedTask) bool
	if !v.Admin && filter.Requester != v.User {
		keep = func(x store.ListedTask) bool { return reach.Sees(originOf(v, x)) }
	}
	if f.Search != "" {
		begins, sees := language.Folded(f.Search), keep
		keep = func(x store.ListedTask) bool {
			title := language.Folded(language.Visible(cmp.Or(x.Title, x.Text)))
			return (sees == nil || sees(x)) && strings.HasPrefix(title, begins)
		}
	}
	if filter.Status.Open() { // which of the open ones wait is only known once they are read
		limit = store.MaxPage
	}
	return c.Store.Search(r.Context(), v.Tenant, filter, cursor, limit, web.MostLooked, keep)
}

// named returns the id of the request that a number or an id is of, or "" if the viewer may read none by it.
func (c *Pages) named(ctx context.Context, v *web.Viewer, text string) (id string, err error) {
	if x, is := task.ParseNumber(text); is {
		found, err := c.Store.Numbered(ctx, v.Tenant, x)
		if err != nil {
			return "", err
		}
		for _, is := range found {
			id = is.TaskID
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

// requests returns the rows of requests. The settings are only for those that wait under no rule.
func (c *Pages) requests(ctx context.Context, v *web.Viewer, items []store.ListedTask, channels map[string]string,
	settings tenancy.Settings) (out []request) {
	n := namer{v: v, settings: settings}
	c.Naming(ctx, v, func(called func(id string) string) {
		n.person = called
		n.surface = web.SurfaceOf(v, called, func(id string) string { return web.ChannelName(channels, id) })
		out = web.Each(items, func(x store.ListedTask) request { return n.row(x, channels) })
	})
	return out
}

func (n namer) row(x store.ListedTask, channels map[string]string) request {
	by := web.Reader{ChannelOf: func(id string) string { return cmp.Or(web.ChannelName(channels, id), id) }}
	said := by.Named(language.Beginning(x.Text, mostText), n.person)
	row := request{ListedTask: x, Title: language.ForeignLine(cmp.Or(x.Title, said, n.v.Untitled())),
		Later: explain.LaterVersion(x.Glance.Version), As: x.Stands.Called(x.Glance.Why), Name: n.person(x.Requester()),
		Channel: web.Channel(n.v, originOf(n.v, x), channels), Next: n.next(x),
		Pressing: card.Priority(n.v.Locale, x.Priority)}
	if x.Glance.Amount != (rules.Amount{}) { // there are steps
		row.Kind = n.v.Texts("home").In("acts", cmp.Or(string(x.Glance.Act), otherAct))
	}
	if x.Glance.Amount.Moves() {
		row.Amount = explain.Money(n.v.Locale, x.Glance.Amount)
	}
	return row
}

// namer says in a list how requests stand.
type namer struct {
	v        *web.Viewer
	settings tenancy.Settings
	surface  explain.Surface
	person   func(id string) string
}

// next says who is asked and how far they are, that a version was sent back, or why the request goes on no more.
func (n namer) next(x store.ListedTask) string {
	words, g := n.v.Texts("tasks"), x.Glance
	switch {
	case x.Stands == task.StatusWaits && g.Act == rules.ActDecide: // without steps
		return n.asks(x)
	case x.Stands == task.StatusWaits:
		return words.In("waits_for", string(x.WaitsFor), "who", n.asks(x))
	case x.Stands == task.StatusReturned:
		return words.Say("returned", "why", web.Mentions(language.ForeignLine(g.Detail), n.person))
	case x.Stands == task.StatusDrafting && g.Back > 0:
		return words.Say("sent_back", "why", web.Mentions(language.ForeignLine(g.Detail), n.person), "n", g.Back+1)
	case x.Stands.Open(), x.Stands == task.StatusDone, g.Why == "", g.Why == task.ReasonByPerson:
		return ""
	case g.Why == task.ReasonUnsupported && g.Detail != "":
		return explain.Happened(firstLine(language.ForeignLine(g.Detail)))
	case x.Stands.Called(g.Why) == task.StatusDenied:
		return words.Say("denied", "why", web.Mentions(language.ForeignLine(g.Detail), n.person))
	}
	detail := explain.FitDetail(g.Why, g.Detail, language.ForeignLine, n.person)
	return explain.Happened(firstLine(explain.Ended(n.v.Locale, g.Why, detail, explain.NoRetry)))
}

func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	return text
}

// asks names whom a request waits for, as briefly as a list can.
func (n namer) asks(x store.ListedTask) string {
	words, g := n.v.Texts("tasks"), x.Glance
	if !x.Routed {
		return n.surface.Deciders(n.settings, originOf(n.v, x))
	}
	stage, who := explain.Given(g.Stage), web.Joined(g.Who, n.surface.Marks.Person, words.Say("middot"))
	if g.Need > 1 {
		stage = cmp.Or(stage, words.Say("along_route")) + " " + strconv.Itoa(g.Given) + "/" + strconv.Itoa(g.Need)
	}
	if stage == "" || who == "" {
		return cmp.Or(stage, who, words.Say("along_route"))
	}
	return words.Say("stage", "stage", stage, "who", who)
}

// originOf returns where a task was requested. The list's row only knows whether the channel is a direct message.
func originOf(v *web.Viewer, x store.ListedTask) aggregate.Origin {
	o := aggregate.Origin{Team: v.Team, User: x.Requester(), Channel: x.SlackChannel}
	if x.Source == task.SourceAgentContainer {
		o.ChannelType = "im"
	}
	return o
}
