// Package sums counts rows from the table's stream: facts for daily numbers, and rows that add to sums such as a team's
// statistics. A row that the stream delivers twice is counted once.
package sums

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/daily"
	"ringi/shared/store/table"
)

const (
	// factsLast is how long facts are kept; the sums of their days are kept for ever.
	factsLast = 400 * 24 * time.Hour
	// foldsAtOnce is how many days are read in parallel. No further day begins with less than foldSpare of the caller's
	// time left.
	foldsAtOnce = 8
	foldSpare   = 3 * time.Second
)

// Counter keeps its counts in the table.
type Counter struct {
	t     *table.Table
	kinds aggregate.Kinds

	counting *sync.Map // tenants whose countingSince is already recorded
}

// Of returns a counter in a table of rows of these kinds.
func Of(t *table.Table, kinds aggregate.Kinds) *Counter {
	return &Counter{t: t, kinds: kinds, counting: &sync.Map{}}
}

func factsOf(tenant, day string) string { return "FACT#" + tenant + "#" + day }
func sumsOf(tenant string) string       { return "FACTSUM#" + tenant }

// FactOf makes a fact of a row of the audit log or of a usage. ok is false for other rows.
func (s *Counter) FactOf(it table.Item) (f daily.Fact, ok bool, err error) {
	if ref, known := s.kinds.Ref(table.TextOf(it, "PK")); known {
		var u aggregate.Use
		if table.TextOf(it, "type") != u.Type() {
			return f, false, nil
		}
		if err := table.Unpack(it, &u); err != nil {
			return f, false, err
		}
		f, ok = daily.OfUse(ref, u), u.ChargedTo == ""
	} else {
		var x aggregate.AuditEntry
		if err := table.Unpack(it, &x); err != nil {
			return f, false, err
		}
		f, ok = daily.OfEntry(x)
	}
	if ok && (!table.KeyPart(f.Tenant) || !table.KeyPart(f.Task)) {
		return f, false, fmt.Errorf("fact of task %.40q: %w", f.Task, aggregate.ErrNotFound)
	}
	return f, ok, nil
}

// Sums returns the sums of days, which must come from daily.Days. Days whose facts were all counted are only read. An
// earlier day that may have got more facts is folded again, newest day first, as long as the caller's time allows. Days
// for which there is no time are missing.
func (s *Counter) Sums(ctx context.Context, tenant string, days []string, now time.Time) ([]daily.Sum, error) {
	if !table.KeyPart(tenant) || len(days) == 0 {
		return nil, fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	from, counted, err := s.countedFrom(ctx, tenant)
	if err != nil {
		return nil, err
	}
	whole := func(day string) bool { return counted && !begins(day).Before(from) }
	first := len(days)
	if i := slices.IndexFunc(days, whole); i >= 0 {
		first = i
	}
	known := map[string]daily.Sum{}
	if first < len(days) {
		if known, err = s.countedSumsOf(ctx, tenant, days[first], days[len(days)-1]); err != nil {
			return nil, fmt.Errorf("read the counts of days: %w", err)
		}
	}
	if first > 0 {
		if err := s.folded(ctx, tenant, days[:first], now, known); err != nil {
			return nil, err
		}
	}
	var out []daily.Sum
	for i, d := range days {
		x, ok := known[d]
		if i >= first && !ok && begins(d).Before(now) { // nothing happened on that day
			x, ok = daily.Fold(tenant, d, nil, now), true
		}
		if ok {
			out = append(out, x)
		}
	}
	return out, nil
}

// folded adds the sums of the days before counting began to known.
func (s *Counter) folded(ctx context.Context, tenant string, days []string, now time.Time, known map[string]daily.Sum) error {
	kept, err := s.knownSums(ctx, tenant, days)
	if err != nil {
		return fmt.Errorf("read the sums of days: %w", err)
	}
	maps.Copy(known, kept)
	var due []string
	for _, d := range slices.Backward(days) {
		if x, ok := known[d]; begins(d).Before(now) && (!ok || x.Stale(now)) {
			due = append(due, d)
		}
	}
	return s.foldAll(ctx, tenant, due, now, known)
}

func begins(day string) time.Time {
	t, _ := daily.Begins(day)
	return t
}

func (s *Counter) knownSums(ctx context.Context, tenant string, days []string) (map[string]daily.Sum, error) {
	known := map[string]daily.Sum{}
	e := table.NewExpression()
	for x, err := range table.Queried(ctx, s.t, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, KeyConditionExpression: table.All(e.Is("PK", "=", sumsOf(tenant)), e.Between("SK", days[0], days[len(days)-1])),
	}), table.UnpackAs[daily.Sum]) {
		if err != nil {
			return nil, err
		}
		known[x.Day] = x
	}
	return known, nil
}

func (s *Counter) foldAll(ctx context.Context, tenant string, days []string, now time.Time, known map[string]daily.Sum) error {
	var lock sync.Mutex
	var wait sync.WaitGroup
	var failed error
	places := make(chan struct{}, foldsAtOnce)
	for _, d := range days {
		places <- struct{}{}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < foldSpare {
			break
		}
		wait.Go(func() {
			defer func() { <-places }()
			x, err := s.Fold(ctx, tenant, d, now)
			lock.Lock()
			defer lock.Unlock()
			if known[d] = x; err != nil {
				failed = errors.Join(failed, fmt.Errorf("fold %s: %w", d, err))
			}
		})
	}
	wait.Wait()
	return failed
}

// Fold sums up what tasks have counted for a day and facts of an earlier release that no task has counted. It saves the
// sum unless the saved one has more facts. A fact that it misses is in the next fold; the last one runs at least an
// hour after the day's last fact.
func (s *Counter) Fold(ctx context.Context, tenant, day string, now time.Time) (daily.Sum, error) {
	e := table.NewExpression()
	pages := dynamodb.NewQueryPaginator(s.t.DB, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, KeyConditionExpression: table.All(e.Is("PK", "=", factsOf(tenant, day))),
	}))
	var sums []daily.Sum
	var facts []daily.Fact
	counted := map[string][]string{} // sources by task
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return daily.Sum{}, err
		}
		for _, it := range page.Items {
			var f daily.Fact
			if table.TextOf(it, "type") != taskDay {
				if err := table.Unpack(it, &f); err != nil {
					return daily.Sum{}, err
				}
				facts = append(facts, f)
				continue
			}
			sum, err := countsOf(it, tenant, day)
			if err != nil {
				return daily.Sum{}, err
			}
			sums, counted[table.TextOf(it, "SK")] = append(sums, sum), sourcesOf(it)
		}
	}
	facts = slices.DeleteFunc(facts, func(f daily.Fact) bool { return slices.Contains(counted[f.Task], f.Source) })
	sum := daily.Total(append(sums, daily.Fold(tenant, day, facts, now)))
	sum.Tenant, sum.Day, sum.FoldedAt = tenant, day, now.UTC()
	it, err := table.Pack("fact_sum", sumsOf(tenant), day, sum)
	if err != nil {
		return sum, err
	}
	e = table.NewExpression()
	_, err = s.t.DB.PutItem(ctx, table.Filled(e, &dynamodb.PutItemInput{
		TableName: &s.t.Name, Item: it, ConditionExpression: table.All(table.AnyOf(e.Absent(), e.Is("facts", "<=", sum.Facts))),
	}))
	if table.ConditionFailed(err) { // a concurrent fold has found more
		err = nil
	}
	return sum, err
}
