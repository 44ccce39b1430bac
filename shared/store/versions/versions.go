// Package versions keeps the files of conversations in the bucket, and makes the addresses by which a running
// command reaches its own files and nothing else.
package versions

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/isolated"
)

// Everything lies below one prefix: it is all that the sandbox's network passes. Versions expire as results do
// (shared/store/large); what belongs to one action alone is deleted by the bucket after a day.
const (
	kept    = "workspaces/versions/"
	passing = "workspaces/actions/"
)

// ErrGone is a version that is not there any more, or an upload that never was.
var ErrGone = errors.New("the workspace is gone")

// Session is whose workspaces they are: a tenant's id and a session's.
type Session struct{ Tenant, ID string }

func (s Session) version(v string) string { return kept + s.Tenant + "/" + s.ID + "/" + v + ".tar" }

func (s Session) action(id, name string) string {
	return passing + s.Tenant + "/" + s.ID + "/" + id + "/" + name
}

// Store is the bucket.
type Store struct {
	s3      *s3.Client
	presign *s3.PresignClient
	bucket  string
}

// Open is a bucket's store. In AWS addresses have the bucket's name in their host: it is the one name that the
// sandbox's network looks up.
func Open(cfg aws.Config, bucket string) *Store {
	c := s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = cfg.BaseEndpoint != nil })
	return &Store{s3: c, presign: s3.NewPresignClient(c), bucket: bucket}
}

// Get is a version of a session's workspace; the empty version is the empty workspace. It returns ErrGone for one that
// is not there.
func (s *Store) Get(ctx context.Context, of Session, version string) (*conversation.Tree, error) {
	if version == "" {
		return &conversation.Tree{}, nil
	}
	if raw, err := hex.DecodeString(version); err != nil || len(raw) != 32 {
		return nil, fmt.Errorf("get a workspace: version %.80q is no SHA-256", version)
	}
	return s.get(ctx, of.version(version))
}

func (s *Store) get(ctx context.Context, key string) (*conversation.Tree, error) {
	out, err := s.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &key})
	if _, gone := errors.AsType[*types.NoSuchKey](err); gone {
		return nil, fmt.Errorf("get a workspace: %w: %w", ErrGone, err)
	}
	if err != nil {
		return nil, fmt.Errorf("get a workspace: %w", err)
	}
	defer out.Body.Close()
	// All of it first: an archive that the network cuts off is none that somebody made up.
	archive, err := io.ReadAll(io.LimitReader(out.Body, conversation.MaxArchive+1))
	if err != nil {
		return nil, fmt.Errorf("get a workspace: %w", err)
	}
	return conversation.ReadFiles(bytes.NewReader(archive))
}

// Put keeps a tree and returns its version. To keep the same again changes nothing.
func (s *Store) Put(ctx context.Context, of Session, t *conversation.Tree) (version string, err error) {
	archive, err := t.Archive()
	if err != nil {
		return "", err
	}
	version = conversation.Version(archive)
	return version, s.put(ctx, of.version(version), archive)
}

func (s *Store) put(ctx context.Context, key string, body []byte) error {
	if _, err := s.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: &key, Body: bytes.NewReader(body)}); err != nil {
		return fmt.Errorf("keep a workspace: %w", err)
	}
	return nil
}

// Lend puts into an order what it needs of the bucket: the version that it begins with, where it looks for a cancel,
// and where the changed workspace goes. All of it is good until a time, and for this action.
func (s *Store) Lend(ctx context.Context, of Session, version string, until time.Time, o *isolated.Order) error {
	left := time.Until(until)
	if left <= 0 {
		return fmt.Errorf("lend a workspace: %s is over", until.UTC().Format(time.RFC3339))
	}
	read := func(key string) (string, error) {
		r, err := s.presign.PresignGetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &key}, s3.WithPresignExpires(left))
		if err != nil {
			return "", fmt.Errorf("sign an address: %w", err)
		}
		return r.URL, nil
	}
	var err error
	if version != "" {
		if o.Workspace, err = read(of.version(version)); err != nil {
			return err
		}
	}
	if o.Cancel, err = read(of.action(o.Action, "cancel")); err != nil {
		return err
	}
	key := of.action(o.Action, "changed.tar")
	form, err := s.presign.PresignPostObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: &key}, func(p *s3.PresignPostOptions) {
		p.Expires, p.Conditions = left, []any{[]any{"content-length-range", 1, conversation.MaxArchive}}
	})
	if err != nil {
		return fmt.Errorf("sign an upload: %w", err)
	}
	o.Upload = isolated.Form{URL: form.URL, Fields: form.Values}
	return nil
}

// Cancel tells an action that runs to end. To say it again changes nothing.
func (s *Store) Cancel(ctx context.Context, of Session, action string) error {
	return s.put(ctx, of.action(action, "cancel"), []byte("cancelled\n"))
}

// Take keeps the archive that an action uploaded as a version, and returns that. The archive is checked like a
// stranger's, and the version is computed from its content, whatever the sandbox says. It returns ErrGone if nothing was
// uploaded, and an error wrapping conversation.ErrRefused for an archive that is no workspace.
func (s *Store) Take(ctx context.Context, of Session, action string) (version string, err error) {
	t, err := s.get(ctx, of.action(action, "changed.tar"))
	if err != nil {
		return "", err
	}
	return s.Put(ctx, of, t)
}
