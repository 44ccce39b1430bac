package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"

	"ringi/shared/runtime/isolated"
)

// One binary has all stages of an action, each a process. The supervisor starts inside, which makes the box and watches
// it; inside starts command, which gives up its rights and executes the command. A stage reads its plan and then orders
// from one pipe, and writes reports to another, all in JSON.
const (
	stageInside  = "inside"
	stageCommand = "command"
)

// level is how a command is isolated.
type level string

const (
	// namespaces gives a command its own processes and network, and of this machine's files only the tools, read-only.
	namespaces level = "namespaces"
	// machine is for a virtual machine that was made for this one action.
	machine level = "machine"
)

// plan is what a stage begins with.
type plan struct {
	Level     level
	Argv      []string
	Script    string // instead of Argv
	Seconds   int    // of processor time, for each of the command's processes and processors
	Memory    int64  // bytes
	Folder    string // holds the box's folders
	Workspace int64  // bytes of inside's standard input; what follows is the archive of the attachments
}

// Orders after the plan.
const (
	orderBegin = "begin"
	orderStop  = "stop" // for inside: ask the command to end, and kill it after killAfter
)

// report is what a stage says: that it is ready or failed; then inside, that the command has ended, and that its files
// are packed or can't be. The command's stage says more only if the command can't be executed.
type report struct {
	Failed string       // why nothing can begin
	End    isolated.End // as far as it is known
	Packed bool
}

// maxReports limits what is read of a stage's reports, in bytes.
const maxReports = 4 << 20

// Descriptors of a stage's files.
const (
	fileOrders = 3 + iota
	fileReports
	fileResult // for inside: the place of the packed workspace
)

// stage is a stage's process, as the one that starts it sees it.
type stage struct {
	cmd     *exec.Cmd
	control *os.File // closing it ends the stage
	reports *json.Decoder
}

// start starts a stage and gives it its plan. begin calls cmd.Start.
func start(name string, cmd *exec.Cmd, p plan, begin func() error) (*stage, error) {
	orders, control, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	said, reports, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Path, cmd.Args, cmd.Env = "/proc/self/exe", []string{"run-sandbox", name}, []string{}
	cmd.ExtraFiles = append([]*os.File{orders, reports}, cmd.ExtraFiles...)
	err = begin()
	orders.Close()
	reports.Close()
	if err != nil {
		return nil, fmt.Errorf("start the stage %s: %w", name, err)
	}
	s := &stage{cmd, control, json.NewDecoder(io.LimitReader(said, maxReports))}
	return s, json.NewEncoder(control).Encode(p)
}

// order gives an order. A stage that has ended gets none, which its reports show.
func (s *stage) order(what string) { _ = json.NewEncoder(s.control).Encode(what) }

// hear returns the next report. A failure is an error.
func (s *stage) hear() (r report, err error) {
	if err := s.reports.Decode(&r); err != nil {
		return r, fmt.Errorf("the process ended, or was not ready in time: %w", err)
	}
	if r.Failed != "" {
		return r, errors.New(r.Failed)
	}
	return r, nil
}

// takePlan returns this stage's plan, the orders that follow it and the way for its reports. It prevents the next
// program from inheriting open files: this stage's own, and those that the supervisor had inherited, since a folder's
// descriptor would lead out of the box. Files that Go's runtime opened are close-on-exec; inherited ones are not, and
// are closed. close_range can't mark files in kernels before 5.11, such as Lambda's.
func takePlan() (p plan, orders *json.Decoder, reports *json.Encoder, err error) {
	for fd := fileOrders; fd <= fileResult; fd++ {
		unix.CloseOnExec(fd)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return p, nil, nil, fmt.Errorf("close what was left open: %w", err)
	}
	for _, e := range open {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < fileOrders {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
	orders = json.NewDecoder(os.NewFile(fileOrders, "orders"))
	reports = json.NewEncoder(os.NewFile(fileReports, "reports"))
	if err := orders.Decode(&p); err != nil {
		return p, nil, nil, fmt.Errorf("read the plan: %w", err)
	}
	return p, orders, reports, nil
}
