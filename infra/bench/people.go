package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"ringi/infra/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/domain/task"
)

// everyTool is a request whose plan has all five tools in it.
const everyTool = "今月の勤怠をまとめて"

// What an execution's card has when it has ended well, and when it has not.
const completed, failed = "✅ 実行完了", "retry_execution"

// patience is how long one thing may take on a machine that does others too.
const patience = 15 * time.Minute

// open starts a stack whose sweeper works only when told.
func open(ctx context.Context, faults lambda.Faults, rates webapi.Rates) (*stack.Stack, error) {
	o := driver.Options()
	o.Faults, o.Sandbox.Rates = faults, rates
	o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return driver.Start(ctx, o)
}

// ask says something to Ringi in #人事, and looks every poll for what becomes of it.
func ask(t driver.T, s *stack.Stack, poll time.Duration) *driver.Request {
	r := driver.Say(t, s, workspace.Sato, workspace.HR, "<@"+workspace.Bot+"> "+everyTool)
	r.Timeout, r.Poll = patience, poll
	return r
}

// finish stamps both cards and waits until the work is done and shown. It presses 再実行
// on a failed execution as people do, and returns how often.
func finish(r *driver.Request) (retried int) {
	r.Click(workspace.Suzuki, driver.PromptCard, "approve_prompt")
	r.Click(workspace.Tanaka, driver.ProcessCard, "approve_process")
	for {
		r.Eventually("the execution ends", func() bool { return r.Shows(driver.ExecutionCard, completed, failed) })
		if !r.Shows(driver.ExecutionCard, failed) {
			break
		}
		retried++
		r.Click(workspace.Sato, driver.ExecutionCard, failed)
		// The card shows the next attempt a moment later.
		r.Eventually("the next attempt is shown", func() bool { return !r.Shows(driver.ExecutionCard, failed) })
	}
	r.Until("all cards are shown", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	return retried
}

// crowd lets n people do something, some at once. The first who fails ends it for all.
func crowd(ctx context.Context, n, atOnce int, do func(t driver.T, nth int)) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(atOnce)
	for i := range n {
		all.Go(func() error { return driver.Try(ctx, func(t driver.T) { do(t, i) }) })
	}
	return all.Wait()
}
