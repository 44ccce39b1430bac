package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/isolated"
)

// inside is the first process of a box. It makes the box, starts the command, ends the processes that the command left
// running, and then packs the workspace.
type inside struct {
	plan    plan
	alone   bool // it is the first process of a PID namespace: every other process that it sees is the command's
	orders  *json.Decoder
	reports *json.Encoder
	root    *os.Root     // of the workspace, opened before the command could replace it
	end     isolated.End // as far as it is known
	over    atomic.Bool  // the command used more memory than it may
}

func runInside() (err error) {
	in := &inside{end: isolated.End{ExitCode: -1, Limit: isolated.EndedEarly}}
	// On Ctrl-C the local stack stops the supervisor, which ends the box. A command would inherit what is ignored.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	if in.plan, in.orders, in.reports, err = takePlan(); err != nil {
		return err
	}
	err = in.furnish()
	var command *stage
	if err == nil {
		command, err = in.startCommand()
	}
	if err != nil {
		return in.reports.Encode(report{Failed: err.Error()})
	}
	defer in.endAll() // also once the supervisor has ended and nobody reads the reports
	if err := in.reports.Encode(report{End: in.end}); err != nil {
		return err
	}
	begin := make(chan bool)
	go in.obey(begin)
	<-begin
	in.run(command)
	if err := in.reports.Encode(report{End: in.end}); err != nil {
		return err
	}
	if !in.endAll() { // a running process could change the workspace during packing
		err = errors.New("what the command left running could not be ended")
	} else {
		err = in.pack()
	}
	if err != nil {
		in.end.Limit = isolated.NotKept + ": " + err.Error()
	} else if in.end.Limit == isolated.EndedEarly {
		in.end.Limit = ""
	}
	return in.reports.Encode(report{End: in.end, Packed: err == nil})
}

// place returns where one of the box's folders is.
func (in *inside) place(name string) string { return filepath.Join(in.plan.Folder, name) }

// furnish makes the box and puts the files into it.
func (in *inside) furnish() (err error) {
	if in.alone = in.plan.Level == namespaces; in.alone {
		if os.Getpid() != 1 {
			return errors.New("it is not the first process of its namespace")
		}
		in.end.Held, err = furnishNamespaces()
	} else {
		// An orphaned process becomes a child of this one, so that it can't escape.
		err = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	}
	if err != nil {
		return err
	}
	// Other processes of the same user must not trace this one or open its files.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close this process to others: %w", err)
	}
	archive := io.LimitReader(os.Stdin, in.plan.Workspace)
	if in.root, err = unpack(archive, in.place(workspaceName)); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, archive); err != nil {
		return err
	}
	return in.layAttached()
}

func unpack(archive io.Reader, folder string) (*os.Root, error) {
	tree, err := files.Read(archive)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	return root, tree.Unpack(root)
}

// layAttached unpacks the attachments outside of the workspace, whose files alone are kept, and leads there by a
// link in the workspace. With namespaces they are on a file system of their own, which is then read-only.
func (in *inside) layAttached() error {
	folder := in.place(attachedName)
	root, err := unpack(os.Stdin, folder)
	if err != nil {
		return fmt.Errorf("lay out the attachments: %w", err)
	}
	defer root.Close()
	names, err := fs.ReadDir(root.FS(), ".")
	if err == nil && in.alone {
		err = restrict(folder, 0, unix.MOUNT_ATTR_RDONLY)
	}
	if err != nil || len(names) == 0 {
		return err
	}
	if err := in.root.MkdirAll(path.Dir(files.AttachedFolder), 0o755); err != nil {
		return err
	}
	if err := in.root.RemoveAll(files.AttachedFolder); err != nil { // the files' own
		return err
	}
	return in.root.Symlink(folder, files.AttachedFolder)
}

// startCommand starts the last stage of the command, and waits until that has given up its rights.
func (in *inside) startCommand() (*stage, error) {
	folder, err := in.root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	defer folder.Close()
	cmd := &exec.Cmd{Dir: fmt.Sprintf("/proc/self/fd/%d", folder.Fd()), Stdout: os.Stdout, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	c, err := start(stageCommand, cmd, in.plan, cmd.Start)
	if err != nil {
		return nil, err
	}
	r, err := c.hear()
	if err != nil {
		return nil, err
	}
	in.end.Held = append(in.end.Held, r.End.Held...)
	if in.alone { // the command's process has set its oom_score_adj, which the command must not change
		err = restrict("/proc", 0, unix.MOUNT_ATTR_RDONLY)
	}
	return c, err
}

// obey carries out the supervisor's orders. When there are no more, it ends the box and this process.
func (in *inside) obey(begin chan<- bool) {
	for {
		var order string
		switch err := in.orders.Decode(&order); {
		case err != nil:
			in.endAll()
			os.Exit(1)
		case order == orderBegin:
			close(begin)
		case order == orderStop:
			in.signalAll(syscall.SIGTERM)
			time.AfterFunc(killAfter, func() { in.signalAll(syscall.SIGKILL) })
		}
	}
}

// run lets the command begin, and reaps children until it ends.
func (in *inside) run(c *stage) {
	go in.watch()
	c.order(orderBegin)
	c.control.Close()
	if r, err := c.hear(); err == nil { // it reports only if it could not execute the command
		in.end.Missing = r.End.Missing
	}
	var status syscall.WaitStatus
	for {
		ended, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		if ended == c.cmd.Process.Pid && err == nil {
			break
		}
		if errors.Is(err, syscall.ECHILD) {
			os.Exit(1) // obey reaped the command
		}
	}
	if in.end.ExitCode = status.ExitStatus(); status.Signaled() {
		in.end.Signal = unix.SignalName(status.Signal())
	}
	if in.over.Load() {
		in.end.Limit = isolated.EndedByMemory
	}
}

// pack writes the workspace's archive for the supervisor.
func (in *inside) pack() error {
	tree, left, err := files.Pack(in.root, ownedHere)
	if err != nil {
		return err
	}
	archive, err := tree.Archive()
	if err != nil {
		return err
	}
	const most = 20
	if len(left) > most {
		left = append(left[:most:most], fmt.Sprintf("and %d more", len(left)-most))
	}
	in.end.Left = left
	_, err = os.NewFile(fileResult, "result").Write(archive)
	return err
}

// ownedHere reports whether a file belongs to this process's user and has no other hard link.
func ownedHere(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() && (info.IsDir() || s.Nlink == 1)
}
