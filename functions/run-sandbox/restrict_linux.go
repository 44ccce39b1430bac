package main

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

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

// Offsets in struct seccomp_data on little-endian machines.
const (
	placeCall = 0
	placeArch = 4
)

func placeArgument(n int) uint32 { return uint32(16 + 8*n) }

// program is a BPF filter under construction.
type program []unix.SockFilter

func (p *program) load(place uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: place})
}

// unless skips the next count instructions if the loaded value fails the test.
func (p *program) unless(test uint16, k uint32, count uint8) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, Jf: count, K: k})
}

func (p *program) answer(verdict uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict})
}

func errno(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

// filter refuses calls with the kernel's usual errors, which programs can handle.
func filter(arch uint32, alone bool) []unix.SockFilter {
	var p program
	p.load(placeArch)
	p.unless(unix.BPF_JEQ, arch, 1)
	p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA, K: 1})
	p.answer(unix.SECCOMP_RET_KILL_PROCESS) // call numbers differ between architectures
	p.load(placeCall)
	if arch == unix.AUDIT_ARCH_X86_64 { // so has x32
		p.unless(unix.BPF_JGE, 0x40000000, 1)
		p.answer(errno(unix.ENOSYS))
	}
	all := slices.Concat(refused, uncounted)
	if !alone {
		all = append(all, queues...)
	}
	for _, call := range all {
		p.unless(unix.BPF_JEQ, call, 1)
		p.answer(errno(unix.EPERM))
	}
	for _, call := range missing {
		p.unless(unix.BPF_JEQ, call, 1)
		p.answer(errno(unix.ENOSYS))
	}

	// Shared anonymous memory can outlive its mapping, so it can't be counted.
	p.unless(unix.BPF_JEQ, unix.SYS_MMAP, 5)
	p.load(placeArgument(3))
	p.unless(unix.BPF_JSET, unix.MAP_ANONYMOUS, 2)
	p.unless(unix.BPF_JSET, unix.MAP_SHARED, 1) // MAP_SHARED_VALIDATE contains this bit
	p.answer(errno(unix.EPERM))
	p.answer(unix.SECCOMP_RET_ALLOW)

	p.unless(unix.BPF_JEQ, unix.SYS_CLONE, 4)
	p.load(placeArgument(0))
	p.unless(unix.BPF_JSET, namespaceFlags, 1)
	p.answer(errno(unix.EPERM))
	p.answer(unix.SECCOMP_RET_ALLOW)

	p.unless(unix.BPF_JEQ, unix.SYS_IOCTL, 6) // TIOCSTI and TIOCLINUX can type into a terminal
	p.load(placeArgument(1))
	p.unless(unix.BPF_JEQ, unix.TIOCSTI, 1)
	p.answer(errno(unix.EPERM))
	p.unless(unix.BPF_JEQ, unix.TIOCLINUX, 1)
	p.answer(errno(unix.EPERM))
	p.answer(unix.SECCOMP_RET_ALLOW)

	p.unless(unix.BPF_JEQ, unix.SYS_PRLIMIT64, 4) // only its own limits, not those of inside, which counts
	p.load(placeArgument(0))
	p.unless(unix.BPF_JEQ, 0, 1)
	p.answer(unix.SECCOMP_RET_ALLOW)
	p.answer(errno(unix.EPERM))
	p.sockets(alone)
	p.answer(unix.SECCOMP_RET_ALLOW)
	return p
}

// sockets allows only families that stay within the command's own network, or none if it has no such network. Other
// families, such as vsock to a virtual machine's host, ignore network namespaces and are always refused.
func (p *program) sockets(alone bool) {
	if !alone {
		p.unless(unix.BPF_JEQ, unix.SYS_SOCKET, 1)
		p.answer(errno(unix.EACCES))
		return
	}
	families := []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6}
	p.unless(unix.BPF_JEQ, unix.SYS_SOCKET, uint8(6+2*len(families)))
	p.load(placeArgument(0))
	for _, family := range families {
		p.unless(unix.BPF_JEQ, family, 1)
		p.answer(unix.SECCOMP_RET_ALLOW)
	}
	p.unless(unix.BPF_JEQ, unix.AF_NETLINK, 3) // route messages only, which list the box's interfaces
	p.load(placeArgument(2))
	p.unless(unix.BPF_JEQ, unix.NETLINK_ROUTE, 1)
	p.answer(unix.SECCOMP_RET_ALLOW)
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
