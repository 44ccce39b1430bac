package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

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
	p, orders, reports, err := takePlan()
	if err != nil {
		return err
	}
	held, err := giveUp(p)
	if err != nil {
		return reports.Encode(report{Failed: err.Error()})
	}
	if err := reports.Encode(report{End: isolated.End{Held: held}}); err != nil {
		return err
	}
	var order string
	if err := orders.Decode(&order); err != nil { // there is nobody any more who gives it
		return err
	}
	// Python leaves no compiled files beside the sources: they would be changes that nobody can read, and nothing that
	// people can't read becomes a pull request.
	temporary, programs := filepath.Join(p.Folder, temporaryName), searched(p.Level)
	environment := []string{
		"PATH=" + programs, "HOME=" + temporary, "TMPDIR=" + temporary, "LANG=C.UTF-8", "TZ=UTC", "TERM=dumb",
		"NO_COLOR=1", "CI=true", "USER=sandbox", "PYTHONDONTWRITEBYTECODE=1",
	}
	os.Setenv("PATH", programs)
	argv := p.Argv
	if p.Script != "" {
		argv = []string{"bash", "-c", "--", p.Script}
		if _, err := exec.LookPath("bash"); err != nil {
			argv[0] = "sh"
		}
	}
	path, err := exec.LookPath(argv[0])
	if err == nil {
		err = syscall.Exec(path, argv, environment)
	}
	// Also the interpreter or loader of a program may be missing.
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		reports.Encode(report{End: isolated.End{Missing: argv[0]}})
		os.Exit(127)
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", argv[0], err)
	os.Exit(126)
	return nil
}

// searched returns the folders in which a command finds programs. In Lambda, the function's package has Python.
func searched(l level) string {
	own, err := os.Executable()
	if l != machine || err != nil {
		return isolated.Searched
	}
	return isolated.Searched + ":" + filepath.Join(filepath.Dir(own), isolated.Beside)
}

// giveUp gives up every right that a command must not have, and returns the isolation measures that now hold.
func giveUp(p plan) (held []string, err error) {
	// If memory runs out, the kernel kills the command first. A failure does no harm.
	os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if err := setLimits(p); err != nil {
		return nil, err
	}
	if err := dropCapabilities(); err != nil {
		return nil, fmt.Errorf("give up capabilities: %w", err)
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
		return err
	}
	for c := uintptr(0); c < 64; c++ {
		// EPERM: without CAP_SETPCAP there is nothing to drop. EINVAL: the kernel has no further capability.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) &&
			!errors.Is(err, unix.EINVAL) {
			return err
		}
	}
	var none [2]unix.CapUserData
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}

// refused are system calls that no test or build needs and that could help to leave a box or attack the kernel: they
// concern namespaces and mounts, other processes, the kernel's programs and keys. What the kernel allows only to its
// administrators, such as to load modules or to set the clock, it refuses by itself: a command has no capability.
var refused = []uint32{
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PIDFD_GETFD,
	unix.SYS_KCMP,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER,
	unix.SYS_IO_URING_REGISTER, unix.SYS_FANOTIFY_INIT,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_SYSLOG, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES, unix.SYS_PERSONALITY,
}

// uncounted are system calls that allocate memory outside any process, which can't be counted: System V shared memory,
// semaphores and queues (also shared with others if there is no namespace), and pages held only by a pipe.
var uncounted = []uint32{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP,
	unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_VMSPLICE,
}

// missing are answered as if the kernel were too old for them, so that programs use an alternative. memfd files can't
// be counted; a filter can't read the flags of clone3, which are in memory; inotify would reveal the names of files
// that others use in shared folders.
var missing = []uint32{unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_CLONE3, unix.SYS_INOTIFY_ADD_WATCH}

// queues would reach other processes' message queues if the command has no namespace of its own.
var queues = []uint32{unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK}

// namespaceFlags are the flags by which clone makes a namespace.
const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// program is a BPF filter under construction.
type program []unix.SockFilter

func (p *program) add(code uint16, k uint32, otherwise uint8) {
	*p = append(*p, unix.SockFilter{Code: code, Jf: otherwise, K: k})
}

// load loads a part of struct seccomp_data on little-endian machines: what is at 0 is the call, at 4 the architecture.
func (p *program) load(place uint32)      { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, place, 0) }
func (p *program) loadArgument(n uint32)  { p.load(16 + 8*n) }
func (p *program) answer(verdict uint32)  { p.add(unix.BPF_RET|unix.BPF_K, verdict, 0) }
func errno(e unix.Errno) (verdict uint32) { return unix.SECCOMP_RET_ERRNO | uint32(e) }

// when adds what follows if the loaded value passes a test, and is skipped otherwise.
func (p *program) when(test uint16, k uint32, then func(p *program)) {
	var body program
	then(&body)
	p.add(unix.BPF_JMP|test|unix.BPF_K, k, uint8(len(body)))
	*p = append(*p, body...)
}

// refuse answers what passes a test for one of the values with an error.
func (p *program) refuse(test uint16, e unix.Errno, values ...uint32) {
	for _, k := range values {
		p.when(test, k, func(p *program) { p.answer(errno(e)) })
	}
}

// argument looks at an argument of one system call, which is allowed if nothing refuses it.
func (p *program) argument(call, n uint32, look func(p *program)) {
	p.when(unix.BPF_JEQ, call, func(p *program) {
		p.loadArgument(n)
		look(p)
		p.answer(unix.SECCOMP_RET_ALLOW)
	})
}

// filter refuses calls with the kernel's usual errors, which programs can handle.
func filter(arch uint32, alone bool) []unix.SockFilter {
	var p program
	p.load(4)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, arch, 1)
	p.add(unix.BPF_JMP|unix.BPF_JA, 1, 0)
	p.answer(unix.SECCOMP_RET_KILL_PROCESS) // call numbers differ between architectures
	p.load(0)
	if arch == unix.AUDIT_ARCH_X86_64 { // so has x32
		p.refuse(unix.BPF_JGE, unix.ENOSYS, 0x40000000)
	}
	p.refuse(unix.BPF_JEQ, unix.EPERM, slices.Concat(refused, uncounted)...)
	p.refuse(unix.BPF_JEQ, unix.ENOSYS, missing...)
	// Shared anonymous memory can outlive its mapping, so it can't be counted. MAP_SHARED_VALIDATE has its bit.
	p.argument(unix.SYS_MMAP, 3, func(p *program) {
		p.when(unix.BPF_JSET, unix.MAP_ANONYMOUS, func(p *program) { p.refuse(unix.BPF_JSET, unix.EPERM, unix.MAP_SHARED) })
	})
	p.argument(unix.SYS_CLONE, 0, func(p *program) { p.refuse(unix.BPF_JSET, unix.EPERM, namespaceFlags) })
	// These two can type into a terminal.
	p.argument(unix.SYS_IOCTL, 1, func(p *program) { p.refuse(unix.BPF_JEQ, unix.EPERM, unix.TIOCSTI, unix.TIOCLINUX) })
	// Only its own limits, not those of inside, which counts.
	p.argument(unix.SYS_PRLIMIT64, 0, func(p *program) {
		p.when(unix.BPF_JEQ, 0, func(p *program) { p.answer(unix.SECCOMP_RET_ALLOW) })
		p.answer(errno(unix.EPERM))
	})
	if alone {
		p.argument(unix.SYS_SOCKET, 0, ownSockets)
	} else {
		p.refuse(unix.BPF_JEQ, unix.EPERM, queues...)
		p.refuse(unix.BPF_JEQ, unix.EACCES, unix.SYS_SOCKET)
	}
	p.answer(unix.SECCOMP_RET_ALLOW)
	return p
}

// ownSockets allows only families that stay within the command's own network. Others, such as vsock to a virtual
// machine's host, ignore network namespaces.
func ownSockets(p *program) {
	for _, family := range []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6} {
		p.when(unix.BPF_JEQ, family, func(p *program) { p.answer(unix.SECCOMP_RET_ALLOW) })
	}
	p.when(unix.BPF_JEQ, unix.AF_NETLINK, func(p *program) { // route messages only, which list the box's interfaces
		p.loadArgument(2)
		p.when(unix.BPF_JEQ, unix.NETLINK_ROUTE, func(p *program) { p.answer(unix.SECCOMP_RET_ALLOW) })
	})
	p.answer(errno(unix.EAFNOSUPPORT))
}

// filterCalls installs the filter for this thread and its children. alone says that the command has namespaces.
func filterCalls(alone bool) error {
	arch, ok := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("there is no filter of system calls for %s", runtime.GOARCH)
	}
	f := filter(arch, alone)
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0,
		0); err != nil {
		return fmt.Errorf("filter system calls: %w", err)
	}
	runtime.KeepAlive(f)
	return nil
}
