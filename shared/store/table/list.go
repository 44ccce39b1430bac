package table

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
)

// MaxPage is the largest page of a list.
const MaxPage = 100

// Page is one page of a list.
type Page[T any] struct {
	Items  []T
	Next   string // cursor of the next page; empty: there is none
	Looked int    // rows that were read, including those that are not in Items
}

// List describes an ordered list of rows in one or more partitions of the table or an index.
type List struct {
	Name        string
	Filter      []string // what else distinguishes this list from others
	Tenant      string
	Prefixes    []string // of the rows' partition keys, before the tenant's id
	Index       string   // "" for the table itself
	Partitions  []string
	From, Until string // sort keys: From inclusive, Until exclusive if it is a time
	OldestFirst bool
	Sparse      bool // many rows are left out
	Most        int  // most rows that a page reads, 0: no bound; a bounded page may be short and still have a Next
}

// Rows lists the rows that keep accepts. Indexes may be slightly stale. It returns an aggregate.Problem for a limit
// outside 1 to MaxPage, or a cursor of another list.
func Rows[T any](ctx context.Context, t *Table, l List, cursor string, limit int, keep func(T) bool) (Page[T], error) {
	return ReadPage(ctx, t, l, cursor, limit, func(it Item) (*T, error) {
		var x T
		if err := Unpack(it, &x); err != nil || !keep(x) {
			return nil, err
		}
		return &x, nil
	})
}

// owners returns the prefixes of the list's partition keys.
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

// keys returns the attributes that the list is ordered by.
func (l List) keys() (pk, sk string) { return l.Index + "PK", l.Index + "SK" }

// ReadPage reads the page after a cursor. convert makes a value of an item; it returns nil for items that the
// list leaves out.
func ReadPage[T any](
	ctx context.Context, t *Table, l List, cursor string, limit int, convert func(Item) (*T, error),
) (Page[T], error) {
	read, err := t.readPage(ctx, l, cursor, limit, func(it Item) (any, error) {
		x, err := convert(it)
		if x == nil || err != nil || Expired(it, t.Now()) {
			return nil, err
		}
		return x, nil
	})
	page := Page[T]{Items: make([]T, len(read.Items)), Next: read.Next, Looked: read.Looked}
	for i, x := range read.Items {
		page.Items[i] = *x.(*T)
	}
	return page, err
}

// readPage is ReadPage for pointers to values of any type: compiled once, since each function that lists rows has it.
func (t *Table) readPage(
	ctx context.Context, l List, cursor string, limit int, convert func(Item) (any, error),
) (Page[any], error) {
	r := reading{list: l, limit: limit, fetch: limit + 1, convert: convert}
	if l.Sparse {
		r.fetch = MaxPage
	}
	if !KeyPart(l.Tenant) {
		return r.page(), fmt.Errorf("tenant %.40q: %w", l.Tenant, aggregate.ErrNotFound)
	}
	if limit < 1 || limit > MaxPage {
		return r.page(), aggregate.Problem{Field: "limit", Code: fmt.Sprintf("must be between 1 and %d", MaxPage)}
	}
	at, start := 0, Item(nil)
	if cursor != "" {
		p, err := l.readCursor(cursor)
		if err != nil {
			return r.page(), err
		}
		at, start = l.resume(p)
	}
	for ; at >= 0 && at < len(l.Partitions); at, start = at+1, nil {
		for {
			res, err := t.DB.Query(ctx, t.pageOf(l, l.Partitions[at], start, r.fetch))
			if err != nil {
				return r.page(), fmt.Errorf("list %s: %w", l.Name, err)
			}
			full, err := r.take(res.Items)
			if err != nil || full {
				return r.page(), err
			}
			if start = res.LastEvaluatedKey; start == nil {
				break
			}
			if l.Sparse && l.Most > 0 { // few match: read the rest at once
				r.fetch = max(1, l.Most-r.looked)
			}
		}
	}
	r.more = false
	return r.page(), nil
}

// reading is a page that is being read.
type reading struct {
	list         List
	limit, fetch int // fetch: one more than the limit, to see whether there is a next page
	convert      func(Item) (any, error)
	items        []any
	looked       int
	last         Item // the one after which the next page begins
	more         bool
}

// take adds items, and reports whether the page is full or has reached the list's Most.
func (r *reading) take(items []Item) (full bool, err error) {
	for _, it := range items {
		if r.more = r.list.Most > 0 && r.looked == r.list.Most; r.more {
			return true, nil
		}
		x, err := r.convert(it)
		if err != nil {
			return true, fmt.Errorf("list %s: %w", r.list.Name, err)
		}
		if x != nil && len(r.items) == r.limit {
			r.more = true
			return true, nil
		}
		if x != nil {
			r.items = append(r.items, x)
		}
		if r.looked++; x != nil || r.looked == r.list.Most {
			r.last = it
		}
	}
	// Checking whether more rows follow would cost another read, so this assumes that they do.
	r.more = r.list.Most > 0 && r.looked >= r.list.Most
	return r.more, nil
}

// page returns the page with the cursor of the next one.
func (r *reading) page() Page[any] {
	out := Page[any]{Items: r.items, Looked: r.looked}
	if r.more {
		out.Next = r.list.behind(r.last).text()
	}
	return out
}

func (t *Table) pageOf(l List, partition string, start Item, limit int) *dynamodb.QueryInput {
	e := NewExpression()
	var within []string
	if l.From != "" || l.Until != "" {
		within = []string{e.Between(l.Index+"SK", l.From, l.Until)}
	}
	in := t.Find(e, l.Index, partition, within...)
	in.ExclusiveStartKey, in.Limit, in.ScanIndexForward = start, aws.Int32(int32(limit)), &l.OldestFirst
	in.ConsistentRead = nil // a page may be slightly stale
	return in
}

// behind returns the position after an item of the list.
func (l List) behind(it Item) position {
	p := position{List: l.fingerprint(), PK: TextOf(it, "PK"), SK: TextOf(it, "SK")}
	if pk, sk := l.keys(); l.Index != "" {
		p.GPK, p.GSK = TextOf(it, pk), TextOf(it, sk)
	}
	return p
}

// resume returns the partition to continue in, and the key to start after.
func (l List) resume(p position) (int, Item) {
	start := Key(p.PK, p.SK)
	if l.Index == "" {
		return slices.Index(l.Partitions, p.PK), start
	}
	pk, sk := l.keys()
	start[pk], start[sk] = Text(p.GPK), Text(p.GSK)
	return slices.Index(l.Partitions, p.GPK), start
}

// maxCursor is the most bytes of a cursor that are decoded; a real one has about 400.
const maxCursor = 2048

// position is where a list continues: after the row with these keys.
type position struct {
	List string `json:"l"` // fingerprint of the list that gave it
	PK   string `json:"p"`
	SK   string `json:"s"`
	GPK  string `json:"g,omitempty"`
	GSK  string `json:"h,omitempty"`
}

// fingerprint identifies a list, so that a cursor is refused for another tenant or filter.
func fingerprint(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p) // never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (p position) text() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("encode a cursor: %v", err)) // of strings
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// readCursor decodes a cursor of this list.
func (l List) readCursor(cursor string) (position, error) {
	refused := func(why string) (position, error) {
		return position{}, aggregate.Problem{Field: "cursor", Code: "must be one that this list gave: " + why}
	}
	if len(cursor) > maxCursor {
		return refused(fmt.Sprintf("it has more than %d bytes", maxCursor))
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return refused("it is not readable")
	}
	var p position
	if err := json.Unmarshal(b, &p); err != nil {
		return refused("it is not readable")
	}
	if p.List != l.fingerprint() {
		return refused("it is of another list")
	}
	// The fingerprint is not a signature, so a cursor may name any partition: refuse those outside of the list.
	inside := slices.ContainsFunc(l.owners(), func(o string) bool {
		return strings.HasPrefix(p.PK, o) &&
			len(p.PK) > len(o)
	})
	if l.Index == "" {
		inside = inside && slices.Contains(l.Partitions, p.PK) && p.SK != ""
	} else {
		inside = inside && slices.Contains(l.Partitions, p.GPK) && p.SK != "" && p.GSK != ""
	}
	if !inside {
		return refused("it leads elsewhere")
	}
	return p, nil
}
