package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/explain"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/large"
	"ringi/shared/words/legible"
)

// Uploads gives files to Slack. *slackapi.Client implements it.
type Uploads interface {
	Upload(ctx context.Context, name string, body []byte) (id string, err error)
	Share(ctx context.Context, channel, thread, comment string, files []slackapi.Uploaded) error
	Shared(ctx context.Context, id, channel, thread string) (bool, error)
}

// Written reads what actions wrote. *large.Versions implements it.
type Written interface {
	Difference(ctx context.Context, of large.VersionsOf, base, version string) ([]files.Change, error)
	Manifest(ctx context.Context, of large.VersionsOf, version string) (files.Manifest, error)
	Each(ctx context.Context, of large.VersionsOf, version string, list []files.Entry,
		take func(e files.Entry, content []byte) error) error
}

// looks is how often Slack is asked whether it shared files, each time after a longer wait: it says so late.
const looks = 3

// sending sends the files of one action into the conversation's thread.
type sending struct {
	*Handler
	in pipeline.Input
	a  *conversation.Aggregate
	x  *conversation.Action
}

// send sends the files that a person asked for, and returns the run's next state. Slack is told to share them only once
// their ids are saved: it does that once for each, so that no crash has them in the thread twice.
func (h *Handler) send(ctx context.Context, in pipeline.Input, a *conversation.Aggregate) (aggregate.Next, error) {
	s := &sending{Handler: h, in: in, a: a, x: a.Sending()}
	err := s.upload(ctx)
	if err == nil {
		err = s.share(ctx)
	}
	why, certain := s.refused(err)
	switch {
	case err == nil:
		a, err = s.decide(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Sent(in.Run, s.x.ActionID, h.Now())
		})
	case certain:
		slog.WarnContext(ctx, "files are not sent", "session_id", in.ID, "why", why, "err", err)
		a, err = s.decide(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.NotSent(in.Run, s.x.ActionID, why, h.Now())
		})
	}
	if errors.Is(err, aggregate.ErrMoved) {
		if a, err = h.Store.Load(ctx, in.Ref()); err == nil && a.Head.Run != in.Run {
			err = aggregate.ErrSuperseded
		}
	}
	if err != nil {
		return aggregate.Next{}, tryAgain(err)
	}
	return a.Next(h.Now()), nil
}

func (s *sending) decide(ctx context.Context, f conversation.Decision) (*conversation.Aggregate, error) {
	a, err := s.Store.Decide(ctx, s.in.Ref(), f)
	if err != nil {
		return nil, fmt.Errorf("record what became of files: %w", err)
	}
	s.a, s.x = a, a.Action(s.x.ActionID)
	return a, nil
}

// upload gives Slack the files, unless it has them, and saves their ids.
func (s *sending) upload(ctx context.Context) error {
	if s.x.Sending.State == conversation.SendingUploaded {
		return nil
	}
	of := large.VersionsOf{Tenant: s.in.Tenant, ID: s.in.ID}
	changes, err := s.Written.Difference(ctx, of, s.x.BaseVersion, s.x.Version)
	if err != nil {
		return fmt.Errorf("find what the action wrote: %w", err)
	}
	m, err := s.Written.Manifest(ctx, of, s.x.Version)
	if err != nil {
		return fmt.Errorf("list the files: %w", err)
	}
	these := slices.DeleteFunc(m.Entries, func(e files.Entry) bool {
		return !slices.ContainsFunc(changes, func(c files.Change) bool { return c.Path == e.Path && c.Wrote() })
	})
	if len(these) == 0 || len(these) > conversation.MaxSent {
		return errUnsendable
	}
	var sent []conversation.SentFile
	err = s.Written.Each(ctx, of, s.x.Version, these, func(e files.Entry, content []byte) error {
		if len(content) > conversation.MaxSentBytes {
			return errUnsendable
		}
		id, err := s.Uploads.Upload(ctx, files.SafeName(path.Base(e.Path)), content)
		sent = append(sent, conversation.SentFile{Path: e.Path, FileID: id})
		return err
	})
	if err != nil {
		return fmt.Errorf("upload files: %w", err)
	}
	_, err = s.decide(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Uploaded(s.in.Run, s.x.ActionID, sent, s.Now())
	})
	return err
}

// errUnsendable means files that Slack is not given: too many, or too large.
var errUnsendable = errors.New("the files are over the limits")

// share has Slack show the files in the thread, and looks whether it does when that isn't known. Files of which another
// try may have done so are looked for first.
func (s *sending) share(ctx context.Context) error {
	if there, err := s.shared(ctx); err != nil || there {
		return err
	}
	files := make([]slackapi.Uploaded, len(s.x.Sending.Files))
	for i, f := range s.x.Sending.Files {
		files[i] = slackapi.Uploaded{ID: f.FileID, Title: legible.OneLine(f.Path)}
	}
	of := s.a.Conversation
	comment := fmt.Sprintf(wordsIn(of.Locale).sent, s.x.Number)
	failed := s.Uploads.Share(ctx, of.Channel, of.ThreadTS, comment, files)
	if failed == nil || errors.As(failed, new(slackapi.RateLimited)) {
		return failed
	}
	for n := range looks {
		if err := clock.Sleep(ctx, time.Duration(n)*s.Every); err != nil {
			return err
		}
		if there, err := s.shared(ctx); err != nil || there {
			return err
		}
	}
	return failed
}

// shared reports whether the files stand in the thread: they were all shared at once.
func (s *sending) shared(ctx context.Context) (bool, error) {
	of := s.a.Conversation
	there, err := s.Uploads.Shared(ctx, s.x.Sending.Files[0].FileID, of.Channel, of.ThreadTS)
	if err != nil {
		return false, fmt.Errorf("look for the files: %w", err)
	}
	return there, nil
}

// refused returns why files were not sent, if that is certain. Other errors are tried again.
func (s *sending) refused(err error) (why aggregate.Reason, certain bool) {
	switch {
	case err == nil:
		return "", false
	case errors.Is(err, large.ErrGone):
		return conversation.ReasonSendGone, true
	case slackapi.Code(err) == slackapi.CodeMissingScope:
		return conversation.ReasonNoScope, true
	case errors.Is(err, errUnsendable), slackapi.Code(err) != "" && !transient(err):
		return conversation.ReasonNotSent, true
	}
	return "", false
}

// transient reports whether another try of a call that Slack refused may succeed.
func transient(err error) bool {
	refused, is := errors.AsType[slackapi.Refused](err)
	return is && !refused.Permanent && !refused.App
}

// tryAgain turns Slack's passing errors into one that the state machine tries again.
func tryAgain(err error) error {
	if errors.As(err, new(slackapi.RateLimited)) || errors.As(err, new(slackapi.Unknown)) || transient(err) {
		return fmt.Errorf("%w: %w", explain.ErrUnavailable, err)
	}
	return err
}
