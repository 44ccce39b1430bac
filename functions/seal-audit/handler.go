package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/store"
	"ringi/shared/store/seal"
)

const (
	// margin of the invocation's time is for returning records that were not sealed.
	margin = 5 * time.Second
	// maxEntries is how many rows a link seals. Each takes about 200 bytes, and a row of the table may have 400 KB.
	maxEntries = 500
)

type Store interface {
	Chain(ctx context.Context, tenant string) (seal.Chain, error)
	Chains(ctx context.Context) iter.Seq2[seal.Chain, error]
	AppendLink(ctx context.Context, l chain.Link) error
	HeadKept(ctx context.Context, tenant string, seq int, at time.Time) error
	ChainChecked(ctx context.Context, tenant string, through time.Time) error
	Link(ctx context.Context, tenant string, seq int) (chain.Link, error)
	LinksFrom(ctx context.Context, tenant string, seq int) iter.Seq2[chain.Link, error]
	FactOf(row map[string]types.AttributeValue) (f tenancy.DailyFact, ok bool, err error)
	PutFacts(ctx context.Context, facts []tenancy.DailyFact) error
	CountedOf(row map[string]types.AttributeValue) (c store.Counted, ok bool, err error)
	Count(ctx context.Context, c store.Counted) error
	RowsOfLog(ctx context.Context, tenant string, from, until time.Time) iter.Seq2[chain.Row, error]
}

type Signer interface {
	Sign(ctx context.Context, text []byte) ([]byte, error)
}

// Heads stores the heads of chains where nobody can delete them.
type Heads interface {
	Keep(ctx context.Context, head chain.Head) error
}

type Handler struct {
	Store  Store
	Signer Signer
	Heads  Heads
	Locked time.Duration // for how long the bucket locks a head
	Now    func() time.Time

	readings readings
}

// Handle seals and counts a batch of the table's stream. When a schedule calls it, it stores the chains' heads and
// seals rows that were missed. It returns the records from the first that could not be sealed; sealing a row twice is
// harmless.
func (h *Handler) Handle(ctx context.Context, event json.RawMessage) (events.DynamoDBEventResponse, error) {
	ctx, cancel := clock.Sparing(ctx, margin)
	defer cancel()
	var batch events.DynamoDBEvent
	if err := json.Unmarshal(event, &batch); err != nil {
		return events.DynamoDBEventResponse{}, fmt.Errorf("read the event: %w", err)
	}
	if len(batch.Records) == 0 {
		return events.DynamoDBEventResponse{}, h.minute(ctx)
	}
	out := h.records(ctx, batch.Records)
	for _, first := range []string{h.facts(ctx, batch.Records), h.count(ctx, batch.Records)} {
		if first != "" {
			out.BatchItemFailures = append(out.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: first})
		}
	}
	return out, nil
}

func (h *Handler) seal(ctx context.Context, tenant string, rows []chain.Row, late bool) error {
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		is, err := h.Store.Chain(ctx, tenant)
		if err != nil {
			return err
		}
		l, err := chain.Next(is.Head, salt(), rows, h.Now())
		if err != nil {
			return err
		}
		l.Late = late
		if l.Signature, err = h.Signer.Sign(ctx, l.Text()); err != nil {
			return fmt.Errorf("link %d of %s: %w", l.Seq, tenant, err)
		}
		if err = h.Store.AppendLink(ctx, l); !errors.Is(err, aggregate.ErrConflict) || clock.Sleep(ctx, wait) != nil {
			return err
		}
	}
}

func salt() string {
	b := make([]byte, 32)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func failed(ctx context.Context, what, tenant string, err error) {
	slog.ErrorContext(ctx, what, "tenant_id", tenant, "err", err)
	boot.Count(boot.SealFailed, 1)
}
