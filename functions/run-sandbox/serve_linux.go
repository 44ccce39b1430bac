package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ringi/shared/runtime/isolated"
)

// The stages of one action are processes of this one binary: the supervisor starts inside, which makes the box and
// keeps it in order, and inside starts command, which gives up everything and becomes the command.
const (
	stageInside  = "inside"
	stageCommand = "command"
)

// memory is how much a command's processes may use together unless the machine is smaller.
const memory = 1 << 30

// serve is the whole program: a stage, or the supervisor. `machine <MB>` says that the machine has been made for this
// action alone and has no more memory than that, so that a command may run with what little such a machine withholds.
func serve(args []string) error {
	switch {
	case len(args) == 1 && args[0] == stageInside:
		return runInside()
	case len(args) == 1 && args[0] == stageCommand:
		return runCommand()
	}
	s := &supervisor{
		objects: newObjects(), answer: isolated.NewWriter(os.Stdout), levels: []level{namespaces, landlock}, memory: memory,
		log: slog.New(slog.NewJSONHandler(os.Stderr, nil)),
	}
	if len(args) == 2 && args[0] == "machine" {
		mb, err := strconv.ParseInt(args[1], 10, 32)
		if err != nil {
			return fmt.Errorf("the machine's memory: %w", err)
		}
		s.levels = append(s.levels, machine)
		s.memory = min(memory, mb<<20*6/10) // the rest is the runtime's and ours: the order's archive stands there, too
	}
	order, err := readOrder(os.Stdin)
	if err != nil {
		return s.answer.NotBegun(err.Error(), true)
	}
	// Should a command kill the process that keeps its box in order, what is left becomes a child of this one.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	defer (&inside{}).endAll()
	return s.run(context.Background(), order)
}

func readOrder(r io.Reader) (o isolated.Order, err error) {
	b, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return o, fmt.Errorf("read the order: %w", err)
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return o, fmt.Errorf("read the order: %w", err)
	}
	return o, o.Validate()
}

const (
	reserve    = 20 * time.Second // of an order's deadline, for packing and uploading
	sendEach   = 250 * time.Millisecond
	pollEach   = 2 * time.Second
	packWithin = 10 * time.Second
	stopWithin = 6 * time.Second // from the order to end a command until the whole box is killed
	killWithin = 6 * time.Second // from then on until the process that keeps it in order is killed
)

// supervisor runs an order and answers it.
type supervisor struct {
	objects *objects
	answer  *isolated.Writer
	levels  []level // that may be tried, the strictest first
	memory  int64   // bytes, of all the command's processes together
	log     *slog.Logger
}

// run does all of an order. With an error the answer has no end: who asked is gone, or how the command ended is not
// known. Nothing is left running either way.
func (s *supervisor) run(ctx context.Context, o isolated.Order) error {
	left := time.Until(o.Deadline) - reserve
	limit := min(time.Duration(o.TimeoutSeconds)*time.Second, left)
	if limit < time.Second {
		return s.answer.NotBegun("no time is left until the deadline", false)
	}
	archive, err := s.objects.archive(ctx, o.Workspace)
	if err != nil {
		return s.answer.NotBegun(err.Error(), errors.Is(err, isolated.ErrCannot))
	}
	out := &output{}
	b, err := s.start(o, limit, archive, out)
	if err != nil {
		return s.answer.NotBegun(err.Error(), true)
	}
	defer b.close()
	s.log.Info("isolation", "action", o.Action, "held", b.held)
	if err := s.answer.Begun(b.held); err != nil {
		return err
	}
	b.begin()
	end, packed, err := s.attend(ctx, b, o, limit)
	if err != nil {
		return err
	}
	b.drain()
	if err := out.send(true, s.answer.Line); err != nil {
		return err
	}
	var unfound string
	end.Dropped, unfound = out.summary()
	end.Held = b.held
	if o.Type == isolated.ShellCommand && end.ExitCode == 127 && end.Missing == "" {
		end.Missing = unfound
	}
	if packed && !end.Cancelled && o.Upload.URL != "" {
		s.keep(ctx, b, o, &end)
	}
	return s.answer.End(end)
}

// start makes the strictest box that this machine gives.
func (s *supervisor) start(o isolated.Order, limit time.Duration, archive []byte, out *output) (*box, error) {
	var why []string
	for _, l := range s.levels {
		b, err := startBox(l, plan{Argv: o.Argv, Script: o.Script, Seconds: int(limit.Seconds()) + 1, Memory: s.memory},
			archive, out)
		if err == nil {
			return b, nil
		}
		s.log.Info("isolation refused", "action", o.Action, "level", l, "err", err)
		why = append(why, fmt.Sprintf("%s: %v", l, err))
	}
	return nil, fmt.Errorf("this machine withholds too little from a command to run one: %s", strings.Join(why, "; "))
}

// attend lets the command run until it ends, its time is up or somebody cancels, and sends its lines meanwhile.
func (s *supervisor) attend(ctx context.Context, b *box, o isolated.Order,
	limit time.Duration) (end isolated.End, packed bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cancelled := s.watchCancel(ctx, o.Cancel)
	send := time.NewTicker(sendEach)
	defer send.Stop()
	timeUp := time.NewTimer(limit)
	defer timeUp.Stop()
	var overdue <-chan time.Time
	stop := func() {
		b.stop()
		overdue = time.After(stopWithin)
	}
	end = isolated.End{ExitCode: -1, Limit: isolated.EndedEarly}
	for {
		select {
		case e, ok := <-b.events:
			if !ok && end.Signal == "" && end.ExitCode < 0 {
				return end, false, errors.New("the room ended before its command did: what that did nobody knows")
			}
			if !ok {
				return end, packed, nil
			}
			e.tell(&end)
			packed = packed || e.Packed
			if e.Exit != nil { // from here on it is packed, which nothing interrupts but its own limit
				cancelled, overdue, timeUp = nil, nil, time.NewTimer(packWithin)
			}
		case <-send.C:
			if err := b.out.send(false, s.answer.Line); err != nil {
				return end, false, err
			}
		case <-timeUp.C:
			if end.ExitCode >= 0 || end.Signal != "" {
				b.kill()
				end.Limit = isolated.NotKept + ": it could not be packed in time"
				return end, false, nil
			}
			end.TimedOut = true
			stop()
		case <-cancelled:
			end.Cancelled, cancelled = true, nil
			stop()
		case <-overdue:
			b.kill()
		case <-ctx.Done():
			b.kill()
			return end, false, ctx.Err()
		}
	}
}

// watchCancel is closed once the cancel object is there.
func (s *supervisor) watchCancel(ctx context.Context, address string) <-chan struct{} {
	if address == "" {
		return nil
	}
	found := make(chan struct{})
	go func() {
		tick := time.NewTicker(pollEach)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if s.objects.cancelled(ctx, address) {
				close(found)
				return
			}
		}
	}()
	return found
}

// keep uploads what became of the workspace. That it could not be kept is said, and changes nothing in how the command
// ended.
func (s *supervisor) keep(ctx context.Context, b *box, o isolated.Order, end *isolated.End) {
	archive, version, err := b.packed()
	if err == nil {
		ctx, cancel := context.WithDeadline(ctx, o.Deadline)
		defer cancel()
		err = s.objects.upload(ctx, o.Upload, archive)
	}
	if err != nil {
		end.Limit = isolated.NotKept + ": " + err.Error()
		return
	}
	end.Version = version
}
