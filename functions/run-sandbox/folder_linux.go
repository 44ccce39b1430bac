package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The folders of a room without namespaces: what a command writes lies below these two.
const (
	workspaceName = "workspace"
	temporaryName = "tmp"
)

// makeFolder is where a room without namespaces is.
func makeFolder(uid int) (string, error) {
	folder, err := os.MkdirTemp("", "sandbox-")
	if err != nil {
		return "", fmt.Errorf("make the room: %w", err)
	}
	for _, name := range []string{"", workspaceName, temporaryName} {
		path := filepath.Join(folder, name)
		if err := errors.Join(ignoreExist(os.Mkdir(path, 0o700)), os.Chown(path, uid, -1)); err != nil {
			os.RemoveAll(folder)
			return "", fmt.Errorf("make the room: %w", err)
		}
	}
	return folder, nil
}

func ignoreExist(err error) error {
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// removeRoom deletes a room's folder. A command may have closed folders below it to their owner, who is this user.
func removeRoom(folder string) {
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
