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
)

// boxed is a process, as a box sees it.
type boxed struct{ pid, parent int }

// ownMemory are the kinds of a process's memory that no file backs, with swap and page tables. sharedMemory is memory
// of files in memory, counted only in a box where their size has no limit of its own.
var (
	ownMemory    = []string{"RssAnon", "VmSwap", "VmPTE", "HugetlbPages"}
	sharedMemory = []string{"RssShmem"}
)

// status returns what the kernel says of a process or a thread, nothing if it has ended.
func status(folder string) map[string]string {
	text, _ := os.ReadFile(folder + "/status")
	said := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		said[name] = strings.TrimSpace(value)
	}
	return said
}

// memory sums some kinds of a process's memory, 0 if it has ended. A page that a fork shares with its parent counts
// twice. It looks for a thread that still runs, since the first one may have ended before the others; and again, since
// each may end once it has started the next.
func (p boxed) memory(kinds []string) (bytes int64) {
	for range 10 {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p.pid))
		for _, thread := range threads {
			said := status(thread)
			for _, kind := range kinds {
				kib, _ := strconv.ParseInt(strings.TrimSuffix(said[kind], " kB"), 10, 64)
				bytes += kib << 10
			}
			if said["VmRSS"] != "" {
				return bytes
			}
		}
	}
	return 0
}

// processes lists all visible processes except zombies. A process whose first thread has ended looks like a zombie, but
// still runs while it has other threads.
func processes() (all []boxed) {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		said := status(folder)
		pid, _ := strconv.Atoi(said["Pid"])
		parent, _ := strconv.Atoi(said["PPid"])
		if pid > 0 && (said["State"] != "Z (zombie)" || said["Threads"] != "1") {
			all = append(all, boxed{pid, parent})
		}
	}
	return all
}

// descendants lists the processes of the box: all others of the namespace, or without one the descendants of this
// process.
func (in *inside) descendants() (found []boxed) {
	self, all := os.Getpid(), processes()
	if in.alone {
		return slices.DeleteFunc(all, func(p boxed) bool { return p.pid == self })
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
	for {
		var resident int64
		for _, p := range in.descendants() {
			resident += p.memory(kinds)
		}
		if resident > in.plan.Memory {
			in.over.Store(true)
			in.signalAll(syscall.SIGKILL)
		}
		time.Sleep(200 * time.Millisecond)
	}
}
