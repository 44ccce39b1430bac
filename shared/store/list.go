package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/aggregate"
)

// MaxPage is the largest page of a list.
const MaxPage = 100

// Page is a part of a list. Next is the cursor of the following one, empty when this is the last.
type Page[T any] struct {
	Items []T
	Next  string
}

// List is a list of rows over one or more partitions of the table or an index, in order.
type List struct {
	Name        string
	Filter      []string // what else tells this list from others
	Tenant      string
	Prefixes    []string // of its rows' partition keys, before the tenant's id
	Index       string   // "" for the table itself
	Partitions  []string
	From, Until string // sort keys: from inclusive, until exclusive where it is a time
	OldestFirst bool
	Sparse      bool // many rows are left out
}

// Rows lists rows, of which keep leaves some out. Indexes may be a moment behind. It returns aggregate.ErrField
// for a limit outside 1 to MaxPage, or a cursor that is not this list's.
func Rows[T any](ctx context.Context, s *Store, l List, cursor string, limit int, keep func(T) bool) (Page[T], error) {
	return page(ctx, s, l, cursor, limit, func(it item) (*T, error) {
		var x T
		if err := unpack(it, &x); err != nil || !keep(x) {
			return nil, err
		}
		return &x, nil
	})
}

// owners are what the partition keys of its rows begin with.
func (l List) owners() []string {
	out := make([]string, len(l.Prefixes))
	for i, p := range l.Prefixes {
		out[i] = p + l.Tenant + "#"
	}
	return out
}

func (l List) fingerprint() string {
	return fingerprint(slices.Concat(l.owners(), []string{l.Name, l.From, l.Until}, l.Filter)...)
}

// keys are the names of the attributes that the list is ordered by.
func (l List) keys() (pk, sk string) { return l.Index + "PK", l.Index + "SK" }

// page reads the page behind cursor. convert makes a value of an item, nil for what
// the list leaves out.
func page[T any](ctx context.Context, s *Store, l List, cursor string, limit int, convert func(item) (*T, error)) (Page[T], error) {
	out := Page[T]{Items: []T{}}
	if !keyPart(l.Tenant) {
		return out, fmt.Errorf("tenant %.40q: %w", l.Tenant, aggregate.ErrNotFound)
	}
	if limit < 1 || limit > MaxPage {
		return out, aggregate.ErrField{Field: "limit", Limit: fmt.Sprintf("must be between 1 and %d", MaxPage)}
	}
	var start item
	at := 0
	if cursor != "" {
		p, err := l.readCursor(cursor)
		if err != nil {
			return out, err
		}
		at, start = l.resume(p)
	}
	// One more than wanted tells whether there is a next page.
	fetch := limit + 1
	if l.Sparse {
		fetch = MaxPage
	}
	var last item
	for ; at < len(l.Partitions); at, start = at+1, nil {
		for {
			res, err := s.db.Query(ctx, l.query(s.table, l.Partitions[at], start, fetch))
			if err != nil {
				return out, fmt.Errorf("list %s: %w", l.Name, err)
			}
			for _, it := range res.Items {
				x, err := convert(it)
				if err != nil {
					return out, fmt.Errorf("list %s: %w", l.Name, err)
				}
				if x == nil || expired(it, s.now()) {
					continue
				}
				if len(out.Items) == limit {
					out.Next = l.behind(last).text()
					return out, nil
				}
				out.Items, last = append(out.Items, *x), it
			}
			if start = res.LastEvaluatedKey; start == nil {
				break
			}
		}
	}
	return out, nil
}

func (l List) query(table, partition string, start item, limit int) *dynamodb.QueryInput {
	e := newExpression()
	pk, sk := l.keys()
	conditions := []string{e.is(pk, "=", partition)}
	if l.From != "" || l.Until != "" {
		conditions = append(conditions, e.name(sk)+" BETWEEN "+e.value(l.From)+" AND "+e.value(l.Until))
	}
	in := &dynamodb.QueryInput{
		TableName: &table, KeyConditionExpression: all(conditions...), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		ExclusiveStartKey: start, Limit: aws.Int32(int32(limit)), ScanIndexForward: &l.OldestFirst,
	}
	if l.Index != "" {
		in.IndexName = &l.Index
	}
	return in
}

// behind is the position after an item of the list.
func (l List) behind(it item) position {
	p := position{List: l.fingerprint(), PK: textOf(it, "PK"), SK: textOf(it, "SK")}
	if pk, sk := l.keys(); l.Index != "" {
		p.GPK, p.GSK = textOf(it, pk), textOf(it, sk)
	}
	return p
}

// resume is the partition to go on in, and the key to start behind.
func (l List) resume(p position) (int, item) {
	start := key(p.PK, p.SK)
	if l.Index == "" {
		return slices.Index(l.Partitions, p.PK), start
	}
	pk, sk := l.keys()
	start[pk], start[sk] = text(p.GPK), text(p.GSK)
	return slices.Index(l.Partitions, p.GPK), start
}

// Refs are the newest aggregates of which a row stands in a partition of an index, at most limit.
func (s *Store) Refs(ctx context.Context, index int, partition string, limit int) ([]aggregate.Ref, error) {
	e := newExpression()
	name := fmt.Sprintf("GSI%d", index)
	out, err := s.db.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.table, IndexName: &name, Limit: aws.Int32(int32(limit)), ScanIndexForward: aws.Bool(false),
		KeyConditionExpression:   all(e.is(name+"PK", "=", partition)),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	})
	if err != nil {
		return nil, err
	}
	var refs []aggregate.Ref
	for _, it := range out.Items {
		if ref, known := s.kinds.Ref(textOf(it, "PK")); known {
			refs = append(refs, ref)
		}
	}
	return refs, nil
}
