package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/turn"
	"ringi/shared/store/large"
	"ringi/shared/tool"
)

// openCalls finds the tools whose calls the agent may propose: those that the tenant allows and has connected.
func (t *answering) openCalls(ctx context.Context, d agent.Definition) error {
	if t.Catalog == nil || !d.May(agent.ToolCall) {
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
	allowed, err := catalog.Allowed(permissions, t.settings.MCPServers)
	if err != nil {
		slog.WarnContext(ctx, "tools are not offered", "err", err)
	}
	t.calls = allowed.Only(func(s tool.Spec) bool {
		_, sourced := t.source()
		return connected(rows, s.Provider) && (sourced || !s.Sourced)
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

// completeCall adds to a proposed call what people are shown of it: the version of the tool, whether it writes, a
// server's defaults, and whether it names something that nobody wrote. The problems are worded for the model.
func (t *answering) completeCall(ctx context.Context, p conversation.Payload) (conversation.Payload, []string) {
	if t.calls == nil {
		return p, []string{"no tool can be called here"}
	}
	s, known := t.calls.Lookup(p.Tool)
	if !known {
		return p, []string{fmt.Sprintf("tool: there is no tool %.100q here", p.Tool)}
	}
	a, r, err := t.calls.Literal(p.Tool, aggregate.JSON(p.Arguments))
	if err != nil {
		return p, []string{"arguments: " + err.Error()}
	}
	p.Arguments = string(r.JSON())
	p.Called = conversation.Called{ToolVersion: s.Version(), Access: s.Access, LeftOut: string(tool.LeftOut(s, a)),
		Unseen: tool.Unnamed(s, a, append(t.wordsOf(nil), t.askers()...)...)}
	if s.Sourced {
		return t.completePush(ctx, p)
	}
	return p, nil
}

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

// listed returns the entry of the settings by which a read needs no person's approval; empty: it needs one. It needs one
// if somebody whom the entry doesn't list has spoken since a person last approved an action, and for whatever a model
// composed in its arguments, or took from words of others.
func (t *answering) listed(p conversation.Payload) (rule string, err error) {
	s, known := t.calls.Lookup(p.Tool)
	if !known || !tool.Listable(s) {
		return "", nil
	}
	i := agent.Listed(t.settings.ListedReads, t.a.Conversation.AgentID, p.Tool, p.ToolVersion,
		slices.Concat(t.askers(), t.speakers()))
	_, r, unread := t.calls.Literal(p.Tool, aggregate.JSON(p.Arguments))
	if i < 0 || unread != nil || !tool.Plain(s, r, t.wordsOf(t.settings.ListedReads[i].People)...) {
		return "", nil
	}
	text, err := json.Marshal(t.settings.ListedReads[i])
	if err != nil {
		return "", fmt.Errorf("name a listed read: %w", err)
	}
	return string(text), nil
}

// Of how many calls that read, and as many that write, the agent is shown the results again, and how much of them
// together, in bytes.
const mostReturned, mostReturnedBytes = 3, 2 * conversation.MaxCallResult

// returnedBefore adds to the history what calls of tools returned, the newest as far as they fit.
func (t *answering) returnedBefore(ctx context.Context, all []conversation.Message,
	actions map[string]*conversation.Action, out []turn.Message) {
	shown, left := map[bool]int{}, mostReturnedBytes
	for i, m := range slices.Backward(all) {
		x := actions[m.ActionID]
		if m.Sender != conversation.FromSystem || x == nil || x.CallResult == nil {
			continue
		}
		pieces := x.NotShownAgain(t.a.Conversation.Locale)
		if shown[x.Reads()] < mostReturned && x.CallResult.Bytes <= left {
			pieces = t.returned(ctx, x)
			shown[x.Reads()]++
			left -= x.CallResult.Bytes
		}
		for _, p := range pieces {
			out[i].Pieces = append(out[i].Pieces, turn.Piece(p))
		}
	}
}

// returned is what a call returned, or that it is not kept any more.
func (t *answering) returned(ctx context.Context, x *conversation.Action) []conversation.Piece {
	locale := t.a.Conversation.Locale
	text, err := t.Payloads.Open(ctx, t.ref, *x.CallResult)
	if err == nil {
		var r conversation.CallResult
		if r, err = conversation.ReadCallResult(text); err == nil {
			return r.Pieces(locale)
		}
	}
	if !errors.Is(err, large.ErrExpired) {
		slog.WarnContext(ctx, "what a tool returned can't be opened", "session", t.ref.ID, "err", err)
	}
	return conversation.NotKeptAnyMore(locale)
}
