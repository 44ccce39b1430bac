package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"ringi/shared/runtime/isolated"
)

// fileSystems are those of a box's own, which have no devices and no programs that run as another user. Those in memory
// have more than twice what a workspace may keep, since tools write other files too. /proc is closed for writing later.
var fileSystems = []struct {
	at, kind string
	flags    uintptr
	data     string
}{
	{"proc", "proc", unix.MS_NOEXEC, ""},
	{workspaceName, "tmpfs", 0, "size=128m,nr_inodes=20000,mode=0755"},
	{temporaryName, "tmpfs", 0, "size=256m,nr_inodes=50000,mode=1777"},
	{attachedName, "tmpfs", unix.MS_NOEXEC, "size=64m,nr_inodes=1000,mode=0755"},
}

// devices are those that programs expect. One more, which must not be writable, is dev/zero: a writable mapping of it
// is shared memory, which can't be counted. A box has a sparse file instead.
var devices = []string{"null", "full", "random", "urandom"}

// written are files that tell programs their user and host.
var written = map[string]string{
	"dev/zero":          "",
	"etc/passwd":        "sandbox:x:1000:1000:sandbox:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
	"etc/group":         "sandbox:x:1000:\nnogroup:x:65534:\n",
	"etc/hosts":         "127.0.0.1 localhost\n::1 localhost\n",
	"etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}

// links are what programs expect beside devices.
var links = map[string]string{"dev/fd": "/proc/self/fd", "dev/stdin": "/proc/self/fd/0",
	"dev/stdout": "/proc/self/fd/1", "dev/stderr": "/proc/self/fd/2", "dev/shm": "/" + temporaryName}

// copied are small files of this machine that its tools need to start.
var copied = []string{"etc/ld.so.cache", "etc/localtime"}

// newRoot becomes a box's root. Every machine has this folder, and the new root hides its content.
const newRoot = "/tmp"

// furnishNamespaces makes the file system of a box and enters it permanently. Paths without a slash at their beginning
// are in it.
func furnishNamespaces() (held []string, err error) {
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"keep mounts to itself", func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }},
		{"make a root", func() error {
			return unix.Mount("tmpfs", newRoot, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=16m,nr_inodes=2000,mode=0755")
		}},
		{"go there", func() error { return unix.Chdir(newRoot) }},
		{"show the tools", showTools},
		{"write what programs look for", writeFiles},
		{"show devices", showDevices},
		{"make its file systems", func() (err error) {
			for _, s := range fileSystems {
				if err == nil {
					err = os.Mkdir(s.at, 0o755)
				}
				if err == nil {
					err = unix.Mount(s.kind, s.at, s.kind, s.flags|unix.MS_NOSUID|unix.MS_NODEV, s.data)
				}
			}
			return err
		}},
		{"leave this machine's files", func() error { return unix.PivotRoot(".", ".") }},
		// The old root is now mounted over the new one.
		{"unmount them", func() error { return unix.Unmount(".", unix.MNT_DETACH) }},
		{"go to the root", func() error { return unix.Chdir("/") }},
		{"close the root", func() error { return restrict("/", 0, unix.MOUNT_ATTR_RDONLY) }},
		{"name the room", func() error { return unix.Sethostname([]byte("sandbox")) }},
		{"open the way to itself", loopback},
	} {
		if err := step.do(); err != nil {
			return nil, fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return []string{"user, mount, process, network, IPC and host name namespaces", "read-only tools",
		"a workspace of 128 MiB in memory"}, nil
}

// showTools shows folders of this machine, or the symbolic links in their place. What is missing is skipped.
func showTools() error {
	for _, path := range isolated.Tools {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		at := path[1:]
		if err == nil {
			err = os.MkdirAll(filepath.Dir(at), 0o755)
		}
		switch {
		case err != nil:
		case info.Mode()&os.ModeSymlink != 0:
			var to string
			if to, err = os.Readlink(path); err == nil {
				err = os.Symlink(to, at)
			}
		case info.IsDir():
			if err = os.Mkdir(at, 0o755); err == nil {
				err = bind(path, at, unix.MS_REC, unix.AT_RECURSIVE, unix.MOUNT_ATTR_NODEV)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// bind shows a file or folder of this machine, read-only.
func bind(from, at string, flags uintptr, deep uint, attributes uint64) error {
	if err := unix.Mount(from, at, "", unix.MS_BIND|flags, ""); err != nil {
		return err
	}
	return restrict(at, deep, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|attributes)
}

// restrict sets attributes of the mount at a path.
func restrict(path string, flags uint, attributes uint64) error {
	return unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: attributes})
}

// showDevices shows the devices. A read-only mount still lets programs write to the device, but not change its mode and
// times, which belong to the machine.
func showDevices() error {
	for _, name := range devices {
		at := filepath.Join("dev", name)
		if err := os.WriteFile(at, nil, 0o644); err != nil {
			return err
		}
		if err := bind("/dev/"+name, at, 0, 0, unix.MOUNT_ATTR_NOEXEC); err != nil {
			return err
		}
	}
	return os.Truncate("dev/zero", 1<<62)
}

func writeFiles() error {
	err := errors.Join(os.Mkdir("dev", 0o755), os.MkdirAll("etc", 0o755))
	for path, text := range written {
		err = errors.Join(err, os.WriteFile(path, []byte(text), 0o444))
	}
	for path, to := range links {
		err = errors.Join(err, os.Symlink(to, path))
	}
	for _, path := range copied {
		// Without the cache tools find their libraries, and without a time zone they use UTC.
		if text, unread := os.ReadFile("/" + path); unread == nil && len(text) <= 1<<20 {
			err = errors.Join(err, os.WriteFile(path, text, 0o644))
		}
	}
	return err
}

// loopback starts the box's own network, in which a test can reach only its own server.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}
