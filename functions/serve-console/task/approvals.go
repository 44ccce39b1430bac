package task

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

const (
	// waitingOfPage is how many waiting items are read for a page; each is read in full.
	waitingOfPage = 50
	// mostPages bounds the pages that are searched for one with an item for the viewer.
	mostPages = 4
	// fewOfMine is how many items that wait for the viewer the home shows, and the list of requests above its rows.
	fewOfMine = 5
	// mostText is how many characters of a message are shown with the question what it is meant to be.
	mostText = 200
	// mostSaid and mostEffects are how many characters of a message and of an effect a row shows, and mostLines how many
	// effects. The page that a row leads to draws everything whole.
	mostSaid, mostEffects, mostLines = 120, 160, 3
)

type waitingList struct {
	web.List
	ForMe, Few bool   // only the viewer's; as shown above the list of requests
	More       bool   // more wait than are shown
	Counted    string // of all that waits for the viewer, as console.js reads it; empty: this page is not of all
	Groups     []waitingGroup
	Rows       int    // in all groups
	Mine       string // address of what waits for the viewer
	Of         approvalFilter
	Sorts      map[string]string // addresses of the same list in another order
}

type waitingGroup struct {
	Name string // empty: all
	Rows []waitingRow
}

type waitingRow struct {
	Path, Title   string
	Words         string // the beginning of the requester's message
	Priority      string // empty if it has none
	Pressing      bool
	Kind          string
	Version       int // 0 where there are none
	Name, Channel string
	Person        string // who asked
	Since, Until  time.Time
	Who           string // may decide
	Effects       []string
	Hidden        int    // further effects
	Writes        string // what it writes to; empty if that is not planned yet
	Said, SaidBy  string // of an action: what it is for, in the words of the agent or of the person who proposed it
	Mine          bool   // the viewer may decide
	OneStep       int    // the number of the step that a gate precedes
	For           string // whom the viewer stands in for; empty: nobody
	rank          task.Priority
}

func (c *Pages) approvals(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words, q := v.Texts("approvals"), r.URL.Query()
	f, bad := readApprovalFilter(q)
	list := waitingList{Of: f, ForMe: f.For == web.Myself, Few: q.Get("few") != ""}
	list.Bad, list.Narrowed = web.Problems(words, bad), f.Narrows()
	settings, err := c.Store.Settings(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	reach, err := c.People.Reach(r.Context(), v.Team, v.User, settings)
	if err != nil {
		slog.WarnContext(r.Context(), "what a person may decide is not known", "err", err)
		list.Unsaid = true
	}
	d := web.Document{Title: words.Say("title"), Here: "approvals"}
	var found []askedItem
	var page store.Page[store.WaitingItem]
	if len(list.Bad) == 0 {
		found, page, err = c.waiting(r, v, reach, f, q.Get("cursor"))
	}
	if err := list.Paged(r, v, q.Get("cursor"), f.at, page.Next, page.Prev, err); err != nil {
		return err
	}
	if list.ForMe && !list.Narrowed && q.Get("cursor") == "" && len(list.Bad) == 0 {
		list.Counted = counted(found, page.Next != "")
	}
	if list.Few {
		list.Live, list.Of.Sort = fewApprovals, byDue
		list.More = len(found) > fewOfMine || page.Next != ""
		slices.SortStableFunc(found, askedItem.order)
		found = found[:min(fewOfMine, len(found))]
	}
	list.offer(words, v, c.read(r, v, found, reach, settings))
	d.Data, d.Status = list, list.Status()
	return c.Show(w, r, v, d, "tasks/approvals")
}

// counted is how many decisions wait for the viewer, and how many of them are of agents, by the menu's keys.
func counted(found []askedItem, more bool) string {
	agents := 0
	for _, x := range found {
		if x.Kind == conversation.CardAction {
			agents++
		}
	}
	n := strconv.Itoa(len(found))
	if more {
		n += "+"
	}
	return url.Values{"approvals": {n}, "agents": {strconv.Itoa(agents)}}.Encode()
}

// fewApprovals is where the home and the list of requests load the items that wait for the viewer: those that are due
// first, in a line each.
const fewApprovals = "/console/approvals?few=1&for=me"

// askedItem is a waiting item with its task, conversation or message.
type askedItem struct {
	store.WaitingItem
	origin aggregate.Origin
	title  string
	rank   task.Priority
	agent  string        // of a conversation
	text   string        // of the requester's message
	plan   *task.Process // that has the gate's step
	named  bool          // the present stage of its route names the viewer, or whom they stand in for
	// standsFor is whom the viewer stands in for.
	standsFor string
}

// known adds each item's task, conversation or message, and the steps of gates. It drops items whose rows are gone.
func (c *Pages) known(r *http.Request, v *web.Viewer, items []store.WaitingItem) ([]askedItem, error) {
	var titled, said []string
	var gated []store.Place
	var conversing []string
	for _, x := range items {
		switch x.Kind {
		case conversation.CardAction:
			conversing = append(conversing, x.Ref.ID)
		case task.CardTask:
			said = append(said, x.Ref.ID)
		case task.CardStep:
			gated = append(gated, stepsOf(x))
			fallthrough
		default:
			titled, said = append(titled, x.Ref.ID), append(said, x.Ref.ID)
		}
	}
	titles, err := c.Store.Titled(r.Context(), v.Tenant, titled...)
	if err != nil {
		return nil, err
	}
	messages, err := c.Store.Requests(r.Context(), v.Tenant, said...)
	if err != nil {
		return nil, err
	}
	plans, err := store.RowsAt[task.Process](r.Context(), c.Store.KindStore.Store, gated)
	if err != nil {
		return nil, err
	}
	var conversed map[string]conversation.Conversation
	if len(conversing) > 0 {
		if conversed, err = c.Conversations.Titled(r.Context(), v.Tenant, conversing...); err != nil {
			return nil, err
		}
	}
	var out []askedItem
	for _, x := range items {
		a := askedItem{WaitingItem: x}
		if s, ok := conversed[x.Ref.ID]; ok && x.Kind == conversation.CardAction {
			a.origin, a.title, a.agent = s.Origin(), s.Title, s.AgentID
		} else if m, ok := messages[x.Ref.ID]; ok && x.Kind == task.CardTask {
			a.origin, a.text = m.Origin(), m.Words(v.Locale)
		} else if t, ok := titles[x.Ref.ID]; ok {
			a.origin, a.title, a.rank, a.text = originOf(v, t), t.Title, t.Priority, messages[x.Ref.ID].Words(v.Locale)
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

// read adds what people read: names, the effects, who may decide and until when.
func (c *Pages) read(
	r *http.Request, v *web.Viewer, all []askedItem, reach people.Reach, s tenancy.Settings,
) []waitingRow {
	words := v.Texts("approvals")
	ids := append([]string{v.User}, s.Approvers.Users...)
	for _, x := range all {
		ids = append(append(append(ids, x.origin.User), x.askers()...), task.Mentioned(x.text)...)
		if g := x.ruled(); g != nil {
			ids = append(ids, subject.NamedOf(g)...) // whom the viewer stands in for among them
		}
	}
	person, channels := c.Called(r.Context(), v, ids...), reach.Channels()
	surface := subject.SurfaceOf(v, person, func(id string) string { return web.ChannelName(channels, id) })
	reader := Reader{Locale: v.Locale, Person: person}
	var out []waitingRow
	for _, x := range all {
		is := waitingRow{
			Path: "/console/tasks/" + x.Ref.ID, Title: cmp.Or(card.OneLine(x.title), v.Untitled()),
			Kind: words.In("kinds", x.Kind), Version: x.Version,
			Name: person(x.origin.User), Person: x.origin.User, Channel: web.Channel(v, x.origin, channels), Since: x.CreatedAt,
			Until: x.until(),
			Mine:  x.decides(reach, v) || x.standsFor != "",
			Who:   surface.Deciders(s, x.origin, x.askers()...), rank: x.rank,
			Priority: card.Priority(v.Locale, x.rank), Pressing: x.rank.Pressing(),
			Words: card.OneLine(reader.Named(legible.Beginning(x.text, mostSaid))), Writes: x.writes(v.Locale),
		}
		if x.standsFor != "" {
			is.For = words.Say("stands_for", "name", person(x.standsFor))
		}
		switch row := x.Row.(type) {
		case *task.Process:
			is.Effects = namedEffects(reader, row.Steps)
		case *task.StepGate:
			is.OneStep = row.Order
			if i := x.gated(row); i >= 0 {
				is.Effects = namedEffects(reader, x.plan.Steps)[i : i+1]
			}
		case *conversation.Action:
			is.Path, is.Version, is.Writes = "/console/sessions/"+x.Ref.ID, 0, words.In("acts", row.ActionType)
			is.Effects, is.Said = []string{c.doing(r.Context(), v, x.Ref, row, reader)}, card.OneLine(row.Summary)
			if is.SaidBy = card.OneLine(x.agent); row.RequestedBy == conversation.RequestedByUser && len(row.Askers) > 0 {
				is.SaidBy = person(row.Askers[0])
			}
		case *task.Choice:
			is.Title, is.Words, is.Version = card.OneLine(reader.Named(legible.Beginning(x.text, mostText))), "", 0
			is.Who = surface.Either(x.origin.User, surface.Approvers(s, x.origin))
		}
		if g := x.ruled(); g != nil {
			is.Who, _ = subject.RouteReader{Locale: v.Locale, Person: person, Channel: is.Channel,
				ChannelOf: func(id string) string { return web.ChannelName(channels, id) }}.Waits(g)
		}
		if is.Words == is.Title {
			is.Words = ""
		}
		is.shorten()
		out = append(out, is)
	}
	return out
}

// shorten leaves out of the effects what the row has no room for.
func (w *waitingRow) shorten() {
	w.Hidden = max(0, len(w.Effects)-mostLines)
	w.Effects = w.Effects[:len(w.Effects)-w.Hidden]
	for i, e := range w.Effects {
		w.Effects[i] = legible.Beginning(e, mostEffects)
	}
}

func (x askedItem) writes(locale string) string {
	if steps := x.steps(); steps != nil {
		return explain.Writes(locale, steps)
	}
	return ""
}

// writesTo reports whether the item's steps write to this, or that there are none yet.
func (x askedItem) writesTo(to string) bool {
	steps := x.steps()
	switch {
	case x.Kind == conversation.CardAction:
		return to == string(explain.WritesOther)
	case steps == nil:
		return to == unplanned
	}
	return explain.WritesTo(steps, explain.Written(to))
}

// steps returns the steps that the item asks about; nil if it doesn't ask about steps.
func (x askedItem) steps() []task.Step {
	switch row := x.Row.(type) {
	case *task.Process:
		return row.Steps
	case *task.StepGate:
		if i := x.gated(row); i >= 0 {
			return x.plan.Steps[i : i+1]
		}
	}
	return nil
}

// gated returns the index of the gate's step in its plan, or -1 if that is gone.
func (x askedItem) gated(g *task.StepGate) int {
	if x.plan == nil {
		return -1
	}
	return x.plan.StepOf(g)
}

func (x askedItem) askers() []string {
	switch row := x.Row.(type) {
	case *task.Prompt:
		if row.Author != "" {
			return []string{x.origin.User, row.Author}
		}
	case *conversation.Action:
		return row.Askers
	}
	return nil
}

// namedEffects prefixes each effect with its step's name: "the whole company" alone says too little.
func namedEffects(reader Reader, steps []task.Step) []string {
	out := reader.Effects(steps)
	for i, s := range steps {
		out[i] = legible.Isolated(card.OneLine(s.Name())) + ": " + out[i]
	}
	return out
}

// standIns returns the delegations by which the viewer stands in for others now, with one query: those first that began
// first.
func (c *Pages) standIns(r *http.Request, v *web.Viewer) ([]circulation.StandIn, error) {
	all, err := c.Store.StandInsBy(r.Context(), v.Tenant, v.User)
	if err != nil {
		return nil, err
	}
	now := c.Now()
	all = slices.DeleteFunc(all, func(s circulation.StandIn) bool { return !s.Counts(now) })
	slices.SortStableFunc(all, func(a, b circulation.StandIn) int { return a.Begins.Compare(b.Begins) })
	return all, nil
}

// owedFor adds items that the viewer may stamp for whom they stand in for: of each the oldest, as many as a page has.
// Further ones follow when these are stamped.
func (c *Pages) owedFor(r *http.Request, v *web.Viewer, f approvalFilter, standIns []circulation.StandIn,
	out []askedItem) ([]askedItem, error) {
	var principals []string
	found := map[store.Place]bool{}
	for _, x := range out {
		found[store.Place{Ref: x.Ref, Key: x.Key}] = true
	}
	for _, s := range standIns {
		principal := s.Principal.User
		if slices.Contains(principals, principal) || len(principals) == tenancy.MaxDelegations {
			continue
		}
		principals = append(principals, principal)
		page, err := c.Store.Owed(r.Context(), v.Tenant, principal, "", owedOfPage)
		if err != nil {
			return nil, err
		}
		all, err := c.known(r, v, page.Items)
		if err != nil {
			return nil, err
		}
		for _, x := range all {
			at := store.Place{Ref: x.Ref, Key: x.Key}
			var stage int
			if x.standsFor, stage = x.ruled().OwesFor(v.User, standIns, c.Now()); stage > 0 && !found[at] && f.keeps(x, v) {
				x.named, found[at] = true, true
				out = append(out, x)
			}
		}
	}
	return out, nil
}
