package main

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/store/tasks"
)

const (
	// rowsOfPage is how many requests a page of the list has.
	rowsOfPage = 50
	// mostLooked is how many of the newest requests a search looks at, and how many a page of those that a member may see.
	mostLooked = 1000
	// mostLive is how many rows a page may cost that is fetched again every few seconds.
	mostLive = 200
)

func (c *Console) tasksRoutes() []route {
	return []route{{"GET /console/tasks", anyMember, c.tasks}}
}

// taskList is what the page of requests shows.
type taskList struct {
	Filter        taskFilter
	Bad           []string // sentences on what the address says wrong
	Statuses      []filterChoice
	People        []filterChoice
	Rows          []taskRow
	Next, Prev    string // addresses, empty without such a page
	First         string // address of the first page, on others
	Live          string // address, empty when the page is not fetched again
	Narrowed      bool   // something is left out by the filter
	Short         bool   // as many rows as may be were looked at
	Searched      bool
	More          bool // more than a page of them were found
	Unsaid        bool // Slack does not say which channels the viewer is in
	Mine          bool // the viewer's own are listed alone
	MinePath, All string
	Waiting       string // address of what waits for the viewer
}

// filterChoice is an option of a filter.
type filterChoice struct {
	Value, Text string
	Chosen      bool
}

// taskRow is a request in the list.
type taskRow struct {
	ID, Title        string
	Status, Badge    string
	Priority         string // empty for the usual one
	Person, Name     string
	PersonPath       string // address of the person's requests
	Channel          string
	Created, Changed time.Time
}

func (c *Console) tasks(w http.ResponseWriter, r *http.Request, v *viewer) error {
	words := v.texts("tasks")
	f, bad := readTaskFilter(r.URL.Query())
	list := taskList{Filter: f, Bad: problems(words, bad), Waiting: fewApprovals, Searched: f.Search != "", Narrowed: f.narrows()}
	mine, all := f, f
	mine.Person, all.Person = myself, ""
	list.Mine, list.MinePath, list.All = f.Person == myself || f.Person == v.User, mine.address(), all.address()
	reach, err := c.People.Sight(r.Context(), v.Team, v.User)
	if err != nil {
		slog.WarnContext(r.Context(), "a person's channels are not known", "err", err)
		list.Unsaid = true
	}
	page := store.Page[tasks.Listed]{}
	if len(bad) == 0 {
		if page, err = c.visible(r, v, f, reach); badCursor(err) {
			refuse(r, v, err.Error())
			list.Bad = append(list.Bad, v.texts("layout").Say("bad_cursor"))
		} else if err != nil {
			return err
		}
	}
	if f.cursor != "" {
		if list.First = f.address(); len(list.Bad) == 0 && page.Prev == "" && page.Looked > 0 {
			http.Redirect(w, r, list.First, http.StatusSeeOther) // back at the beginning: the page that is kept up to date
			return nil
		}
	}
	list.fill(c, r, v, page, reach)
	d := document{Title: words.Say("title"), Here: "tasks", Data: list}
	if len(list.Bad) > 0 {
		d.Status = http.StatusBadRequest
	}
	return c.show(w, r, v, d, "tasks.html")
}

// visible is the page of requests that an address asks for, of which a member sees their own and those of their channels.
func (c *Console) visible(r *http.Request, v *viewer, f taskFilter, reach people.Reach) (store.Page[tasks.Listed], error) {
	filter, limit, most := f.of(v.User), rowsOfPage, mostLooked
	var keep func(tasks.Listed) bool
	if !v.Admin && filter.Requester != v.User {
		keep = func(x tasks.Listed) bool { return reach.Sees(originOf(v, x)) }
	}
	if f.Search != "" {
		sees, matches := keep, matcher(f.Search)
		limit = store.MaxPage
		keep = func(x tasks.Listed) bool { return (sees == nil || sees(x)) && matches(x.Title) }
	}
	return c.Store.Search(r.Context(), v.Tenant, filter, f.cursor, limit, most, keep)
}

func badCursor(err error) bool {
	field, ok := errors.AsType[aggregate.ErrField](err)
	return ok && field.Field == "cursor"
}

// originOf is where a task was asked for. Its row says of the channel's type only whether it is a direct message.
func originOf(v *viewer, x tasks.Listed) aggregate.Origin {
	o := aggregate.Origin{Team: v.Team, User: x.Requester(), Channel: x.SlackChannel}
	if x.Source == task.SourceAgentContainer {
		o.ChannelType = "im"
	}
	return o
}

// fill puts a page of tasks into the list, with the names of people and channels.
func (l *taskList) fill(c *Console, r *http.Request, v *viewer, page store.Page[tasks.Listed], reach people.Reach) {
	words := v.texts("tasks")
	if l.Short = page.Looked >= mostLooked; l.Searched {
		l.More = len(page.Items) == store.MaxPage && page.Next != ""
		page.Next, page.Prev = "", "" // of the latest thousand, not of any before
	}
	if page.Next != "" {
		l.Next = l.Filter.at(page.Next)
	}
	if page.Prev != "" {
		l.Prev = l.Filter.at(page.Prev)
	}
	if l.Filter.cursor == "" && !l.Searched && page.Looked <= mostLive && len(l.Bad) == 0 {
		l.Live = l.Filter.address()
	}
	ids := []string{v.User, l.Filter.of(v.User).Requester}
	for _, x := range page.Items {
		ids = append(ids, x.Requester())
	}
	names, channels := c.names.Of(r.Context(), c.Slack, v.Team, c.Now(), ids...), reach.Channels()
	for _, x := range page.Items {
		by := l.Filter
		by.Person = x.Requester()
		l.Rows = append(l.Rows, taskRow{
			ID: x.ID, Title: cmp.Or(card.OneLine(x.Title), v.untitled()), Status: words.In("statuses", x.Status), Badge: badgeOf(x.Status),
			Priority: words.In("priorities", x.Priority), Person: x.Requester(), Name: card.OneLine(names[x.Requester()]), PersonPath: by.address(),
			Channel: channel(v, originOf(v, x), channels), Created: x.CreatedAt, Changed: x.UpdatedAt,
		})
	}
	l.choices(v, names, words)
}

// choices are the options of the filters: people are those of the page, the viewer, and whoever is chosen.
func (l *taskList) choices(v *viewer, names map[string]string, words web.Texts) {
	for _, s := range []task.TaskStatus{task.TaskExtracted, task.TaskRunning, task.TaskCompleted, task.TaskFailed, task.TaskCancelled} {
		l.Statuses = append(l.Statuses, filterChoice{string(s), words.In("statuses", s), l.Filter.Status == string(s)})
	}
	l.People = []filterChoice{{myself, words.Say("myself"), l.Mine}}
	chosen := l.Filter.of(v.User).Requester
	for id, name := range names {
		if id != v.User {
			l.People = append(l.People, filterChoice{id, card.OneLine(name), id == chosen})
		}
	}
	slices.SortFunc(l.People[1:], func(a, b filterChoice) int { return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Value, b.Value)) })
}

// badgeOf is the colour of a status.
func badgeOf(s task.TaskStatus) string {
	return map[task.TaskStatus]string{
		task.TaskExtracted: "badge-wait", task.TaskRunning: "badge-calm", task.TaskCompleted: "badge-good", task.TaskFailed: "badge-bad",
	}[s]
}

// channel names where something was asked for: a channel by its name, where the viewer is in it, else by its id.
func channel(v *viewer, o aggregate.Origin, names map[string]string) string {
	if o.ChannelType == "im" {
		return v.texts("tasks").Say("direct")
	}
	return cmp.Or(channelName(names, o.Channel), o.Channel)
}
