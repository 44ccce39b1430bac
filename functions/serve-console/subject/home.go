package subject

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
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
	// waitingOfPage is how many waiting items the page shows, what is due first.
	waitingOfPage = 50
	// mostText is how many characters a row shows of a message, and mostAbout of one that is to be sent.
	mostText, mostAbout = 200, 80
	// soon is how long before its end what waits is told to end soon; from aDay on, no minutes are said.
	soon, aDay = 4 * time.Hour, 24 * time.Hour
)

// homePage lists what waits for the viewer.
type homePage struct {
	Count string // how much waits
	Rows  []waitingRow
	Mine  []request // the viewer's newest
}

// waitingRow says what happens once something is approved, and who asked for it.
type waitingRow struct {
	Path, Kind    string
	Says          []web.Piece
	Then          []string // what else there is to know
	Priority      string   // empty if it isn't pressing
	For           string   // whom the viewer stands in for; empty: nobody
	Amount        string   // empty: no money moves, or nothing is planned yet
	Unpriced      bool     // nobody knows what it moves
	Name, Channel string
	Asked         string // what the asker wrote
	Since, Until  time.Time
	Left, Ago     string // how long it is until then, and since; empty: under a minute, or since two days
	Soon          bool   // it ends within a day, or should have ended
}

// waitingItem is a gate that waits, with what its row lacks.
type waitingItem struct {
	store.WaitingItem
	origin    aggregate.Origin
	title     string
	words     string // the asker's, of a request
	agent     string // who asks for an action or a call
	rank      task.Priority
	plan      *task.Process // whose step the gate is about
	standsFor string        // for whom, if not for themselves
}

// home lists what waits for the viewer, what is due first at the top, and before it their forms that were sent back.
// Below stand their own requests.
func (c *Pages) home(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	ctx := r.Context()
	settings, err := c.Store.Settings(ctx, v.Tenant)
	if err != nil {
		return err
	}
	reach, err := c.People.Reach(ctx, v.Team, v.User, settings)
	if err != nil {
		return err
	}
	all, err := c.waiting(ctx, v, reach)
	if err != nil {
		return err
	}
	mine, err := c.Store.Search(ctx, v.Tenant, task.Filter{Requester: v.User}, "", mostMine, mostMine, nil)
	if err != nil {
		return err
	}
	back := c.returned(ctx, v, mine.Items)
	p := homePage{Count: v.Texts("home").Say("mine", "n", len(all)+len(back))}
	p.Rows = append(back, c.rows(ctx, v, all[:min(len(all), waitingOfPage)], reach, settings)...)
	turn := func(x store.ListedTask) int { // first what somebody has to start again, then what goes on, money before
		open := x.Stands.Open()
		return slices.Index([]bool{x.Stands.Stopped(), open && x.Glance.Amount.Moves(), open, true}, true)
	}
	slices.SortStableFunc(mine.Items, func(a, b store.ListedTask) int { return turn(a) - turn(b) })
	p.Mine = c.requests(ctx, v, mine.Items[:min(len(mine.Items), newestMine)], reach.Channels(), settings)
	return c.Show(w, r, v, web.Document{Here: "home", Data: p}, "home")
}

// waiting returns what waits and the viewer may decide, also for whom they stand in, in the order in which it is due.
func (c *Pages) waiting(ctx context.Context, v *web.Viewer, reach people.Reach) (out []waitingItem, err error) {
	standIns, err := c.StandIns(ctx, v)
	if err != nil {
		return nil, err
	}
	for cursor, looked := "", 0; looked == 0 || cursor != "" && looked < web.MostLooked; looked += store.MaxPage {
		page, err := c.Store.Waiting(ctx, v.Tenant, cursor, store.MaxPage)
		if err != nil {
			return nil, err
		}
		items, err := c.known(ctx, v, page.Items)
		if err != nil {
			return nil, err
		}
		for _, x := range items {
			g := aggregate.GateOf(x.Row)
			mine := reach.Owes(g, x.origin)
			if !mine {
				var stage int
				x.standsFor, stage = standIns.Owes(g, x.Askers...)
				mine = stage > 0
			}
			if mine {
				out = append(out, x)
			}
		}
		cursor = page.Next
	}
	slices.SortStableFunc(out, func(a, b waitingItem) int { return due(a.until(), b.until()) })
	return out, nil
}

// due compares two ends; what has none comes last.
func due(a, b time.Time) int {
	if a.IsZero() || b.IsZero() {
		return cmp.Compare(b.Unix(), a.Unix()) // the zero time is the earliest
	}
	return a.Compare(b)
}

// known adds each item's task, conversation or call, and the steps of gates. It drops items whose rows are gone.
func (c *Pages) known(ctx context.Context, v *web.Viewer, items []store.WaitingItem) (out []waitingItem, err error) {
	var titled, conversing []string
	var gated, asked []store.Place
	requestKey := (&task.Request{}).Key()
	for _, x := range items {
		switch x.Kind {
		case conversation.CardAction:
			conversing = append(conversing, x.Ref.ID)
		case call.Card: // its row says all
		default:
			titled, asked = append(titled, x.Ref.ID), append(asked, store.Place{Ref: x.Ref, Key: requestKey})
			if x.Kind == task.CardStep {
				gated = append(gated, stepsOf(x))
			}
		}
	}
	titles, err := c.Store.Titled(ctx, v.Tenant, titled...)
	if err != nil {
		return nil, err
	}
	plans, err := store.RowsAt[task.Process](ctx, c.Store.KindStore.Store, gated)
	if err != nil {
		return nil, err
	}
	requests, err := store.RowsAt[task.Request](ctx, c.Store.KindStore.Store, asked)
	if err != nil {
		return nil, err
	}
	conversed, err := c.Conversations.Titled(ctx, v.Tenant, conversing...)
	if err != nil {
		return nil, err
	}
	for _, x := range items {
		a := waitingItem{WaitingItem: x}
		if of, ok := x.Row.(*call.Call); ok {
			a.origin, a.agent = of.Origin(), of.KeyName
		} else if s, ok := conversed[x.Ref.ID]; ok {
			a.origin, a.title, a.agent = s.Origin(), s.Title, s.AgentID
		} else if t, ok := titles[x.Ref.ID]; ok {
			a.origin, a.title, a.rank = originOf(v, t), t.Title, t.Priority
			r, ok := requests[store.Place{Ref: x.Ref, Key: requestKey}]
			if ok && r.Text != t.Title && r.Matter == nil { // else the title says it
				a.words = r.Words(v.Locale)
			}
		} else {
			continue
		}
		if p, ok := plans[stepsOf(x)]; ok {
			a.plan = &p
		}
		out = append(out, a)
	}
	return out, nil
}

// stepsOf returns the place of the process that has the gate's step.
func stepsOf(x store.WaitingItem) store.Place {
	return store.Place{Ref: x.Ref, Key: task.ProcessKey(x.Version)}
}

func (x waitingItem) path() string {
	switch x.Kind {
	case conversation.CardAction:
		return "/console/sessions/" + x.Ref.ID
	case call.Card:
		return "/console/calls/" + x.Ref.ID
	}
	return tasksPath + "/" + x.Ref.ID
}

func (x waitingItem) until() time.Time { return web.TimeOf(x.DecideBy) }

// rows draws a page of items, with the names of people and channels.
func (c *Pages) rows(ctx context.Context, v *web.Viewer, all []waitingItem, reach people.Reach,
	s tenancy.Settings) (out []waitingRow) {
	channels := reach.Channels()
	c.Naming(ctx, v, func(called func(id string) string) {
		by := web.Reader{Locale: v.Locale, Person: called,
			ChannelOf: func(id string) string { return web.ChannelName(channels, id) }}
		out = web.Each(all, func(x waitingItem) waitingRow {
			row := waitingRow{Path: x.path(), Name: called(x.origin.User), Channel: web.Channel(v, x.origin, channels),
				Since: x.CreatedAt, Until: x.until()}
			now := c.Now()
			left := row.Until.Sub(now)
			row.Left, row.Soon = near(v.Locale, left), left < soon
			if days := int(left / aDay); days > 1 {
				row.Left = v.Texts("home").Say("days", "n", days)
			}
			row.Ago = near(v.Locale, max(time.Minute, now.Sub(row.Since)))
			row.Asked = language.ForeignLine(language.Beginning(by.Named(x.words, called), mostAbout))
			row.Priority = card.Priority(v.Locale, x.rank)
			if x.standsFor != "" {
				row.For = v.Texts("home").Say("stands_for", "name", called(x.standsFor))
			}
			if x.Kind == conversation.CardAction {
				x.agent = labelOf(tenancy.Agents(s.Agents, c.Outbound), x.agent)
			}
			row.tells(v, by, x, explain.Does(v.Locale, x.Row, x.plan))
			return row
		})
	})
	return out
}

// near says how far away a time is that is between a minute and two days away.
func near(locale string, d time.Duration) string {
	if d < time.Minute || d >= 2*aDay {
		return ""
	}
	return explain.Length(locale, d.Truncate(map[bool]time.Duration{true: time.Hour, false: time.Minute}[d >= aDay]))
}

// tells fills in what happens. What an agent says of its action is not told: it is no word of what the action does.
func (row *waitingRow) tells(v *web.Viewer, by web.Reader, x waitingItem, sum explain.Sum) {
	words := v.Texts("home")
	title := cmp.Or(language.ForeignLine(by.Named(x.title, by.Person)), v.Untitled())
	row.Kind = words.In("kinds", x.Kind)
	switch of := x.Row.(type) {
	case *task.Prompt:
		version := x.Version
		if of.Author != "" {
			version = 1 // no reason led to it
		}
		row.Says = quoted(explain.Titled(title, version))
		return
	case *conversation.Action:
		row.Then = []string{explain.ActionCalled(of, v.Locale), title, language.ForeignLine(x.agent)}
		matter := explain.ActionMatter(of, string(of.Payload.JSON), v.Locale)
		if matter = language.ForeignLine(language.Beginning(matter, mostText)); matter == "" {
			matter, row.Then = row.Then[0], row.Then[1:]
		}
		row.Says = quoted(matter)
		return
	case *call.Call:
		row.Then = []string{language.ForeignLine(x.agent)}
	case *task.StepGate:
		row.Then = []string{words.Say("step", "n", of.Order)}
		if of.Arguments.JSON == "" {
			row.Then = append(row.Then, words.Say("planned"))
		}
	}
	lead := sum.First()
	if lead.Order == 0 {
		row.Says = quoted(title)
		return
	}
	if row.Says = by.Briefly(lead.Sentence); x.Kind != call.Card {
		row.Kind = words.In("acts", cmp.Or(string(lead.Act), otherAct))
		if named := lead.Named; named[0] != nil {
			row.Says, row.Then = by.Briefly(named[0]), append([]string{explain.Plain(named[1])}, row.Then...)
		}
	}
	unsaid := language.ForeignLine(explain.Plain(lead.Unsaid())) // its arguments tell calls apart
	if x.Kind == call.Card && unsaid != "" {
		row.Says, row.Then = by.Briefly(lead.Unsaid()), append([]string{explain.Plain(lead.Sentence)}, row.Then...)
	} else if unsaid != "" {
		row.Then = append([]string{language.Beginning(unsaid, mostAbout)}, row.Then...)
	}
	if x.title != "" && x.words == "" && !sum.Told() { // else the asker's words tell, or nobody corrected it since
		row.Then = append([]string{explain.Titled(words.Say("text", "text", title), x.Version)}, row.Then...)
	}
	if text := language.ForeignLine(by.Named(explain.Plain(lead.Words), by.Person)); text != "" {
		row.Then = append(row.Then, words.Say("text", "text", language.Beginning(text, mostAbout)))
	}
	if final := lead.FinalBriefly(v.Locale); final != "" {
		row.Then = append([]string{"⚠️ " + final}, row.Then...)
	}
	if n := len(sum.Then); n > 0 {
		row.Then = append(row.Then, words.Say("hidden", "n", n))
	}
	if sum.Amount != rules.Nothing() {
		row.Amount, row.Unpriced = explain.Money(v.Locale, sum.Amount), !sum.Amount.Known()
	}
}

// quoted is a text that is none of Ringi's own.
func quoted(text string) []web.Piece { return []web.Piece{{Text: text, Planned: true}} }

// otherAct stands in place of what nobody said.
const otherAct = "other"

// mostMine is how many of a person's latest requests are searched for those that were sent back; newestMine are listed.
const mostMine, newestMine = 50, 5

// returned returns those of the viewer's requests whose form was sent back to them: it is their turn to fill it in
// again.
func (c *Pages) returned(ctx context.Context, v *web.Viewer, mine []store.ListedTask) (out []waitingRow) {
	words := v.Texts("home")
	for _, x := range mine {
		if x.Stands != task.StatusReturned {
			continue
		}
		called := c.Called(ctx, v, append(task.Mentioned(x.Glance.Detail), v.User)...)
		why := web.Mentions(language.ForeignLine(x.Glance.Detail), called)
		row := waitingRow{Path: tasksPath + "/" + x.ID + "#decide", Kind: words.Say("returned"), Name: called(v.User),
			Says: quoted(language.ForeignLine(cmp.Or(x.Title, language.Beginning(x.Text, mostText), v.Untitled()))),
			Then: []string{v.Texts("tasks").Say("returned", "why", why)}, Since: x.CreatedAt}
		if x.Glance.Amount.Moves() {
			row.Amount = explain.Money(v.Locale, x.Glance.Amount)
		}
		out = append(out, row)
	}
	return out
}
