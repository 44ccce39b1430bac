package call

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
)

// MaxOpen is how many calls of a key may be open: waiting, or stamped and not made.
const MaxOpen = 20

// Reasons in aggregate.ErrFull.
const (
	ReasonOpen aggregate.Reason = "key_open" // MaxOpen
	ReasonDay  aggregate.Reason = "key_day"  // the key's quota of a day, in UTC
	// ReasonReads is that a key has as many reads under way at once as it may.
	ReasonReads aggregate.Reason = "key_reads"
)

// Proposal is a call that a key asks for, with whom the rules ask.
type Proposal struct {
	Key     tenancy.Key
	Content Content
	Effect  string // see Digest
	Was     *Was   // of the call that is asked for once more
	Reason  string
	Thread  string // of the key's calls of the day; "": its message begins one
	Terms   aggregate.Terms
	Keep    int  // see Call.KeepDays
	LooksUp bool // the tenant has rules: a run looks up whom they ask, else the settings say who is asked
	// On are the tenant's rows on which the call depends.
	On []aggregate.Owned
}

// Ref names the call that is asked for. Whoever asks for the same again asks for the same call.
func (x *Proposal) Ref() aggregate.Ref {
	c := &x.Content
	return RefOf(x.Key.TenantID, ID(x.Key.TenantID, x.Key.ID, kindOf(c.Elsewhere)+" "+c.Tool, x.Effect, c.Again))
}

// First names the first one of the calls that are meant to be the same, once more.
func (x Proposal) First() aggregate.Ref {
	x.Content.Again = ""
	return x.Ref()
}

// open counts the open calls of a key.
func open(key string, by int) aggregate.Count {
	c := aggregate.Count{Key: "CALLS#" + key, By: by}
	if by > 0 {
		c.Most, c.Reason = MaxOpen, ReasonOpen
	}
	return c
}

// OfDay counts one more call of a key's day.
func OfDay(k tenancy.Key, now time.Time) aggregate.Count {
	day := now.UTC().Truncate(24 * time.Hour)
	return aggregate.Count{Key: "CALLED#" + k.ID + "#" + day.Format(time.DateOnly), By: 1, Most: k.QuotaDay,
		Reason: ReasonDay,
		Until:  day.AddDate(0, 0, 1), Keep: day.AddDate(0, 0, 3)}
}

// mostWaits is how many answers a key may wait for at once, for long, and mostReads how many reads it may have under
// way. They are counted by half minutes, so that no count is left of one that broke off.
const mostWaits, mostReads, waitsWithin = 5, 5, 30 * time.Second

// Waits counts a wait of a key that lasts so long at most.
func Waits(k tenancy.Key, most time.Duration, now time.Time) aggregate.Count {
	c := halfMinute("WAITED#", k, now)
	c.By, c.Most = int((most+time.Second-1)/time.Second), mostWaits*int(waitsWithin/time.Second)
	return c
}

// Reads counts a read of a key: 1 when it begins, -1 when one that began then has ended.
func Reads(k tenancy.Key, by int, began time.Time) aggregate.Count {
	c := halfMinute("READS#", k, began)
	c.By, c.Most, c.Reason = by, mostReads, ReasonReads
	return c
}

// halfMinute is a key's counter of the half minute that a time is in.
func halfMinute(prefix string, k tenancy.Key, at time.Time) aggregate.Count {
	from := at.UTC().Truncate(waitsWithin)
	return aggregate.Count{Key: prefix + k.ID + "#" + aggregate.TimeText(from), Until: from.Add(waitsWithin),
		Keep: from.Add(time.Hour)}
}

// Ask makes the call's rows: people are asked, or are about to be looked up. Its Change is committed only if there is
// no such call yet. It returns tenancy.ErrKey if the key may not ask for it, aggregate.Problem for a reason that is
// too long, and aggregate.ErrOnRoute for a route that nobody could settle.
func (x *Proposal) Ask(now time.Time) (aggregate.Change, error) {
	now = now.UTC().Truncate(time.Millisecond)
	if err := x.Key.Holds(x.Content.Tool, now); err != nil {
		return aggregate.Change{}, err
	}
	if n := utf8.RuneCountInString(x.Reason); n > MaxReason {
		return aggregate.Change{}, aggregate.Problem{Field: "reason",
			Code: fmt.Sprintf("must have at most %d characters, not %d", MaxReason, n)}
	}
	text, err := aggregate.Written(x.Content) // as it is stamped
	if err != nil {
		return aggregate.Change{}, fmt.Errorf("write what is asked: %w", err)
	}
	ref, k := x.Ref(), x.Key
	row := &Call{
		CallID: ref.ID, TenantID: ref.Tenant, Status: conversation.ActionPending, KeyID: k.ID, KeyName: k.Name,
		Answers: k.Answers, TeamID: k.Team, Channel: k.Channel, ThreadTS: x.Thread, Locale: x.Terms.Locale,
		Tool:   x.Content.Tool,
		Access: x.Content.Access, Elsewhere: x.Content.Elsewhere, Effect: x.Effect, Again: x.Content.Again, Was: x.Was,
		Payload: aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)}, Reason: strings.TrimSpace(x.Reason),
		KeepDays: x.Keep, CreatedAt: now,
		Gate: aggregate.Gate{Status: aggregate.Generating, Terms: x.Terms},
	}
	c := &change{row: *row, Head: Head{CallID: ref.ID, Head: aggregate.Head{TenantID: ref.Tenant, Run: 1,
		Requester: k.Answers, CreatedAt: now, ChangedAt: now}}}
	c.Now = now
	c.audit(aggregate.Actor{Type: aggregate.ActorAgent, ID: k.ID}, conversation.AuditProposed,
		map[string]any{"tool": row.Tool,
			"key": k.ID, "name": k.Name, "answers": k.Answers, "effect_hash": x.Effect, "again": row.Again})
	c.Counts = []aggregate.Count{open(k.ID, 1), OfDay(k, now)}
	if c.row.Gate.Terms.DecideBy = nil; !x.LooksUp { // nobody is asked yet
		c.open(nil, x.Terms)
	}
	c.Owned = append(c.Owned, x.On...)
	c.Owned = append(c.Owned, tenancy.SettingsAt(x.Terms.SettingsRev))
	c.Put(&aggregate.Card{ID: aggregate.Derive(now, "card", ref.ID), AggregateID: ref.ID, CardType: Card, Subject: Key,
		Channel: row.Channel, State: aggregate.CardNone, CreatedAt: now})
	return c.done()
}

// change is a Change of a call under construction.
type change struct {
	aggregate.Draft
	Head Head
	row  Call
}

func (a *Aggregate) begin(now time.Time) *change {
	c := &change{Head: a.Head, row: *a.Call}
	c.Now = a.Head.Moment(now)
	c.Head.ChangedAt = c.Now
	return c
}

func (c *change) done() (aggregate.Change, error) {
	head, row := c.Head, c.row
	return c.Done(&head, &row)
}

// open has people asked along a route, without a rule if o is nil.
func (c *change) open(o *aggregate.Opening, terms aggregate.Terms) {
	if o == nil {
		by := aggregate.BySettings(true, c.row.Answers)
		o = &by
	}
	c.row.Gate = aggregate.Gate{Status: aggregate.PendingApproval, Terms: terms, AskedAt: &c.Now}
	g, err := c.row.Gate.Under(*o, []string{c.row.Answers}, func(g *aggregate.Gate) string {
		c.row.Gate = *g
		return c.row.Action().Sum()
	})
	if err != nil {
		c.Fail(err)
	}
	c.row.Gate, c.row.LookUpAt = g, nil
	if o.Rule.ID != "" {
		c.audit(aggregate.System(), conversation.AuditRouted, g.OpenedDetails(map[string]any{}))
	}
}

// to gives the call another status, and closes it for the key's counter where it ends.
func (c *change) to(s Status) {
	was := c.row
	if !Moves.Allows(was.Status, s) {
		c.Fail(fmt.Errorf("call %s: %s cannot become %s: %w", was.CallID, was.Status, s, aggregate.ErrConflict))
	}
	c.Head.Restarts = 0
	c.row.Status = s
	if c.row.Over() && !was.Over() {
		c.row.CompletedAt = &c.Now
		c.Counts = append(c.Counts, open(was.KeyID, -1))
	}
}

// settle changes the status of the gate if it still waits.
func (c *change) settle(to aggregate.GateStatus) {
	if aggregate.GateMoves.Allows(c.row.Gate.Status, to) {
		c.row.Gate.Status = to
		if err := c.row.Gate.Walked(); err != nil {
			c.Fail(err)
		}
	}
}

// cancel ends a call that isn't made.
func (c *change) cancel(gate aggregate.GateStatus, by string, why aggregate.Reason) {
	c.end(conversation.ActionCancelled, gate, by, why)
}

func (c *change) end(as Status, gate aggregate.GateStatus, by string, why aggregate.Reason) {
	c.settle(gate)
	c.to(as)
	c.row.CancelledBy, c.row.CancelReason, c.row.LookUpAt = by, why, nil
}

// audit adds an entry with what every entry of an agent's action has. Where no act on the gate ended the call, the
// entry of that has the hashes of the route and of the acts until then.
func (c *change) audit(by aggregate.Actor, as aggregate.Action, details map[string]any) {
	details = maps.Clone(details)
	details["type"], details["hash"] = c.row.Kind(), c.row.Payload.Hash()
	if as == conversation.AuditCancelled || as == conversation.AuditExpired {
		details["gate"] = map[string]any{}
		if sealed := c.row.Gate.Sealed(); sealed != nil {
			details["gate"] = sealed
		}
	}
	c.Record(&c.Head, by, as, "call", c.row.CallID, details)
}

// Kind is the type of an action that a call is in the audit log.
func (x *Call) Kind() string { return kindOf(x.Elsewhere) }

func kindOf(elsewhere bool) string {
	if elsewhere {
		return "grant"
	}
	return "call"
}

// Limits of what may be asked for.
const (
	MaxArguments = 32 << 10 // bytes: a call's row has them whole
	MaxReason    = 600      // characters: as many as its card shows
)

// Content is what people stamp.
type Content struct {
	Base      string `json:"base"` // a call works on no files
	Key       string `json:"key"`  // its id
	Answers   string `json:"answers"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`       // JSON with sorted members
	Again     string `json:"again,omitempty"` // id of the earlier call that is meant to be made once more
	// Elsewhere says that it runs where the agent runs, and not by Ringi.
	Elsewhere bool `json:"elsewhere,omitempty"`
	conversation.Called
}

// Content reads what the call's stamps are on.
func (x *Call) Content() (c Content, err error) {
	if err = json.Unmarshal([]byte(x.Payload.JSON), &c); err != nil {
		return c, fmt.Errorf("read what call %s is to do: %w", x.CallID, err)
	}
	return c, nil
}

// Payload returns the content as that of an agent's action.
func (x Content) Payload() conversation.Payload {
	return conversation.Payload{Tool: x.Tool, Arguments: x.Arguments,
		Stamped: conversation.Stamped{Base: &x.Base, Called: x.Called}}
}

// Members decodes the arguments of a call. It returns an aggregate.Problem for what is no JSON object, or too long.
func Members(arguments []byte) (members map[string]any, err error) {
	limit := "must be one JSON object"
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	switch {
	case len(arguments) > MaxArguments:
		limit = fmt.Sprintf("must have at most %d bytes, not %d", MaxArguments, len(arguments))
	case json.Valid(arguments) && utf8.Valid(arguments) && d.Decode(&members) == nil && members != nil:
		return members, nil
	}
	return nil, aggregate.Problem{Field: "arguments", Code: limit}
}

// idleOf are the arguments without effect, by the tool of those that run where the agent runs. A model words them anew
// each time.
var idleOf = map[string][]string{"Bash": {"description"}}

// Digest returns arguments as they are stamped and made, and the hash of what of them has effect. idle are arguments of
// the tool that have none.
func Digest(members map[string]any, idle []string) (arguments, effect string, err error) {
	text, err := aggregate.Canonical(members)
	if err != nil {
		return "", "", err
	}
	some := maps.Clone(members)
	for _, name := range idle {
		delete(some, name)
	}
	acting, err := aggregate.Canonical(some)
	return string(text), aggregate.HashOf(string(acting)), err
}

// Idle returns those arguments of a tool that have no effect: none of a tool that Ringi calls.
func Idle(tool string, elsewhere bool) []string {
	if !elsewhere {
		return nil
	}
	return idleOf[tool]
}
