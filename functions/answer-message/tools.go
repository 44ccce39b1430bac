package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/turn"
	"ringi/shared/store/large"
	"ringi/shared/tool"
)

// openCalls finds the tools that the agent may call, of those that the tenant allows and has connected: reads that the
// settings list for everybody who speaks here, and the pull request.
func (t *answering) openCalls(ctx context.Context, d tenancy.Agent) error {
	if t.Catalog == nil || !d.May(tenancy.ToolCall) {
		return nil
	}
	catalog, err := t.Catalog()
	if err != nil {
		return err
	}
	permissions, err := t.Store.ToolPermissions(ctx, t.in.Tenant)
	if err != nil {
		return fmt.Errorf("read the tool permissions: %w", err)
	}
	rows, err := t.Store.Integrations(ctx, t.in.Tenant)
	if err != nil {
		return fmt.Errorf("read what is connected: %w", err)
	}
	allowed, err := catalog.Modelled().Allowed(permissions, t.settings.MCPServers)
	if err != nil {
		slog.WarnContext(ctx, "tools are not offered", "err", err)
	}
	_, sourced := t.source()
	t.calls = allowed.Only(func(s tool.Spec) bool {
		return connected(rows, s.Provider) && (s.Sourced && sourced || t.listed(s) >= 0)
	})
	return nil
}

// connected reports whether a tenant's tools of a provider can be called. Slack always can, and a server that was never
// connected may need no credentials.
func connected(rows []tenancy.Integration, provider string) bool {
	i := slices.IndexFunc(rows, func(x tenancy.Integration) bool { return x.Provider == provider })
	if i < 0 {
		return provider == "" || provider == tenancy.SlackProvider || strings.HasPrefix(provider, "mcp:")
	}
	return rows[i].Status == tenancy.Connected
}

// completeCall adds to a call which version of the tool is meant, and to a pull request what people are shown of it. It
// refuses whatever else is no listed read that nobody composed. The problems are worded for the model.
func (t *answering) completeCall(ctx context.Context, p conversation.Payload) (conversation.Payload, []string) {
	if t.calls == nil {
		return p, []string{"no tool can be called here"}
	}
	s, known := t.calls.Lookup(p.Tool)
	if !known {
		return p, []string{fmt.Sprintf("tool: you can't call %.100q here: only tools in <tools> can be called, and what "+
			"writes can be offered as a request", p.Tool)}
	}
	a, r, err := t.calls.Literal(p.Tool, aggregate.JSON(p.Arguments))
	if err != nil {
		return p, []string{"arguments: " + err.Error()}
	}
	p.Arguments = string(r.JSON())
	p.Called = conversation.Called{ToolVersion: s.Version(), Access: s.Access, Declared: string(tool.Declared(s, a))}
	if s.Pin != nil {
		p.ToolTitle = s.Pin.Title
	}
	switch i := t.listed(s); {
	case s.Sourced:
		return t.completePush(ctx, p)
	case i < 0 || !tool.Plain(s, r, t.wordsOf(t.settings.ListedReads[i].People)...):
		return p, []string{composed}
	case !t.a.CallsOn(t.seen):
		return p, []string{callsOver}
	}
	return p, nil
}

// Why a listed read is not made, in words for the agent.
const (
	composed = "arguments: each has to be a choice, a number or a date of the tool's input, or to stand word for " +
		"word in what the people wrote here: ask them for it, or for less"
	callsOver = "no more calls are possible until somebody writes: answer with what you have"
)

// askers are the people whose own request a proposal of this turn is.
func (t *answering) askers() (askers []string) {
	for _, i := range t.seen {
		if i.User != "" && !slices.Contains(askers, i.User) {
			askers = append(askers, i.User)
		}
	}
	if askers == nil { // only the system's messages wait
		askers = t.a.LastAskers()
	}
	return askers
}

// listed returns the index of the settings' entry by which the agent may make a read, or -1. None does if somebody
// whom the entry doesn't list asks, or has spoken since a person last approved an action.
func (t *answering) listed(s tool.Spec) int {
	if !tool.Listable(s) {
		return -1
	}
	return tenancy.ListedReadFor(t.settings.ListedReads, t.a.Conversation.AgentID, s.Name, s.Version(),
		slices.Concat(t.askers(), t.speakers()))
}

// Of how many calls the agent is shown the results again, and how much of them together, in bytes.
const mostReturned, mostReturnedBytes = 3, 2 * conversation.MaxCallResult

// returnedBefore adds to the history what calls of tools returned, the newest as far as they fit.
func (t *answering) returnedBefore(ctx context.Context, all []conversation.Message,
	actions map[string]*conversation.Action, out []turn.Message) {
	shown, left := 0, mostReturnedBytes
	for i, m := range slices.Backward(all) {
		x := actions[m.ActionID]
		if m.Sender != conversation.FromSystem || x == nil || x.CallResult == nil {
			continue
		}
		pieces := conversation.NotShownAgain(t.a.Conversation.Locale)
		if shown < mostReturned && x.CallResult.Bytes <= left {
			pieces = t.returned(ctx, x)
			shown++
			left -= x.CallResult.Bytes
		}
		out[i].Pieces = append(out[i].Pieces, pieces...)
	}
}

// returned is what a call returned, or that it is not kept any more.
func (t *answering) returned(ctx context.Context, x *conversation.Action) []conversation.Piece {
	locale := t.a.Conversation.Locale
	r, err := large.CallResult(ctx, t.Payloads, t.ref, *x.CallResult)
	if err == nil {
		return r.Pieces(locale)
	}
	if !errors.Is(err, large.ErrExpired) {
		slog.WarnContext(ctx, "what a tool returned can't be opened", "session", t.ref.ID, "err", err)
	}
	return conversation.NotKeptAnyMore(locale)
}

// conversationFiles returns the files as they are when the turn begins, with the attachments in their place. They are
// opened when the agent first lists or reads some.
func (t *answering) conversationFiles() *turn.Files {
	if t.Files == nil {
		return nil
	}
	return &turn.Files{Version: t.a.Conversation.WorkspaceVersion, Attached: t.laid.version != "",
		Open: func(ctx context.Context) (*files.Tree, error) {
			if why := t.open(ctx); why != "" {
				return nil, errors.New(why)
			}
			if t.laid.version == "" {
				return t.tree, nil
			}
			if err := t.openAttachments(ctx); err != nil {
				slog.WarnContext(ctx, "the attachments of a conversation are not read", "session", t.ref.ID, "err", err)
				return nil, errors.New(attachmentsUnread)
			}
			return t.tree.With(t.laid.Tree), nil
		}}
}

// earlier returns what an earlier try at this answer read, which is paid for, or nil if that can't be opened: then the
// agent reads again.
func (t *answering) earlier(ctx context.Context) []turn.Round {
	r := t.a.ReadFor(t.seen)
	if r == nil || r.Kept.Bytes == 0 {
		return nil
	}
	text, err := t.Payloads.Open(ctx, t.ref, r.Kept)
	if err == nil {
		var rounds []turn.Round
		if rounds, err = turn.ReadKept(text); err == nil {
			return rounds
		}
	}
	slog.WarnContext(ctx, "what an agent read can't be opened", "session", t.ref.ID, "err", err)
	return nil
}

// reads returns what the agent read in rounds, as people are shown it.
func reads(rounds []turn.Round) (all []conversation.Read) {
	for _, r := range rounds {
		all = append(all, r.Reads...)
	}
	return all
}

// keep stores rounds for another try. A bucket that is down keeps nobody from an answer.
func (t *answering) keep(ctx context.Context, rounds []turn.Round) conversation.Reading {
	out := conversation.Reading{Of: t.seen[0].Message, Read: reads(rounds)}
	text, err := json.Marshal(rounds)
	if err == nil {
		out.Kept, err = t.Payloads.KeepReads(ctx, t.ref, text)
	}
	if err != nil {
		slog.WarnContext(ctx, "what an agent read is not kept", "session", t.ref.ID, "err", err)
		out.Kept = aggregate.Blob{}
	}
	return out
}

// mostNamed is how many reads of earlier answers are named.
const mostNamed = 50

// readBefore names to the agent what it read for earlier answers, the newest first.
func readBefore(all []conversation.Message, out []turn.Message) {
	named := mostNamed
	for i, m := range slices.Backward(all) {
		if m.Sender == conversation.FromAgent {
			out[i].Read = m.Read[:min(len(m.Read), named)]
			named -= len(out[i].Read)
		}
	}
}

// paidFor returns what commits the cost of an answer that reads, with the cost and the summary in x, which x then
// doesn't have any more. The agent may read on while the run and its messages stand and no budget is used up.
func (t *answering) paidFor(x *conversation.Answer) turn.Paid {
	return func(ctx context.Context, rounds []turn.Round, used model.Usage) (bool, error) {
		read := t.keep(ctx, rounds)
		y := conversation.Answer{Usage: x.Usage.Plus(used), Summary: x.Summary, Through: x.Through, Folded: x.Folded,
			Spoke: x.Spoke}
		a, err := pipeline.Paid(ctx, y.Usage, func(ctx context.Context) (*conversation.Aggregate, error) {
			return t.Store.Decide(ctx, t.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
				return a.ReadOn(t.in.Run, t.seen, read, y, t.Now())
			})
		}, t.alone(y.Usage))
		if err != nil {
			return false, fmt.Errorf("record a round of reads: %w", err)
		}
		x.Usage, x.Summary, x.Through = model.Usage{}, "", ""
		if limit := t.settings.MaxCost(); limit > 0 && a.Conversation.Usage.Cost >= limit {
			return false, nil
		}
		over, err := pipeline.OverBudget(ctx, t.Store, t.in.Tenant, t.settings, t.Now())
		return err == nil && over.Reason == "", err
	}
}
