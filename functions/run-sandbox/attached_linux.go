package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"

	"ringi/shared/domain/conversation"
)

// layAttached unpacks the attachments outside of the workspace, where the command can only read, and leads there by a
// link in the workspace. With namespaces they stand on a file system of their own; Landlock withholds writing; on a
// machine that was made for the action their modes do, against mistakes.
func (in *inside) layAttached() error {
	tree, err := conversation.ReadFiles(os.NewFile(fileAttached, "attachments"))
	if err != nil {
		return fmt.Errorf("read the attachments: %w", err)
	}
	folder := attachedFolder
	if !in.alone {
		folder = filepath.Join(in.plan.Folder, attachedName)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := tree.Unpack(root); err != nil {
		return err
	}
	if err := readOnly(root); err != nil {
		return err
	}
	if in.alone {
		if err := unix.MountSetattr(unix.AT_FDCWD, folder, 0,
			&unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return fmt.Errorf("close the attachments for writing: %w", err)
		}
	}
	above := path.Dir(conversation.AttachedFolder)
	if err := in.root.Mkdir(above, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := in.root.RemoveAll(conversation.AttachedFolder); err != nil { // the files' own
		return err
	}
	return in.root.Symlink(folder, conversation.AttachedFolder)
}

// readOnly takes away the modes that allow writing.
func readOnly(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return root.Chmod(p, 0o555)
		}
		return root.Chmod(p, 0o444)
	})
}
