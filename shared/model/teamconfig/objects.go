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
func Bucket(cfg aws.Config) func(bucket, prefix string) fs.FS {
	return func(bucket, prefix string) fs.FS { return folder{large.BucketAt(cfg, bucket), bucket, prefix} }
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
	return object{bytes.NewReader(b), path.Base(name), false}, nil
}

// Stat describes the root as a folder, because fs.WalkDir begins there. The folders below are known only to ReadDir.
func (f folder) Stat(name string) (fs.FileInfo, error) {
	if name == "." {
		return object{name: name, dir: true}, nil
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
		all = append(all, object{name: path.Base(p), dir: true})
	}
	for _, key := range keys {
		if key != prefix {
			all = append(all, object{name: path.Base(key)})
		}
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

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

// object is a file that was read, a folder, or the entry of either in a list.
type object struct {
	*bytes.Reader
	name string
	dir  bool
}

func (o object) Name() string               { return o.name }
func (o object) IsDir() bool                { return o.dir }
func (o object) Type() fs.FileMode          { return o.Mode().Type() }
func (o object) Info() (fs.FileInfo, error) { return o, nil }
func (o object) Stat() (fs.FileInfo, error) { return o, nil }
func (o object) Close() error               { return nil }
func (o object) ModTime() time.Time         { return time.Time{} }
func (o object) Sys() any                   { return nil }
func (o object) Mode() fs.FileMode {
	if o.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// Size is 0 of what was only listed.
func (o object) Size() int64 {
	if o.Reader == nil {
		return 0
	}
	return o.Reader.Size()
}

// For returns what opens the files at an address.
func For(cfg aws.Config, address string) func() (Workspace, error) {
	return func() (Workspace, error) { return Open(address, Bucket(cfg)) }
}
