package large

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/isolated"
)

// Everything is under one prefix because the sandbox's network allows only that prefix. Versions expire as results do
// (shared/store/large); the bucket deletes the files of a single action after a day.
const (
	kept     = conversation.VersionsPrefix
	attached = conversation.AttachedPrefix
	passing  = conversation.ActionsPrefix
)

// octets is the content type of what no browser shows.
const octets = "application/octet-stream"

// ErrGone means that a version was deleted or that nothing was uploaded.
var ErrGone = errors.New("the workspace is gone")

func (s *Versions) version(of aggregate.Ref, v string) string {
	return s.below + under(of) + v + ".tar"
}

func ofAction(of aggregate.Ref, id, name string) string { return passing + under(of) + id + "/" + name }

// Versions stores files in the bucket.
type Versions struct {
	bucket *Bucket
	below  string // the prefix of versions
}

// OpenVersions returns a bucket's store. In AWS its URLs have the bucket's name in their host, the only name that the
// sandbox's network resolves.
func OpenVersions(cfg aws.Config, name string) *Versions {
	return &Versions{bucket: HostedBucket(cfg, name), below: kept}
}

// Attached returns the store of the versions of what people attached to conversations.
func (s *Versions) Attached() *Versions {
	other := *s
	other.below = attached
	return &other
}

// Get returns a version of a conversation's files; the empty version has no files. It returns ErrGone if the version
// doesn't exist.
func (s *Versions) Get(ctx context.Context, of aggregate.Ref, version string) (*files.Tree, error) {
	if version == "" {
		return &files.Tree{}, nil
	}
	if raw, err := hex.DecodeString(version); err != nil || len(raw) != 32 {
		return nil, fmt.Errorf("get a workspace: version %.80q is no SHA-256", version)
	}
	return s.get(ctx, s.version(of, version))
}

func (s *Versions) get(ctx context.Context, key string) (*files.Tree, error) {
	// Read everything first, so that an interrupted download is not mistaken for an invalid archive.
	archive, err := s.bucket.Get(ctx, key, files.MaxArchive)
	if MissingObject(err) {
		err = fmt.Errorf("%w: %w", ErrGone, err)
	}
	if err != nil {
		return nil, fmt.Errorf("get a workspace: %w", err)
	}
	return files.Read(bytes.NewReader(archive))
}

// Put stores a tree and returns its version. Storing the same tree again changes nothing.
func (s *Versions) Put(ctx context.Context, of aggregate.Ref, t *files.Tree) (version string, err error) {
	archive, err := t.Archive()
	if err != nil {
		return "", err
	}
	version = files.Sum(archive)
	return version, s.put(ctx, s.version(of, version), archive)
}

func (s *Versions) put(ctx context.Context, key string, body []byte) error {
	if err := s.bucket.Put(ctx, key, octets, body); err != nil {
		return fmt.Errorf("keep a workspace: %w", err)
	}
	return nil
}

// Difference returns what became of a base in a version. It returns ErrGone if one of the two doesn't exist.
func (s *Versions) Difference(ctx context.Context, of aggregate.Ref, base, version string) ([]files.Change, error) {
	was, err := s.Get(ctx, of, base)
	if err != nil {
		return nil, err
	}
	is, err := s.Get(ctx, of, version)
	if err != nil {
		return nil, err
	}
	return files.Difference(was, is), nil
}

// Lend adds signed URLs to an order: of what the action works on, of the flag that cancels it, and for the upload of
// the changed files. They are valid for this action and until the given time.
func (s *Versions) Lend(ctx context.Context, of aggregate.Ref, on conversation.On, until time.Time,
	o *isolated.Order) error {
	left := time.Until(until)
	if left <= 0 {
		return fmt.Errorf("lend a workspace: %s is over", until.UTC().Format(time.RFC3339))
	}
	read := func(key string) (string, error) { return s.bucket.Address(ctx, key, left) }
	var err error
	if on.Base != "" {
		if o.Workspace, err = read(s.version(of, on.Base)); err != nil {
			return err
		}
	}
	if on.Attachments != "" {
		if o.Attachments, err = read(s.Attached().version(of, on.Attachments)); err != nil {
			return err
		}
	}
	if o.Cancel, err = read(ofAction(of, o.Action, "cancel")); err != nil {
		return err
	}
	form, err := s.bucket.Form(ctx, ofAction(of, o.Action, "changed.tar"), files.MaxArchive, left)
	if err != nil {
		return fmt.Errorf("sign an upload: %w", err)
	}
	o.Upload = isolated.Form(form)
	return nil
}

// Cancel tells a running action to end. Repeating it changes nothing.
func (s *Versions) Cancel(ctx context.Context, of aggregate.Ref, action string) error {
	return s.put(ctx, ofAction(of, action, "cancel"), []byte("cancelled\n"))
}

// Take stores the archive that an action uploaded as a version and returns the version. It checks the archive as
// untrusted input, and computes the version from its content. It returns ErrGone if nothing was uploaded, and an error
// wrapping files.ErrRefused for an invalid archive.
func (s *Versions) Take(ctx context.Context, of aggregate.Ref, action string) (version string, err error) {
	t, err := s.get(ctx, ofAction(of, action, "changed.tar"))
	if err != nil {
		return "", err
	}
	return s.Put(ctx, of, t.Own())
}
