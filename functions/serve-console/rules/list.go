package rules

import (
	"errors"
	"net/http"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
)

// listState is what an answer with the list shows besides the draft.
type listState struct {
	try      bool
	conflict *conflict
	problems []problem
	status   int
}

// conflict says who saved other rules since the draft was begun.
type conflict struct {
	Who     string
	At      time.Time
	Rev     int
	Changes []change
}

// listData is the list of rules.
type listData struct {
	Draft     string
	Rev       int
	None      bool // there are no rules, and no draft of any
	Unsaved   bool
	Stand     bool // some are saved
	NoSlack   bool
	Unread    bool // an organisation stands, and can't be read
	Conflict  *conflict
	Problems  []problem
	Rules     []ruleRow
	Last      []ruleRow
	Floor     floorData
	Try       tryData
	History   []kept
	Approvers bool // the settings list approvers
	Actions   bool // agents' actions are asked about by the rules
}

// ruleRow is a rule in the list.
type ruleRow struct {
	I, N        int
	At          string
	Name, Says  string
	Wrong       []problem
	First, Last bool
}

type floorData struct {
	Stamps, HandsFrom, Currency string
	Wrong                       []problem
}

// list shows the draft.
func (a *asked) list(state listState) error {
	saved, err := a.saved()
	if err != nil {
		return err
	}
	x := a.draft.Rules
	d := listData{Draft: packed(a.draft), Rev: a.draft.Rev, None: x == nil, Stand: saved.Rules != nil,
		Unsaved: !same(saved.Rules, x), NoSlack: a.members == nil, Unread: a.unread, Conflict: state.conflict, Problems: state.problems}
	if x != nil {
		d.Actions = x.Actions()
		a.rows(&d, x)
		if d.Try, err = a.trying(state.try); err != nil {
			return err
		}
	}
	if d.History, err = a.history(); err != nil {
		return err
	}
	doc := web.Document{Title: a.Say("title"), Here: "rules", Data: d, Status: state.status}
	return a.Show(a.w, a.r, a.v, doc, "rules.html")
}

// rows fills in the rules, the last one and the floor.
func (a *asked) rows(d *listData, x *rules.Rules) {
	for i := range x.Rules {
		row := ruleRow{I: i, N: i + 1, Name: x.Rules[i].Name, Says: a.rule(&x.Rules[i]), First: i == 0,
			Last: i == len(x.Rules)-1}
		for _, p := range d.Problems {
			if p.Label = a.label(p.Field); p.Rule == strconv.Itoa(i) {
				row.Wrong = append(row.Wrong, p)
			}
		}
		d.Rules = append(d.Rules, row)
	}
	for at, o := range map[string]*rules.Outcome{reads: &x.Last.Reads, writes: &x.Last.Writes} {
		row := ruleRow{At: at, Name: a.In("last", at), Says: a.lastOutcome(at, o)}
		for _, p := range d.Problems {
			if p.Label = a.label(p.Field); p.Rule == at {
				row.Wrong = append(row.Wrong, p)
			}
		}
		if d.Last = append(d.Last, row); at == reads && len(d.Last) == 2 {
			d.Last[0], d.Last[1] = d.Last[1], d.Last[0]
		}
	}
	d.Floor = floorData{Stamps: wholeShown(x.Floor.Stamps), Currency: yen}
	if x.Floor.Stamps <= 0 {
		d.Floor.Stamps = a.r.PostForm.Get("floor.stamps")
	}
	if m := x.Floor.HandsFrom; m != nil {
		d.Floor.HandsFrom, d.Floor.Currency = string(m.Value), m.Currency
	}
	for _, p := range d.Problems {
		if p.Rule == "" && p.Field != "rules" && p.Field != "form" {
			d.Floor.Wrong = append(d.Floor.Wrong, p)
		}
	}
}

// lastOutcome says what becomes of requests that no rule takes.
func (a *asked) lastOutcome(at string, o *rules.Outcome) string {
	if o.Route == nil && o.Refuse == "" {
		return capital(a.In("defaults", at))
	}
	return capital(a.outcome(o))
}

// capital begins a sentence that is also a part of others.
func capital(sentence string) string {
	first, size := utf8.DecodeRuneInString(sentence)
	return string(unicode.ToUpper(first)) + sentence[size:]
}

// conflicting shows the draft beside what somebody else saved since it was begun. The draft goes on from there: the
// next look at it says what it would change of theirs.
func (a *asked) conflicting(now draft) error {
	c := &conflict{Rev: now.Rev}
	var was *rules.Rules
	before, err := a.Store.RulesOf(a.r.Context(), a.v.Tenant, a.draft.Rev)
	switch {
	case err == nil:
		was = before.Rules
	case !errors.Is(err, aggregate.ErrNotFound): // the first revision has none before it
		return err
	}
	kept, err := a.Store.RulesOf(a.r.Context(), a.v.Tenant, now.Rev)
	if err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return err
	}
	c.Who, c.At, c.Changes = a.person(kept.UpdatedBy), kept.UpdatedAt, a.changes(was, now.Rules)
	a.draft.Rev = now.Rev
	return a.list(listState{conflict: c, status: http.StatusConflict})
}
