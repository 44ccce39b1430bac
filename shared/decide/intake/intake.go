// Package intake keeps what people ask of Ringi, wherever in Slack they ask: one write, which a repeated delivery finds
// done.
package intake

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/smithy-go"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

// Store keeps a new task with one call.
type Store interface {
	Create(ctx context.Context, c aggregate.Change) error
}

// Keep writes the first rows of what a message asks for. repeated: they were there. It returns an error for a
// message whose timestamp is not Slack's, which nothing can be kept of, and when the write failed.
func Keep(ctx context.Context, s Store, r task.Request, now time.Time) (ref aggregate.Ref, repeated bool, err error) {
	change, ref, err := task.Receive(aggregate.TenantID(r.TeamID), r, now)
	if err != nil {
		return aggregate.Ref{}, false, ErrTimestamp{err}
	}
	repeated, err = Create(ctx, s, change)
	return ref, repeated, err
}

// ErrTimestamp is a message whose timestamp is not one of Slack's.
type ErrTimestamp struct{ Cause error }

func (e ErrTimestamp) Error() string { return e.Cause.Error() }

// Create is the one write. repeated: its rows were there.
func Create(ctx context.Context, s Store, c aggregate.Change) (repeated bool, err error) {
	if err := s.Create(ctx, c); !errors.Is(err, store.ErrExists) {
		return false, err
	}
	return true, nil
}

// Unanswered reports whether a write that failed may have been made all the same: nobody said that it was refused.
func Unanswered(err error) bool {
	var refused smithy.APIError
	var odd ErrTimestamp
	return !errors.As(err, &refused) && !errors.As(err, &odd) && !errors.Is(err, aggregate.ErrConflict)
}

// unescaped undoes what Slack does to the three characters of its markup.
var unescaped = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// Text is a person's text as it is kept: without Slack's escapes, and cut to what Slack itself takes.
func Text(text string) string {
	return legible.Clip(strings.TrimSpace(unescaped.Replace(text)), task.MaxText)
}

// ChannelType is Slack's type of a channel, told by its id: private channels of today look like public ones, and are
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

// Source is where a request is from that was written in a channel of this type.
func Source(channelType string) task.Source {
	if channelType == "im" {
		return task.SourceAgentContainer
	}
	return task.SourceChannel
}
