package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// The limits of a box without a file system of its own: its size on disk, and the depth of its folders. Counting them
// keeps one descriptor open for each level.
const (
	boxBytes = 384 << 20
	boxDepth = 400
)

// usage counts the disk space of files. A file that can't be measured counts as more than the limit.
type usage struct {
	bytes   int64
	sockets int
	stop    func() bool // reports that the count is no longer needed
}

func (u *usage) full() bool { return u.bytes > boxBytes || u.sockets > maxSockets || u.stop() }

// folder adds the disk space of a folder's files; an empty file counts, too. It goes from descriptor to descriptor, so
// that renames during the count can't lead it out of the box.
func (u *usage) folder(parent int, name string, depth int) {
	if depth > boxDepth {
		u.bytes += boxBytes + 1
		return
	}
	f, closed, err := openFolder(parent, name)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return // deleted meanwhile
	}
	if err != nil {
		u.bytes += boxBytes + 1
		return
	}
	defer closed()
	for !u.full() {
		names, err := f.Readdirnames(512)
		for _, n := range names {
			u.entry(int(f.Fd()), n, depth)
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			u.bytes += boxBytes + 1
		}
	}
}

func (u *usage) entry(folder int, name string, depth int) {
	var s unix.Stat_t
	switch err := unix.Fstatat(folder, name, &s, unix.AT_SYMLINK_NOFOLLOW); {
	case u.full() || errors.Is(err, unix.ENOENT):
		return
	case err != nil:
		u.bytes += boxBytes + 1
		return
	}
	u.bytes += max(s.Blocks*512, 4096)
	if s.Mode&unix.S_IFMT == unix.S_IFDIR {
		u.folder(folder, name, depth+1)
	}
}

// openFolder opens a folder to list it. If the mode forbids its owner, this process's user, to list it, openFolder
// changes the mode, and closed restores it.
func openFolder(parent int, name string) (_ *os.File, closed func(), err error) {
	const flags, listable = unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC, 0o500
	at, err := unix.Openat(parent, name, unix.O_PATH|flags, 0)
	if err != nil {
		return nil, nil, err
	}
	defer unix.Close(at)
	var s unix.Stat_t
	if err := unix.Fstat(at, &s); err != nil {
		return nil, nil, err
	}
	mode, itself := s.Mode&0o7777, "/proc/self/fd/"+strconv.Itoa(at)
	opened := mode | listable
	if mode != opened {
		if err := unix.Chmod(itself, opened); err != nil {
			return nil, nil, err
		}
	}
	fd, err := unix.Open(itself, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	return f, func() {
		if unix.Fstat(fd, &s) == nil && mode != opened && s.Mode&0o7777 == opened { // unless the command changed it
			unix.Fchmod(fd, mode)
		}
		f.Close()
	}, nil
}

// opened counts the open files that are in no folder, each once: sockets, and deleted files.
func (u *usage) opened(all []childProcess) {
	type file struct{ dev, ino uint64 }
	seen := map[file]bool{}
	for _, p := range all {
		names, ok := p.files()
		if !ok {
			u.bytes += boxBytes + 1
		}
		for _, name := range names {
			var s unix.Stat_t
			if u.full() {
				return
			}
			if unix.Stat(name, &s) != nil || seen[file{s.Dev, s.Ino}] {
				continue
			}
			seen[file{s.Dev, s.Ino}] = true
			switch kind := s.Mode & unix.S_IFMT; {
			case kind == unix.S_IFSOCK:
				u.sockets++
			case kind == unix.S_IFREG && s.Nlink == 0:
				u.bytes += max(s.Blocks*512, 4096)
			}
		}
	}
}

// files returns the paths of a process's open files. One thread's list is enough: the filter of system calls forbids
// threads with files of their own. ok is false if the process runs and its files can't be read.
func (p childProcess) files() (names []string, ok bool) {
	folder := filepath.Join("/proc", strconv.Itoa(p.pid))
	threads, _ := filepath.Glob(filepath.Join(folder, "task", "*"))
	ok = true
	for _, thread := range append([]string{folder}, threads...) {
		entries, err := os.ReadDir(filepath.Join(thread, "fd"))
		for _, e := range entries {
			names = append(names, filepath.Join(thread, "fd", e.Name()))
		}
		if len(names) > 0 {
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
