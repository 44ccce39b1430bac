package main

import (
	"context"
	"errors"
	"time"

	"ringi/shared/runtime/isolated"
)

// attendance is the supervisor's while the commands of one order run, one after another.
type attendance struct {
	*supervisor
	box   *box
	order isolated.Order
	jobs  []job
	until time.Time // by then the last command has ended

	at       int       // index of the command that runs, or ended last
	began    time.Time // when that began
	ended    bool      // its process has ended
	printed  int       // lines of output before it
	stopping bool      // it was asked to end, and none follows
	limit    *time.Timer
	overdue  <-chan time.Time // after the command was asked to end
	end      isolated.End
}

// begin lets the command begin. Of a plan it says so.
func (a *attendance) begin() error {
	a.end = isolated.End{ExitCode: -1, Limit: isolated.EndedEarly, Ran: a.end.Ran}
	a.ended, a.printed = false, a.box.out.next()
	if len(a.order.Commands) > 0 {
		if err := a.answer.Begins(a.at + 1); err != nil {
			return err
		}
	}
	a.began = time.Now()
	a.limit = time.NewTimer(min(time.Duration(a.jobs[a.at].Seconds)*time.Second, time.Until(a.until)))
	a.box.begin()
	return nil
}

// attend waits until the last command ends or one fails, its time is up or somebody cancels, and sends the output
// meanwhile. packed reports whether the files are packed.
func (a *attendance) attend(ctx context.Context) (packed bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cancelled := a.watchCancel(ctx, a.order.Cancel)
	send := time.NewTicker(sendEach)
	defer send.Stop()
	for {
		select {
		case e, ok := <-a.box.events:
			if !ok && !a.ended {
				return false, errors.New("the room ended before its command did: what that did nobody knows")
			}
			if !ok {
				return packed, nil
			}
			packed = packed || e.Packed
			if err := a.hear(e); err != nil {
				return false, err
			}
		case <-send.C:
			if err := a.box.out.send(false, a.answer.Line); err != nil {
				return false, err
			}
		case <-a.limit.C:
			if a.ended {
				a.box.kill()
				a.end.Limit = isolated.NotKept + ": it could not be packed in time"
				return false, nil
			}
			a.end.TimedOut = true
			a.stop()
		case <-cancelled:
			cancelled = nil
			if a.ended && !a.goesOn() { // the files are being packed
				continue
			}
			a.end.Cancelled = true
			a.stop()
		case <-a.overdue:
			a.box.kill()
		case <-ctx.Done():
			a.box.kill()
			return false, ctx.Err()
		}
	}
}

// stop asks the command to end, if it has not.
func (a *attendance) stop() {
	if a.stopping = true; a.ended {
		return
	}
	a.box.stop()
	a.overdue = time.After(stopWithin)
}

// hear takes one report of inside.
func (a *attendance) hear(e event) error {
	e.tell(&a.end)
	switch {
	case e.Exit != nil:
		a.ended, a.overdue = true, nil
		a.limit = time.NewTimer(packWithin) // only this ends the packing
		if len(a.order.Commands) > 0 {
			a.end.Ran = append(a.end.Ran, isolated.Ran{ExitCode: e.Exit.Code, Signal: e.Exit.Signal, TimedOut: a.end.TimedOut,
				Millis: time.Since(a.began).Milliseconds()})
		}
	case e.Failed != "": // of a later command: what the earlier ones did is kept
		a.log.Info("a command could not be started", "action", a.order.Action, "err", e.Failed)
		a.ended, a.stopping, a.limit = true, true, time.NewTimer(packWithin)
		a.box.pack()
	case e.Ended:
		return a.follow()
	}
	return nil
}

// follow lets the next command begin, or has the files packed.
func (a *attendance) follow() error {
	a.box.printed[a.at].drain()
	if err := a.box.out.send(true, a.answer.Line); err != nil {
		return err
	}
	if n := len(a.end.Ran); n > 0 {
		a.end.Ran[n-1].Lines = a.box.out.lines() - a.printed
	}
	if !a.goesOn() {
		a.box.pack()
		return nil
	}
	if time.Until(a.until) < time.Second {
		a.end.TimedOut = true
		a.box.pack()
		return nil
	}
	a.at++
	return a.begin()
}

// goesOn reports whether another command follows the one that ended: none follows one that failed or was stopped.
func (a *attendance) goesOn() bool {
	return a.at+1 < len(a.jobs) && !a.stopping && a.end.ExitCode == 0 && a.end.Signal == "" &&
		a.end.Limit == isolated.EndedEarly
}
