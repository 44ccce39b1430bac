package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/admin"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/store"
	"ringi/shared/task"
)

// The cards of the first versions, and the request whose plan has all five tools in it.
const (
	taskCard      = "CARD#task"
	promptCard    = "CARD#prompt#0001"
	processCard   = "CARD#process#0001"
	executionCard = "CARD#execution"
	everyTool     = "今月の勤怠をまとめて"
)

// patience is how long one thing may take on a machine that does others too.
const patience = 15 * time.Minute

// open starts a stack whose sweeper works only when told.
func open(ctx context.Context, faults lambda.Faults, rates webapi.Rates) (*stack.Stack, error) {
	o := stack.Options{
		Model: "demo", ByHand: true, FunctionLog: io.Discard, Faults: faults, Artifacts: os.Getenv("RINGI_ARTIFACTS"),
		Logger:  slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Sandbox: sandbox.Options{Rates: rates},
	}
	admin.Configure(&o)
	s, err := stack.Start(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("start the local stack: %w", err)
	}
	if err := admin.Unbounded(ctx, s); err != nil {
		s.Close()
		return nil, fmt.Errorf("lift the quotas: %w", err)
	}
	return s, nil
}

// desk is one person's request and what became of it.
type desk struct {
	s       *stack.Stack
	rows    *store.Store
	channel string
	root    string // the message's timestamp, and the thread's
	ref     aggregate.Ref
	poll    time.Duration
	at      time.Time // when it was asked

	again, retried int // clicks that were repeated; executions that a person asked for again
}

// ask says something to Ringi in #人事.
func ask(s *stack.Stack, text string, poll time.Duration) (*desk, error) {
	return askIn(s, workspace.Sato, workspace.HR, "<@"+workspace.Bot+"> "+text, poll)
}

// askIn is a message of a person's, somewhere.
func askIn(s *stack.Stack, person, channel, text string, poll time.Duration) (*desk, error) {
	d := &desk{s: s, rows: store.New(dynamodb.NewFromConfig(s.AWS), s.TableName), channel: channel, poll: poll, at: time.Now()}
	var err error
	if d.root, err = s.Sandbox.Say(person, channel, text); err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	d.ref.Tenant = aggregate.TenantID(s.Sandbox.TeamID())
	d.ref.Task, err = task.ID(s.Sandbox.TeamID(), channel, d.root)
	return d, err
}

// until polls until holds says so.
func (d *desk) until(ctx context.Context, what string, holds func() (bool, error)) error {
	tick := time.NewTicker(d.poll)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if ok, err := holds(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("task %s: not within %s: %s", d.ref.Task, patience, what)
}

// card waits until the task's card with this key shows the text.
func (d *desk) card(ctx context.Context, key, shows string) (found workspace.Message, err error) {
	err = d.until(ctx, key+" shows "+shows, func() (bool, error) {
		var n int
		for _, m := range d.s.Sandbox.Messages(d.channel, d.root) {
			payload, _ := m.Metadata["event_payload"].(map[string]any)
			if payload["task"] == d.ref.Task && payload["card"] == key {
				found, n = m, n+1
			}
		}
		if n > 1 {
			return false, fmt.Errorf("task %s: %s is %d messages", d.ref.Task, key, n)
		}
		return n == 1 && strings.Contains(face(found), shows), nil
	})
	return found, err
}

func face(m workspace.Message) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m.Attachments); err != nil {
		return err.Error()
	}
	return b.String()
}

// click presses a button once the card has it, and again when it was told that
// nothing was saved. It returns when it pressed last, and the card as it was.
func (d *desk) click(ctx context.Context, user, key, action string) (time.Time, workspace.Message, error) {
	m, err := d.card(ctx, key, action)
	if err != nil {
		return time.Time{}, m, err
	}
	for end := time.Now().Add(patience); time.Now().Before(end) && ctx.Err() == nil; {
		before, at := d.unsaved(user), time.Now()
		err := d.s.Sandbox.Click(user, d.channel, m.TS, action)
		if err == nil && d.unsaved(user) == before {
			return at, m, nil
		}
		if trouble := (sandbox.Trouble{}); err != nil && !errors.As(err, &trouble) {
			return at, m, fmt.Errorf("%s on %s: %w", action, key, err)
		}
		d.again++
		// It may have been saved after all; then the button is gone.
		if now, err := d.card(ctx, key, ""); err != nil || !strings.Contains(face(now), action) {
			return at, m, err
		}
	}
	return time.Time{}, m, fmt.Errorf("%s on %s of task %s is never saved", action, key, d.ref.Task)
}

// unsaved counts the notes in the thread that ask a person to try again.
func (d *desk) unsaved(user string) (n int) {
	for _, m := range d.s.Sandbox.Ephemerals(user) {
		if m.ThreadTS == d.root && (m.Text == card.Note("ja", card.ErrUnsaved) || m.Text == card.Note("ja", aggregate.ErrUnconfirmed) || m.Text == card.Note("ja", card.ErrUnverified)) {
			n++
		}
	}
	return n
}

// finish stamps both cards and waits until the work is done and shown.
func (d *desk) finish(ctx context.Context) error {
	if _, _, err := d.click(ctx, workspace.Suzuki, promptCard, "approve_prompt"); err != nil {
		return err
	}
	if _, _, err := d.click(ctx, workspace.Tanaka, processCard, "approve_process"); err != nil {
		return err
	}
	if err := d.carriedOut(ctx); err != nil {
		return err
	}
	return d.until(ctx, "all cards are shown", func() (bool, error) {
		a, err := d.rows.Load(ctx, d.ref)
		return err == nil && a.Head.ShownRev >= a.Head.Rev && a.Task.Status == task.TaskCompleted, err
	})
}

// carriedOut waits for the finished card, and presses 再実行 on a failed one as people do.
func (d *desk) carriedOut(ctx context.Context) error {
	for {
		failed := false
		err := d.until(ctx, "the execution ends", func() (bool, error) {
			m, err := d.card(ctx, executionCard, "")
			if err != nil {
				return false, err
			}
			failed = strings.Contains(face(m), "retry_execution")
			return failed || strings.Contains(face(m), "✅ 実行完了"), nil
		})
		if err != nil || !failed {
			return err
		}
		d.retried++
		if _, _, err := d.click(ctx, workspace.Sato, executionCard, "retry_execution"); err != nil {
			return err
		}
		// The card shows the next attempt a moment later.
		err = d.until(ctx, "the next attempt is shown", func() (bool, error) {
			m, err := d.card(ctx, executionCard, "")
			return err == nil && !strings.Contains(face(m), "retry_execution"), err
		})
		if err != nil {
			return err
		}
	}
}
