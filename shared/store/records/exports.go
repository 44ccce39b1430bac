package records

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/explain/auditlog"
	"ringi/shared/store/table"
)

// Exports reads and writes the rows of exports.
type Exports struct{ t *table.Table }

// ExportsOf returns the exports in a table.
func ExportsOf(t *table.Table) Exports { return Exports{t} }

// exportKey returns an export's key in its tenant's partition, where ids sort by time.
func exportKey(x auditlog.Export) (table.Item, error) {
	if !table.KeyPart(x.Tenant) || !table.KeyPart(x.ID) {
		return nil, fmt.Errorf("export %.40q: %w", x.ID, aggregate.ErrNotFound)
	}
	return table.Key("EXPORT#"+x.Tenant, x.ID), nil
}

// lastExport names a tenant's newest export. Beginning an export updates it on condition, so that of several callers
// who count at the same time only one succeeds.
type lastExport struct {
	ID string `json:"id"`
}

// lastExportKey sorts after all exports because their ids begin with a digit.
const lastExportKey = "LAST"

// BeginExport saves a new export. It returns auditlog.ErrBusy while too many are in progress.
func (s Exports) BeginExport(ctx context.Context, x auditlog.Export, now time.Time) error {
	for range auditlog.MaxAtOnce + 1 { // more conflicts would mean that too many are in progress
		err := s.beginExport(ctx, x, now)
		if !errors.Is(err, aggregate.ErrMoved) {
			return err
		}
	}
	return auditlog.ErrBusy
}

// beginExport returns aggregate.ErrMoved when another export began since those in progress were counted.
func (s Exports) beginExport(ctx context.Context, x auditlog.Export, now time.Time) error {
	k, err := exportKey(x)
	if err != nil {
		return err
	}
	var last lastExport // read first, so that the export that it names is among those read next
	if err := s.t.Get(ctx, table.TextOf(k, "PK"), lastExportKey, &last); err != nil &&
		!errors.Is(err, aggregate.ErrNotFound) {
		return fmt.Errorf("read the last export: %w", err)
	}
	newest, err := s.newestExports(ctx, x.Tenant)
	if err != nil {
		return err
	}
	open := 0
	for _, o := range newest {
		if o.Open(now) {
			open++
		}
	}
	if open >= auditlog.MaxAtOnce {
		return auditlog.ErrBusy
	}
	it, err := table.Pack("export", table.TextOf(k, "PK"), table.TextOf(k, "SK"), x)
	if err != nil {
		return err
	}
	it["delete_after"] = table.Number(int(x.CreatedAt.Add(auditlog.Kept).Unix()))
	next, err := table.Pack("last_export", table.TextOf(k, "PK"), lastExportKey, lastExport{x.ID})
	if err != nil {
		return err
	}
	was := table.NewExpression()
	var unmoved string
	if last.ID == "" {
		unmoved = was.Absent()
	} else {
		unmoved = was.Is("id", "=", last.ID)
	}
	err = s.t.TransactPast(ctx, aggregate.NewID(), []types.TransactWriteItem{
		s.t.Put(it, 0),
		{Put: table.Filled(was, &types.Put{TableName: &s.t.Name, Item: next, ConditionExpression: &unmoved})},
	})
	var l *table.Lost
	switch {
	case errors.As(err, &l):
		return aggregate.ErrMoved
	case err != nil:
		return fmt.Errorf("begin an export: %w", err)
	}
	return nil
}

func (s Exports) newestExports(ctx context.Context, tenant string) ([]auditlog.Export, error) {
	e := table.NewExpression()
	out, err := s.t.DB.Query(ctx, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, ConsistentRead: aws.Bool(true), ScanIndexForward: aws.Bool(false), Limit: aws.Int32(20),
		KeyConditionExpression: table.All(e.Is("PK", "=", "EXPORT#"+tenant), e.Is("SK", "<", lastExportKey)),
	}))
	if err != nil {
		return nil, fmt.Errorf("list exports: %w", err)
	}
	list := make([]auditlog.Export, len(out.Items))
	for i, it := range out.Items {
		if err := table.Unpack(it, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Export reads an export. It returns aggregate.ErrNotFound when there is none or it has expired.
func (s Exports) Export(ctx context.Context, tenant, id string) (auditlog.Export, error) {
	x := auditlog.Export{Tenant: tenant, ID: id}
	k, err := exportKey(x)
	if err != nil {
		return x, err
	}
	err = s.t.Get(ctx, table.TextOf(k, "PK"), table.TextOf(k, "SK"), &x)
	return x, table.Wrapped(err, "read an export")
}

// TryExport begins a new try of an export for the caller and returns it. It returns aggregate.ErrSuperseded when the
// export is finished or too old.
func (s Exports) TryExport(ctx context.Context, tenant, id string, now time.Time) (auditlog.Export, error) {
	x, err := s.Export(ctx, tenant, id)
	if err != nil {
		return x, err
	}
	if !x.Open(now) {
		return x, aggregate.ErrSuperseded
	}
	was := x.Try
	x.Status, x.Try = auditlog.Running, x.Try+1
	return x, s.moveExport(ctx, x, was, nil)
}

// FinishExport records that x.Try has written the file, together with an audit entry. It returns
// aggregate.ErrSuperseded when another try has begun.
func (s Exports) FinishExport(ctx context.Context, x auditlog.Export, now time.Time) error {
	at := now.UTC().Truncate(time.Millisecond)
	x.Status, x.EndedAt, x.Key = auditlog.Done, &at, x.File()
	entry := x.Entry(now)
	entry.ID = aggregate.NewID()
	it, err := table.PackAudit(entry)
	if err != nil {
		return err
	}
	put := s.t.Put(it, 0)
	return s.moveExport(ctx, x, x.Try, &put)
}

// FailExport records why x.Try failed. It returns aggregate.ErrSuperseded as FinishExport does.
func (s Exports) FailExport(ctx context.Context, x auditlog.Export, why auditlog.Problem, now time.Time) error {
	at := now.UTC().Truncate(time.Millisecond)
	x.Status, x.EndedAt, x.Problem = auditlog.Failed, &at, why
	return s.moveExport(ctx, x, x.Try, nil)
}

// moveExport updates an export that must be in progress in its try was, together with another item.
func (s Exports) moveExport(ctx context.Context, x auditlog.Export, was int, beside *types.TransactWriteItem) error {
	k, err := exportKey(x)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Set("status", x.Status)
	e.Set("try", x.Try)
	e.Set("rows", x.Rows)
	e.Set("bytes", x.Bytes)
	e.Set("s3_key", x.Key)
	e.Set("problem", x.Problem)
	if x.EndedAt != nil {
		e.Set("ended_at", *x.EndedAt)
	}
	open := table.AnyOf(e.Is("status", "=", auditlog.Waiting), e.Is("status", "=", auditlog.Running))
	items := []types.TransactWriteItem{s.t.Move(k, e, e.Is("try", "=", was), open)}
	if beside != nil {
		items = append(items, *beside)
	}
	err = s.t.TransactPast(ctx, aggregate.NewID(), items)
	var l *table.Lost
	switch {
	case errors.As(err, &l):
		return aggregate.ErrSuperseded
	case err != nil:
		return fmt.Errorf("write how an export stands: %w", err)
	}
	return nil
}
