//go:build linux

// Command run-sandbox runs one isolated command of a conversation and answers with its output. It reads the order from
// standard input and writes the answer's frames to standard output. In AWS the managed runtime's handler (index.mjs)
// connects it with Lambda, on this machine the local stack does.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/isolated"
)

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "run-sandbox:", err)
		os.Exit(1)
	}
}

// memory is how much memory a command's processes may use together, in bytes, unless the machine has less.
const memory = 1 << 30

// serve runs a stage or the supervisor. The argument `machine <MB>` says that this machine was made for one action and
// has that much memory.
func serve(args []string) error {
	switch {
	case len(args) == 1 && args[0] == stageInside:
		return runInside()
	case len(args) == 1 && args[0] == stageCommand:
		return runCommand()
	}
	s := &supervisor{answer: isolated.NewWriter(os.Stdout), level: namespaces, memory: memory,
		patience: endWithin,
		log:      slog.New(slog.NewJSONHandler(os.Stderr, nil))}
	if len(args) == 2 && args[0] == "machine" {
		mb, err := strconv.ParseInt(args[1], 10, 32)
		if err != nil {
			return fmt.Errorf("the machine's memory: %w", err)
		}
		s.level = machine
		s.memory = min(memory, mb<<20*6/10) // the rest is for the runtime, this process and the order's archive
	}
	var order isolated.Order
	err := json.NewDecoder(io.LimitReader(os.Stdin, 1<<20)).Decode(&order)
	if err == nil {
		err = order.Validate()
	}
	if err != nil {
		return s.answer.NotBegun(err.Error(), true)
	}
	// If a command kills inside, the remaining processes become children of this one.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	defer (&inside{}).endAll()
	return s.run(context.Background(), order)
}

const (
	reserve    = 20 * time.Second // before an order's deadline, for packing and uploading
	sendEach   = 250 * time.Millisecond
	pollEach   = 2 * time.Second
	packWithin = 10 * time.Second
	killAfter  = 2 * time.Second  // from asking a command to end until inside kills it
	endWithin  = 12 * time.Second // see supervisor.patience
)

type supervisor struct {
	answer *isolated.Writer
	level  level
	memory int64 // bytes, for all the command's processes together
	// patience is the time from asking a command to end until inside itself is killed: endWithin, less in tests.
	patience time.Duration
	log      *slog.Logger
}

// run carries out an order. If it returns an error, the answer has no end: the reader is gone, or it is unknown how the
// command ended. It never leaves a process running.
func (s *supervisor) run(ctx context.Context, o isolated.Order) error {
	within := func() time.Duration {
		return min(time.Duration(o.TimeoutSeconds)*time.Second, time.Until(o.Deadline.Add(-reserve)))
	}
	if within() < time.Second {
		return s.answer.NotBegun("no time is left until the deadline", false)
	}
	workspace, err := fetch(ctx, o.Workspace)
	if err != nil {
		return s.answer.NotBegun("get the workspace: "+err.Error(), errors.Is(err, isolated.ErrCannot))
	}
	attachments, err := fetch(ctx, o.Attachments)
	if err != nil {
		return s.answer.NotBegun("get the attachments: "+err.Error(), errors.Is(err, isolated.ErrCannot))
	}
	b, err := startBox(plan{Level: s.level, Argv: o.Argv, Script: o.Script, Seconds: o.TimeoutSeconds, Memory: s.memory,
		Workspace: int64(len(workspace))}, io.MultiReader(bytes.NewReader(workspace), bytes.NewReader(attachments)))
	if err != nil {
		s.log.Info("isolation refused", "action", o.Action, "level", s.level, "err", err)
		return s.answer.NotBegun(fmt.Sprintf("this machine withholds too little from a command to run one: %s: %v",
			s.level, err), true)
	}
	defer b.close()
	s.log.Info("isolation", "action", o.Action, "held", b.held)
	if err := s.answer.Begun(); err != nil {
		return err
	}
	end, packed, err := s.attend(ctx, b, o.Cancel, within())
	if err != nil {
		return err
	}
	b.end() // so that all output is there
	if err := b.out.send(true, s.answer.Line); err != nil {
		return err
	}
	end.Dropped, end.Held = b.out.dropped, b.held
	if packed && !end.Cancelled && o.Upload.URL != "" {
		ctx, cancel := context.WithDeadline(ctx, o.Deadline)
		defer cancel()
		archive, err := b.packed()
		if err == nil {
			err = upload(ctx, o.Upload, archive)
		}
		if end.Version = files.Sum(archive); err != nil {
			end.Version, end.Limit = "", isolated.NotKept+": "+err.Error()
		}
	}
	return s.answer.End(end)
}

// attend lets the command begin and waits until its files are packed; meanwhile it sends the output. A command whose
// time is up, or that somebody cancels, is asked to end. packed reports whether the files are packed.
func (s *supervisor) attend(ctx context.Context, b *box, cancel string, within time.Duration) (
	end isolated.End, packed bool, err error) {
	ctx, done := context.WithCancel(ctx)
	defer done()
	var ended, timedOut, wasCancelled bool
	var overdue <-chan time.Time // after the command was asked to end
	limit, cancelled := time.After(within), watchCancel(ctx, cancel)
	send := time.NewTicker(sendEach)
	defer send.Stop()
	for b.order(orderBegin); !packed; {
		select {
		case r, ok := <-b.reports:
			switch {
			case !ok && !ended:
				return end, false, errors.New("the room ended before its command did: what that did nobody knows")
			case !ok:
				return end, false, nil
			}
			end, packed = r.End, r.Packed
			end.TimedOut, end.Cancelled = timedOut, wasCancelled
			if !ended {
				ended, overdue, limit, cancelled = true, nil, time.After(packWithin), nil
			}
		case <-send.C:
			if err := b.out.send(false, s.answer.Line); err != nil {
				return end, false, err
			}
		case <-limit:
			if ended {
				end.Limit = isolated.NotKept + ": it could not be packed in time"
				return end, false, nil
			}
			timedOut, overdue = true, s.stop(b)
		case <-cancelled:
			wasCancelled, cancelled, overdue = true, nil, s.stop(b)
		case <-overdue:
			b.cmd.Process.Kill()
		case <-ctx.Done():
			return end, false, ctx.Err()
		}
	}
	return end, true, nil
}

// stop asks the command to end. The channel says when it should have ended.
func (s *supervisor) stop(b *box) <-chan time.Time {
	b.order(orderStop)
	return time.After(s.patience)
}

// watchCancel returns a channel that is closed once the cancel object exists. While that is unknown the command goes
// on.
func watchCancel(ctx context.Context, address string) <-chan struct{} {
	found := make(chan struct{})
	go func() {
		for address != "" && clock.Sleep(ctx, pollEach) == nil {
			if _, status, err := call(ctx, http.MethodGet, address, "", nil, 1<<10); err == nil && status == http.StatusOK {
				close(found)
				return
			}
		}
	}()
	return found
}

// fetch returns an archive. An empty address means no files.
func fetch(ctx context.Context, address string) ([]byte, error) {
	if address == "" {
		return nil, nil
	}
	archive, status, err := call(ctx, http.MethodGet, address, "", nil, files.MaxArchive)
	switch {
	case err != nil:
		return nil, err
	case status/100 == 4: // the object is gone, or its address has expired; trying again won't help
		return nil, fmt.Errorf("status %d: %w", status, isolated.ErrCannot)
	case status != http.StatusOK:
		return nil, fmt.Errorf("status %d", status)
	}
	return archive, nil
}

// upload posts an archive. It retries, because storing the same bytes twice is harmless.
func upload(ctx context.Context, to isolated.Form, archive []byte) error {
	var body bytes.Buffer // which takes whatever is written
	form := multipart.NewWriter(&body)
	for name, value := range to.Fields {
		_ = form.WriteField(name, value)
	}
	file, _ := form.CreateFormFile("file", "workspace.tar") // must be the last field: S3 ignores the following ones
	_, _ = file.Write(archive)
	_ = form.Close()
	for try := 1; ; try++ {
		_, status, err := call(ctx, http.MethodPost, to.URL, form.FormDataContentType(), bytes.NewReader(body.Bytes()), 1<<20)
		if err == nil && status/100 == 2 {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("status %d", status)
		}
		if try == 3 || clock.Sleep(ctx, time.Duration(try)*time.Second) != nil {
			return fmt.Errorf("upload the workspace: %w", err)
		}
	}
}

// call reaches an object of an action by an address that is valid for this action only: the archives of its files and
// of the attachments, the cancel object, and the place for the changed archive. Only the supervisor calls it, never the
// command. No error shows the address, whose query has a signature.
func call(ctx context.Context, method, address, kind string, body io.Reader, limit int64) (
	answer []byte, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, 0, errors.New("the address can't be read")
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	client := http.Client{Timeout: 15 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("an address redirects") }}
	res, err := client.Do(req)
	if named, ok := errors.AsType[*url.Error](err); ok {
		err = named.Err
	}
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err == nil && int64(len(answer)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return answer, res.StatusCode, err
}
