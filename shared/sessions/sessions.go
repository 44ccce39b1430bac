// Package sessions is the store of sessions: the table, with the lists that only sessions have.
package sessions

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/aggregate"
	"ringi/shared/config"
	"ringi/shared/session"
	"ringi/shared/store"
)

// Store reads and writes sessions, and what a tenant owns beside them.
type Store struct {
	store.Of[*session.Aggregate]
	Now func() time.Time
}

// Open is New for a function, by its environment.
func Open(cfg aws.Config, env config.Table) *Store {
	return New(dynamodb.NewFromConfig(cfg), env.TableName)
}

// New returns a store of the sessions in the table of that name.
func New(db *dynamodb.Client, table string) *Store { return Of(store.New(db, table, session.Kind)) }

// Of is the store of the sessions among the kinds of s.
func Of(s *store.Store) *Store {
	return &Store{Of: store.Of[*session.Aggregate]{Store: s}, Now: time.Now}
}

// Load is store.Store.Load. One that is forgotten is not found, whatever is left of it.
func (s *Store) Load(ctx context.Context, ref aggregate.Ref) (*session.Aggregate, error) {
	a, err := s.Of.Load(ctx, ref)
	if err == nil && a.Head.Forgotten(s.Now()) {
		return nil, fmt.Errorf("load %s: it is forgotten: %w", ref, aggregate.ErrNotFound)
	}
	return a, err
}

// Head reads the head alone, consistently.
func (s *Store) Head(ctx context.Context, ref aggregate.Ref) (session.Head, error) {
	root, err := s.Of.Head(ctx, ref)
	if err != nil {
		return session.Head{}, err
	}
	return *root.(*session.Head), nil
}

// Begin opens a session with its first message. It returns store.ErrExists when its thread has one: the message came
// before, or belongs to that one.
func (s *Store) Begin(ctx context.Context, c aggregate.Change) error {
	h := c.Head.(*session.Head)
	return s.Of.Create(ctx, session.RefOf(h.TenantID, h.SessionID), c)
}

// Listed are a tenant's sessions, the newest first; only those of a status, or of a person, if they are not empty.
func (s *Store) Listed(ctx context.Context, tenant string, status session.Status, opener, cursor string, limit int) (store.Page[session.Session], error) {
	l := store.List{Name: "sessions", Filter: []string{string(status), opener}, Tenant: tenant, Prefixes: []string{session.Kind.Prefix}, Index: "GSI1", Partitions: []string{session.All(tenant)}}
	switch {
	case opener != "":
		l.Index, l.Partitions, l.Sparse = "GSI3", []string{session.By(tenant, opener)}, status != ""
	case status != "":
		l.Index, l.Partitions = "GSI2", []string{session.In(tenant, status)}
	}
	return store.Rows(ctx, s.Of.Store, l, cursor, limit, func(x session.Session) bool { return status == "" || x.Status == status })
}
