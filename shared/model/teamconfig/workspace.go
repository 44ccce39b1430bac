package teamconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Environment is the variable that has the workspace's address.
const Environment = "MIXSEEK_WORKSPACE"

// ErrNotSet says that the variable is missing or blank. It has no default.
var ErrNotSet = errors.New(Environment + " environment variable is not set.\nPlease set it: export " + Environment + "=/path/to/workspace")

const (
	// maxFile bounds a file, in bytes.
	maxFile = 1 << 20
	// maxRead bounds all files of one configuration, in bytes. Every member of every team may name the same file, and a
	// contest is saved with the contents of all of them.
	maxRead = 4 << 20
)

// Workspace is a folder of configurations. Paths are relative to it and can't leave it.
type Workspace struct {
	FS fs.FS
	// Folder is the path on this machine; empty if the files are elsewhere.
	Folder string

	shared []string // the contests that may be seen; nil: all
}

// Open opens the workspace that the variable's value names. Links in a folder can't lead out of it. elsewhere, if it is
// not nil, opens files at s3://bucket/prefix. For a blank value Open returns ErrNotSet.
func Open(value string, elsewhere func(bucket, prefix string) (fs.FS, error)) (Workspace, error) {
	if strings.TrimSpace(value) == "" {
		return Workspace{}, ErrNotSet
	}
	if address, ok := strings.CutPrefix(value, "s3://"); ok {
		bucket, prefix, _ := strings.Cut(address, "/")
		if bucket == "" || elsewhere == nil {
			return Workspace{}, fmt.Errorf("%s must be a folder here, got %q", Environment, value)
		}
		files, err := elsewhere(bucket, strings.Trim(prefix, "/"))
		if err != nil {
			return Workspace{}, fmt.Errorf("%s %s: %w", Environment, value, err)
		}
		return Workspace{FS: files}, nil
	}
	root, err := os.OpenRoot(value)
	if err != nil {
		return Workspace{}, fmt.Errorf("%s: %w", Environment, err)
	}
	folder, err := filepath.Abs(value)
	if err != nil {
		return Workspace{}, fmt.Errorf("%s: %w", Environment, err)
	}
	return Workspace{FS: root.FS(), Folder: folder}, nil
}

// Locate converts a path from the command line to one relative to the workspace. The path may be absolute, relative to
// the working directory, or relative to the workspace. A file outside of the workspace is an error.
func (w Workspace) Locate(file string) (string, error) {
	if w.Folder == "" {
		return inside(file)
	}
	if _, err := os.Lstat(file); err == nil || filepath.IsAbs(file) {
		absolute, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		if real, err := filepath.EvalSymlinks(filepath.Dir(absolute)); err == nil {
			absolute = filepath.Join(real, filepath.Base(absolute))
		}
		folder := w.Folder
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			folder = real
		}
		if relative, err := filepath.Rel(folder, absolute); err == nil && filepath.IsLocal(relative) {
			return filepath.ToSlash(relative), nil
		}
		if filepath.IsAbs(file) {
			return "", fmt.Errorf("%s is outside of %s, %s", file, Environment, w.Folder)
		}
	}
	return inside(file)
}

// inside normalizes a path in a configuration file. An absolute path, or one that leaves the workspace, is an error.
func inside(name string) (string, error) {
	short := path.Clean(name)
	if strings.TrimSpace(name) == "" || strings.ContainsAny(name, "\\\x00") || !fs.ValidPath(short) || short == "." {
		return "", errors.New("must be a relative path inside the workspace")
	}
	return short, nil
}

// tables reads a file. The error does not contain the file's name.
func (r *reading) tables(name string) (map[string]any, error) {
	f, err := r.w.FS.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no such file in the workspace: %w", fs.ErrNotExist)
	} else if err != nil {
		return nil, fmt.Errorf("can't be opened: %w", bare(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("can't be read: %w", bare(err))
	case len(b) > maxFile:
		return nil, fmt.Errorf("must be at most %d bytes", maxFile)
	}
	if r.bytes += len(b); r.bytes > maxRead {
		return nil, fmt.Errorf("is one too many: a contest's files must be at most %d bytes in total, each counted every time it is named", maxRead)
	}
	var tables map[string]any
	err = unmarshal(b, &tables)
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := at.Position()
		return nil, fmt.Errorf("is not TOML: line %d, column %d: %s", line, column, strings.TrimPrefix(at.Error(), "toml: "))
	} else if err != nil {
		return nil, fmt.Errorf("is not TOML: %w", err)
	}
	return tables, nil
}

// unmarshal reads TOML, with or without the byte order mark that editors on Windows write.
func unmarshal(b []byte, tables *map[string]any) error {
	return toml.Unmarshal(bytes.TrimPrefix(b, []byte("\ufeff")), tables)
}

// bare removes the path that the file system adds to an error.
func bare(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}
