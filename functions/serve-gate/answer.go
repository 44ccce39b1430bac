package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/store/large"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// answer is what an outside agent is told of its call. Say alone is right for a model to follow.
type answer struct {
	Say      string          `json:"say"`
	ID       string          `json:"id"`
	Status   string          `json:"status"`
	Tool     string          `json:"tool"`
	SHA256   string          `json:"sha256"` // of what people stamp
	DecideBy string          `json:"decide_by,omitempty"`
	Page     string          `json:"page"`
	Reason   string          `json:"reason,omitempty"` // of a refusal, in people's words
	Result   json.RawMessage `json:"result,omitempty"`
	Number   string          `json:"decision_number,omitempty"` // in the tenant's register
}

// What became of a call, beside the status of its row.
const (
	unknown = "unknown"
	refused = string(call.Refused) // also by people
	expired = "expired"
)

// statusOf returns the word for what became of the call.
func statusOf(x *call.Call) string {
	switch {
	case x.Outcome == conversation.OutcomeUnknown:
		return unknown
	case x.Status != conversation.ActionCancelled:
		return string(x.Status)
	}
	switch x.CancelReason {
	case conversation.ReasonWithdrawn:
		return string(x.Status)
	case conversation.ReasonExpired, call.ReasonAged:
		return expired
	}
	return refused // by people, or by a rule
}

// failed reports whether the model should see that something failed. A refusal is an answer: some clients try again
// what fails, by themselves.
func (a answer) failed() bool {
	return a.Status == string(conversation.ActionFailed) || a.Status == unknown
}

// says are the sentences by what became of a call. more is how it is asked for once more.
var says = map[string]string{
	string(conversation.ActionPending): "This call waits for people's approval{by}. Nothing has been done. " +
		"To learn its end, repeat exactly this call later: it stays the same request.",
	string(conversation.ActionApproved): "People approved this call, and Ringi is about to make it. " +
		"To learn its end, repeat exactly this call in a moment: it is made only once.",
	string(conversation.ActionExecuting): "People approved this call, and Ringi is making it. " +
		"To learn its end, repeat exactly this call in a moment: it is made only once.",
	string(conversation.ActionSucceeded): "People approved this call, and it was made once. It is done.",
	string(conversation.ActionFailed): "People approved this call, and it failed{why}. Repeating it changes " +
		"nothing.{more}",
	unknown: "People approved this call and it was sent, but nobody knows whether it took effect. Do not make it again: " +
		"a person has to look first.",
	refused: "This call was refused{why}. Nothing was done, and repeating it changes nothing. " +
		"Tell the person you work for.{more}",
	string(conversation.ActionCancelled): "This call was cancelled. Nothing was done.{more}",
	expired:                              "This call's time ran out. Nothing was done.{more}",
	string(call.Granted): "The approval of this call was used, once. Ringi doesn't know what came of " +
		"it.{more}",
}

// sayEarlier begins the sentence of a call that is meant once more: a repeat of the earlier one finds it, too.
const sayEarlier = "The same was asked for before, as {earlier}, which is over; this is about the one after it. "

// sayConfirmed is the sentence of a call whose answer was lost.
const sayConfirmed = "People approved this call, and a person saw that it arrived. It is done; what it returned " +
	"isn't known."

// sayLooking is the sentence of a call of which it isn't known yet whom the rules ask, if anybody.
const sayLooking = "Ringi is looking up who may approve this call. Nobody has been asked, and nothing has been done. " +
	"To learn its end, repeat exactly this call in a minute: it stays the same request."

// The sentences of calls that run where the agent runs. A model that asks by MCP can't take one: its client does.
const (
	sayStamped = "People approved this call. It has not run yet: take it, and run it only if that says granted."
	sayRepeat  = "People approved this call. It has not run yet: to have it run, repeat exactly this call. It runs once."
	sayTaken   = "People approved this call. Run exactly it now, once."
)

// answerOf tells what became of a call.
func (r request) answerOf(ctx context.Context, a *call.Aggregate) answer {
	x := a.Call
	out := answer{ID: x.CallID, Status: statusOf(x), Tool: x.Tool, SHA256: x.Payload.Hash(),
		Page: boot.Address(r.Host) + "/console/calls/" + x.CallID, Number: x.DecisionNumber}
	by, why, more := "", "", r.onceMore(x)
	if until := x.Gate.Terms.DecideBy; until != nil && out.Status == string(conversation.ActionPending) {
		out.DecideBy = aggregate.TimeText(*until)
		by = ", until " + out.DecideBy
	}
	switch out.Status {
	case refused:
		out.Reason = language.Visible(r.door.whyNot(x))
		why = quoted(out.Reason)
	case string(conversation.ActionFailed):
		why = quoted(language.Visible(cmp.Or(keyReasons[x.Error], fmt.Sprintf("%s %s", x.Error, x.ErrorDetail))))
	case string(conversation.ActionSucceeded):
		out.Result = r.door.result(ctx, a)
	}
	if more != "" {
		more = " Only if the person you work for still wants it, " + more + "."
	}
	out.Say = says[out.Status]
	if x.ConfirmedBy != "" {
		out.Say = sayConfirmed
	}
	if x.Elsewhere && x.Status == conversation.ActionApproved {
		out.Say = sayStamped
		if r.URL.Path == pathMCP {
			out.Say = sayRepeat
		}
	}
	if x.Unopened() {
		out.Say = sayLooking
	}
	if x.Again != "" {
		out.Say = sayEarlier + out.Say
	}
	out.Say = language.Fill(out.Say, "by", by, "why", why, "more", more, "earlier", x.Again)
	return out
}

// onceMore is what whoever asked for the call does to have the same made once more, in words that may be followed as
// they are. It is empty for a client of permission whose tool has no words without effect.
func (r request) onceMore(x *call.Call) string {
	idle, byMCP := call.Idle(x.Tool, x.Elsewhere), r.URL.Path == pathMCP
	field, words := "again: "+x.CallID, argumentAgain+": "+x.CallID
	switch {
	case !x.Elsewhere: // asked by MCP, as an argument
		return "ask for it with " + words
	case len(idle) == 0 && byMCP:
		return ""
	case len(idle) == 0: // the program that sends requests has a field for it, and the model no words
		return "tell them that your program has to ask for it with " + field
	case byMCP:
		return "ask for it with " + words + " in its " + idle[0]
	}
	return "ask for it with " + field + ", or " + words + " in its " + idle[0]
}

var againSaid = language.Regexp{Text: `\b` + argumentAgain + `: ([\w-]+)`}

// againIn reads which earlier call is meant once more from the words without effect of one that runs where the agent
// runs; see onceMore. It is empty if they don't say it.
func againIn(tool string, arguments json.RawMessage) string {
	members, err := call.Members(arguments)
	if err != nil { // whoever is asked next says it
		return ""
	}
	for _, name := range call.Idle(tool, true) {
		words, _ := members[name].(string)
		if said := againSaid.Get().FindStringSubmatch(words); said != nil {
			return said[1]
		}
	}
	return ""
}

func quoted(why string) string {
	if why == "" {
		return ""
	}
	return fmt.Sprintf(", with the reason %q", why)
}

// whyNot is why a call was refused: people's words, what a rule says, or what became of its key.
func (d *door) whyNot(x *call.Call) string {
	if v := x.Gate.Verdict; v.RejectionReason != "" {
		return v.RejectionReason
	}
	if why := keyReasons[x.CancelReason]; why != "" {
		return why
	}
	if x.Status == call.Refused {
		return explain.RefusedByRules(language.English, x.Refusal(), language.First)
	}
	return ""
}

// result is what the call returned, as far as it is kept.
func (d *door) result(ctx context.Context, a *call.Aggregate) json.RawMessage {
	if a.Call.Result == nil {
		return nil
	}
	r, err := large.CallResult(ctx, d.Results, a.Ref(), *a.Call.Result)
	if err == nil {
		return language.VisibleJSON(r.Value)
	}
	if !errors.Is(err, large.ErrExpired) {
		slog.WarnContext(ctx, "what a call returned can't be opened", "call_id", a.Head.CallID, "err", err)
	}
	return nil
}

// fault is why a request isn't served, for whoever sent it.
type fault struct {
	status int
	text   string
	later  time.Duration // of a 429: when to try again
}

func (f fault) Error() string { return f.text }

func no(status int, text string) fault { return fault{status: status, text: text} }

// faults are the texts of errors and classes of errors. What has none is not the caller's fault.
var (
	keyFaults = map[tenancy.KeyFault]fault{
		tenancy.KeyUnknown: no(http.StatusUnauthorized, "the key is unknown"),
		tenancy.KeyRevoked: no(http.StatusUnauthorized, "the key is revoked"),
		tenancy.KeyExpired: no(http.StatusUnauthorized, "the key is expired"),
		tenancy.KeyTool:    no(http.StatusForbidden, "tool is not among those of this key"),
	}
	faults = []struct {
		of error
		fault
	}{
		{tool.ErrForbidden, no(http.StatusForbidden, "tool is not allowed in this workspace")},
		{call.ErrTaken, no(http.StatusConflict, call.ErrTaken.Error())},
		{call.ErrAged, no(http.StatusConflict, "the approval was given too long ago")},
		{aggregate.ErrMoved, no(http.StatusConflict, "the call is not approved, or does not run where you are")},
	}
	classFaults = map[explain.Class]fault{
		explain.NotAllowed: no(http.StatusForbidden, "nobody could approve this call: an administrator has to add people"),
		explain.NotFound:   no(http.StatusNotFound, "id is of no call of this key"),
		explain.InFlight:   no(http.StatusConflict, "the call is being made"),
		explain.Decided:    no(http.StatusConflict, "the call is over"),
	}
)

// fullOf says which of a key's calls are as many as it may have.
var fullOf = map[aggregate.Reason]string{call.ReasonOpen: "open", call.ReasonDay: "today",
	call.ReasonReads: "under way"}

// faultOf tells an error. What is not the caller's is logged, and only asks for patience.
func (d *door) faultOf(ctx context.Context, err error) fault {
	if f, is := errors.AsType[fault](err); is {
		return f
	}
	if e, is := errors.AsType[tenancy.ErrKey](err); is {
		return keyFaults[e.Why]
	}
	if e, is := errors.AsType[aggregate.ErrFull](err); is {
		later := time.Minute
		if !e.Until.IsZero() {
			later = e.Until.Sub(d.Now())
		}
		return fault{http.StatusTooManyRequests, fmt.Sprintf("the key has as many calls %s as it may: %d",
			fullOf[e.Reason], e.Most), later}
	}
	if e, is := errors.AsType[aggregate.Problem](err); is {
		return no(http.StatusBadRequest, language.Visible(e.Error()))
	}
	for _, f := range faults {
		if errors.Is(err, f.of) {
			return f.fault
		}
	}
	if f, known := classFaults[explain.ClassOf(err)]; known {
		return f
	}
	slog.ErrorContext(ctx, "a request is not served", "err", err)
	return no(http.StatusServiceUnavailable, "Ringi can't answer now. Nothing is known to be done: "+
		"repeat exactly this later")
}

var keyReasons = map[aggregate.Reason]string{
	call.ReasonKey:     "its key was revoked, or had ended",
	call.ReasonKeyTool: "its key may not use this tool any more",
}
