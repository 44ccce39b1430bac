package web

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// Ask is what a page asks its viewer. A page embeds it.
type Ask struct {
	Heading         string    // above who may decide
	Mine            bool      // the viewer is asked
	Who             string    // may decide, or whose turn it is
	Until           time.Time // it waits
	Buttons, Others []Button  // Others stand at the page's end
	Since           Since
	After           string // who is asked now, below the notice that the viewer approved
	Problem, Typed  string // why the viewer's act was refused, and the reason that they typed for it
	Code            int    // of the answer then
	tried           Tried
	why             error
}

// maxTyped bounds, in characters, the typed reason that is shown again if nothing was decided.
const maxTyped = 10_000

// refused is what a page asks after a refusal.
func refused(r *http.Request, v *Viewer, x Tried, why error) Ask {
	status, _, forbidden := FaultOf(why)
	if forbidden {
		Refuse(r, v, why.Error())
	}
	return Ask{Typed: language.First(x.reason, maxTyped), Code: status, tried: x, why: why}
}

// Button is an act that the viewer may try.
type Button struct {
	aggregate.Offer
	Label, Class, Confirm, About string
	Reason, Hint                 string // label of the reason, and about it; empty: it needs none
	No                           string // why this viewer can't use it

	// Of a gate under a rule.
	Stage int      // that the page shows
	Ways  []Button // the buttons by which a reason is sent; none: there is one, by Label
	Typed string   // the reason, after a refusal
}

// Asking is a subject about which a page asks a viewer.
type Asking struct {
	Loaded
	Words   Texts
	Surface explain.Surface
	Viewer  *Viewer
	On      SubjectPage
	Offers  []aggregate.Offer
	Whole   bool   // the page shows everything that people would approve
	Waits   bool   // something waits for a decision
	Stands  string // how the subject stands
	Now     string // what waits, in the place of that
}

// Asks fills in what a page asks its viewer: a button for each offered act, but none to approve unless the page shows
// everything, and along a route those of whose turn it is.
func (c *Site) Asks(r *http.Request, x Asking, p *Ask) error {
	t, err := c.turn(r.Context(), x)
	if err != nil {
		return err
	}
	if p.why != nil {
		p.Problem = x.Surface.RefusedOn(x.Of, p.why, x.Settings)
	}
	p.Who, p.Heading = x.Surface.WhoDecides(x.Settings, x.Of.Origin(), x.Of.Askers()...), x.Words.Say("acts")
	all, why := []Button(nil), ""
	for _, o := range x.Offers {
		gate := o.Act == aggregate.ActApprove || o.Act == aggregate.ActReject
		if o.Act == task.ActRefill || o.Act == aggregate.ActApprove && !x.Whole || gate && t != nil && !t.mine {
			continue // the form to fill in again is in Slack
		}
		b := c.button(x, o)
		if gate && t != nil {
			t.along(x, &b)
		}
		if gate && b.No != "" { // who may not decide is told why
			if why == "" {
				why = "\n" + b.No
			}
			continue
		}
		all = append(all, b)
	}
	p.apart(all, x.Waits)
	stands, approves := "", slices.ContainsFunc(p.Buttons, func(b Button) bool { return b.Act == aggregate.ActApprove })
	switch {
	case t != nil:
		p.Who, p.Mine = t.who, t.mine
		stands = " · " + t.Route.Waits(MostOwing)
	case approves:
		reach, err := c.People.Reach(r.Context(), x.Viewer.Team, x.Viewer.User, x.Settings)
		if err != nil {
			slog.WarnContext(r.Context(), "not said who may approve", "err", err)
		} else if reach.Decides(x.Of.Origin()) {
			p.Heading, p.Mine = x.Viewer.Texts("route").Say("you_may"), true
		}
	}
	if x.Waits && !approves && x.Viewer.User == x.Of.Origin().User { // who asked finds there what they may do
		p.Buttons, p.Others = append(p.Buttons, p.Others...), nil
	}
	alone := x.Surface.Deciders(x.Settings, x.Of.Origin()) == x.Surface.Marks.Person(x.Viewer.User)
	switch p.Who += why; {
	case p.Mine && (t != nil || alone):
		p.Heading = x.Viewer.Texts("route").Say("yours")
	case len(p.Buttons) == 0, x.Waits && !approves:
		p.Heading = x.Words.Say("waiting")
	}
	done := r.URL.Query().Get("done")
	if t != nil && t.Refused == nil && done == "act_"+string(aggregate.ActApprove) {
		p.After = t.next
	}
	words := x.Viewer.Texts("layout")
	p.Since = Since{Path: x.On.Path + x.Of.Ref().ID, Open: words.Say("open_now"),
		Now: cmp.Or(x.Now, words.Say("stands")+": "+x.Stands) + stands}
	// The page only links to what waits now instead of showing it if the viewer has not read it, and their next click
	// must not decide on it: what they tried is not offered any more, or something else waits than what they picked.
	p.Since.Shown = p.Problem != "" && !still(x.Offers, p.tried.Offer) ||
		x.Waits && (t == nil || t.mine) && done != "" && done != "act_pick_draft"
	if p.Since.Shown {
		p.Buttons, p.Others, p.Mine = nil, nil, false
	}
	if p.Since.Shown || !x.Waits {
		p.Who = ""
	}
	return nil
}

// still reports whether what was tried may be tried again: it, or the gate for which it was meant, is offered.
func still(offers []aggregate.Offer, tried aggregate.Offer) bool {
	if circulation.Doing(string(tried.Act)).Does().Ends {
		tried.Act = aggregate.ActReject
	}
	return slices.Contains(offers, tried)
}

// apart parts from the buttons those by which a viewer ends the subject, or withdraws what asks for a decision: they
// don't stand beside the decision, and are left out if the viewer can't use them. What the viewer typed for an act that
// was refused goes into its form alone.
func (p *Ask) apart(all []Button, asks bool) {
	for _, b := range all {
		is := func(way Button) bool { return way.Act == p.tried.Act }
		if is(b) && b.Ways == nil || slices.ContainsFunc(b.Ways, is) {
			b.Typed = p.Typed
		}
		ends := b.Act == task.ActCancelTask || b.Act == conversation.ActClose
		if !ends && !(asks && b.Act == conversation.ActCancel) {
			p.Buttons = append(p.Buttons, b)
		} else if b.Class = ""; b.No == "" {
			p.Others = append(p.Others, b)
		}
	}
}

// button returns the button of an act. If a rule forbids the act to this viewer, No has the same sentence as a refused
// click.
func (c *Site) button(x Asking, o aggregate.Offer) Button {
	words := x.Words
	b := Button{Offer: o, Label: words.In("act", o.Act), Confirm: words.In("confirm", o.Act),
		About: words.In("act_about", o.Act), Class: "button-danger"}
	switch o.Act {
	case aggregate.ActReject:
		x.rejection(&b)
	case aggregate.ActApprove, task.ActRetryExecution, task.ActConfirm, task.ActRetryGeneration,
		conversation.ActReopen, conversation.ActMakeRequest, conversation.ActCheck:
		b.Class = "button-primary"
	}
	if err := c.Likely(x, o); err != nil {
		b.No = x.Surface.Why(err, x.Of.Origin())
	}
	return b
}

// Likely returns the error that a click by this viewer would get, as far as that is known without asking Slack. It
// assumes that the viewer is a member of the channel, unless that is somebody else's direct message.
func (c *Site) Likely(x Asking, o aggregate.Offer) error {
	of := x.Of.Origin()
	_, err := c.try(x, o, aggregate.Actor{Member: of.ChannelType != "im" || x.Viewer.User == of.User}, nil)
	return err
}

// try makes an act of the viewer's on the rows that the page shows, and commits nothing. If the settings list groups,
// it assumes that the viewer is in one of them.
func (c *Site) try(x Asking, o aggregate.Offer, by aggregate.Actor, standIns []circulation.StandIn) (
	aggregate.Change, error) {
	b, ok := Tried{Offer: o, reason: "-"}.button(x.On)
	if !ok {
		return aggregate.Change{}, explain.ErrMalformedForm
	}
	of := x.Of.Origin()
	by.Type, by.ID, by.Team, by.Admin = aggregate.ActorUser, x.Viewer.User, of.Team, x.Viewer.Admin
	by.Surface, by.Channel = aggregate.SurfaceConsole, of.Channel
	policy := x.Settings.Policy(by.Team)
	if policy.StandIns = standIns; len(x.Settings.Approvers.Usergroups) > 0 {
		policy.Approvers = append(policy.Approvers, by.ID)
	}
	return b.Act(x.Of, cmp.Or(o.ID, x.Of.Ref().ID), by, policy, c.Now())
}

// rejection makes the form by which whoever is asked says no, with a button for each way.
func (x Asking) rejection(b *Button) {
	ask, _ := explain.AskOf(x.Of, b.ID)
	why, lost := x.Surface.WhyNot(ask)
	b.Confirm, b.About, b.Reason, b.Hint = "", "", why+lost, x.Words.Say("reason_hint")
	for _, way := range ask.Ways(x.Viewer.Locale) {
		does := way.Kind.Does()
		is := Button{Offer: aggregate.Offer{Act: aggregate.Act(does.Verb)}, Label: way.Submit, About: way.Follows,
			Class: "button-danger"}
		if does.Final {
			is.Confirm = TextsOf("route", x.Viewer.Locale).Say("confirm_final")
		}
		b.Ways = append(b.Ways, is)
	}
}

// turn is what a gate under a rule that waits asks of a viewer.
type turn struct {
	*drawing
	who  string               // whose turn it is, in the place of who may decide
	mine bool                 // the viewer is asked now
	next string               // who is asked now, in a line
	why  *circulation.Refusal // why the viewer's stamp would not count now; nil: it would, as far as is known
}

// turn returns whose turn it is at the gate under a rule that is offered, nil if there is none.
func (c *Site) turn(ctx context.Context, x Asking) (*turn, error) {
	at := slices.IndexFunc(x.Offers, func(o aggregate.Offer) bool { return o.Act == aggregate.ActApprove })
	if at < 0 {
		return nil, nil
	}
	gate, o := x.Offers[at], x.Of.Origin()
	t := &turn{drawing: Reader{Locale: x.Viewer.Locale, Person: x.Surface.Marks.Person,
		Channel: x.Surface.Marks.Channel(o.Channel)}.walk(x.Of.Asked(gate.ID).Gate, false)}
	switch t.who = t.Route.Waits(MostOwing); {
	case t.ByClick:
		return nil, nil
	case t.Refused != nil:
		return t, nil
	}
	t.next = t.words.Say("now", "who", t.who)
	reach, err := c.People.Reach(ctx, x.Viewer.Team, x.Viewer.User, x.Settings)
	if err != nil {
		return nil, err
	}
	var all []circulation.StandIn
	principal := ""
	if t.mine = reach.Owes(t.Gate, o); !t.mine {
		if all, err = c.Maker().StandIns(ctx, x.Of, gate.ID, x.Viewer.User); err != nil {
			return nil, err
		}
		var stage int
		principal, stage = t.Gate.OwesFor(x.Viewer.User, all, c.Now())
		t.mine = stage > 0
	}
	by := aggregate.Actor{Member: reach.In(o.Channel), Stage: t.State.Present}
	change, err := c.try(x, gate, by, all)
	t.why, _ = errors.AsType[*circulation.Refusal](err)
	if t.why != nil && t.why.Why == circulation.WhyFound && t.why.Lacks == circulation.LackDelegation {
		t.why = nil // it is known without looking up whom they stand in for
	}
	switch {
	case t.mine:
		if t.who = t.owed(); principal != "" {
			t.who += "\n" + x.Viewer.Texts("home").Say("stands_for", "name", t.Person(principal))
		}
	case err == nil && change.Empty():
		t.who = t.words.Say("given") + "\n" + t.next
	case t.why == nil:
		t.who = t.next
	default:
		t.who = x.Surface.Refused(t.why, x.Settings, o, x.Of.Askers()...)
		if t.why.Why != circulation.WhyTurn && t.why.Why != circulation.WhyRoute {
			t.who = t.next + "\n" + t.who
		}
	}
	return t, nil
}

// owed says how much the stage that is asked needs.
func (d *drawing) owed() string {
	s := d.CurrentStage()
	if s == nil || s.Mode == circulation.ModeChannel {
		return d.Route.Waits(MostOwing)
	}
	if s.Need < 2 && len(s.People) < 2 {
		return d.words.Say("yours_alone", "stage", d.Name(s))
	}
	text := d.Name(s) + " — " + d.Need(s)
	if given := s.Need - s.Owed; given > 0 {
		text += " " + d.words.Say("given_already", "n", given)
	}
	return text
}

// along makes a button that of whoever is asked: at the stage that the page shows.
func (t *turn) along(x Asking, b *Button) {
	b.Stage, b.No = t.State.Present, ""
	if b.Act == aggregate.ActReject {
		return
	}
	if t.why != nil {
		b.No = x.Surface.Refused(t.why, x.Settings, x.Of.Origin(), x.Of.Askers()...)
	}
	last, missing := t.State.Present, 0
	for i := range t.Stages {
		if missing += t.Stages[i].Owed; t.Stages[i].Owed > 0 {
			last = i + 1
		}
	}
	if missing > 1 { // others stamp before anything follows
		b.About = ""
	}
	if last != t.State.Present {
		b.About = t.words.Say("after", "stage", t.Name(&t.Stages[last-1]))
	}
}

// MostOwing is how many people a row of a list names.
const MostOwing = 5

// Since tells an open page what has changed since it was loaded.
type Since struct {
	Now        string // what waits now, or the current status
	Path, Open string // where that is read
	Shown      bool   // show it in place of what waits now
}

// Sheet is what the pages of all kinds of subjects have: what they ask, and the audit log.
type Sheet struct {
	Ask
	Path, ID      string
	Live          string     // address that refreshes the page; empty: it doesn't refresh itself
	Stands, Badge string     // how the subject stands, in words
	About, Quoted string     // what stands above the buttons, in Ringi's words and in somebody's
	Route         *GateRoute // nil: no rule chose one
	Log           []Entry
	LogGoesOn     bool
}

// mostEntries is the number of audit entries on a page.
const mostEntries = 100

// Say formats the log of what was loaded, the oldest entries first; agent returns what an agent is called.
func (s *Sheet) Say(l Loaded, locale string, person, agent func(id string) string) {
	log := slices.Clone(l.log.Items)
	slices.Reverse(log)
	s.LogGoesOn = l.log.Next != ""
	s.Log = EntriesOf(log, explain.LogWordsIn(locale), person, agent)
}
