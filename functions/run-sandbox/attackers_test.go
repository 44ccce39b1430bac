//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attacks are programs of a hostile command. They are in this test's own binary, which the workspace contains, so that
// no attack depends on installed tools. Each prints its success.
var attacks = map[string]func(args []string){
	"calls": attackByCalls, "network": attackTheNetwork, "parent": attackTheParent,
	"files":      attackOpenFiles,
	"leaderless": attackWithoutFirstThread, "hoard": attackByHoarding,
	"devices": attackDevices,
}

// got prints that an attack succeeded; a test looks for it.
func got(format string, args ...any) { fmt.Printf("GOT "+format+"\n", args...) }

func attackByCalls(args []string) {
	try := func(name string, call uintptr, a ...uintptr) {
		var all [6]uintptr
		copy(all[:], a)
		if _, _, errno := syscall.RawSyscall6(call, all[0], all[1], all[2], all[3], all[4], all[5]); errno != unix.EPERM &&
			errno != unix.ENOSYS && errno != unix.EAFNOSUPPORT && errno != unix.EACCES {
			got("%s: %v", name, errno)
		}
	}
	text := func(s string) uintptr { return uintptr(unsafe.Pointer(&append([]byte(s), 0)[0])) }
	try("unshare", unix.SYS_UNSHARE, unix.CLONE_NEWUSER)
	try("clone into name spaces", unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD))
	try("clone3", unix.SYS_CLONE3, 0, 0)
	try("mount", unix.SYS_MOUNT, text("none"), text("/tmp"), text("tmpfs"), 0, 0)
	try("umount", unix.SYS_UMOUNT2, text("/proc"), unix.MNT_DETACH)
	try("ptrace", unix.SYS_PTRACE, unix.PTRACE_ATTACH, uintptr(os.Getppid()))
	try("bpf", unix.SYS_BPF, 0, 0, 0)
	try("keyctl", unix.SYS_KEYCTL, 0, 0)
	try("io_uring", unix.SYS_IO_URING_SETUP, 1, 0)
	try("userfaultfd", unix.SYS_USERFAULTFD, 0)
	try("perf", unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, 0)
	try("open_by_handle", unix.SYS_OPEN_BY_HANDLE_AT, 0, 0, 0)
	try("process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, uintptr(os.Getppid()), 0, 0, 0, 0)
	try("vsock", unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM, 0)
	try("packets", unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW, 0)
	try("raw", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
	try("netlink", unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT)
	try("a file without a name", unix.SYS_MEMFD_CREATE, text("x"), 0)
	try("secret memory", unix.SYS_MEMFD_SECRET, 0)
	try("shared memory", unix.SYS_MMAP, 0, 4096, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_ANONYMOUS, ^uintptr(0))
	try("shared memory, validated", unix.SYS_MMAP, 0, 4096, unix.PROT_READ, unix.MAP_SHARED_VALIDATE|unix.MAP_ANONYMOUS,
		^uintptr(0))
	try("System V's memory", unix.SYS_SHMGET, 0x52494e47, 4096, 0o1666)
	try("System V's semaphores", unix.SYS_SEMGET, 0, 32000, 0o1666)
	try("System V's queues", unix.SYS_MSGGET, 0, 0o1666)
	try("pages in a pipe", unix.SYS_VMSPLICE, ^uintptr(0), 0, 0, 0)
	try("limits of others", unix.SYS_PRLIMIT64, uintptr(os.Getppid()), unix.RLIMIT_NOFILE, 0, 0)
	try("a look at what others do in a folder", unix.SYS_INOTIFY_ADD_WATCH, ^uintptr(0), text("/usr/bin"), unix.IN_OPEN)
	try("the host's name", unix.SYS_SETHOSTNAME, text("x"), 1)
	// The root of a container may have no other user to give; outside of it, it is nobody.
	before := os.Getuid()
	if syscall.RawSyscall(unix.SYS_SETUID, 0, 0, 0); before != 0 && (os.Getuid() == 0 || os.Geteuid() == 0) {
		got("root")
	}
	if args[0] != string(namespaces) {
		try("queues of others", unix.SYS_MQ_OPEN, text("ringi"), unix.O_CREAT|unix.O_RDWR, 0o600, 0)
	}
	if args[0] != string(machine) { // at level machine only the filter holds, and files are as readable as for anybody
		attackByFiles()
	}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &caps[0]); err != nil ||
		caps != [2]unix.CapUserData{} {
		got("capabilities %v %v", caps, err)
	}
	if set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); set != 1 {
		got("new privileges %v", err)
	}
	fmt.Println("tried")
}

// attackByFiles opens what only others may read, and writes where only others may.
func attackByFiles() {
	for _, path := range []string{"/etc/shadow", "/root", "/home", "/var/log", "/sys", "/run", "/proc/1/environ",
		"/proc/1/fd", "/proc/1/mem", "/proc/1/root/etc"} {
		if f, err := os.Open(path); err == nil {
			got("%s", path)
			f.Close()
		}
	}
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err == nil {
		got("who ends first when memory is short")
	}
	for _, path := range []string{"/usr/x", "/bin/x", "/etc/x", "/x", "/dev/x", "/etc/passwd"} {
		if f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
			got("writes %s", path)
			f.Close()
		}
	}
}

func attackTheNetwork(targets []string) {
	for _, target := range targets {
		network, address, _ := strings.Cut(target, " ")
		c, err := net.DialTimeout(network, address, time.Second)
		if err != nil {
			continue
		}
		// A datagram to the box's own loopback never fails; the host checks whether it arrived.
		if _, err = c.Write([]byte("x")); network != "udp" || err == nil && !strings.HasPrefix(address, "127.") &&
			!ownAddress(address) {
			got("%s", target)
		}
		c.Close()
	}
	if names, err := net.LookupHost("example.com"); err == nil {
		got("the names %v", names)
	}
	fmt.Println("tried")
}

// attackOpenFiles looks for files that were open before this program began. Its own runtime's files are close-on-exec.
func attackOpenFiles([]string) {
	for fd := 3; fd < maxFiles; fd++ {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			got("file %d", fd)
		}
	}
	fmt.Println("tried")
}

func attackTheParent([]string) {
	parent := os.Getppid()
	if err := syscall.Kill(parent, syscall.SIGSTOP); err == nil && parent != 1 {
		got("stopped it")
		syscall.Kill(parent, syscall.SIGCONT)
	}
	syscall.Kill(parent, syscall.SIGKILL)
	if _, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", parent)); err == nil {
		got("its files")
	}
	if f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", parent), os.O_RDWR, 0); err == nil ||
		errors.Is(err, fs.ErrExist) {
		got("its memory")
		f.Close()
	}
	time.Sleep(300 * time.Millisecond)
	fmt.Println("tried")
}

func ownAddress(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	for _, own := range addresses() {
		if own == host {
			return true
		}
	}
	return false
}

func addresses() []string {
	list := []string{"127.0.0.1"}
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			list = append(list, ip.IP.String())
		}
	}
	return list
}

func init() {
	if len(os.Args) > 2 && os.Args[1] == "attack" {
		runtime.LockOSThread() // attacks run in their process's first thread
	}
}

// attackWithoutFirstThread ends the first thread of its process, which then looks like a zombie, and continues in
// another thread, with a child. The arguments are the MiB that it holds and the seconds that it lives.
func attackWithoutFirstThread(args []string) {
	seconds, _ := strconv.Atoi(args[1])
	ready := make(chan bool)
	go func() {
		held := holdMemory(args[0])
		c := exec.Command("sleep", args[1])
		c.Args[0] = strayed + "unseen"
		c.Start()
		ready <- true
		time.Sleep(time.Duration(seconds) * time.Second)
		got("%d bytes for %d s", len(held), seconds)
		os.Exit(0)
	}()
	<-ready
	syscall.RawSyscall(unix.SYS_EXIT, 0, 0, 0) // ends only this thread
}

// strayed begins the first argument of processes that try to outlive their box.
const strayed = "strayed-"

// attackByHoarding uses more memory than allowed, in processes of which each has less: two without their first threads,
// and its own. The argument is the MiB of each.
func attackByHoarding(args []string) {
	for range 2 {
		c := exec.Command("./attacker", "attack", "leaderless", args[0], "15")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Start(); err != nil {
			fmt.Println(err)
		}
	}
	held := holdMemory(args[0])
	time.Sleep(15 * time.Second)
	got("%d bytes", len(held))
}

// holdMemory uses so many MiB directly from the kernel: a race build keeps shadow memory of more than twice the heap's
// size, too much for one process. Where a box gives shared memory, it uses that.
func holdMemory(mib string) (b []byte) {
	n, _ := strconv.Atoi(mib)
	err := error(unix.EPERM)
	if f, none := os.OpenFile("/dev/zero", os.O_RDWR, 0); none == nil {
		b, err = unix.Mmap(int(f.Fd()), 0, n<<20+1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		b, err = unix.Mmap(-1, 0, n<<20+1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	return b
}

// attackDevices changes a device's attributes, which belong to the machine. It looks for the error of a read-only
// mount: a user other than the machine's root would be refused anyway.
func attackDevices([]string) {
	for _, name := range devices {
		path := "/dev/" + name
		if err := os.Chmod(path, 0o600); !errors.Is(err, unix.EROFS) {
			got("the mode of %s: %v", name, err)
		}
		if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); !errors.Is(err, unix.EROFS) {
			got("the times of %s: %v", name, err)
		}
	}
	if err := os.WriteFile("/dev/null", []byte("x"), 0); err != nil {
		got("no device to write: %v", err)
	}
	fmt.Println("tried")
}
