package teamconfig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"ringi/shared/explain"
	"ringi/shared/store/large"
)

// readWithin limits the time for reading one file. maxObject limits its bytes; no contest's file is that large.
const (
	readWithin = 5 * time.Second
	maxObject  = 2 << 20
)

// Bucket returns a function that opens a prefix of a bucket as a file system. Opening a file reads all of it.
func Bucket(cfg aws.Config) func(bucket, prefix string) (fs.FS, error) {
	return func(bucket, prefix string) (fs.FS, error) {
		return folder{large.BucketAt(cfg, bucket), bucket, prefix}, nil
	}
}

type folder struct {
	s3             *large.Bucket
	bucket, prefix string
}

func (f folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	ctx, cancel := context.WithTimeout(context.Background(), readWithin)
	defer cancel()
	key := path.Join(f.prefix, name)
	b, err := f.s3.Get(ctx, key, maxObject)
	if large.MissingObject(err) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if err != nil {
		slog.WarnContext(ctx, "a file of contests was not read", "bucket", f.bucket, "key", key, "err", err)
		return nil, &fs.PathError{Op: "open", Path: name, Err: unread(err)}
	}
	return &object{*bytes.NewReader(b), path.Base(name)}, nil
}

// Stat describes the root as a folder, because fs.WalkDir begins there. The folders below are known only to ReadDir.
func (f folder) Stat(name string) (fs.FileInfo, error) {
	if name == "." {
		return about{&object{name: name}, true}, nil
	}
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	return file.Stat()
}

// ReadDir lists a folder, up to the number of entries in one answer of S3.
func (f folder) ReadDir(name string) ([]fs.DirEntry, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	ctx, cancel := context.WithTimeout(context.Background(), readWithin)
	defer cancel()
	prefix := path.Join(f.prefix, name) + "/"
	if prefix == "./" {
		prefix = ""
	}
	folders, keys, err := f.s3.List(ctx, prefix)
	if err != nil {
		slog.WarnContext(ctx, "a folder of contests was not read", "bucket", f.bucket, "prefix", prefix, "err", err)
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: unread(err)}
	}
	var all []fs.DirEntry
	for _, p := range folders {
		all = append(all, entry{path.Base(p), true})
	}
	for _, key := range keys {
		if key != prefix {
			all = append(all, entry{path.Base(key), false})
		}
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

type entry struct {
	name string
	dir  bool
}

func (e entry) Name() string { return e.name }
func (e entry) IsDir() bool  { return e.dir }
func (e entry) Type() fs.FileMode {
	if e.dir {
		return fs.ModeDir
	}
	return 0
}
func (e entry) Info() (fs.FileInfo, error) { return about{&object{name: e.name}, e.dir}, nil }

// unread returns an error that tells people why a file was not read. It leaves out S3's own message, which names roles,
// accounts and requests of the deployment. If another try may succeed, it wraps explain.ErrUnavailable.
func unread(err error) error {
	switch api, refused := errors.AsType[smithy.APIError](err); {
	case !refused:
		return fmt.Errorf("the bucket does not answer: %w", explain.ErrUnavailable)
	case explain.ClassOf(err) == explain.Unavailable:
		return fmt.Errorf("the bucket says %s: %w", api.ErrorCode(), explain.ErrUnavailable)
	default:
		return fmt.Errorf("the bucket says %s", api.ErrorCode())
	}
}

type object struct {
	bytes.Reader
	name string
}

func (o *object) Close() error               { return nil }
func (o *object) Stat() (fs.FileInfo, error) { return about{o, false}, nil }

type about struct {
	o   *object
	dir bool
}

func (a about) Name() string       { return a.o.name }
func (a about) Size() int64        { return a.o.Reader.Size() }
func (a about) ModTime() time.Time { return time.Time{} }
func (a about) IsDir() bool        { return a.dir }
func (a about) Sys() any           { return nil }
func (a about) Mode() fs.FileMode {
	if a.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// For returns what opens the files at an address.
func For(cfg aws.Config, address string) func() (Workspace, error) {
	return func() (Workspace, error) { return Open(address, Bucket(cfg)) }
}
