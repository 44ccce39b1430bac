package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ringi/shared/runtime/isolated"
)

// placeThreads is the index of the thread count in a process's stat, counted from its state.
const placeThreads = 17

type childProcess struct{ pid, parent int }

// ownMemory are the kinds of a process's memory that no file backs, with swap and page tables. sharedMemory is memory
// of files in memory, counted only in a box where their size has no limit of its own.
var (
	ownMemory    = []string{"RssAnon", "VmSwap", "VmPTE", "HugetlbPages"}
	sharedMemory = []string{"RssShmem"}
)

// memory sums some kinds of a process's memory. Pages that a fork shares with its parent count twice.
func (p childProcess) memory(kinds []string) (bytes int64) {
	for line := range strings.Lines(p.status()) {
		kind, size, _ := strings.Cut(line, ":")
		if slices.Contains(kinds, kind) {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(size), " kB"), 10, 64)
			bytes += kib << 10
		}
	}
	return bytes
}

// status returns the kernel's status of a process, or "" if it has ended. It looks for a thread that still runs, since
// the first thread may have ended before the others.
func (p childProcess) status() string {
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

// processes lists all visible processes except zombies. A process whose first thread has ended looks like a zombie, but
// still runs while it has other threads.
func processes() []childProcess {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []childProcess
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		// The name in brackets may itself contain brackets and spaces.
		_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		fields := strings.Fields(rest)
		if len(fields) <= placeThreads || fields[0] == "Z" && fields[placeThreads] == "1" {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		all = append(all, childProcess{pid, parent})
	}
	return all
}

// descendants lists the processes of the box: all others of the namespace, or without one the descendants of this
// process.
func (in *inside) descendants() []childProcess {
	self, all := os.Getpid(), processes()
	var found []childProcess
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

// signalAll signals every process of the box.
func (in *inside) signalAll(s syscall.Signal) {
	if in.alone { // -1 means every other process of the namespace: no fork escapes a single call
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

// freeze stops the box's processes until no new one appears. Otherwise a process could fork as fast as others are
// killed.
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

// endAll kills the processes that the command left running, and reports whether none is left.
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

// watch ends a command whose processes use more memory than the limit, which the kernel doesn't enforce for their sum.
func (in *inside) watch() {
	kinds := ownMemory
	if in.plan.Level == machine { // at this level nothing forbids shared mappings of /dev/zero
		kinds = slices.Concat(ownMemory, sharedMemory)
	}
	for !in.finished.Load() {
		var resident int64
		for _, p := range in.descendants() {
			resident += p.memory(kinds)
		}
		if resident > in.plan.Memory {
			in.endByMemory()
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// watchSockets ends a command that has too many sockets, whose buffers count for no process's memory. It runs apart
// from watch, since reading which files are open takes longer.
func (in *inside) watchSockets() {
	for !in.finished.Load() {
		if in.openSockets() > maxSockets {
			in.endByMemory()
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// openSockets counts the sockets of all processes, each once. A process whose files can't be read has too many.
func (in *inside) openSockets() int {
	seen := map[string]bool{}
	for _, p := range in.descendants() {
		names, ok := p.sockets()
		if !ok { // a process that starts its program can't be read for a moment
			time.Sleep(50 * time.Millisecond)
			names, ok = p.sockets()
		}
		if !ok && !in.finished.Load() {
			return maxSockets + 1
		}
		for _, name := range names {
			seen[name] = true
		}
	}
	return len(seen)
}

// sockets returns the names of a process's sockets. One thread's list is enough: the filter of system calls forbids
// threads with files of their own. ok is false if the process runs and its files can't be read.
func (p childProcess) sockets() (names []string, ok bool) {
	folder := filepath.Join("/proc", strconv.Itoa(p.pid))
	threads, _ := filepath.Glob(filepath.Join(folder, "task", "*"))
	ok = true
	for _, thread := range append([]string{folder}, threads...) {
		entries, err := os.ReadDir(filepath.Join(thread, "fd"))
		for _, e := range entries {
			if name, err := os.Readlink(filepath.Join(thread, "fd", e.Name())); err == nil &&
				strings.HasPrefix(name, "socket:") {
				names = append(names, name)
			}
		}
		if len(entries) > 0 {
			return names, true
		}
		if err == nil {
			ok = true
		} else if errors.Is(err, fs.ErrPermission) {
			ok = false
		}
	}
	return nil, ok || p.status() == ""
}

func (in *inside) endByMemory() {
	why := isolated.EndedByMemory
	in.limit.CompareAndSwap(nil, &why)
	in.signalAll(syscall.SIGKILL)
}
