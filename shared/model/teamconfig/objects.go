package teamconfig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
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
	return object{bytes.NewReader(b)}, nil
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

// object is a file that was read.
type object struct{ *bytes.Reader }

func (object) Stat() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }
func (object) Close() error               { return nil }

// For returns what opens the files at an address.
func For(cfg aws.Config, address string) func() (Workspace, error) {
	return func() (Workspace, error) { return Open(address, Bucket(cfg)) }
}
