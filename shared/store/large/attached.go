package large

import (
	"context"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// File returns a file that KeepFile stored, by its hash. It returns ErrExpired for one that is not there, and an error
// for content that has another hash.
func (s Store) File(ctx context.Context, ref aggregate.Ref, sum string) ([]byte, error) {
	return s.file(ctx, fileKey(ref, sum), sum)
}

func (s Store) file(ctx context.Context, key, sum string) ([]byte, error) {
	v, err := s.Bucket.Get(ctx, key, task.MaxFileBytes)
	switch {
	case MissingObject(err):
		return nil, fmt.Errorf("open a file: %w: %w", ErrExpired, err)
	case err == nil && aggregate.HashOf(string(v)) != sum:
		err = errAltered
	}
	if err != nil {
		return nil, fmt.Errorf("open a file: %w", err)
	}
	return v, nil
}

func attachedKey(ref aggregate.Ref, sum string) string { return beside + under(ref) + sum }

// Attach stores a request's file, which KeepFile stored before, for as long as the audit log.
func (s Store) Attach(ctx context.Context, ref aggregate.Ref, sum string) error {
	v, err := s.File(ctx, ref, sum)
	if err == nil {
		err = s.Bucket.Put(ctx, attachedKey(ref, sum), octets, v)
	}
	if err != nil {
		return fmt.Errorf("attach a file: %w", err)
	}
	return nil
}

// Attached returns a file that Attach stored, as File does.
func (s Store) Attached(ctx context.Context, ref aggregate.Ref, sum string) ([]byte, error) {
	return s.file(ctx, attachedKey(ref, sum), sum)
}

// AttachedAddress returns an address that serves such a file as one to be saved under a name, for LinkLasts.
func (s Store) AttachedAddress(ctx context.Context, ref aggregate.Ref, sum, name string) (string, error) {
	as := Served{Kind: octets, Disposition: Attachment(name)}
	address, err := s.Bucket.AddressAs(ctx, attachedKey(ref, sum), as, LinkLasts)
	if err != nil {
		return "", fmt.Errorf("sign an address: %w", err)
	}
	return address, nil
}
