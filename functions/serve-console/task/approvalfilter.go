package task

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
)

// approvalFilter is which of what waits the address asks for, and in which order.
type approvalFilter struct {
	For    string // "me": only what the viewer may decide; empty: all
	Kind   string // of decision
	Person string // who asked
	Act    string // what the steps do; see acts
	Sort   string // empty: what is due first
}

// everything is asked for by name where nothing else is: the list alone opens on what is the viewer's turn, if anything
// is.
const everything = "all"

// The orders in which a page's rows may stand, besides those that are due first.
const (
	byAge      = "oldest"
	byAmount   = "amount"
	byPriority = "priority"
)

// orders are all orders.
var orders = []string{"", byAge, byAmount, byPriority}

// gateKinds are the kinds of decision that wait for people.
var gateKinds = []aggregate.CardType{task.CardPrompt, task.CardProcess, task.CardStep,
	conversation.CardAction, call.Card}

// readApprovalFilter reads an address. What isn't known is reported and not used.
func readApprovalFilter(q url.Values) (approvalFilter, web.BadFilter) {
	f := approvalFilter{Kind: q.Get("kind"), Person: q.Get("person"), Sort: q.Get("sort"), Act: q.Get("act")}
	if q.Get("for") == web.Myself {
		f.For = web.Myself
	}
	bad := web.BadFilter{}
	bad.Person("asked_by", &f.Person)
	bad.Refuse("what", &f.Kind, !slices.Contains(gateKinds, aggregate.CardType(f.Kind)))
	bad.Refuse("does", &f.Act, !slices.Contains(acts, f.Act))
	bad.Refuse("order", &f.Sort, !slices.Contains(orders, f.Sort))
	return f, bad
}

// Narrows reports whether the filter leaves something out that waits for the viewer.
func (f approvalFilter) Narrows() bool { return f.Kind != "" || f.Person != "" || f.Act != "" }

func (f approvalFilter) at(cursor string) string {
	if f == (approvalFilter{}) {
		f.For = everything
	}
	return web.At(approvalsPath, map[string]string{"for": f.For, "kind": f.Kind, "person": f.Person, "act": f.Act,
		"sort": f.Sort, "cursor": cursor})
}

// keeps reports whether an item is of the kind, the requester and the act that are asked for.
func (f approvalFilter) keeps(x askedItem, v *web.Viewer) bool {
	person := web.Whom(f.Person, v)
	return (f.Kind == "" || x.Kind == aggregate.CardType(f.Kind)) && (person == "" || x.origin.User == person) &&
		(f.Act == "" || x.does(f.Act))
}

// offer fills in the rows in their order and by whose turn they are, and where the list leads.
func (l *waitingList) offer(words web.Texts, v *web.Viewer, rows []waitingRow) {
	f := l.Of
	all, mine := f, f
	all.For, mine.For = "", web.Myself
	l.Order = words.In("orders", cmp.Or(f.Sort, "none"))
	slices.SortStableFunc(rows, f.order)
	names, turn := map[string]string{}, map[bool][]waitingRow{}
	for _, r := range rows {
		names[r.Person] = r.Name
		if turn[r.Mine] = append(turn[r.Mine], r); r.Mine && !r.Until.IsZero() && due(r.Until, l.Soonest) < 0 {
			l.Soonest = r.Until
		}
	}
	for _, yours := range []bool{true, false} {
		if of := turn[yours]; of != nil && (yours || !l.ForMe) {
			l.Rows += len(of)
			name := words.Say("for_others")
			if yours {
				name = words.Say("your_turn")
			}
			l.Groups = append(l.Groups, waitingGroup{name, of})
		}
	}
	l.Views = []web.View{
		{Path: mine.at(""), Text: words.Say("your_turn"), Here: l.ForMe},
		{Path: all.at(""), Text: words.Say("everything"), Here: f.For == ""}}
	if f.Person != "" && f.Person != web.Myself && names[f.Person] == "" {
		names[f.Person] = f.Person
	}
	l.Filter = f.form(words, web.PeopleToChoose(v, words, names, web.Whom(f.Person, v)))
}

const approvalsPath = "/console/approvals"

func (f approvalFilter) form(words web.Texts, people []web.Choice) web.Filter {
	out := web.Filter{Path: approvalsPath, Submit: words.Say("show"), Fields: []web.Field{
		web.Select("kind", words.Say("what"), words.Say("anything"), web.Choices(words, "kinds", f.Kind, gateKinds...)),
		web.Select("person", words.Say("asked_by"), words.Say("anybody"), people),
		web.Select("act", words.Say("does"), words.Say("anything"), web.Choices(words, "acts", f.Act, acts...)),
		web.Select("sort", words.Say("order"), "", web.Choices(words, "orders", f.Sort, orders...)),
	}}
	if f.For != "" {
		out.Hidden = []web.Field{{Name: "for", Value: f.For}}
	}
	return out
}

// order compares two rows; 0 keeps the order in which they are due.
func (f approvalFilter) order(a, b waitingRow) int {
	switch f.Sort {
	case byAge:
		return a.Since.Compare(b.Since)
	case byPriority:
		return cmp.Compare(priorities[a.rank], priorities[b.rank])
	case byAmount: // one that isn't known may be any
		unknown := func(r waitingRow) int { return min(1, len(r.moves.Why)) }
		return cmp.Or(unknown(b)-unknown(a), cmp.Compare(b.moves.Currency, a.moves.Currency), below(a, b)-below(b, a))
	}
	return 0
}

// below is 1 if a row moves less than another in the same currency.
func below(a, b waitingRow) int {
	if a.moves.Below(b.moves.Value, b.moves.Currency) {
		return 1
	}
	return 0
}

// due compares two ends; what has none comes last.
func due(a, b time.Time) int {
	if a.IsZero() || b.IsZero() {
		return cmp.Compare(b.Unix(), a.Unix()) // the zero time is the earliest
	}
	return a.Compare(b)
}

// priorities are ranks of urgency; what is not of a task is as urgent as most tasks.
var priorities = map[task.Priority]int{task.Urgent: -2, task.High: -1, task.Medium: 0, "": 0, task.Low: 1}
