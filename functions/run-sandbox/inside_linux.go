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
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ringi/shared/domain/files"
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

// Orders for inside.
const (
	orderBegin = "begin\n"
	orderStop  = "stop\n"
)

// The descriptors of inside's files, after the standard three.
const (
	fileControl = 3 + iota
	fileReport
	fileArchive
	fileAttached
	fileResult
	fileOut // standard output of the command
	fileErr
)

func runInside() error {
	if err := keepFiles(fileControl, fileErr); err != nil {
		return err
	}
	in := &inside{report: json.NewEncoder(os.NewFile(fileReport, "report")),
		control: bufio.NewReader(os.NewFile(fileControl, "control"))}
	// On Ctrl-C the local stack stops the supervisor, which ends the box. A command would inherit what is ignored.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	p, err := readPlan(in.control)
	if err != nil {
		return err
	}
	in.plan = p
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
	tree, err := files.Read(os.NewFile(fileArchive, "archive"))
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

// startCommand starts the last stage of the command, and waits until that has given up its rights.
func (in *inside) startCommand() (*command, error) {
	folder, err := in.root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	defer folder.Close()
	stdout, stderr := os.NewFile(fileOut, "stdout"), os.NewFile(fileErr, "stderr")
	defer stdout.Close()
	defer stderr.Close()
	if err := in.openProc(true); err != nil {
		return nil, err
	}
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
		Dir: fmt.Sprintf("/proc/self/fd/%d", folder.Fd()), Env: []string{},
		Files: []uintptr{nothing.Fd(), stdout.Fd(), stderr.Fd(), theirReport.Fd(), theirBegin.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
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
	return c, in.openProc(false)
}

// openProc opens /proc for writing while a command's process sets its oom_score_adj, which the command can't change
// afterwards.
func (in *inside) openProc(writable bool) error {
	if !in.alone {
		return nil
	}
	a := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if writable {
		a = &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/proc", 0, a); err != nil {
		return fmt.Errorf("open or close /proc for writing: %w", err)
	}
	return nil
}

func (c *command) hear() (e event, err error) {
	text, err := c.said.ReadBytes('\n')
	if err != nil {
		return e, err
	}
	err = json.Unmarshal(text, &e)
	return e, err
}

// attend lets the command begin once it is ordered, ends the processes that it leaves, and packs the workspace.
func (in *inside) attend(c *command) error {
	begin := make(chan bool, 1)
	go in.obey(begin)
	if !<-begin {
		in.endAll()
		return nil
	}
	if !in.run(c) { // a running process could change the workspace during packing
		return in.report.Encode(event{Refused: "what the command left running could not be ended"})
	}
	return in.report.Encode(in.pack())
}

// run runs the command to its end, and reports whether none of its processes is left.
func (in *inside) run(c *command) bool {
	go in.watch()
	io.WriteString(c.begin, orderBegin)
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
	return in.endAll()
}

// obey carries out the supervisor's orders until the supervisor ends, and says when the command may begin.
func (in *inside) obey(begin chan<- bool) {
	for {
		switch text, err := in.control.ReadString('\n'); {
		case err != nil:
			if in.finished.Load() {
				os.Exit(1) // no process is left to kill, and nobody waits for the workspace
			}
			close(begin)
			in.signalAll(syscall.SIGKILL)
			time.Sleep(5 * time.Second) // attend should notice the command's end and end this process
			os.Exit(1)
		case text == orderBegin:
			begin <- true
		case text == orderStop:
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
	tree, left, err := files.Pack(in.root, ownedHere)
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
