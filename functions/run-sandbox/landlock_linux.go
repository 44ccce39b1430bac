package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"ringi/shared/runtime/isolated"
)

// The rights that Landlock grants to the command.
const (
	landlockRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockFile  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	landlockScope = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
)

// signalsFrom is the first version of Landlock that can forbid signals to outside processes.
const signalsFrom = 6

// rightsOf is the number of file rights in each version of Landlock. Later versions count as the last.
var rightsOf = []int{0, 13, 14, 15, 15, 16}

// restrictFiles restricts this process and its children to the tools and the box's two folders, which they can't move
// or replace. They can't trace processes outside, and from version 6 on can't signal them.
func restrictFiles(folder string) (version int, err error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, fmt.Errorf("ask for Landlock: %w", errno)
	}
	version = int(abi)
	all := uint64(1)<<rightsOf[min(version, len(rightsOf)-1)] - 1
	rules := unix.LandlockRulesetAttr{Access_fs: all}
	if version >= 4 {
		rules.Access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= signalsFrom {
		rules.Scoped = landlockScope
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), unsafe.Sizeof(rules),
		0)
	if errno != 0 {
		return 0, fmt.Errorf("make Landlock's rules: %w", errno)
	}
	defer unix.Close(int(fd))
	allow := func(path string, rights uint64) error {
		at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("open %s for Landlock: %w", path, err)
		}
		defer unix.Close(at)
		var s unix.Stat_t
		if err := unix.Fstat(at, &s); err != nil {
			return err
		}
		if s.Mode&unix.S_IFMT != unix.S_IFDIR {
			rights &= landlockFile | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
		}
		rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & all, Parent_fd: int32(at)}
		if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, fd, unix.LANDLOCK_RULE_PATH_BENEATH,
			uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
			return fmt.Errorf("allow %s by Landlock: %w", path, errno)
		}
		return nil
	}
	for _, path := range append(append([]string{"/etc/passwd", "/etc/group", "/etc/nsswitch.conf"}, isolated.Tools...), copied...) {
		err = errors.Join(err, allow(path, landlockRead))
	}
	for _, name := range devices {
		err = errors.Join(err, allow("/dev/"+name, unix.LANDLOCK_ACCESS_FS_READ_FILE|unix.LANDLOCK_ACCESS_FS_WRITE_FILE))
	}
	// read-only: a writable mapping of /dev/zero is shared memory, which is not counted
	err = errors.Join(err, allow("/dev/"+zeros, unix.LANDLOCK_ACCESS_FS_READ_FILE))
	for _, name := range []string{workspaceName, temporaryName} {
		err = errors.Join(err, allow(filepath.Join(folder, name), all))
	}
	err = errors.Join(err, allow(filepath.Join(folder, attachedName), landlockRead))
	if err != nil {
		return 0, err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return 0, fmt.Errorf("put Landlock's rules into force: %w", errno)
	}
	return version, nil
}
