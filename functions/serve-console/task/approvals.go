package task

import (
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/store"
)

const (
	// waitingOfPage is how many waiting items are read for a page; each is read in full.
	waitingOfPage = 50
	// mostPages bounds the pages that are searched for one with an item for the viewer.
	mostPages = 4
	// fewOfMine is how many items that wait for the viewer the home shows.
	fewOfMine = 5
	// mostText is how many characters a row shows of a message, and mostThen how many writes beside the first.
	mostText, mostThen = 200, 3
	// urgent is how long before its end what waits is told to end soon.
	urgent = 24 * time.Hour
)

type waitingList struct {
	web.List
	ForMe, Few bool // only the viewer's; as the home shows them
	Groups     []waitingGroup
	Rows       int       // in all groups
	Count      string    // of all that was found, for the home
	Soonest    time.Time // when the first of those ends that wait for the viewer
	Of         approvalFilter
	Order      string // of the rows, in words
}

type waitingGroup struct {
	Name string // whose turn it is
	Rows []waitingRow
}

// waitingRow says what happens once something is approved, and who asked for it.
type waitingRow struct {
	Path, Kind    string
	Says          []subject.Piece
	Then          [][]subject.Piece // what else happens, and what can't be undone
	Title         string            // of the request, if the row doesn't say it
	Priority      string            // empty if it isn't pressing
	For           string            // whom the viewer stands in for; empty: nobody
	Said, SaidBy  string            // of an action: what it is for, in the words of the agent or of who proposed it
	Amount        string            // empty: no money moves, or nothing is planned yet
	Name, Channel string
	Person        string // who asked
	Stages        []subject.Chip
	Who           string // may decide
	Since, Until  time.Time
	Soon          bool // it ends soon
	Mine          bool // the viewer may decide
	moves         rules.Amount
	rank          task.Priority
}

func (c *Pages) approvals(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words, q := v.Texts("approvals"), r.URL.Query()
	f, bad := readApprovalFilter(q)
	bad.Stranger(r, c.Site, v, "asked_by", &f.Person)
	if q.Has(web.AfterDecision) {
		f.For = web.Myself
	}
	list := waitingList{Of: f, ForMe: f.For == web.Myself,
		Few: q.Get("few") != ""}
	list.Ignored, list.Narrowed = bad.Said(words), f.Narrows()
	settings, err := c.Store.Settings(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	reach, err := c.People.Reach(r.Context(), v.Team, v.User, settings)
	if err != nil {
		slog.WarnContext(r.Context(), "what a person may decide is not known", "err", err)
		list.Unsaid = true
	}
	found, page, err := c.waiting(r, v, reach, f, q.Get("cursor"))
	mine := slices.DeleteFunc(slices.Clone(found), func(x askedItem) bool { return !x.turn(reach) })
	if f == (approvalFilter{}) && !q.Has("for") && len(mine) > 0 {
		f.For, list.ForMe, list.Of.For = web.Myself, true, web.Myself
	}
	if err := list.Paged(r, v, q.Get("cursor"), f.at, page.Next, page.Prev, err); err != nil {
		return err
	}
	if list.Count = strconv.Itoa(len(mine)); page.Next != "" {
		list.Count += "+"
	}
	slices.SortStableFunc(found, func(a, b askedItem) int { return due(a.until(), b.until()) })
	next := slices.IndexFunc(found, func(x askedItem) bool { return x.Ref.ID != q.Get(web.AfterDecision) })
	if q.Has(web.AfterDecision) && next >= 0 {
		http.Redirect(w, r, found[next].path(), http.StatusSeeOther)
		return nil
	}
	switch {
	case list.Few:
		list.Live, list.Of.Sort = fewApprovals, ""
		found = found[:min(fewOfMine, len(found))]
	}
	if settings.Ruled && q.Get("cursor") == "" {
	}
	list.offer(words, v, c.read(r, v, found, reach, settings))
	return c.Show(w, r, v, web.Document{Here: "approvals", Data: list, Status: list.Status()}, "approvals")
}

// fewApprovals is where the home loads the items that wait for the viewer: those that are due first.
const fewApprovals = "/console/approvals?few=1&for=me"

// askedItem is a waiting item with its task, conversation or message.
type askedItem struct {
	store.WaitingItem
	origin  aggregate.Origin
	title   string
	rank    task.Priority
	agent   string                // of a conversation
	payload *conversation.Payload // of its action; nil: it can't be read, or must be opened
	text    string                // of the requester's message
	plan    *task.Process         // whose steps the gate is about, or has
	// standsFor is whom the viewer stands in for.
	standsFor string
}

// known adds each item's task, conversation or message, and the steps of gates. It drops items whose rows are gone.
func (c *Pages) known(r *http.Request, v *web.Viewer, items []store.WaitingItem) ([]askedItem, error) {
	var titled, said, conversing []string
	var gated []store.Place
	for _, x := range items {
		switch x.Kind {
		case conversation.CardAction:
			conversing = append(conversing, x.Ref.ID)
		case call.Card: // its row says all
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
	conversed, err := c.Conversations.Titled(r.Context(), v.Tenant, conversing...)
	if err != nil {
		return nil, err
	}
	var out []askedItem
	for _, x := range items {
		a := askedItem{WaitingItem: x, payload: c.payloadOf(r.Context(), x, false)}
		if of, ok := x.Row.(*call.Call); ok {
			a.origin, a.agent = of.Origin(), of.KeyName
		} else if s, ok := conversed[x.Ref.ID]; ok && x.Kind == conversation.CardAction {
			a.origin, a.title, a.agent = s.Origin(), s.Title, s.AgentID
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

// path is the address of the page where the item is decided.
func (x askedItem) path() string {
	if x.Kind == conversation.CardAction {
		return "/console/sessions/" + x.Ref.ID
	}
	if x.Kind == call.Card {
		return "/console/calls/" + x.Ref.ID
	}
	return "/console/tasks/" + x.Ref.ID
}

func (x askedItem) askers() []string {
	switch row := x.Row.(type) {
	case *task.Prompt:
		if row.Author != "" {
			return []string{x.origin.User, row.Author}
		}
	case *conversation.Action:
		return row.Askers
	case *call.Call:
		return row.Asks().Askers
	}
	return nil
}

// owedFor adds items that the viewer may stamp for whom they stand in for: of each the oldest, as many as a page has.
// Further ones follow when these are stamped. Pages with none of them are skipped, up to mostPages.
func (c *Pages) owedFor(r *http.Request, v *web.Viewer, f approvalFilter, standIns decide.StandIns,
	out []askedItem) ([]askedItem, error) {
	found := map[store.Place]bool{}
	for _, x := range out {
		found[store.Place{Ref: x.Ref, Key: x.Key}] = true
	}
	for _, principal := range standIns.Principals() {
		before, cursor := len(out), ""
		for range mostPages {
			page, err := c.Store.Owed(r.Context(), v.Tenant, principal, cursor, owedOfPage)
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
				if x.standsFor, stage = standIns.Owes(x.ruled(), x.askers()...); stage > 0 && !found[at] && f.keeps(x, v) {
					found[at] = true
					out = append(out, x)
				}
			}
			if cursor = page.Next; len(out) > before || cursor == "" {
				break
			}
		}
	}
	return out, nil
}
