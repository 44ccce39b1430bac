package seal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/store/table"
)

// A tenant's partition CHAIN#<tenant> has the chain's head and a row for each link.
const (
	chainPrefix = "CHAIN#"
	chainHead   = "HEAD"
	linkPrefix  = "LINK#"
	chains      = "CHAINS" // all heads, in GSI1
)

// Chain is the state of a tenant's chain: its last link, and how far it was stored and checked.
type Chain struct {
	chain.Head
	Kept    int       `json:"kept,omitempty"`      // seq of the newest head that was put away
	KeptAt  time.Time `json:"kept_at,omitzero"`    // when it was put away last
	Checked time.Time `json:"checked_at,omitzero"` // all rows before this were looked at once more
}

// Rows reads and writes the rows of chains.
type Rows struct{ t *table.Table }

// Of returns the chains in a table.
func Of(t *table.Table) Rows { return Rows{t} }

func linkKey(seq int) string { return linkPrefix + fmt.Sprintf("%010d", seq) }

// Chain returns a tenant's chain. If there is none, only the tenant is set.
func (s Rows) Chain(ctx context.Context, tenant string) (Chain, error) {
	is := Chain{Head: chain.Head{Tenant: tenant}}
	pk, err := table.TenantPartition(chainPrefix, tenant)
	if err == nil {
		err = s.t.Get(ctx, pk, chainHead, &is)
	}
	if err != nil && !errors.Is(err, aggregate.ErrNotFound) || pk == "" {
		return Chain{}, fmt.Errorf("read the chain of %.40s: %w", tenant, err)
	}
	return is, nil
}

// AppendLink appends a link to its chain. It returns aggregate.ErrConflict when another link was appended first.
// Appending the same link again changes nothing.
func (s Rows) AppendLink(ctx context.Context, l chain.Link) error {
	pk, err := table.TenantPartition(chainPrefix, l.Tenant)
	if err != nil {
		return fmt.Errorf("append a link: %w", err)
	}
	it, err := table.Pack("link", pk, linkKey(l.Seq), l)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Set("tenant_id", l.Tenant)
	e.Set("seq", l.Seq)
	e.Set("link", l.ID())
	e.Set("at", l.At)
	e.Set("GSI1PK", chains)
	e.Set("GSI1SK", l.Tenant)
	e.Row("chain", time.Time{})
	var condition string
	if l.Seq == 1 {
		condition = e.Absent()
	} else {
		condition = table.Both(e.Is("seq", "=", l.Seq-1), e.Is("link", "=", l.Previous))
	}
	err = s.t.TransactPast(ctx, aggregate.NewID(), []types.TransactWriteItem{
		s.t.Move(table.Key(pk, chainHead), e, condition), s.t.Put(it, 0),
	})
	var l2 *table.Lost
	if errors.As(err, &l2) {
		var there chain.Link
		if s.t.Get(ctx, pk, linkKey(l.Seq), &there) == nil && there.ID() == l.ID() {
			return nil // the answer to an earlier try was lost
		}
		err = aggregate.ErrConflict
	}
	return table.Wrapped(err, "append link %d of %s", l.Seq, l.Tenant)
}

// HeadKept records that the head with this seq was stored in the bucket at a time.
func (s Rows) HeadKept(ctx context.Context, tenant string, seq int, at time.Time) error {
	e := table.NewExpression()
	e.Set("kept", seq)
	e.Set("kept_at", at)
	return s.noteChain(ctx, tenant, "kept", e, e.Is("kept", "<=", seq))
}

// ChainChecked records that no row before a time still has to be sealed.
func (s Rows) ChainChecked(ctx context.Context, tenant string, through time.Time) error {
	e := table.NewExpression()
	e.Set("checked_at", through)
	return s.noteChain(ctx, tenant, "checked_at", e, e.Is("checked_at", "<", through))
}

// noteChain writes attributes of the chain's head if that lacks one of them or its value is lower.
func (s Rows) noteChain(ctx context.Context, tenant, name string, e *table.Expression, lower string) error {
	pk, err := table.TenantPartition(chainPrefix, tenant)
	if err != nil {
		return err
	}
	_, err = s.t.Update(ctx, table.Key(pk, chainHead), e, table.All(e.Exists(), table.AnyOf(e.Lacks(name), lower)))
	return table.Wrapped(table.Unless(err, table.ErrCondition), "note %s of the chain of %s", name, tenant)
}

// Chains returns the chains of all tenants. It reads an index, which may be slightly stale.
func (s Rows) Chains(ctx context.Context) iter.Seq2[Chain, error] {
	e := table.NewExpression()
	return table.Queried(ctx, s.t, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, IndexName: aws.String("GSI1"), KeyConditionExpression: table.All(e.Is("GSI1PK", "=", chains)),
	}), table.UnpackAs[Chain])
}

// Links returns a tenant's links from the first on, or from the last on if backwards is set.
func (s Rows) Links(ctx context.Context, tenant string, backwards bool) iter.Seq2[chain.Link, error] {
	return s.links(ctx, tenant, 0, backwards)
}

// LinksFrom returns a tenant's links from seq on.
func (s Rows) LinksFrom(ctx context.Context, tenant string, seq int) iter.Seq2[chain.Link, error] {
	return s.links(ctx, tenant, seq, false)
}

func (s Rows) links(ctx context.Context, tenant string, from int, backwards bool) iter.Seq2[chain.Link, error] {
	e := table.NewExpression()
	return table.Queried(ctx, s.t, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, ConsistentRead: aws.Bool(true), ScanIndexForward: aws.Bool(!backwards),
		KeyConditionExpression: table.All(e.Is("PK", "=", chainPrefix+tenant), e.Between("SK", linkKey(from), linkPrefix+"~")),
	}), table.UnpackAs[chain.Link])
}

// Link returns one of a tenant's links. It returns aggregate.ErrNotFound if there is none with that seq.
func (s Rows) Link(ctx context.Context, tenant string, seq int) (l chain.Link, err error) {
	err = s.t.Get(ctx, chainPrefix+tenant, linkKey(seq), &l)
	return l, table.Wrapped(err, "read link %d of %.40s", seq, tenant)
}

// RowsOfLog returns the rows of a tenant's audit log from a time until before another, in order, with all attributes.
func (s Rows) RowsOfLog(ctx context.Context, tenant string, from, until time.Time) iter.Seq2[chain.Row, error] {
	if from.Before(table.AuditBegins()) {
		from = table.AuditBegins()
	}
	from, until = from.UTC(), until.UTC()
	return func(yield func(chain.Row, error) bool) {
		for m := time.Date(from.Year(), from.Month(), 1, 0, 0, 0, 0, time.UTC); m.Before(until); m = m.AddDate(0, 1, 0) {
			e := table.NewExpression()
			in := table.Filled(e, &dynamodb.QueryInput{
				TableName: &s.t.Name, ConsistentRead: aws.Bool(true),
				KeyConditionExpression: table.All(e.Is("PK", "=", table.AuditMonth(tenant, m)), e.Between("SK", aggregate.TimeText(from), aggregate.TimeText(until))),
			})
			for r, err := range table.Queried(ctx, s.t, in, SealedRow) {
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// SealedRow returns an audit row as it is sealed, with all of its attributes. If its key has no time, the row has none.
func SealedRow(it map[string]types.AttributeValue) (chain.Row, error) {
	members := map[string]any{}
	for name, v := range it {
		members[name] = table.Plain(v)
	}
	content, err := chain.Canonical(members)
	if err != nil {
		return chain.Row{}, err
	}
	pk, sk := table.TextOf(it, "PK"), table.TextOf(it, "SK")
	moment, _, _ := strings.Cut(sk, "#")
	at, err := time.Parse(time.RFC3339, moment)
	if err != nil || !strings.HasSuffix(pk, "#"+at.UTC().Format("2006-01")) {
		at = time.Time{}
	}
	return chain.Row{Key: chain.KeyOf(pk, sk), Content: content, At: at}, nil
}
