package inbound

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/smithy-go"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

// Store creates a task with one call.
type Store interface {
	Create(ctx context.Context, c aggregate.Change) error
}

// Keep writes the first rows of a message's task. If they exist already, repeated is true. It returns an error if the
// message's timestamp is not Slack's or the write fails.
func Keep(ctx context.Context, s Store, r task.Request, now time.Time) (ref aggregate.Ref, repeated bool, err error) {
	change, ref, err := task.Receive(aggregate.TenantID(r.TeamID), r, now)
	if err != nil {
		return aggregate.Ref{}, false, ErrTimestamp{err}
	}
	repeated, err = Create(ctx, s, change)
	return ref, repeated, err
}

// Names returns all ids of a channel, the one first by which rows know it. Direct messages keep theirs.
func ChannelIDs(ctx context.Context, from interface {
	Channels(ctx context.Context, tenant string) (tenancy.Channels, error)
}, team, channel string) ([]string, error) {
	if channel == "" || strings.HasPrefix(channel, "D") {
		return []string{channel}, nil
	}
	moved, err := from.Channels(ctx, aggregate.TenantID(team))
	return moved.Names(channel), err
}

// Kept reports whether a message is a request already under one of these ids of its channel, or was deleted before it
// came. load returns aggregate.ErrNotFound for rows that don't exist; with another error it isn't known.
func Kept(ctx context.Context, load func(ctx context.Context, ref aggregate.Ref) error, team, ts string,
	names []string) (bool, error) {
	for _, name := range names {
		id, odd := task.ID(team, name, ts)
		if odd != nil {
			continue
		}
		if err := load(ctx, task.RefOf(aggregate.TenantID(team), id)); !errors.Is(err, aggregate.ErrNotFound) {
			return err == nil, err
		}
	}
	return false, nil
}

// ErrTimestamp means that a message's timestamp is not in Slack's format.
type ErrTimestamp struct{ Cause error }

func (e ErrTimestamp) Error() string { return e.Cause.Error() }

// Create makes the write. repeated reports that the rows existed.
func Create(ctx context.Context, s Store, c aggregate.Change) (repeated bool, err error) {
	if err := s.Create(ctx, c); !errors.Is(err, store.ErrExists) {
		return false, err
	}
	return true, nil
}

// Unanswered reports whether a failed write may still have been made, because no answer said that it was refused.
func Unanswered(err error) bool {
	var refused smithy.APIError
	var odd ErrTimestamp
	return !errors.As(err, &refused) && !errors.As(err, &odd) && !errors.Is(err, aggregate.ErrConflict)
}

// Text returns a person's text as it is saved: without Slack's escapes, and cut to Slack's own limit.
func SavedText(text string) string { return SavedPlain(Unescaped(text)) }

// Plain is Text for a text without escapes.
func SavedPlain(text string) string { return legible.Clip(strings.TrimSpace(text), task.MaxText) }

// ChannelType derives Slack's channel type from an id. New private channels have the same ids as public ones and are
// treated alike.
func ChannelType(channel string) string {
	switch {
	case strings.HasPrefix(channel, "D"):
		return "im"
	case strings.HasPrefix(channel, "G"):
		return "group"
	}
	return "channel"
}

// Source returns a request's source for the type of channel that it was written in.
func SourceOf(channelType string) task.Source {
	if channelType == "im" {
		return task.SourceAgentContainer
	}
	return task.SourceChannel
}
