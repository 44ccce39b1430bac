package subject

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// Turn is what a gate under a rule that waits asks of a viewer.
type Turn struct {
	Who string // whose turn it is, in the place of who may decide
	// Title is above Who.
	Title string
	Mine  bool // the viewer is asked now

	*drawing
	next string               // who is asked now, in a line
	why  *circulation.Refusal // why the viewer's stamp would not count now; nil: it would, as far as is known
}

// TurnOf returns whose turn it is at the gate under a rule that is offered, nil if there is none.
func (c *Acts) TurnOf(ctx context.Context, x Asking, offers []aggregate.Offer) *Turn {
	for _, o := range offers {
		if o.Act != aggregate.ActApprove {
			continue
		}
		d := Reader{Locale: x.Viewer.Locale, Person: x.Surface.Marks.Person,
			Channel: x.Surface.Marks.Channel(x.Of.Origin().Channel)}.walk(x.Of.Asked(o.ID).Gate, false)
		if !d.ByClick {
			return c.turn(ctx, x, o.ID, d)
		}
	}
	return nil
}

func (c *Acts) turn(ctx context.Context, x Asking, id string, d *drawing) *Turn {
	t, g := &Turn{drawing: d}, d.Gate
	if t.Refused != nil {
		t.Who = t.Route.Waits(MostOwing)
		return t
	}
	t.next = d.words.Say("now", "who", t.Route.Waits(MostOwing))
	reach, err := c.People.Reach(ctx, x.Viewer.Team, x.Viewer.User, x.Settings)
	if err != nil {
		slog.WarnContext(ctx, "whose turn it is is told without Slack", "err", err)
	}
	o := x.Of.Origin()
	var all []circulation.StandIn
	var principal string
	if t.Mine = reach.Owes(g, o); !t.Mine {
		if all, err = c.Maker().StandIns(ctx, x.Of, id, x.Viewer.User); err != nil {
			slog.WarnContext(ctx, "whose turn it is is told without stand-ins", "err", err)
		}
		var stage int
		principal, stage = g.OwesFor(x.Viewer.User, all, c.Now())
		t.Mine = stage > 0
	}
	given := false
	given, t.why = x.tried(id, t.State.Present, reach.In(o.Channel), all, c.Now())
	switch {
	case t.Mine:
		if t.Title, t.Who = d.words.Say("yours"), d.owed(); principal != "" {
			t.Who += "\n" + x.Viewer.Texts("home").Say("stands_for", "name", d.Person(principal))
		}
	case given:
		t.Who = d.words.Say("given") + "\n" + t.next
	case t.why == nil:
		t.Who = t.next
	default:
		t.Who = x.Surface.Refused(t.why, x.Settings, o, x.Of.Askers()...)
		if t.why.Why != circulation.WhyTurn && t.why.Why != circulation.WhyRoute {
			t.Who += "\n" + t.next
		}
	}
	return t
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

// tried returns what would come of a stamp of the viewer's at this stage: whether it is given already, or else why it
// would not count, as far as that is known without looking up whom they stand in for.
func (x Asking) tried(id string, stage int, member bool, all []circulation.StandIn, now time.Time) (given bool,
	why *circulation.Refusal) {
	o := x.Of.Origin()
	policy := x.Settings.Policy(o.Team)
	policy.StandIns = all
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: x.Viewer.User, Team: o.Team, Member: member,
		Surface: aggregate.SurfaceConsole, Stage: stage, Channel: o.Channel}
	change, err := decide.Approve(x.Of, id, by, policy, now)
	why, _ = errors.AsType[*circulation.Refusal](err)
	if why != nil && why.Why == circulation.WhyFound && why.Lacks == circulation.LackDelegation {
		why = nil
	}
	return err == nil && change.Empty(), why
}

// along returns the buttons of whoever is asked for one of the offered acts on the gate of a turn.
func (x Asking) along(t *Turn, o aggregate.Offer, whole bool) []Button {
	switch {
	case !t.Mine:
	case o.Act == aggregate.ActReject:
		b := x.rejection(o)
		b.Stage = t.State.Present
		return []Button{b}
	case whole:
		return []Button{x.stamp(t, o)}
	}
	return nil
}

// stamp returns the button by which whoever is asked approves.
func (x Asking) stamp(t *Turn, o aggregate.Offer) Button {
	b, missing := x.button(o), 0
	b.Stage, b.No = t.State.Present, ""
	if t.why != nil {
		b.No = x.Surface.Refused(t.why, x.Settings, x.Of.Origin(), x.Of.Askers()...)
	}
	last := t.State.Present
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
	return b
}

// rejection returns the form by which whoever is asked says no, with a button for each way.
func (x Asking) rejection(o aggregate.Offer) Button {
	ask, _ := explain.AskOf(x.Of, o.ID)
	b := Button{Offer: o, Label: x.Words.In("act", o.Act), Reason: x.Words.Say("reason"), Hint: x.Words.Say("reason_hint")}
	why, lost := x.Surface.WhyNot(ask)
	b.Lead = why + lost
	for _, way := range ask.Ways(x.Viewer.Locale) {
		does := way.Kind.Does()
		is := Button{Offer: aggregate.Offer{Act: aggregate.Act(does.Verb)}, Label: way.Submit, About: way.Follows,
			Class: "button-danger"}
		if does.Final {
			is.Confirm = web.TextsOf("route", x.Viewer.Locale).Say("confirm_final")
		}
		b.Ways = append(b.Ways, is)
	}
	return b
}

// became names what the viewer's act on a gate under a rule leaves.
func (c *Acts) became(ctx context.Context, ref aggregate.Ref, x Tried) string {
	a, err := c.Store.KindStore.Store.Load(ctx, ref)
	of, asks := a.(decide.Subject)
	if err != nil || !asks {
		return string(x.Act)
	}
	_, versions := a.(*task.Aggregate)
	switch g := of.Asked(x.ID).Gate; {
	case g == nil:
	case x.Act == aggregate.ActReject && versions:
		return "send_back"
	case x.Act == aggregate.ActApprove && g.Status == aggregate.Approved:
		return "settle"
	case x.Act == aggregate.ActApprove:
		return "stamp"
	}
	return string(x.Act)
}

// After says under the notice about an act who is asked now, if its gate waits on; else nothing.
func (t *Turn) After(done string) string {
	if t == nil || t.Refused != nil || done != "act_stamp" {
		return ""
	}
	return t.next
}

// Asks reports whether what waits asks the viewer, as far as its route says. A viewer who is not asked has nothing
// there by which they could decide before they have read it.
func (t *Turn) Asks() bool { return t == nil || t.Mine }

// Since adds to what waits who is asked now.
func (t *Turn) Since() string {
	if t == nil {
		return ""
	}
	return " · " + t.Route.Waits(MostOwing)
}

// MostOwing is how many people a row of a list names.
const MostOwing = 5

// NamedOf returns the users whom the drawing of a gate's route names, so that their names are known before it is drawn.
func NamedOf(g *aggregate.Gate) (users []string) {
	r := Reader{Locale: language.All[0], Person: func(id string) string {
		users = append(users, id)
		return id
	}}
	if r.Route(g, false) == nil {
		r.Stamped(g)
	}
	return users
}

// Departments returns what names a department by its code, as it is called today. It reads the organisation when it is
// first asked; what it doesn't find keeps its code.
func (c *Acts) Departments(ctx context.Context, v *web.Viewer) func(code string) string {
	read := sync.OnceValue(func() map[string]string {
		names := map[string]string{}
		is, err := c.Organisations.Current(ctx, v.Tenant)
		if err != nil {
			slog.WarnContext(ctx, "departments are shown by their codes", "tenant", v.Tenant, "err", err)
		}
		if err == nil && is.Organisation != nil {
			for _, d := range is.Organisation.Departments() {
				names[d.Code] = d.Name
			}
		}
		return names
	})
	return func(code string) string { return cmp.Or(read()[code], code) }
}
