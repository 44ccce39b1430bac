// Package call holds the rules for calls that outside agents ask for: an agent with a key asks for one call
// of a tool with exact arguments, people decide at one gate, and the call is made once. Every decision is a pure
// function that takes loaded rows and returns a Change.
//
// A call's id follows from who asks for what: tenant, key, tool and the hash of what has effect. So the same call asked
// for again, by 32 at once or a month later, is the same row, whatever became of it, as long as the row is kept: where
// people acted, as long as the audit log, else as long as results. A second one that is meant names the first
// (Content.Again), and has an id of its own.
//
// The stamps are on Content: the bytes of the arguments, the version of the tool, the key, who answers for it. The
// agent's reason is no part of it. It is somebody else's words, shown as such.
//
// Ringi makes the call itself, by claim, call and result, as it makes an agent's action in a conversation: a claim is
// refused unless the gate stands for exactly this content; a write whose claim ran out is of unknown outcome and never
// made again; a late result is recorded. Or the call runs where the agent runs (Content.Elsewhere). Then a stamp is
// only a grant, which one attempt takes, once: what came of it Ringi doesn't know and doesn't say.
//
// In the audit log a call is an agent's action: its entries have the same names and details, so that one proof fits
// both.
package call

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
)

// Kind describes calls to the store, the relay and the sweeper.
var Kind = aggregate.Kind{
	Name: "call", Prefix: "CALL#",
	New: func() aggregate.Aggregate { return &Aggregate{} }, ValidID: ValidID, RequestKey: Key,
	Asks: []aggregate.CardType{Card},
	Rows: aggregate.RowsOf(&Head{}, &Call{}),
}

// Key is the key of a call's only row of its own.
const Key = "CALL"

// Card is the type of a call's card.
const Card aggregate.CardType = "call"

// idPrefix begins the id of each call.
const idPrefix = "call-"

var spelling = base32.StdEncoding.WithPadding(base32.NoPadding)

// ID returns the id of the call that a key asks for: the same for the same tool and effect, unless another one is
// meant.
func ID(tenant, key, tool, effect, again string) string {
	h := sha256.New()
	for _, part := range []string{"call", tenant, key, tool, effect, again} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return idPrefix + strings.ToLower(spelling.EncodeToString(h.Sum(nil)[:20]))
}

// ValidID reports whether id has the form of ID.
func ValidID(id string) bool {
	rest, is := strings.CutPrefix(id, idPrefix)
	return is && len(rest) == 32 && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// RefOf names a call of a tenant.
func RefOf(tenant, id string) aggregate.Ref {
	return aggregate.Ref{Tenant: tenant, Kind: Kind.Name, ID: id}
}

// Head is the head row of a call.
type Head struct {
	aggregate.Head
	CallID string `json:"call_id"`
}

func (h *Head) ID() string              { return h.CallID }
func (h Head) At(rev int) aggregate.Row { h.Rev = rev; return &h }

// Status is that of an agent's action, with two more.
type Status = conversation.ActionStatus

// Granted is a call that runs elsewhere and whose stamp was taken. What came of it isn't known.
const Granted Status = "granted"

// Refused is a call about which nobody is asked, as the rules say or since nobody could be looked up.
const Refused Status = "refused"

// Moves are the moves of a call. A call that is being made can't be cancelled. Only one with unknown outcome leaves
// failed, when its result arrives late or a person sees that it arrived.
var Moves = aggregate.Moves[Status]{
	conversation.ActionPending: {conversation.ActionApproved, conversation.ActionCancelled, Refused},
	conversation.ActionApproved: {conversation.ActionExecuting, Granted, conversation.ActionFailed,
		conversation.ActionCancelled},
	conversation.ActionExecuting: {conversation.ActionSucceeded, conversation.ActionFailed},
	conversation.ActionSucceeded: {},
	conversation.ActionFailed:    {conversation.ActionSucceeded, conversation.ActionFailed},
	conversation.ActionCancelled: {},
	Granted:                      {},
	Refused:                      {},
}

// Was is how the first call ended, when the agent asks for the same again.
type Was struct {
	Status  Status `json:"status"`
	By      string `json:"by,omitempty"`     // who rejected it
	Why     string `json:"reason,omitempty"` // their reason
	Unknown bool   `json:"unknown,omitempty"`
}

// WasOf returns how a call ended.
func WasOf(x *Call) *Was {
	return &Was{x.Status, x.Gate.RejectedBy, x.Gate.RejectionReason, x.Outcome == conversation.OutcomeUnknown}
}

// Call is the row of one call.
type Call struct {
	aggregate.Meta
	CallID   string `json:"call_id"`
	TenantID string `json:"tenant_id"`
	Status   Status `json:"status"`
	// By whom, and where its card is posted.
	KeyID   string `json:"key_id"`
	KeyName string `json:"key_name"`
	Answers string `json:"answers"` // Slack user id of who answered for the key

	TeamID   string `json:"team_id"`
	Channel  string `json:"channel"`
	ThreadTS string `json:"thread_ts,omitempty"` // of the key's first call of the day
	Locale   string `json:"locale"`
	// What: Payload is Content as its text, on which the stamps are.
	Tool      string           `json:"tool"`
	Access    aggregate.Access `json:"access"`
	Elsewhere bool             `json:"elsewhere,omitempty"`
	Effect    string           `json:"effect"` // hash of what has effect
	Again     string           `json:"again,omitempty"`
	Was       *Was             `json:"was,omitempty"` // how that ended; nil: it is none that is asked for once more
	Payload   aggregate.Blob   `json:"payload_json"`
	Reason    string           `json:"reason,omitempty"` // the agent's words

	KeepDays  int            `json:"keep_days"` // how long its rows are kept if nobody acts on it; 0: for ever
	Gate      aggregate.Gate `json:"gate"`
	LookUpAt  *time.Time     `json:"look_up_at,omitempty"` // while people are looked up: when; nil: at once
	CreatedAt time.Time      `json:"created_at"`

	Claim          *aggregate.Claim     `json:"claim,omitempty"`
	DecisionNumber string               `json:"decision_number,omitempty"`
	StartedAt      *time.Time           `json:"started_at,omitempty"`
	CompletedAt    *time.Time           `json:"completed_at,omitempty"`
	Result         *aggregate.Blob      `json:"call_result,omitempty"` // a conversation.CallResult
	Error          aggregate.Reason     `json:"error_code,omitempty"`
	ErrorDetail    string               `json:"error_detail,omitempty"`
	Outcome        conversation.Outcome `json:"outcome,omitempty"`
	ConfirmedBy    string               `json:"confirmed_by,omitempty"` // who saw that a call of unknown outcome arrived
	CancelledBy    string               `json:"cancelled_by,omitempty"` // Slack user id; empty: the agent or the system
	CancelReason   aggregate.Reason     `json:"cancel_reason,omitempty"`
	TakenBy        string               `json:"taken_by,omitempty"` // id of the attempt that took the grant
	// Newest is the id of the newest call by which this first one is meant to be made once more. It is written without
	// a commit, and may be an older one's.
	Newest string `json:"newest,omitempty"`
}

func (*Call) Key() string               { return Key }
func (*Call) Type() string              { return "call" }
func (x Call) At(rev int) aggregate.Row { x.Rev = rev; return &x }
func (x *Call) Whole() *aggregate.Gate  { return &x.Gate }
func (x *Call) Reads() bool             { return x.Access == aggregate.Read }

// Action returns the call as an agent's action, with the fields that both have: it is the first one of its own session.
func (x *Call) Action() *conversation.Action {
	return &conversation.Action{Number: 1, ActionID: x.CallID, SessionID: x.CallID, ActionType: conversation.ToolCall,
		Status: x.Status, Summary: x.Tool, Payload: x.Payload, Gate: x.Gate, CreatedAt: x.CreatedAt, StartedAt: x.StartedAt,
		CompletedAt: x.CompletedAt, Claim: x.Claim, Outcome: x.Outcome, CancelledBy: x.CancelledBy,
		CancelReason: x.CancelReason, Error: x.Error, ErrorDetail: x.ErrorDetail}
}

// Over reports whether nothing more is done for the call by itself.
func (x *Call) Over() bool { return len(Moves[x.Status]) == 0 || x.Status == conversation.ActionFailed }

// TurnedDown reports whether people rejected the call, or nobody is asked about it.
func (x *Call) TurnedDown() bool {
	return x.CancelReason == conversation.ReasonRejected || x.CancelReason == ReasonDenied || x.Status == Refused
}

// Refusal returns why nobody is asked about a call that is Refused.
func (x *Call) Refusal() aggregate.Refusal {
	no := aggregate.Refusal{Why: x.CancelReason, Detail: x.ErrorDetail}
	if x.Gate.Terms.Rule != nil {
		no.Rule = *x.Gate.Terms.Rule
	}
	return no
}

// Answered reports whether the agent needn't wait any more: the call is over, or may be taken.
func (x *Call) Answered() bool {
	return x.Over() || x.Elsewhere && x.Status == conversation.ActionApproved
}

// tellAgain is how long an attempt is told once more that it has the grant: its answer may have been lost. Ids are the
// client's own, and some count them anew in each session.
const tellAgain = time.Minute

// TakenFor reports whether the attempt with this id took the grant just now.
func (x *Call) TakenFor(use string, now time.Time) bool {
	return x.Status == Granted && x.TakenBy == use && x.CompletedAt != nil && now.Sub(*x.CompletedAt) < tellAgain
}

// All returns the partition of GSI2 that has a tenant's calls by time, and Of that of GSI3 with a key's of one day.
func All(tenant string) string { return "TENANT#" + tenant + "#CALLS" }
func Of(tenant, key string, at time.Time) string {
	return "TENANT#" + tenant + "#CALLS#" + key + "#" + tenancy.DateOf(at.In(tenancy.Zone())).String()
}

// Indexes lists the call among its tenant's and its key's, and while it waits among what waits.
func (x *Call) Indexes(head aggregate.Root) []aggregate.Index {
	at := aggregate.TimeText(x.CreatedAt) + "#" + x.CallID
	return append(x.Gate.WaitingIndexes(head, x.CreatedAt, x.CallID),
		aggregate.Index{N: 2, PK: All(x.TenantID), SK: at},
		aggregate.Index{N: 3, PK: Of(x.TenantID, x.KeyID, x.CreatedAt), SK: at})
}

// Asks returns the call's question.
func (x *Call) Asks() aggregate.Question {
	return aggregate.Question{Key: Key, ID: x.CallID, Kind: Card, Version: 1, Askers: []string{x.Answers},
		CreatedAt: x.CreatedAt, DecideBy: x.Gate.Terms.DecideBy}
}

// AnsweredBy reports whether somebody answers for the call's key.
func (x *Call) AnsweredBy(user string) bool { return x.Answers == user }

// Origin returns where the call's card is, and who asked for it.
func (x *Call) Origin() aggregate.Origin {
	if x == nil {
		return aggregate.Origin{}
	}
	return aggregate.Origin{Team: x.TeamID, User: x.Answers, Channel: x.Channel, ChannelType: "channel"}
}

// Aggregate is all rows of one call.
type Aggregate struct {
	aggregate.Shared
	Head Head
	Call *Call
}

func (a *Aggregate) Ref() aggregate.Ref   { return RefOf(a.Head.TenantID, a.Head.CallID) }
func (a *Aggregate) Root() aggregate.Root { return &a.Head }

func (a *Aggregate) Add(r aggregate.Row) {
	switch r := r.(type) {
	case *Head:
		a.Head = *r
	case *Call:
		a.Call = r
	default:
		a.Shared.Add(r)
	}
}

func (a *Aggregate) After(c aggregate.Change) aggregate.Aggregate {
	next := *a
	return aggregate.Committed(&next, c)
}
