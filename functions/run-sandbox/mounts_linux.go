package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"ringi/shared/runtime/isolated"
)

// The sizes of a box's file systems in memory: more than twice what a workspace may keep, since tools write other files
// too.
const (
	workspaceSize = "size=128m,nr_inodes=20000,mode=0755"
	temporarySize = "size=256m,nr_inodes=50000,mode=1777"
	attachedSize  = "size=64m,nr_inodes=1000,mode=0755"
)

// devices are those that programs expect.
var devices = []string{"null", "full", "random", "urandom"}

// zeros is one more device that programs expect. It must not be writable: a writable mapping of it is shared memory,
// which can't be counted. A box with its own file system has a sparse file instead.
const zeros = "zero"

// written are files that tell programs their user and host.
var written = map[string]string{
	"/etc/passwd":        "sandbox:x:1000:1000:sandbox:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
	"/etc/group":         "sandbox:x:1000:\nnogroup:x:65534:\n",
	"/etc/hosts":         "127.0.0.1 localhost\n::1 localhost\n",
	"/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}

// copied are small files of this machine that its tools need to start.
var copied = []string{"/etc/ld.so.cache", "/etc/localtime"}

// newRoot becomes a box's root. Every machine has this folder, and the new root hides its content.
const newRoot = "/tmp"

// furnishNamespaces makes the file system of a box and enters it permanently.
func furnishNamespaces() (held []string, err error) {
	steps := []struct {
		what string
		do   func() error
	}{
		{"keep mounts to itself", func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }},
		{"make a root", func() error {
			return unix.Mount("tmpfs", newRoot, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=16m,nr_inodes=2000,mode=0755")
		}},
		{"show the tools", showTools},
		{"show devices", showDevices},
		{"show processes", func() error { return mountAt("proc", "proc", unix.MS_NOEXEC, "") }},
		{"make the workspace", func() error { return mountAt(workspaceName, "tmpfs", 0, workspaceSize) }},
		{"make room for temporary files", func() error { return mountAt(temporaryName, "tmpfs", 0, temporarySize) }},
		{"make the attachments' place", func() error {
			return mountAt(attachedName, "tmpfs", unix.MS_NOEXEC, attachedSize)
		}},
		{"write what programs look for", writeFiles},
		{"leave this machine's files", pivot},
		{"close the root", func() error { return restrict("/", 0, unix.MOUNT_ATTR_RDONLY) }},
		{"name the room", func() error { return unix.Sethostname([]byte("sandbox")) }},
		{"open the way to itself", loopback},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			return nil, fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return []string{"user, mount, process, network, IPC and host name namespaces", "read-only tools",
		"a workspace of 128 MiB in memory"}, nil
}

func showTools() error {
	for _, path := range isolated.Tools {
		if err := showTool(path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// showTool shows one folder of this machine, or the symbolic link in its place. A missing folder is skipped.
func showTool(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(newRoot, filepath.Dir(path)), 0o755); err != nil {
		return err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		to, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return os.Symlink(to, filepath.Join(newRoot, path))
	}
	if !info.IsDir() {
		return nil
	}
	at := filepath.Join(newRoot, path)
	if err := os.Mkdir(at, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(path, at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	return restrict(at, unix.AT_RECURSIVE, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}

func showDevices() error {
	dev := filepath.Join(newRoot, "dev")
	if err := os.Mkdir(dev, 0o755); err != nil {
		return err
	}
	for _, name := range devices {
		at := filepath.Join(dev, name)
		if err := os.WriteFile(at, nil, 0o644); err != nil {
			return err
		}
		if err := unix.Mount("/dev/"+name, at, "", unix.MS_BIND, ""); err != nil {
			return err
		}
		// A read-only mount still lets programs write to the device, but not change its mode and times, which belong to
		// the machine.
		if err := restrict(at, 0, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return err
		}
	}
	hole := filepath.Join(dev, zeros)
	if err := os.WriteFile(hole, nil, 0o444); err != nil {
		return err
	}
	if err := os.Truncate(hole, 1<<62); err != nil {
		return err
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1",
		"stderr": "/proc/self/fd/2", "shm": "/" + temporaryName} {
		if err := os.Symlink(to, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	return nil
}

// restrict sets attributes of the mount at a path.
func restrict(path string, flags uint, attributes uint64) error {
	return unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: attributes})
}

// mountAt mounts a new file system, which has no devices and no programs that run as another user.
func mountAt(path, kind string, flags uintptr, data string) error {
	at := filepath.Join(newRoot, path)
	if err := os.Mkdir(at, 0o755); err != nil {
		return err
	}
	return unix.Mount(kind, at, kind, flags|unix.MS_NOSUID|unix.MS_NODEV, data)
}

func writeFiles() error {
	if err := os.MkdirAll(filepath.Join(newRoot, "etc"), 0o755); err != nil {
		return err
	}
	for path, text := range written {
		if err := os.WriteFile(filepath.Join(newRoot, path), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, path := range copied {
		text, err := os.ReadFile(path)
		if err != nil || len(text) > 1<<20 {
			continue // tools find their libraries without the cache, and use UTC
		}
		if err := os.WriteFile(filepath.Join(newRoot, path), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pivot makes newRoot the root and unmounts the old root.
func pivot() error {
	if err := unix.Chdir(newRoot); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	// The old root is now mounted over the new one.
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return unix.Chdir("/")
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
