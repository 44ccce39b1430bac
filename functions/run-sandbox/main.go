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
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/isolated"
)

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "run-sandbox:", err)
		os.Exit(1)
	}
}

// One binary has all stages of an action, each a process. The supervisor starts inside, which makes the box and watches
// it; inside starts command, which gives up its rights and executes the command.
const (
	stageInside  = "inside"
	stageCommand = "command"
)

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
	s := &supervisor{
		objects: newObjects(), answer: isolated.NewWriter(os.Stdout), level: namespaces, memory: memory,
		log: slog.New(slog.NewJSONHandler(os.Stderr, nil)),
	}
	if len(args) == 2 && args[0] == "machine" {
		mb, err := strconv.ParseInt(args[1], 10, 32)
		if err != nil {
			return fmt.Errorf("the machine's memory: %w", err)
		}
		s.level = machine
		s.memory = min(memory, mb<<20*6/10) // the rest is for the runtime, this process and the order's archive
	}
	order, err := readOrder(os.Stdin)
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

func readOrder(r io.Reader) (o isolated.Order, err error) {
	b, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil {
		return o, fmt.Errorf("read the order: %w", err)
	}
	return o, o.Validate()
}

const (
	reserve    = 20 * time.Second // before an order's deadline, for packing and uploading
	sendEach   = 250 * time.Millisecond
	pollEach   = 2 * time.Second
	packWithin = 10 * time.Second
	stopWithin = 6 * time.Second // from stop to kill
	killWithin = 6 * time.Second // from kill until inside itself is killed
)

type supervisor struct {
	objects *objects
	answer  *isolated.Writer
	level   level
	memory  int64 // bytes, for all the command's processes together
	log     *slog.Logger
}

// run carries out an order. If it returns an error, the answer has no end: the reader is gone, or it is unknown how the
// command ended. It never leaves a process running.
func (s *supervisor) run(ctx context.Context, o isolated.Order) error {
	until := o.Deadline.Add(-reserve)
	if min(time.Duration(o.TimeoutSeconds)*time.Second, time.Until(until)) < time.Second {
		return s.answer.NotBegun("no time is left until the deadline", false)
	}
	archive, err := s.objects.archive(ctx, o.Workspace)
	if err != nil {
		return s.answer.NotBegun(err.Error(), errors.Is(err, isolated.ErrCannot))
	}
	attached, err := s.objects.archive(ctx, o.Attachments)
	if err != nil {
		return s.answer.NotBegun("attachments: "+err.Error(), errors.Is(err, isolated.ErrCannot))
	}
	out := &output{}
	b, err := startBox(s.level, plan{Argv: o.Argv, Script: o.Script, Seconds: o.TimeoutSeconds, Memory: s.memory,
		Attached: o.Attachments != ""}, archives{archive, attached}, out)
	if err != nil {
		s.log.Info("isolation refused", "action", o.Action, "level", s.level, "err", err)
		return s.answer.NotBegun(fmt.Sprintf("this machine withholds too little from a command to run one: %s: %v",
			s.level, err), true)
	}
	defer b.close()
	s.log.Info("isolation", "action", o.Action, "held", b.held)
	if err := s.answer.Begun(b.held); err != nil {
		return err
	}
	a := &attendance{supervisor: s, box: b, order: o}
	packed, err := a.attend(ctx, until)
	if err != nil {
		return err
	}
	out.drain()
	if err := out.send(true, s.answer.Line); err != nil {
		return err
	}
	end := a.end
	end.Dropped, end.Held = out.lost(), b.held
	if packed && !end.Cancelled && o.Upload.URL != "" {
		s.keep(ctx, b, o, &end)
	}
	return s.answer.End(end)
}

// watchCancel returns a channel that is closed once the cancel object exists.
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

// keep uploads the changed workspace. A failure is reported in end.Limit; it doesn't change how the command ended.
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

// attendance is the supervisor's while an order's command runs.
type attendance struct {
	*supervisor
	box   *box
	order isolated.Order

	ended   bool // its process has ended
	limit   *time.Timer
	overdue <-chan time.Time // after the command was asked to end
	end     isolated.End
}

// attend lets the command begin and waits until it ends, its time, which until bounds, is up, or somebody cancels. It
// sends the output meanwhile. packed reports whether the files are packed.
func (a *attendance) attend(ctx context.Context, until time.Time) (packed bool, err error) {
	a.end = isolated.End{ExitCode: -1, Limit: isolated.EndedEarly}
	a.limit = time.NewTimer(min(time.Duration(a.order.TimeoutSeconds)*time.Second, time.Until(until)))
	a.box.begin()
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
			a.hear(e)
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
			if a.ended { // the files are being packed
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
	if a.ended {
		return
	}
	a.box.stop()
	a.overdue = time.After(stopWithin)
}

// hear takes one report of inside.
func (a *attendance) hear(e event) {
	e.tell(&a.end)
	if e.Exit != nil {
		a.ended, a.overdue = true, nil
		a.limit = time.NewTimer(packWithin) // only this ends the packing
	}
}

// objects reaches the objects of an action, by addresses that are valid for this action only: the archives of its files
// and of the attachments, the cancel object, and the place for the changed archive. Only the supervisor calls it, never
// the command.
type objects struct{ client *http.Client }

func newObjects() *objects {
	return &objects{&http.Client{
		Timeout:       15 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("an address redirects") },
	}}
}

// archive fetches the archive of the files. An empty address means no files.
func (o *objects) archive(ctx context.Context, address string) ([]byte, error) {
	if address == "" {
		return (&files.Tree{}).Archive()
	}
	b, status, err := o.get(ctx, address, files.MaxArchive)
	if err != nil {
		return nil, fmt.Errorf("get the workspace: %w", err)
	}
	if status/100 == 4 { // the object is gone, or its address has expired; trying again won't help
		return nil, fmt.Errorf("get the workspace: status %d: %w", status, isolated.ErrCannot)
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("get the workspace: status %d", status)
	}
	return b, nil
}

// cancelled reports whether the cancel object exists. While that is unknown it is false, and the command goes on.
func (o *objects) cancelled(ctx context.Context, address string) bool {
	_, status, err := o.get(ctx, address, 1<<10)
	return err == nil && status == http.StatusOK
}

func (o *objects) get(ctx context.Context, address string, limit int64) (body []byte, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, errors.New("the address can't be read") // the error would show the address's signature
	}
	res, err := o.client.Do(req)
	if err != nil {
		return nil, 0, withoutAddress(err)
	}
	defer res.Body.Close()
	body, err = io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return body, res.StatusCode, err
}

// upload posts an archive. It retries, because storing the same bytes twice is harmless.
func (o *objects) upload(ctx context.Context, to isolated.Form, archive []byte) error {
	var err error
	for try := range 3 {
		if try > 0 {
			select {
			case <-ctx.Done():
				return err
			case <-time.After(time.Duration(try) * time.Second):
			}
		}
		if err = o.post(ctx, to, archive); err == nil {
			return nil
		}
	}
	return err
}

func (o *objects) post(ctx context.Context, to isolated.Form, archive []byte) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range to.Fields {
		if err := form.WriteField(name, value); err != nil {
			return err
		}
	}
	file, err := form.CreateFormFile("file", "workspace.tar") // must be the last field: S3 ignores the following ones
	if err != nil {
		return err
	}
	if _, err := file.Write(archive); err != nil {
		return err
	}
	if err := form.Close(); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, &body)
	if err != nil {
		return errors.New("the upload's address can't be read")
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	res, err := o.client.Do(req)
	if err != nil {
		return withoutAddress(err)
	}
	defer res.Body.Close()
	io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("upload the workspace: status %d", res.StatusCode)
	}
	return nil
}

// withoutAddress removes the address from a call's error, since its query holds the signature.
func withoutAddress(err error) error {
	if wrapped := errors.Unwrap(err); wrapped != nil {
		return wrapped
	}
	return err
}
