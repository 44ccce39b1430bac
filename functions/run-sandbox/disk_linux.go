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

// What a box without a file system of its own takes from the disk, and how deep its folders lie, at most. As many
// descriptors are open while they are counted.
const (
	boxBytes = 384 << 20
	boxDepth = 400
)

// usage counts what files take. A file that can't be measured counts as more than is allowed.
type usage struct {
	bytes   int64
	sockets int
	stop    func() bool // nobody wants to know any more
}

func (u *usage) full() bool { return u.bytes > boxBytes || u.sockets > maxSockets || u.stop() }

// folder counts a folder's files as they stand on the disk; an empty one takes its place, too. What happens to them
// meanwhile leads nowhere else: it goes from descriptor to descriptor.
func (u *usage) folder(parent int, name string, depth int) {
	if depth > boxDepth {
		u.bytes += boxBytes + 1
		return
	}
	f, closed, err := openFolder(parent, name)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return // it has gone
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

// openFolder opens a folder to list it. One that its owner, who is this user, may not list is made so until it is
// closed.
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
		if unix.Fstat(fd, &s) == nil && mode != opened && s.Mode&0o7777 == opened { // nobody has changed it since
			unix.Fchmod(fd, mode)
		}
		f.Close()
	}, nil
}

// opened counts what processes have open and no folder lists, each once: sockets, and files without a name.
func (u *usage) opened(all []process) {
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

// files are the names of what a process has open. The filter of system calls lets no thread have files of its own. It
// is not ok if the process goes on and can't be looked into.
func (p process) files() (names []string, ok bool) {
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
