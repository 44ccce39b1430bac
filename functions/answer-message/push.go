package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/store/large"
)

// Problems of a pull request that are not the agent's fault, in words for the agent.
const (
	noPush = "a pull request needs a source that is a branch of a repository, with its files here, and that the " +
		"settings still list: tell the people"
	sourceGone = "the files with which this conversation began were deleted, so nobody can say what has changed: " +
		"tell the people"
)

// leftBehind and savePatch are for the agent, too: changes that can't be pushed may be what nobody wanted to change.
const (
	leftBehind = "if files are among them that a command only left behind, propose to delete them first"
	savePatch  = "people can save a patch on the conversation's page instead"
)

// source returns the source for whose repository pull requests may be proposed here. It must be a branch, and listed as
// it was when the conversation began.
func (t *answering) source() (s agent.Source, ok bool) {
	is := t.a.Conversation.Source
	if is == nil || is.State != conversation.SourceThere || !t.a.Conversation.Lists(t.settings.Sources) {
		return s, false
	}
	s, ok = agent.SourceNamed(t.settings.Sources, is.Name, t.a.Conversation.Opener, t.a.Conversation.AgentID)
	return s, ok && strings.HasPrefix(s.Ref, "heads/")
}

// completePush adds to a proposed pull request where it goes, and all that has changed since the source's commit. The
// problems are worded for the model.
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
	if t.tree == nil {
		if why := t.open(ctx); why != "" {
			return p, []string{why}
		}
	}
	s, of := t.a.Conversation.Source, large.VersionsOf{Tenant: t.ref.Tenant, ID: t.ref.ID}
	was, err := t.Files.Get(ctx, of, s.Version)
	var commit conversation.Commit
	if err == nil {
		commit, err = t.Files.Commit(ctx, of, s.Version)
	}
	switch {
	case errors.Is(err, large.ErrGone):
		return p, []string{sourceGone}
	case err != nil:
		slog.WarnContext(ctx, "the files of a source are not read", "session", t.ref.ID, "err", err)
		return p, []string{filesUnread}
	}
	changes := commit.Changes(was, t.tree)
	if problems := commit.Unpushable(changes, source.Allow); problems != nil {
		return p, append(problems, leftBehind, savePatch)
	}
	p.Changes = changes
	p.Push = &conversation.Push{Source: s.Name, Repository: s.Repository, RepositoryID: s.RepositoryID, Commit: s.Commit,
		Into: strings.TrimPrefix(source.Ref, "heads/"), CI: source.CI, Allow: source.Allow}
	return p, nil
}
