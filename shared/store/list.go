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

// listing is a list over one or more partitions of the table or an index, in order.
type listing struct {
	name        string
	filter      []string // what else tells this list from others
	owner       string   // prefix of its rows' keys
	index       string   // "" for the table itself
	partitions  []string
	from, until string // sort keys: from inclusive, until exclusive where it is a time
	oldestFirst bool
	sparse      bool // many items are left out
}

func (l listing) fingerprint() string {
	return fingerprint(append([]string{l.owner, l.name, l.from, l.until}, l.filter...)...)
}

func (l listing) has(partition string) bool { return slices.Contains(l.partitions, partition) }

// keys are the names of the attributes that the list is ordered by.
func (l listing) keys() (pk, sk string) { return l.index + "PK", l.index + "SK" }

// page reads the page behind cursor. convert makes a value of an item, nil for what
// the list leaves out.
func page[T any](ctx context.Context, s *Store, l listing, cursor string, limit int, convert func(item) (*T, error)) (Page[T], error) {
	out := Page[T]{Items: []T{}}
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
	if l.sparse {
		fetch = MaxPage
	}
	var last item
	for ; at < len(l.partitions); at, start = at+1, nil {
		for {
			res, err := s.db.Query(ctx, l.query(s.table, l.partitions[at], start, fetch))
			if err != nil {
				return out, fmt.Errorf("list %s: %w", l.name, err)
			}
			for _, it := range res.Items {
				x, err := convert(it)
				if err != nil {
					return out, fmt.Errorf("list %s: %w", l.name, err)
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

func (l listing) query(table, partition string, start item, limit int) *dynamodb.QueryInput {
	e := newExpression()
	pk, sk := l.keys()
	conditions := []string{e.is(pk, "=", partition)}
	if l.from != "" || l.until != "" {
		conditions = append(conditions, e.name(sk)+" BETWEEN "+e.value(l.from)+" AND "+e.value(l.until))
	}
	in := &dynamodb.QueryInput{
		TableName: &table, KeyConditionExpression: all(conditions...), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		ExclusiveStartKey: start, Limit: aws.Int32(int32(limit)), ScanIndexForward: &l.oldestFirst,
	}
	if l.index != "" {
		in.IndexName = &l.index
	}
	return in
}

// behind is the position after an item of the list.
func (l listing) behind(it item) position {
	p := position{List: l.fingerprint(), PK: textOf(it, "PK"), SK: textOf(it, "SK")}
	if pk, sk := l.keys(); l.index != "" {
		p.GPK, p.GSK = textOf(it, pk), textOf(it, sk)
	}
	return p
}

// resume is the partition to go on in, and the key to start behind.
func (l listing) resume(p position) (int, item) {
	start := key(p.PK, p.SK)
	if l.index == "" {
		return slices.Index(l.partitions, p.PK), start
	}
	pk, sk := l.keys()
	start[pk], start[sk] = text(p.GPK), text(p.GSK)
	return slices.Index(l.partitions, p.GPK), start
}
