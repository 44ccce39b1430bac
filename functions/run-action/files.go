package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"ringi/shared/aggregate"
	"ringi/shared/sandbox"
	"ringi/shared/workspace"
)

// bucket keeps the versions of workspaces, each under the SHA-256 of its archive, and what an action sends to and gets from its
// sandbox.
type bucket struct {
	s3   *s3.Client
	name string
}

// under is the prefix of all that is a session's. A sandbox reaches nothing but workspaces/.
func under(ref aggregate.Ref) string { return "workspaces/" + ref.Tenant + "/" + ref.ID + "/" }

func versionKey(ref aggregate.Ref, version string) string { return under(ref) + version + ".tar" }
func uploadKey(ref aggregate.Ref, action string) string {
	return under(ref) + "uploads/" + action + ".tar"
}
func cancelKey(ref aggregate.Ref, action string) string { return under(ref) + "cancel/" + action }

// Open reads a version of the workspace; the empty workspace's for the empty name.
func (b *bucket) Open(ctx context.Context, ref aggregate.Ref, version string) (*workspace.Tree, error) {
	if version == "" {
		return &workspace.Tree{}, nil
	}
	return b.read(ctx, versionKey(ref, version))
}

func (b *bucket) read(ctx context.Context, key string) (*workspace.Tree, error) {
	out, err := b.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return nil, fmt.Errorf("read the workspace: %w", err)
	}
	defer out.Body.Close()
	// All of it first: an archive that is cut off by the network is none that somebody made up.
	archive, err := io.ReadAll(io.LimitReader(out.Body, workspace.MaxArchive+1))
	if err != nil {
		return nil, fmt.Errorf("read the workspace: %w", err)
	}
	return workspace.Read(bytes.NewReader(archive))
}

// Keep stores a version of the workspace and returns its name. The same files are the same object.
func (b *bucket) Keep(ctx context.Context, ref aggregate.Ref, t *workspace.Tree) (version string, err error) {
	archive, err := t.Archive()
	if err != nil {
		return "", err
	}
	version = workspace.Version(archive)
	key := versionKey(ref, version)
	_, err = b.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: bytes.NewReader(archive), ContentType: aws.String("application/x-tar")})
	if err != nil {
		return "", fmt.Errorf("keep the workspace: %w", err)
	}
	return version, nil
}

// Uploaded takes what a sandbox uploaded, as what a stranger sent, and keeps it in the one form that a workspace has. It returns
// an error wrapping workspace.ErrRefused for what is no workspace, and an empty version when nothing was uploaded.
func (b *bucket) Uploaded(ctx context.Context, ref aggregate.Ref, action string) (version string, err error) {
	t, err := b.read(ctx, uploadKey(ref, action))
	var none *types.NoSuchKey
	if errors.As(err, &none) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return b.Keep(ctx, ref, t)
}

// Cancel tells the sandbox of an action that it shall stop.
func (b *bucket) Cancel(ctx context.Context, ref aggregate.Ref, action string) error {
	key := cancelKey(ref, action)
	_, err := b.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: bytes.NewReader(nil)})
	return err
}

// Lend signs the addresses that a sandbox needs for one action, and no longer than that action's claim holds.
func (b *bucket) Lend(ctx context.Context, ref aggregate.Ref, action, version string, within time.Duration) (sandbox.Order, error) {
	signer := s3.NewPresignClient(b.s3)
	var o sandbox.Order
	get := func(key string) (string, error) {
		r, err := signer.PresignGetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key}, s3.WithPresignExpires(within))
		if err != nil {
			return "", fmt.Errorf("sign an address: %w", err)
		}
		return r.URL, nil
	}
	var err error
	if version != "" {
		if o.Workspace, err = get(versionKey(ref, version)); err != nil {
			return o, err
		}
	}
	if o.Cancel, err = get(cancelKey(ref, action)); err != nil {
		return o, err
	}
	up := uploadKey(ref, action)
	form, err := signer.PresignPostObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &up}, func(p *s3.PresignPostOptions) {
		p.Expires = within
		p.Conditions = []any{[]any{"content-length-range", 0, workspace.MaxArchive}}
	})
	if err != nil {
		return o, fmt.Errorf("sign an upload: %w", err)
	}
	o.Upload = sandbox.Form{URL: form.URL, Fields: form.Values}
	return o, nil
}
