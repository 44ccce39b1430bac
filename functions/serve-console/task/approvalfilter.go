package task

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// approvalFilter is which of what waits the address asks for, and in which order.
type approvalFilter struct {
	For    string // "me": only what the viewer may decide
	Kind   string // of decision
	Person string // who asked
	Writes string // what the steps write to, or unplanned
	Sort   string // empty: the oldest first
	Group  string // "person": by requester
}

// The orders in which a page's rows may stand, besides the oldest first.
const (
	byDue      = "due"
	byPriority = "priority"
	byRequest  = "title"
)

// orders are all orders.
var orders = []string{"", byDue, byPriority, byRequest}

// byPerson groups the rows by who asked.
const byPerson = "person"

// unplanned is asked for in place of an explain.Written: there are no steps yet.
const unplanned = "unplanned"

// written are the values of the filter by what is written to.
var written = []string{
	string(explain.WritesSheet), string(explain.WritesMessage), string(explain.WritesOther),
	string(explain.WritesNothing), unplanned,
}

// gateKinds are the kinds of decision that wait for people.
var gateKinds = []aggregate.CardType{task.CardPrompt, task.CardProcess, task.CardStep, task.CardTask,
	conversation.CardAction}

// readApprovalFilter reads an address. Invalid values are reported and not used.
func readApprovalFilter(q url.Values) (approvalFilter, web.BadFilter) {
	f := approvalFilter{Kind: q.Get("kind"), Person: q.Get("person"), Sort: q.Get("sort"), Group: q.Get("group"),
		Writes: q.Get("writes")}
	if q.Get("for") == web.Myself {
		f.For = web.Myself
	}
	bad := web.BadFilter{}
	bad.Person(&f.Person)
	bad.Refuse("kind", &f.Kind, !slices.Contains(gateKinds, aggregate.CardType(f.Kind)))
	bad.Refuse("writes", &f.Writes, !slices.Contains(written, f.Writes))
	bad.Refuse("sort", &f.Sort, !slices.Contains(orders, f.Sort))
	bad.Refuse("group", &f.Group, f.Group != byPerson)
	return f, bad
}

// Narrows reports whether the filter leaves something out that waits for the viewer.
func (f approvalFilter) Narrows() bool { return f.Kind != "" || f.Person != "" || f.Writes != "" }

func (f approvalFilter) at(cursor string) string {
	return web.At(approvalsPath, map[string]string{
		"for": f.For, "kind": f.Kind, "person": f.Person, "writes": f.Writes, "sort": f.Sort, "group": f.Group,
		"cursor": cursor,
	})
}

// keeps reports whether an item is of the kind, the requester and the writes that are asked for.
func (f approvalFilter) keeps(x askedItem, v *web.Viewer) bool {
	person := web.Whom(f.Person, v)
	return (f.Kind == "" || x.Kind == aggregate.CardType(f.Kind)) && (person == "" || x.origin.User == person) &&
		(f.Writes == "" || x.writesTo(f.Writes))
}

// offer fills in the rows in their order, and where the list leads.
func (l *waitingList) offer(words web.Texts, v *web.Viewer, rows []waitingRow) {
	f := l.Of
	all, mine := f, f
	all.For, mine.For = "", web.Myself
	l.Mine = mine.at("")
	l.Views = []web.View{{Path: all.at(""), Text: words.Say("everything"), Here: !l.ForMe},
		{Path: l.Mine, Text: words.Say("for_me"), Here: l.ForMe}}
	if v.Admin {
		l.Views = append(l.Views, web.View{Path: "/console/successors", Text: words.Say("stuck")})
	}
	l.Sorts = map[string]string{}
	for _, by := range orders {
		sorted := f
		sorted.Sort = by
		l.Sorts[by] = sorted.at("")
	}
	names := map[string]string{}
	for _, r := range rows {
		names[r.Person] = r.Name
	}
	if f.Person != "" && f.Person != web.Myself && names[f.Person] == "" {
		names[f.Person] = f.Person
	}
	l.Filter = f.form(words, web.PeopleToChoose(v, words, names, web.Whom(f.Person, v)))
	slices.SortStableFunc(rows, f.order)
	l.Rows = len(rows)
	if f.Group == "" {
		l.Groups = append(l.Groups, waitingGroup{Rows: rows})
		return
	}
	at := map[string]int{}
	for _, r := range rows {
		i, known := at[r.Person]
		if !known {
			i, at[r.Person] = len(l.Groups), len(l.Groups)
			l.Groups = append(l.Groups, waitingGroup{Name: r.Name})
		}
		l.Groups[i].Rows = append(l.Groups[i].Rows, r)
	}
}

const approvalsPath = "/console/approvals"

func (f approvalFilter) form(words web.Texts, people []web.Choice) web.Filter {
	out := web.Filter{Path: approvalsPath, Submit: words.Say("show"), Fields: []web.Field{
		web.Select("kind", words.Say("what"), words.Say("anything"), web.Choices(words, "kinds", f.Kind, gateKinds...)),
		web.Select("person", words.Say("asked_by"), words.Say("anybody"), people),
		web.Select("writes", words.Say("writes"), words.Say("anything"),
			web.Choices(words, "written", f.Writes, written...)),
		web.Select("sort", words.Say("order"), "", web.Choices(words, "orders", f.Sort, orders...)),
		web.Select("group", words.Say("group"), words.Say("ungrouped"),
			[]web.Choice{{Value: byPerson, Text: words.Say("asked_by"), Chosen: f.Group != ""}}),
	}}
	if f.For != "" {
		out.Hidden = []web.Field{{Name: "for", Value: f.For}}
	}
	return out
}

// order compares two rows; 0 keeps the oldest first.
func (f approvalFilter) order(a, b waitingRow) int {
	switch f.Sort {
	case byDue:
		return due(a.Until, b.Until)
	case byPriority:
		return cmp.Compare(priorities[a.rank], priorities[b.rank])
	case byRequest:
		return strings.Compare(a.Title, b.Title)
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
