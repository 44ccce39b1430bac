package store

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// CallStore reads and writes calls that outside agents ask for.
type CallStore struct{ KindStore[*call.Aggregate] }

// CallsOf returns the store of the calls in s.
func CallsOf(s *Store) CallStore { return CallStore{KindStore[*call.Aggregate]{Store: s}} }

// Joined returns the call with this id if the key asked for it before, else aggregate.ErrNotFound.
func (s CallStore) Joined(ctx context.Context, key tenancy.Key, id string) (*call.Aggregate, error) {
	if !call.ValidID(id) {
		return nil, fmt.Errorf("call %.40q: %w", id, aggregate.ErrNotFound)
	}
	a, err := s.Load(ctx, call.RefOf(key.TenantID, id))
	if err == nil && (a.Call == nil || a.Call.KeyID != key.ID) {
		return nil, fmt.Errorf("call %s: %w", id, aggregate.ErrNotFound)
	}
	return a, err
}

// Thread returns the thread of a key's calls of a day in its channel, "" if none was begun. It reads an index, which
// may be slightly stale.
func (s CallStore) Thread(ctx context.Context, key tenancy.Key, day time.Time) (string, error) {
	l := callsList("newest", key.TenantID, "GSI3", call.Of(key.TenantID, key.ID, day))
	page, err := table.Rows(ctx, s.Table(), l, "", 1, func(call.Call) bool { return true })
	if err != nil || len(page.Items) == 0 || page.Items[0].Channel != key.Channel {
		return "", err
	}
	newest, of := page.Items[0], aggregate.Card{}
	if newest.ThreadTS != "" {
		return newest.ThreadTS, nil
	}
	at := Place{Ref: call.RefOf(key.TenantID, newest.CallID), Key: "CARD#" + string(call.Card)}
	if err = s.RowAt(ctx, at, &of); errors.Is(err, aggregate.ErrNotFound) {
		return "", nil
	}
	return of.MessageTS, err
}

// Ask commits the first rows of a call, or finds those of the same call that was asked for before; see call.ID. Of one
// that is asked for once more, it notes the newest at the first. It returns aggregate.ErrFull for a key's limits and
// aggregate.ErrSettings if something it depends on has changed.
func (s CallStore) Ask(ctx context.Context, x *call.Proposal, c aggregate.Change) (*call.Aggregate, error) {
	ref, first := x.Ref(), x.First()
	err := s.Create(ctx, ref, c)
	if err != nil && !errors.Is(err, aggregate.ErrExists) {
		return nil, err
	}
	if err == nil && first != ref {
		s.follow(ctx, first, ref.ID)
	}
	return s.Joined(ctx, x.Key, ref.ID)
}

// follow notes the newest call at the first one. Without it whoever looks for the newest begins at an older one.
func (s CallStore) follow(ctx context.Context, first aggregate.Ref, newest string) {
	e := table.NewExpression()
	e.Set("newest", newest)
	there := e.Is("type", "=", (&call.Call{}).Type())
	pk, err := s.partition(first)
	if err == nil {
		_, err = s.Table().Update(ctx, table.Key(pk, call.Key), e, &there)
	}
	if err != nil {
		slog.WarnContext(ctx, "the newest call isn't noted at the first", first.Log(), "err", err)
	}
}

// Count counts what leaves no row. It returns aggregate.ErrFull once there is too much of it.
func (s CallStore) Count(ctx context.Context, tenant string, counts ...aggregate.Count) error {
	moves, err := s.countMoves(tenant, counts)
	if err != nil {
		return err
	}
	return full(s.t.TransactPast(ctx, s.newID(), moves), counts, 0)
}

// Listed lists those of a tenant's calls that keep accepts, the newest first. A page reads at most so many. It returns
// aggregate.Problem as table.Rows does.
func (s CallStore) Listed(ctx context.Context, tenant, cursor string, limit, most int, keep func(call.Call) bool) (
	Page[call.Call], error) {
	l := callsList("calls", tenant, "GSI2", call.All(tenant))
	l.Most, l.Sparse = most, true
	return table.Rows(ctx, s.Table(), l, cursor, limit, keep)
}

func callsList(name, tenant, index, partition string) table.List {
	return table.List{Name: name, Tenant: tenant, Prefixes: []string{call.Kind.Prefix}, Index: index,
		Partitions: []string{partition}}
}

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
	in := s.t.Find(table.NewExpression(), "GSI1", tenancy.KeysOf(tenant))
	in.ScanIndexForward = aws.Bool(false)
	return unexpired[tenancy.Key](ctx, s, in, 0)
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
	for cursor, more := "", true; more; more = err == nil && cursor != "" { // until a page of all that waits had an error
		var page table.Page[WaitingItem]
		page, err = s.Waiting(ctx, tenant, cursor, table.MaxPage)
		cursor = page.Next
		for _, w := range page.Items {
			if x, is := w.Row.(*call.Call); is && x.KeyID == k.ID {
				_, failed := CallsOf(s).Decide(ctx, w.Ref, func(a *call.Aggregate) (aggregate.Change, error) {
					return a.Follow(k, now)
				})
				err = errors.Join(err, failed)
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
