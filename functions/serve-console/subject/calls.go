package subject

import (
	"net/http"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

const callsPath = "/console/calls"

type callsPage struct {
	web.List
	Rows []callRow
}

// callRow is a call in a list.
type callRow struct {
	Path, Status, Badge    string
	Says                   []web.Piece // what it does; nil: that can't be read
	Tool                   string      // that Ringi can't say more of than what it is called with
	Unpriced               bool        // nobody knows what it moves
	Amount, Agent, Answers string
	Channel                string
	At                     time.Time
}

// calls lists the calls that the viewer may read, the newest first.
func (c *Pages) calls(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words, p := v.Texts("calls"), callsPage{}
	if p.Hints = []string{words.Say("empty_about")}; v.Admin {
		p.Hints = []string{words.Say("empty_admin")}
		p.Start = &web.View{Path: keysPath, Text: v.Texts("keys").Say("make")}
	}
	page, reach, err := web.ReadList(c.Site, r, v, &p.List, web.ByCursor(callsPath),
		func(reach people.Reach, cursor string) (store.Page[call.Call], error) {
			return c.Calls.Listed(r.Context(), v.Tenant, cursor, rowsOfPage, web.MostLooked,
				func(x call.Call) bool {
					return v.Admin || x.AnsweredBy(v.User) || reach.Sees(x.Origin()) || x.Gate.OnRoute(v.User, nil)
				})
		})
	if err != nil {
		return err
	}
	channels := reach.Channels()
	c.Naming(r.Context(), v, func(called func(id string) string) {
		by := web.Reader{Locale: v.Locale, Person: called, Settled: true}
		p.Rows = web.Each(page.Items, func(x call.Call) callRow { return inList(v, by, &x, channels) })
	})
	return c.Show(w, r, v, web.Document{Here: "calls", Data: p}, "calls")
}

func inList(v *web.Viewer, by web.Reader, x *call.Call, channels map[string]string) callRow {
	sum := explain.SumUp(v.Locale, explain.StepsOf(x))
	row := callRow{Path: callsPath + "/" + x.CallID, Agent: language.ForeignLine(x.KeyName), Answers: by.Person(x.Answers),
		Channel: web.Channel(v, x.Origin(), channels), At: x.CreatedAt}
	row.Status, row.Badge = callStatus(v.Locale, x)
	if lead := sum.First(); lead.Order > 0 {
		if row.Says = by.Briefly(lead.Sentence); len(lead.Unsaid()) > 0 {
			row.Says, row.Tool = by.Briefly(lead.Unsaid()), language.OneLine(x.Tool)
		}
	}
	if sum.Amount != rules.Nothing() {
		row.Amount, row.Unpriced = explain.Money(v.Locale, sum.Amount), !sum.Amount.Known()
	}
	return row
}

// callStatus says how a call stands, with its badge.
func callStatus(locale string, x *call.Call) (text, badge string) {
	key := string(x.Status)
	switch {
	case x.Unopened():
		key = "looking_up"
	case x.Outcome == conversation.OutcomeUnknown:
		key = "unknown"
	case x.Status == conversation.ActionApproved && x.Elsewhere:
		key = "untaken"
	case x.CancelReason == conversation.ReasonRejected || x.CancelReason == call.ReasonDenied:
		key = "rejected"
	case x.CancelReason == conversation.ReasonExpired || x.CancelReason == call.ReasonAged:
		key = "expired"
	}
	return actionStatus(locale, key), actionBadge(key)
}

// actionStatus says what an action or a call is at.
func actionStatus(locale string, status any) string {
	return web.TextsOf("calls", locale).In("statuses", status)
}

// actionBadge is the colour of what an action or a call is at.
func actionBadge[T ~string](status T) string {
	switch conversation.ActionStatus(status) {
	case conversation.ActionPending:
		return web.Badge("waiting")
	case conversation.ActionApproved, "looking_up", "untaken":
		return web.Badge("executing")
	}
	return web.Badge(string(status))
}

// callPage describes a call's page, on which people decide. It shows all of a call that can be read, and asks about no
// other.
func (c *Pages) callPage() web.SubjectPage {
	whole := func(_ *http.Request, _ *web.Viewer, a decide.Subject, _ web.Tried) error {
		if _, err := a.(*call.Aggregate).Call.Content(); err != nil {
			return explain.ErrMalformedForm
		}
		return nil
	}
	return web.SubjectPage{Path: callsPath + "/", RefOf: web.RefOf(call.ValidID, call.RefOf),
		Ends: conversation.ActCancel, Show: c.showCall, Whole: whole}
}

type callData struct {
	web.Sheet
	Is                                 *call.Call
	Agent, Answers, Channel            string
	Kind                               string // whether it reads or writes
	Does                               *web.Effect
	Exactly                            string // its arguments, as they are stamped
	Again                              string // how the same call ended that it repeats
	Approved, Ended, Because, Returned string
	Failed                             bool // Ended says that something went wrong
}

func (c *Pages) showCall(w http.ResponseWriter, r *http.Request, v *web.Viewer, not web.Ask) error {
	l, err := c.Load(r, v, c.callPage())
	if err != nil {
		return err
	}
	is := l.Of.(*call.Aggregate)
	returned, err := web.Returned(r.Context(), c.Results, is.Ref(), is.Call.Result)
	if err != nil {
		return err
	}
	words, x := v.Texts("calls"), is.Call
	channel := c.ChannelsOf(r.Context(), v, x.Origin(), v.Texts("task").Say("that_channel"))
	by := web.Reader{Locale: v.Locale, Settled: x.Status != conversation.ActionPending,
		Channel: channel(x.Channel), ChannelOf: channel}
	var p callData
	var surface explain.Surface
	c.Naming(r.Context(), v, func(called func(id string) string) {
		by.Person, surface = called, web.SurfaceOf(v, called, channel)
		surface.WhoDecides(l.Settings, x.Origin(), is.Askers()...)
		p = drawnCall(x, by, surface, words)
		p.Say(l, v.Locale, called, func(string) string { return p.Agent })
	})
	asking := web.Asking{Loaded: l, Words: words, Surface: surface, Viewer: v, On: c.callPage(),
		Offers: offersOf(is), Whole: p.Does != nil, Waits: is.Asked(x.CallID).Open, Stands: p.Stands}
	if p.Ask, p.Returned = not, returned; asking.Waits {
		p.Until = web.TimeOf(x.Gate.Terms.DecideBy)
	}
	if err := c.Asks(r, asking, &p.Ask); err != nil {
		return err
	}
	if x.Unopened() {
		p.Who = v.Texts("route").Say("looking")
	}
	for i := range p.Buttons {
		if b := &p.Buttons[i]; x.Elsewhere && b.Act == aggregate.ActApprove {
			b.About = words.Say("approve_elsewhere")
		}
	}
	title := words.Say("of", "tool", language.OneLine(x.Tool))
	d := web.Document{Title: title, Here: "calls", Data: p, Status: not.Code, After: p.After}
	return c.Show(w, r, v, d, "calls/call")
}

// offersOf returns the acts that people may do on a call as it stands.
func offersOf(a *call.Aggregate) (out []aggregate.Offer) {
	id := a.Call.CallID
	offer := func(act aggregate.Act) {
		out = append(out, aggregate.Offer{Act: act, ID: id, Kind: call.Card, Hash: a.Asked(id).Hash})
	}
	if a.Asked(id).Open {
		offer(aggregate.ActApprove)
		offer(aggregate.ActReject)
	}
	if a.Call.Outcome == conversation.OutcomeUnknown {
		offer(task.ActConfirm)
	}
	if s := a.Call.Status; s == conversation.ActionPending || s == conversation.ActionApproved {
		offer(conversation.ActCancel)
	}
	return out
}

// drawnCall is the page without whom it asks.
func drawnCall(x *call.Call, by web.Reader, surface explain.Surface, words web.Texts) (p callData) {
	p.Is, p.ID, p.Path, p.Agent = x, x.CallID, callsPath+"/"+x.CallID, language.ForeignLine(x.KeyName)
	p.Answers, p.Channel = by.Person(x.Answers), by.Channel
	p.Route = by.Route(&x.Gate, x.Over() || x.Status == conversation.ActionApproved)
	if p.Stands, p.Badge = callStatus(words.Locale(), x); !x.Over() {
		p.Live = p.Path
	}
	if steps := explain.StepsOf(x); steps != nil {
		e := by.Effect(explain.EffectOf(by.Locale, steps[0], nil, nil))
		p.Does, p.Exactly = &e, web.Exactly(string(steps[0].ToolInput))
	}
	if p.Kind = explain.CallKind(x.Access, by.Locale); x.Elsewhere {
		p.Kind = words.Say("runs_elsewhere")
	}
	p.Again = surface.Again(x)
	p.ended(x, by, surface, words)
	return p
}

// ended says what became of the call.
func (p *callData) ended(x *call.Call, by web.Reader, surface explain.Surface, words web.Texts) {
	if x.Gate.ApprovedAt != nil {
		p.Approved = by.Person(x.Gate.ApprovedBy)
	}
	who := p.Agent
	if x.CancelledBy != "" {
		who = by.Person(x.CancelledBy)
	}
	switch {
	case x.Status == call.Granted:
		p.Ended = words.Say("taken")
	case x.ConfirmedBy != "":
		p.Ended = words.Say("confirmed_by", "who", by.Person(x.ConfirmedBy))
	case x.Outcome == conversation.OutcomeUnknown:
		p.Ended, p.Failed = words.Say("unknown_about"), true
	case x.Status == conversation.ActionFailed:
		p.Ended, p.Failed = explain.CallReason(by.Locale, x.Error), true
		p.Because = card.Prose(x.ErrorDetail)
	case x.CancelReason == conversation.ReasonRejected || x.CancelReason == call.ReasonDenied:
		p.Ended, p.Because = words.Say("rejected_by", "who", who), by.Named(card.Prose(x.Gate.RejectionReason), by.Person)
	case x.CancelReason == conversation.ReasonWithdrawn:
		p.Ended = words.Say("cancelled_by", "who", who)
	case x.CancelReason == conversation.ReasonExpired:
		p.Ended = words.In("statuses", "expired")
	case x.CancelReason != "":
		p.Ended = surface.CallEnded(x)
	}
}
