package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ringi/shared/domain/conversation"
)

// inside is the first process of a box. It makes the box, starts the command, ends the processes that the command left
// running, and then packs the workspace.
type inside struct {
	plan     plan
	alone    bool // it is the first process of a PID namespace: every other process that it sees is the command's
	report   *json.Encoder
	control  *bufio.Reader
	folder   string   // the workspace's path
	root     *os.Root // the same, opened before the command could replace it
	held     []string
	limit    atomic.Pointer[string] // the limit that ended the command
	finished atomic.Bool            // the command has ended
}

// The descriptors of inside's files, after the standard three.
const (
	fileControl = 3 + iota
	fileReport
	fileArchive
	fileAttached
	fileResult
)

func runInside() error {
	if err := keepFiles(fileControl, fileResult); err != nil {
		return err
	}
	in := &inside{report: json.NewEncoder(os.NewFile(fileReport, "report")),
		control: bufio.NewReader(os.NewFile(fileControl, "control"))}
	// On Ctrl-C the local stack stops the supervisor, which ends the box.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	text, err := in.control.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, &in.plan)
	}
	if err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	if err := in.furnish(); err != nil {
		return in.report.Encode(event{Failed: err.Error()})
	}
	c, err := in.startCommand()
	if err != nil {
		return in.report.Encode(event{Failed: err.Error()})
	}
	in.report.Encode(event{Held: append(in.held, c.held...)})
	return in.attend(c)
}

func (in *inside) furnish() error {
	var err error
	if in.plan.Level == namespaces {
		if os.Getpid() != 1 {
			return errors.New("it is not the first process of its namespace")
		}
		in.alone, in.folder = true, workspaceFolder
		if err := resetSignals(); err != nil {
			return err
		}
		in.held, err = furnishNamespaces(in.plan.Attached)
	} else {
		// An orphaned process becomes a child of this one, so that it can't escape.
		in.folder = filepath.Join(in.plan.Folder, workspaceName)
		err = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	}
	if err != nil {
		return err
	}
	// Other processes of the same user must not trace this one or open its files.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close this process to others: %w", err)
	}
	tree, err := conversation.ReadFiles(os.NewFile(fileArchive, "archive"))
	if err != nil {
		return err
	}
	if in.root, err = os.OpenRoot(in.folder); err != nil {
		return err
	}
	if err := tree.Unpack(in.root); err != nil || !in.plan.Attached {
		return err
	}
	return in.layAttached()
}

// command is the process of the last stage, which waits and then executes the command.
type command struct {
	pid   int
	held  []string
	begin *os.File // takes the plan, then the word to begin
	said  *bufio.Reader
}

// startCommand starts the last stage and waits until that has given up its rights.
func (in *inside) startCommand() (*command, error) {
	report, theirReport, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	theirBegin, begin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{"run-sandbox", stageCommand}, &syscall.ProcAttr{
		Dir: in.folder, Env: []string{}, Files: []uintptr{nothing.Fd(), 1, 2, theirReport.Fd(), theirBegin.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	nothing.Close()
	theirReport.Close()
	theirBegin.Close()
	if err != nil {
		return nil, fmt.Errorf("start the command's process: %w", err)
	}
	c := &command{pid: pid, begin: begin, said: bufio.NewReader(report)}
	if err := json.NewEncoder(begin).Encode(in.plan); err != nil {
		return nil, err
	}
	e, err := c.hear()
	if err != nil {
		return nil, fmt.Errorf("the command's process ended: %w", err)
	}
	if e.Failed != "" {
		return nil, errors.New(e.Failed)
	}
	c.held = e.Held
	if in.alone { // so that the command can't change its oom_score_adj
		if err := unix.MountSetattr(unix.AT_FDCWD, "/proc", 0,
			&unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return nil, fmt.Errorf("close /proc for writing: %w", err)
		}
	}
	return c, nil
}

func (c *command) hear() (e event, err error) {
	text, err := c.said.ReadBytes('\n')
	if err != nil {
		return e, err
	}
	err = json.Unmarshal(text, &e)
	return e, err
}

// attend lets the command begin, waits for its end, ends its other processes and packs the workspace.
func (in *inside) attend(c *command) error {
	if text, err := in.control.ReadString('\n'); err != nil || text != "begin\n" {
		in.endAll()
		return nil
	}
	go in.obey()
	go in.watch()
	var counting sync.WaitGroup
	counting.Go(in.watchFiles)
	io.WriteString(c.begin, "begin\n")
	c.begin.Close()
	if e, err := c.hear(); err == nil { // it reports only if it could not execute the command
		in.report.Encode(e)
	}
	status := in.wait(c.pid)
	in.finished.Store(true)
	if why := in.limit.Load(); why != nil {
		in.report.Encode(event{Limit: *why})
	}
	end := &exit{Code: status.ExitStatus()}
	if status.Signaled() {
		end = &exit{Code: -1, Signal: unix.SignalName(status.Signal())}
	}
	in.report.Encode(event{Exit: end})
	if !in.endAll() { // a running process could change the workspace during packing
		return in.report.Encode(event{Refused: "what the command left running could not be ended"})
	}
	counting.Wait() // counting changes the modes of folders meanwhile
	return in.report.Encode(in.pack())
}

// obey carries out the supervisor's orders until the supervisor ends.
func (in *inside) obey() {
	for {
		text, err := in.control.ReadString('\n')
		if err != nil {
			if in.finished.Load() {
				os.Exit(1) // no process is left to kill, and nobody waits for the workspace
			}
			in.signalAll(syscall.SIGKILL)
			time.Sleep(5 * time.Second) // attend should notice the command's end and end this process
			os.Exit(1)
		}
		if text == "stop\n" {
			in.signalAll(syscall.SIGTERM)
			time.AfterFunc(2*time.Second, func() {
				if !in.finished.Load() {
					in.signalAll(syscall.SIGKILL)
				}
			})
		}
	}
}

// wait reaps children until the command ends.
func (in *inside) wait(pid int) syscall.WaitStatus {
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		if ended == pid && err == nil {
			return status
		}
		if errors.Is(err, syscall.ECHILD) {
			os.Exit(1) // another process reaped the command
		}
	}
}

// pack writes the workspace's archive for the supervisor.
func (in *inside) pack() event {
	tree, left, err := conversation.Pack(in.root, ownedHere)
	if err != nil {
		return event{Refused: err.Error()}
	}
	archive, err := tree.Archive()
	if err == nil {
		_, err = os.NewFile(fileResult, "result").Write(archive)
	}
	if err != nil {
		return event{Refused: err.Error()}
	}
	const most = 20
	if len(left) > most {
		left = append(left[:most:most], fmt.Sprintf("and %d more", len(left)-most))
	}
	return event{Packed: true, Left: left}
}

// ownedHere reports whether a file belongs to this process's user and has no other hard link.
func ownedHere(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid() && (info.IsDir() || s.Nlink == 1)
}
