package task

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

// Request is a row of a list of requests.
type Request struct {
	ID, Title      string
	Version        int // that a reason led to; 0: the first
	Status         task.Status
	Mark           string // of the status, beside its words
	Kind, About    string // what its steps do, in a word, and what was asked for
	Next           string // what happens next, or why it goes on no more
	Amount         string // empty: no money moves, or nothing is planned yet
	Priority       string // empty if it isn't pressing
	Person, Name   string
	PersonPath     string // address of the person's requests
	Channel        string
	Created, Ended time.Time
	Until          time.Time // of what waits
	Soon           bool      // it ends soon
	Made           string    // address of what it made
	Sheet          bool      // Made is of a sheet
	Again          string    // the message, if it was declined and lists have all of it
	Retry          aggregate.Act
}

// requests returns the rows of requests. If channels is nil they are the viewer's own, whose name isn't looked up.
// Settings are read if something waits under no rule, unless they are given.
func (c *Pages) requests(ctx context.Context, v *web.Viewer, items []store.ListedTask, channels map[string]string,
	s *tenancy.Settings) (out []Request, err error) {
	var ids []string
	if s == nil && slices.ContainsFunc(items, func(x store.ListedTask) bool {
		return x.Stands == task.StatusWaits && !x.Routed
	}) {
		is, err := c.Store.Settings(ctx, v.Tenant)
		if err != nil {
			return nil, err
		}
		s = &is
	}
	if s != nil {
		ids = append(ids, s.Approvers.Users...)
	}
	for _, x := range items {
		if ids = append(append(ids, task.Mentioned(x.Text+x.Description)...), x.Glance.Who...); channels != nil {
			ids = append(ids, x.Requester())
		}
		why(x.Glance, func(id string) string { ids = append(ids, id); return id })
	}
	person := c.Called(ctx, v, ids...)
	surface := subject.SurfaceOf(v, person, func(id string) string { return web.ChannelName(channels, id) })
	for _, x := range items {
		named := web.Mentions(legible.Beginning(x.Text, mostText), person)
		row := Request{ID: x.ID, Title: card.OneLine(cmp.Or(x.Title, named, v.Untitled())),
			Status: x.Stands.Called(x.Glance.Why), Person: x.Requester(), Name: person(x.Requester()),
			Channel: web.Channel(v, originOf(v, x), channels), Created: x.CreatedAt, Until: web.TimeOf(x.Glance.Until),
			Next: next(v, x, surface, person, s)}
		row.Mark = marks[row.Status]
		about := card.OneLine(web.Mentions(legible.Beginning(x.Description, mostAbout), person))
		if row.Version = card.Later(x.Glance.Version); row.Version == 0 && about != row.Title {
			row.About = about
		}
		if x.Glance.Amount != (rules.Amount{}) { // there are steps
			row.Kind = v.Texts("approvals").In("acts", cmp.Or(string(x.Glance.Act), otherAct))
		}
		if !x.Stands.Open() { // the row of one that is open doesn't change
			row.Ended = x.UpdatedAt
		}
		row.Soon = c.soon(row.Until)
		if x.Priority.Pressing() {
			row.Priority = card.Priority(v.Locale, x.Priority)
		}
		if x.Glance.Amount.Moves() {
			row.Amount = explain.Money(v.Locale, x.Glance.Amount)
		}
		switch {
		case x.Stands == task.StatusDone:
			row.Made, row.Sheet = card.Linked(x.Glance.Made), x.Glance.Act == rules.ActSheet
		case x.Stands == task.StatusToRetry:
			row.Retry = task.ActRetryExecution
		case x.Stands == task.StatusNotDrafted:
			row.Retry = task.ActRetryGeneration
		case x.Stands == task.StatusRefused && len(x.Text) < task.MaxListed:
			row.Again = x.Text
		case x.Glance.Back > 0 && x.Stands == task.StatusDrafting:
			row.Mark = "🔁"
		}
		out = append(out, row)
	}
	return out, nil
}

// mostAbout is how many characters of what was asked for a row has.
const mostAbout = 80

// soon reports whether what waits until then ends soon.
func (c *Pages) soon(until time.Time) bool { return !until.IsZero() && until.Sub(c.Now()) < urgent }

// denied is what a request is called that was rejected for good: nobody withdrew it.
const denied = task.StatusDenied

var marks = map[task.Status]string{
	task.StatusDrafting: "🔵", task.StatusWaits: "🔵", task.StatusReturned: "↩️", task.StatusNotDrafted: "⚠️",
	task.StatusRunning: "🔵",
	task.StatusToRetry: "⚠️", task.StatusFailed: "❌", task.StatusDone: "✅", task.StatusCancelled: "⬜",
	denied: "❌", task.StatusUnrouted: "❌", task.StatusExpired: "⌛", task.StatusRefused: "❌", task.StatusAnswered: "💬",
}

// next says who is asked and how far they are, that a version was sent back, or why the request goes on no more.
func next(v *web.Viewer, x store.ListedTask, surface explain.Surface, person func(id string) string,
	s *tenancy.Settings) string {
	words, g := v.Texts("tasks"), x.Glance
	switch {
	case x.Stands == task.StatusWaits:
		return words.In("waits_for", string(x.WaitsFor), "who", asks(v, x, surface, person, s))
	case x.Stands == task.StatusReturned:
		return words.Say("returned", "why", card.OneLine(g.Detail))
	case x.Stands == task.StatusDrafting && g.Back > 0:
		return words.Say("sent_back", "why", card.OneLine(g.Detail), "n", g.Back+1)
	case x.Stands.Open(), x.Stands == task.StatusDone, g.Why == "":
		return ""
	case g.Why == task.ReasonUnsupported && g.Detail != "":
		return sentence(card.OneLine(g.Detail))
	case x.Stands.Called(g.Why) == denied:
		return words.Say("denied", "why", card.OneLine(g.Detail))
	}
	return sentence(explain.Ended(v.Locale, g.Why, why(g, person), explain.NoRetry))
}

// why is the detail of why a request goes on no more, as a list shows it.
func why(g task.Glance, person func(id string) string) string {
	return explain.FitDetail(g.Why, g.Detail, card.OneLine, person)
}

// asks names whom a request waits for, as briefly as a list can.
func asks(v *web.Viewer, x store.ListedTask, surface explain.Surface, person func(id string) string,
	s *tenancy.Settings) string {
	words, g := v.Texts("tasks"), x.Glance
	if x.Routed {
		stage := cmp.Or(legible.OneLine(g.Stage), words.Say("along_route"))
		if g.Need > 1 {
			stage += " " + strconv.Itoa(g.Given) + "/" + strconv.Itoa(g.Need)
		}
		if len(g.Who) == 0 {
			return stage
		}
		return words.Say("stage", "stage", stage, "who", web.Joined(g.Who, person, words.Say("middot")))
	}
	return surface.Approvers(*s, originOf(v, x))
}

// sentence returns the first sentence of a text.
func sentence(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	return explain.Happened(text)
}

const (
	// mostMine is how many of a person's latest requests the home looks at. It shows fewOpen of those that are open,
	// and fewOver of those that are over.
	mostMine, fewOpen, fewOver = 50, 5, 3
	// lately is for how long a request that is over stands there.
	lately = 7 * 24 * time.Hour
)

// Mine returns the viewer's own requests: those that were given back to them, then their other open ones, those with
// money first, with what ended lately. settings may be nil.
func (c *Pages) Mine(ctx context.Context, v *web.Viewer,
	settings *tenancy.Settings) (returned, mine []Request, err error) {
	page, err := c.Store.Search(ctx, v.Tenant, task.Filter{Requester: v.User}, "", mostMine, mostMine, nil)
	if err != nil {
		return nil, nil, err
	}
	var back, open, over []store.ListedTask
	for _, x := range page.Items {
		switch {
		case x.Stands == task.StatusReturned:
			back = append(back, x)
		case x.Stands.Open():
			open = append(open, x)
		case x.Stands != task.StatusAnswered && c.Now().Sub(x.UpdatedAt) <= lately:
			over = append(over, x)
		}
	}
	rank := map[bool]int{true: -1} // money first
	slices.SortStableFunc(open, func(a, b store.ListedTask) int {
		return rank[a.Glance.Amount.Moves()] - rank[b.Glance.Amount.Moves()]
	})
	items := slices.Concat(back, open[:min(len(open), fewOpen)], over[:min(len(over), fewOver)])
	if len(items) == 0 {
		return nil, nil, nil
	}
	if mine, err = c.requests(ctx, v, items, nil, settings); err != nil {
		return nil, nil, err
	}
	return mine[:len(back)], mine[len(back):], nil
}

// originOf returns where a task was requested. The list's row only knows whether the channel is a direct message.
func originOf(v *web.Viewer, x store.ListedTask) aggregate.Origin {
	o := aggregate.Origin{Team: v.Team, User: x.Requester(), Channel: x.SlackChannel}
	if x.Source == task.SourceAgentContainer {
		o.ChannelType = "im"
	}
	return o
}
