package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sort"
	"time"
	"unicode/utf8"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/tool"
	"ringi/shared/tool/schema"
	"ringi/shared/words/legible"
)

// refusal is why an approved call isn't made; the zero value: it can be.
type refusal struct {
	reason aggregate.Reason
	detail string
}

// prepare asks everything again that was asked when the call was proposed: that it is what was approved, that the tool
// is allowed and still the version that people saw, that its schema and the tenant's constraints hold and, of a call
// that nobody stamped, that the settings list it.
func (j *job) prepare(ctx context.Context) (why refusal, err error) {
	ref, x := j.in.Ref(), j.action
	text, err := j.Results.Open(ctx, ref, x.Payload)
	if err != nil {
		return why, fmt.Errorf("open the payload: %w", err)
	}
	if aggregate.HashOf(string(text)) != x.Payload.Hash() {
		return refusal{reason: conversation.ReasonChanged}, nil
	}
	p, problems := conversation.ReadKept(x.ActionType, text)
	switch {
	case problems != nil:
		j.cause = errors.New(problems[0])
		return refusal{reason: conversation.ReasonUnread}, nil
	case *p.Base != x.Base || p.Tool != x.Tool || p.Access != x.Access:
		j.cause = errors.New("its row names another tool, or other files")
		return refusal{reason: conversation.ReasonUnread}, nil
	}
	if j.settings, err = j.Store.Settings(ctx, ref.Tenant); err != nil {
		return why, fmt.Errorf("read the settings: %w", err)
	}
	if j.permission, _, err = j.Store.ToolPermission(ctx, ref.Tenant, p.Tool); err != nil {
		return why, fmt.Errorf("read the permission of %s: %w", p.Tool, err)
	}
	j.tool, err = j.Catalog.Permit(p.Tool, p.ToolVersion, p.Access, j.permission, j.settings.MCPServers)
	unbound, isUnbound := errors.AsType[*explain.CallError](err)
	switch {
	case errors.Is(err, tool.ErrForbidden):
		return refusal{reasonForbidden, p.Tool}, nil
	case errors.Is(err, tool.ErrOther):
		return refusal{reasonOther, p.Tool}, nil
	case isUnbound:
		return j.broken(unbound), nil
	case err != nil:
		return why, err
	}
	if !j.listed(p) {
		return refusal{reasonUnlisted, p.Tool}, nil
	}
	if why := j.pushable(p); why != (refusal{}) {
		return why, nil
	}
	return j.check(p), nil
}

// check checks the arguments as they are about to be sent.
func (j *job) check(p conversation.Payload) refusal {
	a, err := tool.Parse(aggregate.JSON(p.Arguments))
	if err == nil && len(a.Refs()) > 0 {
		err = errors.New("an argument is a reference")
	}
	if err == nil {
		j.arguments, err = a.Resolve(nil)
	}
	if err == nil {
		j.arguments, err = j.tool.Catalog.Check(p.Tool, j.arguments)
	}
	if err != nil {
		j.cause = errors.New("the arguments don't fit the tool")
		return refusal{reasonArguments, p.Tool}
	}
	if broken := j.tool.Spec.Hold(j.arguments); broken != nil {
		return j.broken(broken)
	}
	return refusal{}
}

func (j *job) broken(e *explain.CallError) refusal {
	if e.Problem == explain.ProblemTooLong {
		return refusal{reasonArguments, explain.FailedCall(j.session.Locale, e.Problem, e.Args...)}
	}
	return refusal{reasonConstraint, explain.FailedCall(j.session.Locale, e.Problem, e.Args...)}
}

// listed reports whether a person stamped the call, or the settings list it for everybody who asked for it.
func (j *job) listed(p conversation.Payload) bool {
	if j.action.ApprovedBy == conversation.ApprovedByUser {
		return true
	}
	return tool.Listable(j.tool.Spec) && len(j.action.Askers) > 0 &&
		agent.Listed(j.settings.ListedReads, j.session.AgentID, p.Tool, p.ToolVersion, j.action.Askers) >= 0
}

// call makes the claimed call and commits its end, even if the action was cancelled meanwhile.
func (j *job) call(ctx context.Context) (aggregate.Next, error) {
	x, until := j.action, j.action.Claim.LeaseUntil
	conversation.Log(ctx, conversation.EventStarted, j.in.Ref().ID, j.session.AgentID, x.ActionID, "type", x.ActionType,
		"tool", x.Tool)
	within, stop := context.WithDeadline(ctx, until.Add(-claimSpare))
	defer stop()
	if x.Reads() { // stopping a write would leave its outcome unknown
		go pipeline.Watch(within, j.Store, j.in.Ref(), x.ActionID, j.PollEvery, func() error { stop(); return nil })
	}
	value, err := j.run(within)
	stop()
	over := j.Now()
	if e, is := errors.AsType[*explain.CallError](err); is && e.Problem == explain.ProblemChanged {
		j.noteChanged(ctx)
	}
	if err != nil && !x.Reads() && explain.Unsure(err) {
		j.log(ctx, conversation.Result{Error: conversation.ReasonUnknown}, err)
		return j.record(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Lost(x.ActionID, j.invocation, j.Now())
		})
	}
	r := j.result(ctx, value, err)
	r.At = over
	j.log(ctx, r, err)
	return j.record(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, j.invocation, r, j.Now())
	})
}

// run makes the call. A panic of the tool becomes an error: a read has failed, a write's outcome is unknown.
func (j *job) run(ctx context.Context) (v json.RawMessage, err error) {
	defer boot.Recover(ctx, &err, j.in.Ref().Log(), "tool", j.action.Tool)
	return j.Tools.Run(ctx, tool.Call{
		Tenant: j.in.Tenant, Tool: j.action.Tool, Arguments: j.arguments, Key: j.in.Ref().ID + "/" + j.action.ActionID,
		Locale: j.session.Locale, Bounds: j.tool.Spec.Bounds, Pin: j.tool.Spec.Pin, Asked: j.asked(),
		Stamped: j.action.Gate.Stampers(),
	})
}

// asked returns whose request the action is.
func (j *job) asked() string {
	if len(j.action.Askers) > 0 {
		return j.action.Askers[0]
	}
	return j.session.Opener
}

// noteChanged disables a tool that its server has changed. A failure is only logged: the tool's next call finds the
// change again.
func (j *job) noteChanged(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, noteWithin)
	defer cancel()
	if err := j.Store.NoteToolChanged(ctx, j.permission, j.Now()); err != nil {
		slog.WarnContext(ctx, "a changed tool is not off", "tool", j.permission.ToolName, "err", err)
	}
}

// result stores what the call returned, as the agent is given it. A write counts as done even if that can't be stored.
func (j *job) result(ctx context.Context, value json.RawMessage, err error) conversation.Result {
	if err != nil {
		r := conversation.Result{Status: conversation.ActionFailed, Error: reasonFailed}
		if e, is := errors.AsType[*explain.CallError](err); is {
			r.ErrorDetail = e.Detail
		}
		return r
	}
	blob, err := j.keep(ctx, value)
	switch {
	case err == nil:
		return conversation.Result{Status: conversation.ActionSucceeded, Call: &blob}
	case j.action.Reads():
		slog.ErrorContext(ctx, "what a tool returned is not kept", j.in.Ref().Log(), "err", err)
		return conversation.Result{Status: conversation.ActionFailed, Error: reasonNotKept}
	}
	slog.ErrorContext(ctx, "what a tool returned is not kept", j.in.Ref().Log(), "err", err)
	return conversation.Result{Status: conversation.ActionSucceeded}
}

// keep stores a result. Nobody can repeat the call before its lease ends, so while the bucket is unavailable keep tries
// until then.
func (j *job) keep(ctx context.Context, value json.RawMessage) (blob aggregate.Blob, err error) {
	shown, err := given(value)
	if err != nil {
		return blob, err
	}
	text, err := written(shown)
	if err != nil {
		return blob, fmt.Errorf("write a result: %w", err)
	}
	ctx, cancel := context.WithDeadline(ctx, j.action.Claim.LeaseUntil.Add(-commitWithin))
	defer cancel()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		blob, err = j.Results.KeepCallResult(ctx, j.in.Ref(), text)
		if err == nil || pipeline.Name(err) != pipeline.Unavailable || !clock.LastsFor(ctx, wait) {
			return blob, err
		}
	}
}

// record commits the call's end, which no other invocation knows, and tries until the lease ends.
func (j *job) record(ctx context.Context, decide conversation.Decision) (aggregate.Next, error) {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		next, err := j.conclude(ctx, decide)
		if err == nil || pipeline.Name(err) != pipeline.Unavailable ||
			!j.Now().Add(wait).Before(j.action.Claim.LeaseUntil) || !clock.LastsFor(ctx, wait) {
			return next, err
		}
	}
}

// given returns what the agent is given of a result: with personal data masked as on cards, and at most MaxCallResult
// bytes of it. Of a longer one the longest list is cut, or else the text.
func given(value json.RawMessage) (r conversation.CallResult, err error) {
	v, err := schema.Decode(value)
	if err != nil {
		return r, fmt.Errorf("read a result: %w", err)
	}
	top := legible.MaskAll(v)
	whole, err := written(top)
	if err != nil {
		return r, fmt.Errorf("write a result: %w", err)
	}
	if len(whole) <= conversation.MaxCallResult {
		return conversation.CallResult{Value: whole}, nil
	}
	if l := longest(top, func(x any) { top = x }); l.put != nil {
		first := func(n int) (json.RawMessage, bool) {
			l.put(l.all[:n])
			text, err := written(top)
			return text, err == nil && len(text) <= conversation.MaxCallResult
		}
		n := sort.Search(len(l.all), func(n int) bool { _, fits := first(n + 1); return !fits })
		if text, fits := first(n); n > 0 && fits {
			return conversation.CallResult{Value: text, Entries: len(l.all), ShownEntries: n}, nil
		}
	}
	return cutText(whole)
}

// cutText returns the beginning of a text that has no list to cut, as a JSON text.
func cutText(whole json.RawMessage) (conversation.CallResult, error) {
	end := conversation.MaxCallResult * 3 / 4 // JSON spells quotation marks with two bytes
	for ; ; end = end * 3 / 4 {
		part := whole[:end]
		for len(part) > 0 && !utf8.Valid(part) {
			part = part[:len(part)-1]
		}
		text, err := written(string(part))
		if err != nil || len(text) <= conversation.MaxCallResult {
			return conversation.CallResult{Value: text, Bytes: len(whole), ShownBytes: len(part)}, err
		}
	}
}

// written returns JSON without escapes for < > and &.
func written(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// list is a list in a value.
type list struct {
	all  []any
	size int       // of its text; 0: there is no list
	put  func(any) // puts another in its place
}

// longest returns the list with the longest text among those that are in no other list. put puts something in the place
// of v.
func longest(v any, put func(any)) (most list) {
	switch v := v.(type) {
	case []any:
		text, err := written(v)
		if err != nil {
			return most
		}
		return list{v, len(text), put}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if l := longest(v[name], func(x any) { v[name] = x }); l.size > most.size {
				most = l
			}
		}
	}
	return most
}
