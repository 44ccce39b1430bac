package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/chain"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/store/seal"
	"ringi/shared/tool"
)

// source reads a tenant's log and the rows that a proof is made from.
type source struct {
	store   *store.Store
	chains  seal.Rows
	signer  seal.Signer
	heads   seal.Heads
	results large.Store
}

// log reads a tenant's complete log, and returns a line for each head that is wrong. Entries may be written meanwhile:
// it reads the heads first and the rows last, so that the chain reaches the head and every sealed row is read.
func (s *source) log(ctx context.Context, tenant string) (l *log, wrong []string, err error) {
	l = &log{tenant: tenant, at: time.Now()}
	if l.public, err = s.signer.Public(ctx); err != nil {
		return nil, nil, err
	}
	signed, err := seal.Check(l.public)
	if err != nil {
		return nil, nil, err
	}
	heads, strange, err := s.heads.All(ctx, tenant, signed)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range strange {
		wrong = append(wrong, "forged "+x+": an object among the heads that the key did not sign")
	}
	if n := len(heads); n > 0 {
		heads, l.head = heads[:n-1], &heads[n-1] // chain.Verify checks the newest
	}
	for x, err := range s.chains.Links(ctx, tenant, 0) {
		if err != nil {
			return nil, nil, err
		}
		l.links = append(l.links, x)
	}
	for _, x := range chain.Forgotten(heads, l.links) {
		wrong = append(wrong, string(x.Flaw)+" "+x.Where+": the chain has no longer the link that was put away")
	}
	for r, err := range s.chains.RowsOfLog(ctx, tenant, time.Time{}, l.at.AddDate(0, 1, 0)) {
		if err != nil {
			return nil, nil, err
		}
		l.rows = append(l.rows, r)
	}
	l.younger(time.Now())
	return l, wrong, nil
}

// younger removes unsealed rows that were written while the log was read, which may take minutes: the check would
// report their times as in the future.
func (l *log) younger(now time.Time) {
	sealed := map[string]bool{}
	for _, x := range l.links {
		for _, e := range x.Entries {
			sealed[e.Key] = true
		}
	}
	l.rows = slices.DeleteFunc(l.rows, func(r chain.Row) bool {
		return r.At.After(l.at.Add(chain.Drift)) && !r.At.After(now.Add(chain.Drift)) && !sealed[r.Key]
	})
}

// proof returns the receipt of one execution or agent's action, with its claims. A task's id selects its newest
// execution.
func (s *source) proof(ctx context.Context, r Receipt, id string) (Receipt, error) {
	for _, x := range r.Rows {
		e, err := entryOf(x)
		if err != nil || e.Task == "" {
			continue
		}
		if strings.HasPrefix(e.Action, "action.") && e.ResourceID == id {
			r.Action, err = s.action(ctx, r.Tenant, e.Task, id)
		} else if e.Task == id && !strings.HasPrefix(e.Action, "session.") ||
			e.ResourceID == id && strings.HasPrefix(e.Action, "execution.") {
			r.Execution, err = s.execution(ctx, r.Tenant, e.Task, id)
		} else {
			continue
		}
		if err != nil {
			return r, err
		}
		return r.part(), nil
	}
	return r, fmt.Errorf("the audit log of %s knows no execution, task or action %.40q", r.Tenant, id)
}

// execution makes the claim about an execution from its task's rows and results.
func (s *source) execution(ctx context.Context, tenant, id, execution string) (*Proof, error) {
	loaded, err := s.store.Load(ctx, task.RefOf(tenant, id))
	if err != nil {
		return nil, fmt.Errorf("read task %s: %w", id, err)
	}
	a := loaded.(*task.Aggregate)
	e := a.Execution()
	if at := slices.IndexFunc(a.Executions, func(e *task.Execution) bool { return e.ID == execution }); at >= 0 {
		e = a.Executions[at]
	} else if e == nil || execution != id {
		return nil, fmt.Errorf("task %s has no execution %s", id, execution)
	}
	return s.claims(ctx, a, e)
}

// action makes the claim about an action. The action may be archived, and its conversation deleted.
func (s *source) action(ctx context.Context, tenant, in, id string) (*actionProof, error) {
	ref := store.RefOf(tenant, in)
	loaded, err := s.store.Load(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("read the conversation %s: %w", in, err)
	}
	if outside, is := loaded.(*call.Aggregate); is {
		return called(outside.Call), nil
	}
	x := loaded.(*conversation.Aggregate).Action(id)
	if x == nil {
		archived, err := store.ConversationsOf(s.store).Archived(ctx, tenant, in)
		if err != nil {
			return nil, fmt.Errorf("read the earlier actions of %s: %w", in, err)
		}
		at := slices.IndexFunc(archived, func(x conversation.Action) bool { return x.ActionID == id })
		if at < 0 {
			return nil, fmt.Errorf("the conversation %s has no longer an action %s: nobody approved it", in, id)
		}
		x = &archived[at]
	}
	payload, err := s.results.Open(ctx, ref, x.Payload)
	if err != nil {
		return nil, fmt.Errorf("open the payload of action %s: %w", id, err)
	}
	out := &actionProof{
		ID: id, Session: in, Type: string(x.ActionType), Status: string(x.Status), Payload: string(payload),
		ApprovedBy: string(x.ApprovedBy), Version: x.Version,
	}
	if x.StartedAt != nil {
		out.BaseVersion = x.Base
	}
	return out, nil
}

// called makes the claim about a call that an outside agent asked for.
func called(x *call.Call) *actionProof {
	out := &actionProof{ID: x.CallID, Session: x.CallID, Type: x.Kind(), Status: string(x.Status),
		Payload: string(x.Payload.JSON), Gate: walkOf(&x.Gate, x.Action().AskedText())}
	if x.Gate.ApprovedAt != nil {
		out.ApprovedBy = string(conversation.ApprovedByUser)
	}
	return out
}

func (s *source) claims(ctx context.Context, a *task.Aggregate, e *task.Execution) (*Proof, error) {
	id := a.Head.TaskID
	process := a.ProcessOf(e)
	if process == nil {
		return nil, fmt.Errorf("task %s has no steps of version %d", id, e.ProcessVersion)
	}
	steps, err := json.Marshal(process.Steps)
	if err != nil {
		return nil, err
	}
	p := &Proof{
		ID: e.ID, Task: id, Attempt: e.Attempt, Status: string(e.Status),
		Enclosed: a.Enclosed(),
		Steps:    stamped{ID: process.ID, Version: process.Version, Text: string(steps)},
		Writes:   []writeCall{},
	}
	p.Steps.Gate = walkOf(&process.Gate, a.AskedText(process))
	if at := slices.IndexFunc(a.Prompts, func(x *task.Prompt) bool { return x.ID == process.PromptID }); at >= 0 {
		x := a.Prompts[at]
		p.Policy = stamped{ID: x.ID, Version: x.Version, Text: x.Content}
	}
	if in, ok := a.OfferedIn(); ok {
		p.Request = &offered{in, a.Request.Text, a.Request.User}
	}
	for _, row := range a.StepsOf(e) {
		if row.Access != aggregate.Write {
			continue
		}
		if row.Reused {
			p.Reused = append(p.Reused, row.StepID)
			continue
		}
		w, err := s.write(ctx, a, e, row)
		if err != nil {
			return nil, err
		}
		p.Writes = append(p.Writes, w)
	}
	p.Gates = uncalled(a, e, process.Steps, p.Writes)
	return p, nil
}

// write makes the claim about one call. Unless somebody stamped its arguments, it has the results that they were
// resolved from.
func (s *source) write(ctx context.Context, a *task.Aggregate, e *task.Execution,
	row *task.StepResult) (writeCall, error) {
	text, err := s.results.Open(ctx, a.Ref(), row.Arguments)
	if err != nil {
		return writeCall{}, fmt.Errorf("open the arguments of %s: %w", row.StepID, err)
	}
	w := writeCall{Step: row.StepID, Tool: row.Tool, Status: string(row.Status), Arguments: string(text),
		Gated: a.GateOf(e, row.Order) != nil}
	if g := a.GateOf(e, row.Order); g != nil {
		w.Gate = walkOf(&g.Gate, a.AskedText(g))
	}
	process := a.ProcessOf(e)
	at := slices.IndexFunc(process.Steps, func(x task.Step) bool { return x.StepID == row.StepID })
	if w.Gated || at < 0 {
		return w, nil
	}
	planned, err := tool.Parse(process.Steps[at].ToolInput)
	if err != nil {
		return w, nil // the check of the receipt reports it
	}
	w.Results = map[string]string{}
	for _, ref := range planned.Refs() {
		from := ref.Path.StepID
		if _, known := w.Results[from]; known || slices.Contains(w.Expired, from) {
			continue
		}
		i := slices.IndexFunc(a.StepsOf(e), func(x *task.StepResult) bool { return x.StepID == from && x.Result != nil })
		if i < 0 {
			continue
		}
		text, err := s.results.Open(ctx, a.Ref(), *a.StepsOf(e)[i].Result)
		switch {
		case errors.Is(err, large.ErrExpired):
			w.Expired = append(w.Expired, from)
		case err != nil:
			return w, fmt.Errorf("open the result of %s: %w", from, err)
		default:
			w.Results[from] = string(text)
		}
	}
	return w, nil
}
