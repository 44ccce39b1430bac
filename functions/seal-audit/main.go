// Command seal-audit seals the audit log: new rows from the table's stream, and each minute rows that were missed.
//
// It decides nothing, and no decision waits for it. What models cost is a metric that it makes of the same records.
//
// A link lists keys and salted hashes of entries, names the link before it, and is signed by a key that nobody else may
// use. Any invocation appends, by a transaction on the head's seq. A row that is sealed twice is sealed alike. A batch
// gathers for 20 s (2 s in development), and one batch of a shard is handled at a time: a tenant's entries of a month
// are in one shard, and two batches would meet in that head, where all but one had signed in vain.
//
// An entry that was changed or removed, or is dated more than two minutes off its record, rings, and is sealed as such:
// that stays a finding, even if somebody puts it back. Each minute the signed head of each chain that moved goes to a
// bucket with Object Lock, so that removing the end with its links shows. Entries of past days that nobody sealed are
// sealed as late, in windows of six hours, whoever waited longest first.
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
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/store"
	"ringi/shared/store/seal"
	"ringi/shared/store/table"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	Key    string `env:"CHAIN_KEY_ID" doc:"the key that signs the audit log's chain"`
	Days   string `env:"HEAD_RETENTION_DAYS" doc:"for how many days the bucket locks an object"`
	Bucket string `env:"HEADS_BUCKET" doc:"the bucket whose objects are locked, for heads of chains"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	days, err := strconv.Atoi(env.Days)
	return &Handler{
		Store: seal.RowsIn(store.OpenAll(cfg, env.Table).Table()), Signer: seal.Signer{KMS: kms.NewFromConfig(cfg),
			Key: env.Key},
		Heads: seal.Open(cfg, env.Bucket), Locked: time.Duration(days) * 24 * time.Hour, Now: time.Now,
	}, err
}

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
	Links(ctx context.Context, tenant string, seq int) iter.Seq2[chain.Link, error]
	RowsOfLog(ctx context.Context, tenant string, from, until time.Time) iter.Seq2[chain.Row, error]
}

type Signer interface {
	Sign(ctx context.Context, text []byte) ([]byte, error)
}

type Handler struct {
	Store  Store
	Signer Signer
	Heads  seal.Heads    // stored where nobody can delete them
	Locked time.Duration // for how long the bucket locks a head
	Now    func() time.Time
}

// Handle seals a batch of the table's stream. When a schedule calls it, it stores the chains' heads and
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
	spent(ctx, batch.Records)
	return h.records(ctx, batch.Records), nil
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

// longBehind is how long a tenant's rows may stay unchecked before an alarm is raised.
const longBehind = 48 * time.Hour

// minute stores the head of each chain that grew, then seals rows that were missed, of the chain first whose last check
// is oldest. A failure is logged, counted and retried the next minute, which also continues what has no time left.
func (h *Handler) minute(ctx context.Context) error {
	var behind []seal.Chain
	through := h.Now().Add(-settled).UTC().Truncate(24 * time.Hour) // up to then rows are checked again
	for is, err := range h.Store.Chains(ctx) {
		if err != nil {
			return err
		}
		if is.Checked.Before(through) {
			behind = append(behind, is)
		}
		if err := h.keep(ctx, is); err != nil {
			failed(ctx, "keeps no head", is.Tenant, err)
		}
	}
	slices.SortStableFunc(behind, func(a, b seal.Chain) int { return a.Checked.Compare(b.Checked) })
	for _, is := range behind {
		switch err := h.late(ctx, is, through); {
		case err == nil:
		case ctx.Err() == nil, through.Sub(is.Checked) > longBehind && !is.Checked.IsZero():
			failed(ctx, "seals nothing late", is.Tenant, err)
		default:
			slog.InfoContext(ctx, "looks on in a minute", "tenant_id", is.Tenant)
		}
	}
	return nil
}

// keep signs and stores a chain's head, unless that is stored already. The head of a chain that rests is stored again
// while its lock still holds: the bucket deletes heads whose lock is over, and the newest must always be there.
func (h *Handler) keep(ctx context.Context, is seal.Chain) error {
	if is.Kept >= is.Seq && h.Now().Sub(is.KeptAt) < h.Locked/2 {
		return nil
	}
	head := chain.Head{Tenant: is.Tenant, Seq: is.Seq, Link: is.Link, At: h.Now().UTC().Truncate(time.Millisecond)}
	var err error
	if head.Signature, err = h.Signer.Sign(ctx, head.Text()); err != nil {
		return err
	}
	if err := h.Heads.Keep(ctx, head); err != nil {
		return err
	}
	return h.Store.HeadKept(ctx, is.Tenant, is.Seq, head.At)
}

// spent counts what models' calls cost. A batch that is repeated counts again, which rings early at worst.
func spent(ctx context.Context, records []events.DynamoDBEventRecord) {
	var cost aggregate.MicroUSD
	for _, r := range records {
		var u aggregate.Use
		it, err := item(r.Change.NewImage)
		if err != nil || table.TextOf(it, "type") != u.Type() || r.EventName != string(events.DynamoDBOperationTypeInsert) {
			continue
		}
		if err := table.Unpack(it, &u); err != nil {
			slog.WarnContext(ctx, "what models cost is not counted", "err", err)
			continue
		}
		if u.ChargedTo == "" {
			cost += u.Cost
		}
	}
	if cost > 0 {
		boot.Measure(boot.ModelCost, float64(cost)/1e6)
	}
}
