package conversation

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/isolated"
)

// MaxTool is the longest name of a tool, in bytes.
const MaxTool = 200

// Called is what the trusted side adds to a call of a tool: an agent's here, or one that an outside agent asks for.
type Called struct {
	// ToolVersion is the version of the tool that is meant; no other one is called.
	ToolVersion string           `json:"tool_version,omitempty"`
	ToolTitle   string           `json:"tool_title,omitempty"` // what an MCP server calls it
	Access      aggregate.Access `json:"access,omitempty"`
	// LeftOut has the default values of an MCP server for arguments that a write omits, as a JSON object.
	LeftOut  string `json:"left_out,omitempty"`
	Declared string `json:"declared,omitempty"` // see task.Step
	// Mark is the mark of a write's tool when the call was asked for. Cards are drawn by it.
	Mark *rules.Mark `json:"mark,omitempty"`
}

// called are the members of Called.
var called = []string{"tool_version", "tool_title", "access", "left_out", "declared", "mark"}

// checkCall checks a proposed call as far as that is possible without the tool's schema.
func (p Payload) checkCall() (problems []string) {
	if p.Tool == "" || len(p.Tool) > MaxTool {
		problems = append(problems, fmt.Sprintf("tool has %d bytes, it must have 1 to %d", len(p.Tool), MaxTool))
	}
	var members map[string]any
	if err := json.Unmarshal([]byte(p.Arguments), &members); err != nil || members == nil {
		return append(problems, "arguments must be one JSON object, as text")
	}
	if at, found := reference(members); found {
		problems = append(problems, fmt.Sprintf("arguments%s is a $ref; there are no steps here: write the value itself", at))
	}
	return problems
}

// reference returns where the first $ref in a value stands.
func reference(v any) (at string, found bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name == "$ref" {
				return "", true
			}
			if at, found := reference(v[name]); found {
				return "." + name + at, true
			}
		}
	case []any:
		for i, x := range v {
			if at, found := reference(x); found {
				return fmt.Sprintf("[%d]%s", i, at), true
			}
		}
	}
	return "", false
}

// checkCalled checks what the trusted side added to a kept call.
func (c Called) checkCalled() (problems []string) {
	if len(c.ToolVersion) != 64 || strings.Trim(c.ToolVersion, "0123456789abcdef") != "" {
		problems = append(problems, "tool_version is no version of a tool")
	}
	if c.Access != aggregate.Read && c.Access != aggregate.Write {
		problems = append(problems, "access is neither read nor write")
	}
	if c.LeftOut != "" && !json.Valid([]byte(c.LeftOut)) {
		problems = append(problems, "left_out is no JSON")
	}
	return problems
}

// Reads reports whether the action calls a tool that only reads, so that a call without a result did nothing.
func (x *Action) Reads() bool { return x.ActionType == ToolCall && x.Access == aggregate.Read }

// mayGoUnasked reports whether the settings may approve the action in a person's place: a test, or a listed read.
func (x *Action) mayGoUnasked() bool { return x.ActionType == TestRun || x.Reads() }

// mayBeAsked reports whether people may be asked about the action. Of an agent's calls of tools, that is the pull
// request alone: what else writes it offers as a request, and what reads is listed or not made.
func (x *Action) mayBeAsked() bool { return x.ActionType != ToolCall || x.Pushed != nil }

// CallsOn reports whether the agent may make one more listed read in an answer to seen.
func (a *Aggregate) CallsOn(seen []*Inbox) bool {
	return a.Conversation.Unasked < mostUnasked || newestOf(seen) != nil
}

// MaxCallResult is how much of a call's result the agent is given, in bytes.
const MaxCallResult = 64 << 10

// CallResult is what the agent is given of a call's result: with personal data masked, and cut to MaxCallResult.
type CallResult struct {
	Value json.RawMessage `json:"value"`
	// Bytes is how long the text was that Value begins, and ShownBytes how much of it is there; 0: it is whole.
	Bytes      int `json:"bytes,omitempty"`
	ShownBytes int `json:"shown_bytes,omitempty"`
}

// ReadCallResult reads a result that was stored.
func ReadCallResult(text []byte) (r CallResult, err error) {
	if err = json.Unmarshal(text, &r); err != nil || r.Value == nil {
		return r, fmt.Errorf("read a call's result: %w", cmp.Or(err, errNoValue))
	}
	return r, nil
}

var errNoValue = errors.New("it has no value")

// Pieces are the words in which the agent is given the result. What the tool returned is quoted.
func (r CallResult) Pieces(locale string) []Piece {
	out := []Piece{{Text: wordsOf.In(locale).Returned}, {Text: string(r.Value), Quoted: true}}
	if left := r.LeftOut(locale); left != "" {
		out = append(out, Piece{Text: left})
	}
	return out
}

// LeftOut says how much of what was returned the result doesn't have; empty: nothing.
func (r CallResult) LeftOut(locale string) string {
	if r.Bytes == 0 {
		return ""
	}
	return fmt.Sprintf(wordsOf.In(locale).Bytes, Grouped(r.Bytes), Grouped(r.ShownBytes))
}

// NotShownAgain stands in place of an older result.
func NotShownAgain(locale string) []Piece { return []Piece{{Text: wordsOf.In(locale).ResultOld}} }

// NotKeptAnyMore stands in place of a result that is deleted.
func NotKeptAnyMore(locale string) []Piece { return []Piece{{Text: wordsOf.In(locale).ResultGone}} }

// Claim gives the invocation the right to execute the approved action. It checks that the stamped content is unchanged
// and that the conversation's files are those for which it was proposed. It returns ErrSuperseded if the head names
// another run, ErrMoved if there is nothing to execute, ErrInFlight if the action is already claimed, or ErrBase. Calls
// of tools have a claim of their own; see ClaimCall.
func (a *Aggregate) Claim(run int, invocation string, leaseUntil, now time.Time) (aggregate.Change, error) {
	if x := a.Current(); x != nil && x.ActionType == ToolCall {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	return a.claim(run, invocation, leaseUntil, now)
}

// ClaimCall is Claim for calls of tools. The claim also relies on rows of the tenant: the tool's permission as it was
// read and, for a listed read, the settings.
func (a *Aggregate) ClaimCall(run int, invocation string, leaseUntil, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	if x := a.Current(); x == nil || x.ActionType != ToolCall {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	c, err := a.claim(run, invocation, leaseUntil, now)
	c.Owned = append(c.Owned, on...)
	return c, err
}

func (a *Aggregate) claim(run int, invocation string, leaseUntil, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || a.Head.Resting {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	x := a.Current()
	switch {
	case x == nil || x.Status == ActionPending:
		return aggregate.Change{}, aggregate.ErrMoved
	case x.Claim != nil:
		return aggregate.Change{}, aggregate.ErrInFlight
	case !a.approved(x):
		return aggregate.Change{}, fmt.Errorf("action %s has no approval: %w", x.ActionID, aggregate.ErrConflict)
	}
	c := a.begin(now)
	if x.Base != c.Conversation.WorkspaceVersion || !c.Conversation.onCommit(x.Pushed) {
		c.Fail(fmt.Errorf("claim action %s: %w", x.ActionID, ErrBase))
	}
	claim := func(n *Action) {
		n.Claim = &aggregate.Claim{Invocation: invocation, LeaseUntil: leaseUntil.UTC().Truncate(time.Millisecond)}
	}
	if x.Status == ActionExecuting { // an earlier claim was released before anything began
		n := *x
		claim(&n)
		c.Put(&n)
		return c.done()
	}
	started := c.move(x, ActionExecuting, func(n *Action) { claim(n); n.StartedAt = &c.Now })
	c.to(Executing)
	c.Head.Acting = x.ActionID
	c.active()
	c.auditAction(aggregate.System(), AuditStarted, started, map[string]any{"approved_by": started.ApprovedBy,
		"by": started.Gate.ApprovedBy, "rule": started.Rule, "base_version": started.Base})
	return c.done()
}

// approved reports whether row and head prove the approval of exactly this payload.
func (a *Aggregate) approved(x *Action) bool {
	if !x.Gate.Stands(x.Sum()) {
		return false
	}
	if len(x.Gate.Route.Stages) == 0 {
		return x.ApprovedBy == ApprovedByAuto && x.mayGoUnasked() && x.Rule != ""
	}
	return x.ApprovedBy == ApprovedByUser && x.mayBeAsked()
}

// AskedText returns the text whose hash is stamped.
func (x *Action) AskedText() string {
	return circulation.AskedText(x.Gate.Terms.Rule, x.Gate.Route, "action", x.SessionID, strconv.Itoa(x.Number),
		x.Payload.Hash())
}

// Sum returns what the stamps on an action are on: the hash of AskedText.
func (x *Action) Sum() string { return aggregate.HashOf(x.AskedText()) }

// Cause classifies why a file was not read, for pages. The reason itself is written for the model.
type Cause string

const (
	TooLarge   Cause = "too_large"
	OtherType  Cause = "other_type"
	TooMany    Cause = "too_many" // newer files used up the limit
	Silent     Cause = "silent"   // Slack did not return it; the next answer tries again
	Unreadable Cause = "unreadable"
	External   Cause = "external"  // another service keeps it; Slack has a link
	Forbidden  Cause = "forbidden" // Slack does not let Ringi
	Full       Cause = "full"      // the conversation holds as many attachments as it may
	Surplus    Cause = "surplus"   // the message has more files than are read of one
)

// Unread is an attachment that could not be read, or not whole.
type Unread struct {
	Name string // as people named it
	Why  string // in the system's words
}

// Causes lists all causes, for texts that need one for each. The last ones are read-file's.
var Causes = append([]Cause{TooLarge, OtherType, TooMany, Silent, Unreadable, External, Forbidden, Full,
	Surplus}, ofReading()...)

func ofReading() (all []Cause) {
	for _, why := range isolated.AllUnreadable {
		if why != isolated.OtherType {
			all = append(all, Cause(why))
		}
	}
	return all
}

// beginnings map the beginning of a reason to its cause.
var beginnings = []struct {
	text  string
	cause Cause
}{
	{"the image has ", TooLarge}, {"the text has ", TooLarge}, {"it has ", TooLarge}, {OnlyRead,
		OtherType}, {"only the newest ", TooMany}, {NotNow, Silent},
	{"a conversation", Full}, {Beyond, Surplus}, {"it is external", External}, {NoRight, Forbidden},
}

// Reasons why a file was not read, in the wording for the model.
const (
	OnlyRead = "only text and images are read"
	Beyond   = "it is beyond the files that are read of one message"
	// NotNow means that the file may be read for the next answer.
	NotNow = "Slack did not give it now"
	// NoRight means that Slack refuses the app: its token lacks a right, or it may not see the file.
	NoRight = "Ringi may not read it"
)

// CauseOf returns the cause for a reason, or Unreadable if the reason is unknown.
func CauseOf(why string) Cause {
	if slices.Contains(isolated.AllUnreadable, isolated.Unreadable(why)) {
		return Cause(why)
	}
	for _, b := range beginnings {
		if strings.HasPrefix(why, b.text) {
			return b.cause
		}
	}
	return Unreadable
}
