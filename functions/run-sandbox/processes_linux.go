package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ringi/shared/runtime/isolated"
)

// placeThreads is the place of the number of threads in a process's stat, counted from its state.
const placeThreads = 17

// process is a process of the isolated command.
type process struct{ pid, parent int }

// ownMemory are the kinds of memory that are a process's and no file's, in memory or swapped out, with the tables of
// its pages. sharedMemory is that of files in memory: of a box with such files, which are bounded, it would count them
// twice.
var (
	ownMemory    = []string{"RssAnon", "VmSwap", "VmPTE", "HugetlbPages"}
	sharedMemory = []string{"RssShmem"}
)

// memory is what a process has of some kinds of memory; what a fork shares with its parent counts for both.
func (p process) memory(kinds []string) (bytes int64) {
	for line := range strings.Lines(p.status()) {
		kind, size, _ := strings.Cut(line, ":")
		if slices.Contains(kinds, kind) {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(size), " kB"), 10, 64)
			bytes += kib << 10
		}
	}
	return bytes
}

// status is what the kernel tells of a process's memory, empty if it has ended. The first thread may have ended before
// the others, and another one while it is read: only those that go on tell.
func (p process) status() string {
	folder := filepath.Join("/proc", strconv.Itoa(p.pid))
	for range 5 {
		threads, _ := filepath.Glob(filepath.Join(folder, "task", "*"))
		for _, thread := range append([]string{folder}, threads...) {
			if text, err := os.ReadFile(filepath.Join(thread, "status")); err == nil &&
				strings.Contains(string(text), "\nVmRSS:") {
				return string(text)
			}
		}
		if len(threads) < 2 {
			break
		}
	}
	return ""
}

// processes are all that can be seen. One whose first thread has ended looks like a zombie until the others have, too.
func processes() []process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		// The name in brackets may hold anything, brackets and spaces too.
		_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		fields := strings.Fields(rest)
		if len(fields) <= placeThreads || fields[0] == "Z" && fields[placeThreads] == "1" {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		all = append(all, process{pid, parent})
	}
	return all
}

// descendants are the processes of a box: all others of the namespace, or what descends from this process.
func (in *inside) descendants() []process {
	self, all := os.Getpid(), processes()
	var found []process
	if in.alone {
		for _, p := range all {
			if p.pid != self {
				found = append(found, p)
			}
		}
		return found
	}
	inBox := map[int]bool{self: true}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if !inBox[p.pid] && inBox[p.parent] {
				inBox[p.pid], grown = true, true
				found = append(found, p)
			}
		}
	}
	return found
}

// signalAll reaches every process of the box.
func (in *inside) signalAll(s syscall.Signal) {
	if in.alone { // -1 is everybody in the namespace but its first process: one call, which no fork escapes
		syscall.Kill(-1, s)
		return
	}
	if s == syscall.SIGKILL {
		in.freeze()
	}
	for _, p := range in.descendants() {
		syscall.Kill(p.pid, s)
	}
}

// freeze stops the box's processes until no new one turns up: what forks as fast as it is killed must stand still
// first.
func (in *inside) freeze() {
	stopped := map[int]bool{}
	for range 50 {
		fresh := false
		for _, p := range in.descendants() {
			if !stopped[p.pid] {
				stopped[p.pid], fresh = true, true
				syscall.Kill(p.pid, syscall.SIGSTOP)
			}
		}
		if !fresh {
			return
		}
	}
}

// endAll kills what the command left running and reports whether all of it is gone.
func (in *inside) endAll() bool {
	for deadline := time.Now().Add(8 * time.Second); time.Now().Before(deadline); {
		in.signalAll(syscall.SIGKILL)
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG|syscall.WALL, nil)
			if errors.Is(err, syscall.ECHILD) {
				return true
			}
			if pid <= 0 && !errors.Is(err, syscall.EINTR) {
				break
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// watch ends a command that takes more than the kernel was told to withhold.
func (in *inside) watch() {
	kinds := ownMemory
	if in.plan.Level == machine { // nothing withholds the device that gives shared memory
		kinds = slices.Concat(ownMemory, sharedMemory)
	}
	for !in.finished.Load() {
		var resident int64
		for _, p := range in.descendants() {
			resident += p.memory(kinds)
		}
		if resident > in.plan.Memory {
			in.end(isolated.EndedByMemory)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// watchFiles ends a command that takes more from the disk than it may, or has more sockets, whose buffers are no
// process's memory. It takes its time apart from what counts memory.
func (in *inside) watchFiles() {
	for !in.finished.Load() {
		u := usage{stop: in.finished.Load}
		if !in.alone { // that has files of a fixed size
			u.folder(unix.AT_FDCWD, in.plan.Folder, 0)
		}
		u.opened(in.descendants())
		switch {
		case u.sockets > maxSockets:
			in.end(isolated.EndedByMemory)
		case u.bytes > boxBytes:
			in.end(isolated.EndedByDisk)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func (in *inside) end(why string) {
	in.limit.CompareAndSwap(nil, &why)
	in.signalAll(syscall.SIGKILL)
}
