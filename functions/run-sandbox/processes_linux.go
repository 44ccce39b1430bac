package main

import (
	"errors"
	"fmt"
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

// memory sums some kinds of a process's memory, 0 if it has ended. A page that a fork shares with its parent counts
// twice.
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
// the first one may have ended before the others; and again, since each may end once it has started the next.
func (p childProcess) status() string {
	for range 10 {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p.pid)) // asking for */status takes longer
		for _, thread := range threads {
			if text, err := os.ReadFile(thread + "/status"); err == nil && strings.Contains(string(text), "\nVmRSS:") {
				return string(text)
			}
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
			why := isolated.EndedByMemory
			in.limit.CompareAndSwap(nil, &why)
			in.signalAll(syscall.SIGKILL)
		}
		time.Sleep(200 * time.Millisecond)
	}
}
