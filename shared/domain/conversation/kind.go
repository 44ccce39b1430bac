// Package conversation holds the rules for conversations with agents: messages, the actions that agents propose, the
// files they work on, and the results. Every decision is a pure function that takes loaded rows and returns a Change.
//
// Nothing is executed without approval: only an approved action can execute, and it is approved by people or by an
// administrator's rule for tests and listed reads. People approve exactly the payload that ReadPayload accepted, and
// exactly that is executed. A version of the files is one archive whose bytes depend only on the files. An archive that
// returns from the place where commands run is treated as untrusted input.
//
// A run is a turn. A message is put with its inbox row; an answer takes what waited when it began and deletes exactly
// those rows, so what comes meanwhile is answered next. What people change or delete in Slack is a message of its own.
// One action is open at a time; while it waits, people and agent go on talking.
//
// A proposal names its bytes. It is completed before it is kept: the version of the files that it is about (base) and,
// in place of files and edits, what becomes of each line. So the stamped hash covers what is drawn. A claim is refused
// where the conversation's version isn't the base any more. The version moves with the result, from base to what was
// left, or not at all; what a late result left stays the action's. Where a version is gone, the folder is empty from
// then on, and people are told.
//
// Which reads go without a person: the settings list agent, tool, version and people; everybody who spoke since a
// person last approved something is among them; and each argument is a choice, a number or a date, or stands word for
// word in a message of one of them. So no word that a model composed leaves unseen.
//
// A pull request's stamp covers each changed path against the source's commit. What steers CI, deployments, merging or
// Git's hooks is refused by its name. Each step of pushing is committed before the next is made and can be made again:
// whoever meets an expired claim goes on from the row.
//
// The agent's request is an offer that a person makes.
//
// A conversation that isn't kept is forgotten in two commits. From the first on nobody reads or writes. Fifteen
// minutes later, longer than any function runs, the sweeper erases all but the head and what was stamped, also what
// came too late.
package conversation

import (
	"embed"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Kind describes conversations to the store, the relay and the sweeper.
var Kind = aggregate.Kind{
	Name: "session", Prefix: "SESSION#", Lists: []string{MessagesList, ActionsList, LogList},
	New: func() aggregate.Aggregate { return &Aggregate{} }, ValidID: ValidID, RequestKey: (&Conversation{}).Key(),
	Asks: []aggregate.CardType{CardAction},
	Rows: aggregate.RowsOf(&Head{}, &Conversation{}, &Inbox{}, &Action{}, &Offered{}),
}

// The types of cards: an action, a message, and the conversation's end.
const (
	CardAction  aggregate.CardType = "action"
	CardMessage aggregate.CardType = "message"
	CardSession aggregate.CardType = "session"
)

// All returns the index partition of a tenant's conversations.
func All(tenant string) string { return "TENANT#" + tenant + "#SESSIONS" }

// Indexes lists the conversation among all.
func (s *Conversation) Indexes(head aggregate.Root) []aggregate.Index {
	return []aggregate.Index{{N: 1, PK: All(s.TenantID), SK: aggregate.TimeText(s.CreatedAt) + "#" + s.ID}}
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
	Offered      []*Offered
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
	case *Offered:
		a.Offered = aggregate.Insert(a.Offered, r)
	default:
		a.Shared.Add(r)
	}
}

func (a *Aggregate) After(c aggregate.Change) aggregate.Aggregate {
	n := *a
	gone := aggregate.ByKey(c.Drop)
	n.Inbox, n.Actions, n.Cards = without(a.Inbox, gone), without(a.Actions, gone), without(a.Cards, gone)
	n.Copies, n.Offered = without(a.Copies, gone), without(a.Offered, gone)
	return aggregate.Committed(&n, c)
}

// without returns a new list of the rows that are not in gone.
func without[R aggregate.Row](rows []R, gone map[string]aggregate.Row) []R {
	return slices.DeleteFunc(slices.Clone(rows), func(r R) bool { return gone[r.Key()] != nil })
}

// Action returns the action with this id, or nil if there is none or it is archived.
func (a *Aggregate) Action(id string) *Action {
	return aggregate.First(a.Actions, func(x *Action) bool { return x.ActionID == id })
}

// Current returns the action that has not ended, or nil.
func (a *Aggregate) Current() *Action {
	return aggregate.First(a.Actions, func(x *Action) bool { return !x.Status.Over() })
}

// Pending returns the action that waits for a person, or nil.
func (a *Aggregate) Pending() *Action {
	if x := a.Current(); x != nil && x.Status == ActionPending && x.Gate.Status == aggregate.PendingApproval {
		return x
	}
	return nil
}

// leased reports whether the action's claim is live at now.
func (a *Action) leased(now time.Time) bool { return a != nil && a.Claim.Live(now) }

// ID returns the id of the conversation in a thread: a UUID of version 8 made from a hash. So each thread has exactly
// one conversation, and no lookup is needed.
func ID(team, channel, thread string) string { return uuid("session", team, channel, thread) }

// MessageID returns the id of a message from Slack.
func MessageID(team, channel, ts string) string { return uuid("message", team, channel, ts) }

func uuid(parts ...string) string { return aggregate.UUID(8, parts...) }

var form = language.Regexp{Text: `^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`}

// ValidID reports whether id has the form of a conversation's id.
func ValidID(id string) bool { return form.Get().MatchString(id) }

// RefOf returns the Ref of a conversation.
func RefOf(tenant, id string) aggregate.Ref {
	return aggregate.Ref{Tenant: tenant, Kind: Kind.Name, ID: id}
}

//go:embed schemas/*.json
var schemas embed.FS

// Schema returns the JSON Schema of a type's payload. It uses only what all model vendors support: no other
// properties are allowed, and there are no limits. ReadPayload checks the limits, and that one of several forms is
// given.
func Schema(t tenancy.ActionType) ([]byte, error) {
	text, err := schemas.ReadFile("schemas/" + string(t) + ".json")
	if err != nil {
		return nil, fmt.Errorf("schema of %.50s: %w", t, err)
	}
	return text, nil
}

// Status is the status of a conversation; see Moves.
type Status string

const (
	Open      Status = "open"
	Executing Status = "executing" // one of its actions is executing
	Closed    Status = "closed"
	Failing   Status = "error" // its agent can't answer
)

// Moves are the moves of a conversation. A closed one can be reopened by a person.
var Moves = aggregate.Moves[Status]{
	Open:      {Executing, Closed, Failing},
	Executing: {Open},
	Closed:    {Open},
	Failing:   {Open, Executing, Closed}, // an approved action needs no agent
}

// ActionStatus is the status of an action; see ActionMoves.
type ActionStatus string

const (
	ActionPending   ActionStatus = "pending"
	ActionApproved  ActionStatus = "approved"
	ActionExecuting ActionStatus = "executing"
	ActionSucceeded ActionStatus = "succeeded"
	ActionFailed    ActionStatus = "failed"
	ActionCancelled ActionStatus = "cancelled"
)

// ActionMoves are the moves of an action. Only an action with unknown outcome leaves failed, when its result arrives
// late.
var ActionMoves = aggregate.Moves[ActionStatus]{
	ActionPending:   {ActionApproved, ActionCancelled},
	ActionApproved:  {ActionExecuting, ActionFailed, ActionCancelled},
	ActionExecuting: {ActionSucceeded, ActionFailed, ActionCancelled},
	ActionSucceeded: {},
	ActionFailed:    {ActionSucceeded, ActionFailed},
	ActionCancelled: {},
}

// Over reports whether an action has ended.
func (s ActionStatus) Over() bool { return len(ActionMoves[s]) == 0 || s == ActionFailed }

// ActionType says what an action does.
type ActionType = tenancy.ActionType

const (
	CodeGenerate = tenancy.CodeGenerate
	TestRun      = tenancy.TestRun
	ShellCommand = tenancy.ShellCommand
	ToolCall     = tenancy.ToolCall
)

// Sender is the author of a message.
type Sender string

const (
	FromUser   Sender = "user"
	FromAgent  Sender = "agent"
	FromSystem Sender = "system"
)

// RequestedBy says who proposed an action.
type RequestedBy string

const (
	RequestedByAgent RequestedBy = "agent"
	RequestedByUser  RequestedBy = "user"
)

// ApprovedBy says who approved an action.
type ApprovedBy string

const (
	ApprovedByUser ApprovedBy = "user"
	ApprovedByAuto ApprovedBy = "auto" // by an administrator's rule
)

// Outcome adds to the status of a failed action.
type Outcome string

// OutcomeUnknown: the invocation that ran the action is gone, and nobody knows what the action did.
const OutcomeUnknown Outcome = "unknown"
