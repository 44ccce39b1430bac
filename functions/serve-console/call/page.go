package call

import (
	"net/http"
	"slices"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/explain/auditlog"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

// mostEntries is the number of audit entries on a page.
const mostEntries = 100

var refOf = subject.RefOf(call.ValidID, call.RefOf)

// page describes a call's page to package subject. It shows all of a call that can be read, and asks about no other.
func (c *Pages) page() subject.Page {
	return subject.Page{Path: callsPath + "/", RefOf: refOf, Ends: conversation.ActCancel, Refused: c.refused,
		Whole: func(_ *http.Request, _ *web.Viewer, a decide.Subject, _ subject.Tried) error {
			if _, err := a.(*call.Aggregate).Call.Content(); err != nil {
				return explain.ErrMalformedForm
			}
			return nil
		}}
}

// loaded holds the rows that the page is rendered from.
type loaded struct {
	is       *call.Aggregate
	settings tenancy.Settings
	surface  explain.Surface
	by       subject.Reader
	audit    []aggregate.AuditEntry
	returned string
}

type callPage struct {
	Is                                 *call.Call
	Path, Live, Status, Badge          string
	Agent, Answers, Channel            string
	Kind                               string // whether it reads or writes
	Does                               *subject.Effect
	Exactly                            string // its arguments, as they are stamped
	Route                              *subject.Route
	Approved, Ended, Because, Returned string
	Failed                             bool // Ended says that something went wrong
	Log                                []subject.Entry
	subject.Ask
}

func (c *Pages) load(r *http.Request, v *web.Viewer) (t loaded, err error) {
	ref, err := refOf(r, v)
	if err != nil {
		return t, err
	}
	ctx := r.Context()
	if t.is, err = c.Calls.Load(ctx, ref); err == nil {
		t.settings, err = c.Readable(ctx, v, t.is)
	}
	if err != nil {
		return t, err
	}
	x := t.is.Call
	log, err := c.Store.Audit(ctx, v.Tenant, store.AuditFilter{Resource: x.CallID}, "", mostEntries)
	if err != nil {
		return t, err
	}
	t.audit = log.Items
	if t.returned, err = web.Returned(ctx, c.Results, ref, x.Result); err != nil {
		return t, err
	}
	ids := slices.Concat([]string{x.Answers, x.CancelledBy, x.ConfirmedBy, x.Gate.ApprovedBy, v.User},
		t.settings.Approvers.Users, explain.SumUp(v.Locale, explain.StepsOf(x)).People())
	ids = append(ids, subject.NamedOf(&x.Gate)...)
	for _, e := range t.audit {
		if e.ActorType == aggregate.ActorUser {
			ids = append(ids, e.ActorID)
		}
	}
	channel := c.ChannelsOf(ctx, v, x.Origin(), v.Texts("task").Say("that_channel"))
	t.by = subject.Reader{Locale: v.Locale, Person: c.Called(ctx, v, ids...),
		Settled: x.Status != conversation.ActionPending,
		Channel: channel(x.Channel)}
	t.surface = subject.SurfaceOf(v, t.by.Person, channel)
	return t, nil
}

func (c *Pages) showCall(w http.ResponseWriter, r *http.Request, v *web.Viewer, t loaded) error {
	return c.showPage(w, r, v, t, callPage{}, 0)
}

func (c *Pages) showPage(w http.ResponseWriter, r *http.Request, v *web.Viewer, t loaded, p callPage,
	status int) error {
	words, x := v.Texts("calls"), t.is.Call
	p.Is, p.Path, p.Agent, p.Answers = x, callsPath+"/"+x.CallID, card.OneLine(x.KeyName), t.by.Person(x.Answers)
	p.Status, p.Badge = statusOf(words, x)
	if p.Channel = t.by.Channel; !x.Over() {
		p.Live = p.Path
	}
	p.does(t, words)
	p.ended(t, words)
	p.Route = t.by.Route(&x.Gate, x.Over() || x.Status == conversation.ActionApproved)
	offers := offersOf(t.is)
	asks := t.is.Asked(x.CallID).Open
	c.Asks(r, subject.Asking{Words: words, Of: t.is, Settings: t.settings, Surface: t.surface, Viewer: v, On: c.page(),
		Offers: offers, Whole: p.Does != nil, Waits: asks, Stands: p.Status}, &p.Ask)
	switch {
	case asks:
		p.Until = web.TimeOf(x.Gate.Terms.DecideBy)
	case x.Status == conversation.ActionPending:
		p.Who = v.Texts("route").Say("looking")
	default:
		p.Who = ""
	}
	for i := range p.Buttons {
		if b := &p.Buttons[i]; x.Elsewhere && b.Act == aggregate.ActApprove {
			b.About = words.Say("approve_elsewhere")
		}
	}
	p.Log = subject.EntriesOf(t.audit, auditlog.WordsIn(v.Locale), t.by.Person, func(string) string { return p.Agent })
	d := web.Document{Title: words.Say("of", "agent", p.Agent), Here: "calls", Data: p, Status: status,
		Back: web.Link{Path: callsPath, Text: words.Say("calls")}, After: p.After}
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

// does says what the call does.
func (p *callPage) does(t loaded, words web.Texts) {
	x := t.is.Call
	if steps := explain.StepsOf(x); steps != nil {
		e := t.by.Effect(explain.EffectOf(words.Locale(), steps[0], nil, nil))
		p.Does, p.Exactly = &e, legible.Spelled(web.Indented(string(steps[0].ToolInput)))
	}
	if p.Kind = explain.CallKind(x.Access, words.Locale()); x.Elsewhere {
		p.Kind = words.Say("runs_elsewhere")
	}
}

// ended says what became of the call.
func (p *callPage) ended(t loaded, words web.Texts) {
	x := t.is.Call
	if x.Gate.ApprovedAt != nil {
		p.Approved = t.by.Person(x.Gate.ApprovedBy)
	}
	by := p.Agent
	if x.CancelledBy != "" {
		by = t.by.Person(x.CancelledBy)
	}
	switch {
	case x.Status == call.Granted:
		p.Ended = words.Say("taken")
	case x.ConfirmedBy != "":
		p.Ended = words.Say("confirmed_by", "who", t.by.Person(x.ConfirmedBy))
	case x.Outcome == conversation.OutcomeUnknown:
		p.Ended, p.Failed = words.Say("unknown_about"), true
	case x.Status == conversation.ActionFailed:
		p.Ended, p.Failed = explain.CallReason(words.Locale(), x.Error), true
		p.Because = card.Prose(x.ErrorDetail)
	case x.CancelReason == conversation.ReasonRejected || x.CancelReason == call.ReasonDenied:
		p.Ended, p.Because = words.Say("rejected_by", "who", by), card.Prose(x.Gate.RejectionReason)
	case x.CancelReason == conversation.ReasonWithdrawn:
		p.Ended = words.Say("cancelled_by", "who", by)
	case x.CancelReason == conversation.ReasonExpired:
		p.Ended = words.In("statuses", "expired")
	case x.CancelReason != "":
		p.Ended = t.surface.CallEnded(x)
	}
	p.Returned = t.returned
}

// refused renders the page as it is now, with the reason for the refusal and the typed text.
func (c *Pages) refused(w http.ResponseWriter, r *http.Request, v *web.Viewer, x subject.Tried, why error) error {
	t, err := c.load(r, v)
	if err != nil {
		return err
	}
	ask, status := subject.NotDone(r, v, x, why, t.surface.RefusedOn(t.is, why, t.settings))
	return c.showPage(w, r, v, t, callPage{Ask: ask}, status)
}
