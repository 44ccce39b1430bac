package store

import (
	"context"
	"crypto/subtle"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// KeyBySecret returns the key with this secret by one read, or none for what can't be a secret. It returns
// tenancy.ErrKey if there is none, or if it is revoked or expired.
func (s *Store) KeyBySecret(ctx context.Context, secret string, now time.Time) (tenancy.Key, error) {
	if !strings.HasPrefix(secret, tenancy.KeyMark) || len(secret) != tenancy.KeyLength {
		return tenancy.Key{}, tenancy.ErrKey{Why: tenancy.KeyUnknown}
	}
	id, hash := tenancy.Hashed(secret)
	k, err := s.key(ctx, id)
	if errors.Is(err, aggregate.ErrNotFound) || err == nil && subtle.ConstantTimeCompare([]byte(k.Hash),
		[]byte(hash)) == 0 {
		return tenancy.Key{}, tenancy.ErrKey{Why: tenancy.KeyUnknown}
	}
	if err == nil {
		err = k.Stands(now)
	}
	return k, err
}

func (s *Store) key(ctx context.Context, id string) (k tenancy.Key, err error) {
	pk, sk, _ := tenancy.Key{ID: id}.Place()
	return k, table.Wrapped(s.t.Get(ctx, pk, sk, &k), "read a key")
}

// Key returns a tenant's key by its id, whatever became of it, or aggregate.ErrNotFound.
func (s *Store) Key(ctx context.Context, tenant, id string) (tenancy.Key, error) {
	k, err := s.key(ctx, id)
	if err == nil && k.TenantID != tenant {
		return tenancy.Key{}, aggregate.ErrNotFound
	}
	return k, err
}

// Keys returns a tenant's keys, the newest first. It reads an index, which may be slightly stale.
func (s *Store) Keys(ctx context.Context, tenant string) ([]tenancy.Key, error) {
	e := table.NewExpression()
	return unexpired[tenancy.Key](ctx, s, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, IndexName: aws.String("GSI1"), ScanIndexForward: aws.Bool(false),
		KeyConditionExpression: table.All(e.Is("GSI1PK", "=", tenancy.KeysOf(tenant))),
	}))
}

// CreateKey commits tenancy.NewKey and returns the secret, which nobody can read again.
func (s *Store) CreateKey(ctx context.Context, k tenancy.Key, by aggregate.Actor, now time.Time) (tenancy.Key, string,
	error) {
	k, secret, c, err := tenancy.NewKey(k, by, now)
	if err = s.change(ctx, c, err); err != nil {
		return tenancy.Key{}, "", err
	}
	return k, secret, nil
}

// SaveKey commits Key.Save. It returns aggregate.ErrConflict if the key isn't at the
// revision k.Rev any more.
func (s *Store) SaveKey(ctx context.Context, k tenancy.Key, by aggregate.Actor, now time.Time) (
	tenancy.Key, error) {
	was, err := s.Key(ctx, k.TenantID, k.ID)
	if err != nil {
		return k, err
	}
	if was.Rev != k.Rev {
		return k, aggregate.ErrConflict
	}
	k, c, err := k.Save(was, by, now)
	return k, s.change(ctx, c, err)
}

// RevokeKey commits Key.Revoke, and again after a conflict for up to two seconds.
func (s *Store) RevokeKey(ctx context.Context, tenant, id string, by aggregate.Actor, now time.Time) error {
	return whileConflict(ctx, func() error {
		k, err := s.Key(ctx, tenant, id)
		if err != nil {
			return err
		}
		_, c := k.Revoke(by, now)
		return s.changeOnce(ctx, c, nil)
	})
}

// FollowKey has a key's calls that wait follow its row; see call.Aggregate. It is for people, who aren't asked in vain:
// a call that is left isn't made, since whoever makes one asks the key again.
func (s *Store) FollowKey(ctx context.Context, tenant, id string, now time.Time) error {
	k, err := s.Key(ctx, tenant, id)
	if err != nil {
		return err
	}
	return s.waitingOf(ctx, k, func(ref aggregate.Ref, x *call.Call) error {
		_, err := CallsOf(s).Decide(ctx, ref, func(a *call.Aggregate) (aggregate.Change, error) {
			return a.Follow(k, now)
		})
		return err
	})
}

// waitingOf goes through a key's calls that wait, until a page of all that waits had an error.
func (s *Store) waitingOf(ctx context.Context, k tenancy.Key, do func(aggregate.Ref, *call.Call) error) (err error) {
	for cursor, more := "", true; more; more = err == nil && cursor != "" {
		var page table.Page[WaitingItem]
		page, err = s.Waiting(ctx, k.TenantID, cursor, table.MaxPage)
		cursor = page.Next
		for _, w := range page.Items {
			if x, is := w.Row.(*call.Call); is && x.KeyID == k.ID {
				err = errors.Join(err, do(w.Ref, x))
			}
		}
	}
	return err
}

// RevokeKeysOf revokes all keys for which a person answers who has left, and returns how many these are. A key that was
// made a moment ago may be missing in the index: whoever makes one asks Slack about the person.
func (s *Store) RevokeKeysOf(ctx context.Context, tenant, user string, now time.Time) (n int, err error) {
	all, err := s.Keys(ctx, tenant)
	for _, k := range all {
		if k.Answers == user && k.RevokedAt == nil {
			n, err = n+1, errors.Join(err, s.RevokeKey(ctx, tenant, k.ID, aggregate.System(), now))
		}
	}
	return n, err
}

// UseKey commits Key.Used, and reports whether it is noted just now, by this one. An error says nothing about the key.
func (s *Store) UseKey(ctx context.Context, k tenancy.Key, now time.Time) (noted bool, err error) {
	c := k.Used(now)
	if err = s.change(ctx, c, nil); errors.Is(err, aggregate.ErrConflict) {
		return false, nil
	}
	return err == nil && len(c.Writes) > 0, err
}
