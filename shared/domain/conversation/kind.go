package conversation

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// Kind describes conversations to the store, the relay and the sweeper.
var Kind = aggregate.Kind{
	Name: "session", Prefix: "SESSION#", Lists: []string{MessagesList, ActionsList, LogList},
	New: func() aggregate.Aggregate { return &Aggregate{} }, ValidID: ValidID, Asked: (&Conversation{}).Key(), Asks: []aggregate.CardType{CardAction},
	Rows: map[string]func() aggregate.Row{
		"head":     func() aggregate.Row { return &Head{} },
		"session":  func() aggregate.Row { return &Conversation{} },
		"inbox":    func() aggregate.Row { return &Inbox{} },
		"action":   func() aggregate.Row { return &Action{} },
		"handover": func() aggregate.Row { return &HandOver{} },
		"offered":  func() aggregate.Row { return &Offered{} },
		"typed":    func() aggregate.Row { return &Typed{} },
		"stream":   func() aggregate.Row { return &Stream{} },
	},
}

// The types of cards: an action, a message, and the conversation's end.
const (
	CardAction  aggregate.CardType = "action"
	CardMessage aggregate.CardType = "message"
	CardSession aggregate.CardType = "session"
)

// All, In and By return the index partitions of a tenant's conversations: all, those with a status, and those that a
// person opened.
func All(tenant string) string          { return "TENANT#" + tenant + "#SESSIONS" }
func In(tenant string, s Status) string { return All(tenant) + "#" + string(s) }
func By(tenant, user string) string     { return "TENANT#" + tenant + "#TALKS#" + user }

// Indexes lists the conversation among all, by its status and by its opener.
func (s *Conversation) Indexes(head aggregate.Root) []aggregate.Index {
	at := aggregate.TimeText(s.CreatedAt) + "#" + s.ID
	return []aggregate.Index{
		{N: 1, PK: All(s.TenantID), SK: at},
		{N: 2, PK: In(s.TenantID, s.Status), SK: at},
		{N: 3, PK: By(s.TenantID, s.Opener), SK: at},
	}
}

// Indexes lists an action that waits for people.
func (a *Action) Indexes(head aggregate.Root) []aggregate.Index {
	return a.Gate.WaitingIndexes(head, a.CreatedAt, a.ActionID)
}

// Asks returns the question that the action's gate asks.
func (a *Action) Asks() aggregate.Question {
	return aggregate.Question{
		Key: a.Key(), ID: a.ActionID, Kind: CardAction, Version: a.Number, Askers: a.Askers,
		CreatedAt: a.CreatedAt, DecideBy: a.Gate.Terms.DecideBy,
	}
}

// Aggregate is every row of one conversation; see aggregate.Aggregate.
type Aggregate struct {
	aggregate.Shared
	Head         Head
	Conversation *Conversation
	Inbox        []*Inbox  // by time
	Actions      []*Action // by number; old ones are archived
	Handed       []*HandOver
	Offered      []*Offered
	Typed        []*Typed
	Stream       *Stream     // nil while no answer is streamed to Slack
	Last         task.Series `json:"-"` // no row; see Numbering
	// Said is the message for a card that shows a message, if it was loaded. It is not part of the conversation's
	// partition.
	Said *Message
}

func (a *Aggregate) Ref() aggregate.Ref   { return RefOf(a.Head.TenantID, a.Head.SessionID) }
func (a *Aggregate) Root() aggregate.Root { return &a.Head }

func (a *Aggregate) Add(r aggregate.Row) {
	switch r := r.(type) {
	case *Head:
		a.Head = *r
	case *Conversation:
		a.Conversation = r
	case *Inbox:
		a.Inbox = aggregate.Insert(a.Inbox, r)
	case *Action:
		a.Actions = aggregate.Insert(a.Actions, r)
	case *HandOver:
		a.Handed = aggregate.Insert(a.Handed, r)
	case *Offered:
		a.Offered = aggregate.Insert(a.Offered, r)
	case *Typed:
		a.Typed = aggregate.Insert(a.Typed, r)
	case *Stream:
		a.Stream = r
	default:
		a.Shared.Add(r)
	}
}

func (a *Aggregate) After(c aggregate.Change) aggregate.Aggregate {
	n := *a
	gone := aggregate.ByKey(c.Drop)
	n.Inbox, n.Actions, n.Cards, n.Handed = without(a.Inbox, gone), without(a.Actions, gone), without(a.Cards, gone), without(a.Handed, gone)
	n.Copies, n.Offered, n.Typed = without(a.Copies, gone), without(a.Offered, gone), without(a.Typed, gone)
	if gone[StreamKey] != nil {
		n.Stream = nil
	}
	return aggregate.Committed(&n, c)
}

// without returns a new list of the rows that are not in gone.
func without[R aggregate.Row](rows []R, gone map[string]aggregate.Row) []R {
	out := make([]R, 0, len(rows))
	for _, r := range rows {
		if gone[r.Key()] == nil {
			out = append(out, r)
		}
	}
	return out
}

// Action returns the action with this id, or nil if there is none or it is archived.
func (a *Aggregate) Action(id string) *Action {
	for _, x := range a.Actions {
		if x.ActionID == id {
			return x
		}
	}
	return nil
}

// Current returns the action that has not ended, or nil.
func (a *Aggregate) Current() *Action {
	for _, x := range a.Actions {
		if !x.Status.Over() {
			return x
		}
	}
	return nil
}

// Pending returns the action that waits for a person, or nil.
func (a *Aggregate) Pending() *Action {
	if x := a.Current(); x != nil && x.Status == ActionPending && x.Gate.Status == aggregate.PendingApproval {
		return x
	}
	return nil
}

// leased reports whether the action's claim is live at now.
func (a *Action) leased(now time.Time) bool {
	return a != nil && a.Claim != nil && now.Before(a.Claim.LeaseUntil)
}
