package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The folders of a box without namespaces. A command can write only below the first two.
const (
	workspaceName = "workspace"
	temporaryName = "tmp"
	attachedName  = "attachments"
)

// boxPrefix begins the names of box folders.
const boxPrefix = "ringi-sandbox-"

// makeFolder makes the folder of a box without namespaces. The folder is locked until the file is closed. makeFolder
// first removes unlocked folders, whose supervisors were killed.
func makeFolder(uid int) (lock *os.File, err error) {
	removeAbandoned()
	for range 3 { // another supervisor may take the folder for an abandoned one before it is locked
		var folder string
		if folder, err = os.MkdirTemp("", boxPrefix); err != nil {
			break
		}
		if lock, err = lockFolder(folder); err != nil {
			continue
		}
		for _, name := range []string{workspaceName, temporaryName, attachedName, ""} {
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

// lockFolder opens and locks a box's folder. It fails if somebody else has locked it.
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

// removeBox deletes a box's folder and unlocks it. First it restores access to folders whose mode the command has
// changed.
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
