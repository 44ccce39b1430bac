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

// Rows of a tenant's chain: CHAIN#<tenant>, its head and a row for each link.
const (
	chainPrefix = "CHAIN#"
	chainHead   = "HEAD"
	linkPrefix  = "LINK#"
	chains      = "CHAINS" // all heads, in GSI1
)

// Chain is how far a tenant's chain goes, and what was done with it.
type Chain struct {
	chain.Head
	Kept    int       `json:"kept,omitempty"`      // seq of the newest head that was put away
	Checked time.Time `json:"checked_at,omitzero"` // all rows before this were looked at once more
}

// Rows are those of chains in the table.
type Rows struct{ t *table.Table }

// Of are those of a table.
func Of(t *table.Table) Rows { return Rows{t} }

func linkKey(seq int) string { return linkPrefix + fmt.Sprintf("%010d", seq) }

// Chain is a tenant's. Of one that has none it is empty but for the tenant.
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

// AppendLink puts a link behind the last one. It returns aggregate.ErrConflict when another came first. To append the
// same link twice is to append it once.
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

// HeadKept notes that the head of seq was put away.
func (s Rows) HeadKept(ctx context.Context, tenant string, seq int) error {
	return s.noteChain(ctx, tenant, "kept", seq)
}

// ChainChecked notes that no row before a time waits to be sealed.
func (s Rows) ChainChecked(ctx context.Context, tenant string, through time.Time) error {
	return s.noteChain(ctx, tenant, "checked_at", through)
}

// noteChain moves a note forward; one that is further already stays.
func (s Rows) noteChain(ctx context.Context, tenant, name string, v any) error {
	pk, err := table.TenantPartition(chainPrefix, tenant)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Set(name, v)
	_, err = s.t.Update(ctx, table.Key(pk, chainHead), e, table.All(e.Exists(), table.AnyOf(e.Lacks(name), e.Is(name, "<", v))))
	return table.Wrapped(table.Unless(err, table.ErrCondition), "note %s of the chain of %s", name, tenant)
}

// Chains are those of all tenants, by an index that may be a moment behind.
func (s Rows) Chains(ctx context.Context) iter.Seq2[Chain, error] {
	e := table.NewExpression()
	return table.Queried(ctx, s.t, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, IndexName: aws.String("GSI1"), KeyConditionExpression: table.All(e.Is("GSI1PK", "=", chains)),
	}), table.UnpackAs[Chain])
}

// Links are a tenant's from the first on, or, backwards, from the last.
func (s Rows) Links(ctx context.Context, tenant string, backwards bool) iter.Seq2[chain.Link, error] {
	return s.links(ctx, tenant, 0, backwards)
}

// LinksFrom are a tenant's from seq on.
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

// Link is one of a tenant's. It returns aggregate.ErrNotFound if there is none of that seq.
func (s Rows) Link(ctx context.Context, tenant string, seq int) (l chain.Link, err error) {
	err = s.t.Get(ctx, chainPrefix+tenant, linkKey(seq), &l)
	return l, table.Wrapped(err, "read link %d of %.40s", seq, tenant)
}

// RowsOfLog are the rows of a tenant's audit log from a time on until before another, in their order, as they stand in
// the table.
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

// SealedRow is an audit row's item as it is sealed: all of its attributes. A key without a time is of no time.
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
