package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ringi/shared/runtime/isolated"
)

// The limits of one process of a command, unless noted otherwise.
const (
	maxProcesses  = 512 // processes and threads of the whole box
	maxFiles      = 1024
	maxFileBytes  = 128 << 20
	maxDataBytes  = memory
	maxQueueBytes = 64 << 10
)

// runCommand gives up this process's rights that the command must not have, reports that, waits for its turn and
// executes the command. It stays on one thread, since some of these restrictions apply to a thread only.
func runCommand() error {
	runtime.LockOSThread()
	if err := keepFiles(3, 4); err != nil {
		return err
	}
	report, orders := json.NewEncoder(os.NewFile(3, "report")), bufio.NewReader(os.NewFile(4, "orders"))
	var p plan
	text, err := orders.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	held, err := giveUp(p)
	if err != nil {
		return report.Encode(event{Failed: err.Error()})
	}
	if err := report.Encode(event{Held: held}); err != nil {
		return err
	}
	if text, err := orders.ReadString('\n'); err != nil || text != "begin\n" {
		return nil
	}
	argv := p.Argv
	if script := p.Script; script != "" {
		argv = []string{"bash", "-c", "--", script}
		if lookUp(p, "bash") == "" {
			argv[0] = "sh"
		}
	}
	path := lookUp(p, argv[0])
	if path == "" {
		report.Encode(event{Missing: argv[0]})
		os.Exit(127)
	}
	err = syscall.Exec(path, argv, variables(p))
	if errors.Is(err, syscall.ENOENT) { // its interpreter or loader is missing
		report.Encode(event{Missing: argv[0]})
		os.Exit(127)
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", argv[0], err)
	os.Exit(126)
	return nil
}

// keepFiles prevents the next program from inheriting open files: this stage's own, first to last, and those that the
// supervisor had inherited, since a folder's descriptor would lead out of the box. Files that Go's runtime opened are
// close-on-exec; inherited ones are not, and are closed. It replaces close_range, which can't mark files in kernels
// before 5.11, such as Lambda's.
func keepFiles(first, last int) error {
	for fd := first; fd <= last; fd++ {
		unix.CloseOnExec(fd)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("close what was left open: %w", err)
	}
	for _, e := range open {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < first {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
	return nil
}

// lookUp returns the path of a tool, or "" if there is none. A name with a slash is a path already.
func lookUp(p plan, name string) string {
	if strings.Contains(name, "/") {
		if _, err := os.Stat(name); err != nil {
			return ""
		}
		return name
	}
	return isolated.FindIn(searched(p), name)
}

// searched returns the folders in which a command finds programs. In Lambda, the function's package has Python.
func searched(p plan) string {
	own, err := os.Executable()
	if p.Level != machine || err != nil {
		return isolated.Searched
	}
	return isolated.Searched + ":" + filepath.Join(filepath.Dir(own), isolated.Beside)
}

// variables returns the command's complete environment. Python leaves no compiled files beside the sources: they would
// be changes that nobody can read, and nothing that people can't read becomes a pull request.
func variables(p plan) []string {
	temporary := temporaryFolder
	if p.Folder != "" {
		temporary = filepath.Join(p.Folder, temporaryName)
	}
	return []string{
		"PATH=" + searched(p), "HOME=" + temporary, "TMPDIR=" + temporary, "LANG=C.UTF-8", "TZ=UTC", "TERM=dumb",
		"NO_COLOR=1", "CI=true", "USER=sandbox", "PYTHONDONTWRITEBYTECODE=1",
	}
}

// giveUp gives up every right that a command must not have, and returns the isolation measures that now hold.
func giveUp(p plan) (held []string, err error) {
	// If memory runs out, the kernel kills the command first. A failure does no harm.
	os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if err := setLimits(p); err != nil {
		return nil, err
	}
	if err := dropCapabilities(); err != nil {
		return nil, err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("give up new privileges: %w", err)
	}
	held = []string{"no capabilities and no new privileges",
		fmt.Sprintf("limits of each process and of their number (%d)", maxProcesses)}
	switch err := filterCalls(p.Level == namespaces); {
	case err == nil && p.Level == namespaces:
		held = append(held, "system calls by a filter")
	case err == nil:
		held = append(held, "system calls by a filter: no sockets")
	}
	return held, nil
}

func setLimits(p plan) error {
	processes := uint64(maxProcesses)
	if p.Level != namespaces { // the kernel counts all processes of this user, even those outside the box
		processes += threadsOf(os.Getuid())
	}
	for _, l := range []struct {
		name     string
		resource int
		most     uint64
	}{
		{"processes", unix.RLIMIT_NPROC, processes},
		{"open files", unix.RLIMIT_NOFILE, maxFiles},
		{"a file's bytes", unix.RLIMIT_FSIZE, maxFileBytes},
		{"memory", unix.RLIMIT_DATA, maxDataBytes},
		{"core files", unix.RLIMIT_CORE, 0},
		{"locked memory", unix.RLIMIT_MEMLOCK, maxQueueBytes},
		{"message queues", unix.RLIMIT_MSGQUEUE, maxQueueBytes},
		{"processor time", unix.RLIMIT_CPU, uint64(p.Seconds*runtime.NumCPU() + 1)},
	} {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("read the limit of %s: %w", l.name, err)
		}
		most := min(l.most, now.Max)
		// Only syscall.Setrlimit keeps Go's runtime from restoring the original limit of open files at Exec.
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
	}
	return nil
}

func threadsOf(uid int) (count uint64) {
	tasks, _ := filepath.Glob("/proc/[0-9]*/task/[0-9]*")
	for _, task := range tasks {
		var s unix.Stat_t
		if unix.Stat(task, &s) == nil && int(s.Uid) == uid {
			count++
		}
	}
	return count
}

// dropCapabilities drops all capabilities, also those that executing a program could give back.
func dropCapabilities() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	for c := uintptr(0); c < 64; c++ {
		// EPERM: without CAP_SETPCAP there is nothing to drop. EINVAL: the kernel has no further capability.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) &&
			!errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("give up capabilities: %w", err)
		}
	}
	var none [2]unix.CapUserData
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}

// The folders of a box without namespaces. A command can write only below the first two.
const (
	workspaceName = "workspace"
	temporaryName = "tmp"
	attachedName  = "attachments"
)

// boxPrefix begins the names of box folders.
const boxPrefix = "ringi-sandbox-"

// makeFolder makes the folder of a box on a machine of its own, which ends with the box.
func makeFolder(uid int) (folder string, err error) {
	folder, err = os.MkdirTemp("", boxPrefix)
	for _, name := range []string{workspaceName, temporaryName, attachedName, ""} {
		path := filepath.Join(folder, name)
		if name != "" && err == nil {
			err = os.Mkdir(path, 0o700)
		}
		if err == nil {
			err = os.Chown(path, uid, -1)
		}
	}
	if err != nil {
		return "", fmt.Errorf("make the room: %w", err)
	}
	return folder, nil
}
