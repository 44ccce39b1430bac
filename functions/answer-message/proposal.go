package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/turn"
	"ringi/shared/store/large"
)

// Problems of a proposal that are not the agent's fault, in words for the agent.
const (
	filesLost         = "the files of this conversation were deleted when their time was over: its folder is empty now"
	attachmentsUnread = "the attachments of this conversation can't be read at the moment: tell the people to ask " +
		"again in a while"

	filesUnread = "the files of this conversation can't be read at the moment: tell the people to ask again in a while"
)

// base is the version of the files for which this turn's proposals are made.
func (t *answering) base() string {
	if t.lost != "" {
		return ""
	}
	return t.a.Conversation.WorkspaceVersion
}

// complete adds to a proposal the version of the files that it works on and, for files, what it changes in them.
func (t *answering) complete(ctx context.Context) turn.Complete {
	return func(typ tenancy.ActionType, p conversation.Payload) (kept conversation.Payload, problems []string) {
		if typ == tenancy.ToolCall {
			if p, problems = t.completeCall(ctx, p); problems != nil {
				return p, problems
			}
		}
		if typ == tenancy.CodeGenerate {
			if why := t.open(ctx); why != "" {
				return p, []string{why}
			}
		}
		return p.Complete(typ, conversation.On{Base: t.base(), Attachments: t.laid.version}, t.tree)
	}
}

// open reads the conversation's files, once for a turn and only if they are needed. It returns why they can't be read.
func (t *answering) open(ctx context.Context) (why string) {
	if t.tree != nil {
		return ""
	}
	version := t.base()
	tree, err := t.Files.Get(ctx, t.ref, version)
	switch {
	case errors.Is(err, large.ErrGone):
		slog.WarnContext(ctx, "the files of a conversation are gone", "session", t.ref.ID, "version", version)
		t.lost, t.tree = version, &files.Tree{}
		return filesLost
	case err != nil:
		slog.WarnContext(ctx, "the files of a conversation are not read", "session", t.ref.ID, "err", err)
		return filesUnread
	}
	t.tree = tree
	return ""
}

// proposal stores the payload of the agent's proposal as people are to approve it, and sets the terms of its approval.
func (t *answering) proposal(ctx context.Context, p *turn.Proposal) (*conversation.Proposal, error) {
	if p == nil {
		return nil, nil
	}
	kept, err := t.Payloads.KeepPayload(ctx, t.ref, json.RawMessage(p.Decoded.JSON()))
	if err != nil {
		return nil, fmt.Errorf("keep the payload: %w", err)
	}
	out := &conversation.Proposal{Type: p.Type, Payload: kept, Seconds: p.Decoded.TimeoutSeconds,
		Summary: p.Summary, Terms: t.settings.ActionTerms(t.Now()),
		On:   conversation.On{Base: *p.Decoded.Base, Attachments: p.Decoded.AttachmentsVersion},
		Tool: p.Decoded.Tool, Access: p.Decoded.Access, Push: p.Decoded.Push}
	out.Rule, err = t.approvedBySettings(p)
	return out, err
}

// approvedBySettings returns the entry of the settings by which a proposal needs no person; empty: it needs one.
func (t *answering) approvedBySettings(p *turn.Proposal) (string, error) {
	var entry any
	if p.Type == tenancy.ToolCall {
		s, _ := t.calls.Lookup(p.Decoded.Tool)
		if i := t.listed(s); i >= 0 {
			entry = t.settings.ListedReads[i]
		}
	} else if t.Sandbox {
		where := t.a.Conversation.Where(t.settings.Sources)
		where.Attached = p.Decoded.AttachmentsVersion != ""
		if i := tenancy.AutoApproved(t.settings.AutoActions, p.Type, p.Decoded.Argv, where); i >= 0 {
			entry = t.settings.AutoActions[i]
		}
	}
	if entry == nil {
		return "", nil
	}
	rule, err := json.Marshal(entry)
	return string(rule), err
}

// proposed returns an earlier proposal as the agent made it. It doesn't read a large payload of long ago again.
func (t *answering) proposed(ctx context.Context, x *conversation.Action) *turn.Proposal {
	p := &turn.Proposal{ActionID: x.ActionID, Type: x.ActionType, Payload: "{}", Summary: x.Summary, Omitted: true}
	text := json.RawMessage(x.Payload.JSON)
	if len(text) == 0 {
		if x.Number <= t.a.Conversation.Actions-3 {
			return p
		}
		var err error
		if text, err = t.Payloads.Open(ctx, t.ref, x.Payload); err != nil {
			return p
		}
	}
	p.Payload, p.Omitted = string(text), false
	if kept, problems := conversation.ReadKept(x.ActionType, text); problems == nil {
		p.Payload = kept.Proposed().JSON()
	}
	return p
}

// Problems of a pull request that are not the agent's fault, in words for the agent.
const (
	noPush = "a pull request needs a source that is a branch of a repository, with its files here, and that the " +
		"settings still list: tell the people"
	sourceGone = "the files with which this conversation began were deleted, so nobody can say what has changed: " +
		"tell the people"
)

// leftBehind and saveFiles are for the agent, too: changes that can't be pushed may be what nobody wanted to change.
const (
	leftBehind = "if files are among them that a command only left behind, propose to delete them first"
	saveFiles  = "people can save the files from the conversation's page instead"
)

// source returns the source for whose repository pull requests may be proposed here. It must be a branch, and listed as
// it was when the conversation began.
func (t *answering) source() (s tenancy.Source, ok bool) {
	is := t.a.Conversation.Source
	if is == nil || is.State != conversation.SourceThere || !t.a.Conversation.Lists(t.settings.Sources) {
		return s, false
	}
	s, ok = tenancy.SourceNamed(t.settings.Sources, is.Name, t.a.Conversation.Opener, t.a.Conversation.AgentID)
	return s, ok && strings.HasPrefix(s.Ref, "heads/")
}

// completePush adds to a proposed pull request where it goes, and all that has changed since the source's commit. What
// that commit has besides is known when it is opened. The problems are worded for the model.
func (t *answering) completePush(ctx context.Context, p conversation.Payload) (conversation.Payload, []string) {
	source, ok := t.source()
	if !ok {
		return p, []string{noPush}
	}
	var said struct{ Title, Body string }
	if err := json.Unmarshal([]byte(p.Arguments), &said); err != nil {
		return p, []string{"arguments are no object with title and body"}
	}
	if problems := conversation.CheckPull(said.Title, said.Body); problems != nil {
		return p, problems
	}
	if why := t.open(ctx); why != "" {
		return p, []string{why}
	}
	s, of := t.a.Conversation.Source, t.ref
	was, err := t.Files.Get(ctx, of, s.Version)
	switch {
	case errors.Is(err, large.ErrGone):
		return p, []string{sourceGone}
	case err != nil:
		slog.WarnContext(ctx, "the files of a source are not read", "session", t.ref.ID, "err", err)
		return p, []string{filesUnread}
	}
	changes := conversation.Commit{Path: s.Path}.Changes(was, t.tree)
	if problems := conversation.Unpushable(changes); problems != nil {
		return p, append(problems, leftBehind, saveFiles)
	}
	p.Changes = changes
	p.Push = &conversation.Push{Source: s.Name, Repository: s.Repository, RepositoryID: s.RepositoryID, Commit: s.Commit,
		Into: strings.TrimPrefix(source.Ref, "heads/"), CI: source.CI}
	return p, nil
}
