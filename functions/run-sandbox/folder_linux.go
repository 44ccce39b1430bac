package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The folders of a box without namespaces: what a command writes lies below these two.
const (
	workspaceName = "workspace"
	temporaryName = "tmp"
)

// boxPrefix begins the name of each such folder.
const boxPrefix = "ringi-sandbox-"

// makeFolder is where a box without namespaces is. It is locked for as long as the file is open: what nobody has
// locked any more was left by somebody who was killed, and is removed first.
func makeFolder(uid int) (lock *os.File, err error) {
	removeAbandoned()
	for range 3 { // somebody else may take it for an abandoned one before it is locked
		var folder string
		if folder, err = os.MkdirTemp("", boxPrefix); err != nil {
			break
		}
		if lock, err = lockFolder(folder); err != nil {
			continue
		}
		for _, name := range []string{workspaceName, temporaryName, ""} {
			path := filepath.Join(folder, name)
			err = errors.Join(err, ignoreExist(os.Mkdir(path, 0o700)), os.Chown(path, uid, -1))
		}
		if err == nil {
			return lock, nil
		}
		removeBox(lock)
	}
	return nil, fmt.Errorf("make the room: %w", err)
}

// lockFolder opens a box's folder, which nobody else has locked.
func lockFolder(folder string) (*os.File, error) {
	f, _, err := openFolder(unix.AT_FDCWD, folder)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		_, err = os.Lstat(folder)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func removeAbandoned() {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), boxPrefix+"*"))
	for _, folder := range folders {
		var s unix.Stat_t
		if unix.Lstat(folder, &s) != nil || !ofBoxes(int(s.Uid)) {
			continue
		}
		if lock, err := lockFolder(folder); err == nil {
			removeBox(lock)
		}
	}
}

func ignoreExist(err error) error {
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// removeBox deletes a box's folder and unlocks it. A command may have closed the folder and those below it to their
// owner, who may be this user.
func removeBox(lock *os.File) {
	defer lock.Close()
	folder := lock.Name()
	lock.Chmod(0o700)
	if os.RemoveAll(folder) == nil {
		return
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return
	}
	defer root.Close()
	fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil
		}
		if len(p) > unix.PathMax {
			return fs.SkipDir
		}
		return root.Chmod(p, 0o700)
	})
	os.RemoveAll(folder)
}
