package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/aggregate"
	"ringi/shared/fact"
)

// Days are counted beside other sums: one row for each day, and one that says since when.
const (
	countedDays  = "days"
	countedSince = "SINCE"
	countPrefix  = "n "
	// countMargin is how long facts of an earlier release may still come when the first is counted.
	countMargin = time.Hour
	// factsAtOnce is how many facts are counted together: a transaction has one action for each, and one for their day.
	factsAtOnce = maxActions - 1
)

func daysOf(tenant string) string { return countedPrefix + tenant + "#" + countedDays }

// PutFacts keeps facts, and counts each once in its day's sum. One that is there is the same, and was counted: what a fact
// says follows from a row that never changes.
func (s *Store) PutFacts(ctx context.Context, facts []fact.Fact) error {
	days := map[[2]string]map[string]fact.Fact{} // a transaction takes a key once
	for _, f := range facts {
		if !keyPart(f.Tenant) || !keyPart(f.Task) {
			return fmt.Errorf("fact of task %.40q: %w", f.Task, aggregate.ErrNotFound)
		}
		of := [2]string{f.Tenant, fact.Day(f.At)}
		if days[of] == nil {
			days[of] = map[string]fact.Fact{}
		}
		days[of][f.Key()] = f
	}
	for of, byKey := range days {
		if err := s.countingSince(ctx, of[0]); err != nil {
			return err
		}
		all := slices.Collect(maps.Values(byKey))
		slices.SortFunc(all, func(a, b fact.Fact) int { return strings.Compare(a.Key(), b.Key()) })
		for part := range slices.Chunk(all, factsAtOnce) {
			if err := s.countFacts(ctx, of[0], of[1], part); err != nil {
				return fmt.Errorf("put facts: %w", err)
			}
		}
	}
	return nil
}

// countFacts puts a day's facts that are not there yet, together with what they add to its sum.
func (s *Store) countFacts(ctx context.Context, tenant, day string, facts []fact.Fact) error {
	for len(facts) > 0 {
		var items []types.TransactWriteItem
		for _, f := range facts {
			it, err := pack("fact", factsOf(tenant, day), f.Key(), f)
			if err != nil {
				return err
			}
			it["delete_after"] = number(int(f.At.Add(factsLast).Unix()))
			items = append(items, s.put(it, 0))
		}
		e := newExpression()
		counts := fact.Fold(tenant, day, facts, time.Time{}).Counts()
		for i, name := range slices.Sorted(maps.Keys(counts)) {
			e.addTo(fmt.Sprintf("#n%d", i), countPrefix+name, counts[name])
		}
		e.row("counted_day", time.Time{})
		items = append(items, types.TransactWriteItem{Update: filled(e, &types.Update{
			TableName: &s.table, Key: key(daysOf(tenant), day), UpdateExpression: e.update(),
		})})
		err := s.transactPast(ctx, s.newID(), items)
		var l *lost
		if !errors.As(err, &l) || l.onlyInTheWay() {
			return err
		}
		var absent []fact.Fact
		for i, f := range facts {
			if !l.failed(i) {
				absent = append(absent, f)
			}
		}
		facts = absent
	}
	return nil
}

// countingSince notes once for each tenant since when its facts are counted.
func (s *Store) countingSince(ctx context.Context, tenant string) error {
	if _, noted := s.counting.Load(tenant); noted {
		return nil
	}
	e := newExpression()
	e.set("since", s.now())
	e.row("counting", time.Time{})
	_, err := s.update(ctx, key(daysOf(tenant), countedSince), e, all(e.absent()))
	if err != nil && !errors.Is(err, errCondition) {
		return fmt.Errorf("note that facts are counted: %w", err)
	}
	s.counting.Store(tenant, true)
	return nil
}

// countedFrom is when the first day begins whose facts were all counted; ok is false when nothing is counted.
func (s *Store) countedFrom(ctx context.Context, tenant string) (from time.Time, ok bool, err error) {
	var row struct {
		Since time.Time `json:"since"`
	}
	switch err := s.get(ctx, daysOf(tenant), countedSince, &row); {
	case errors.Is(err, aggregate.ErrNotFound):
		return from, false, nil
	case err != nil:
		return from, false, fmt.Errorf("read since when facts are counted: %w", err)
	}
	return row.Since.Add(countMargin), true, nil
}

// countedSumsOf are the sums of the days between two that have facts.
func (s *Store) countedSumsOf(ctx context.Context, tenant, from, to string) (map[string]fact.Sum, error) {
	known := map[string]fact.Sum{}
	e := newExpression()
	in := filled(e, &dynamodb.QueryInput{
		TableName: &s.table, KeyConditionExpression: all(e.is("PK", "=", daysOf(tenant)), e.name("SK")+" BETWEEN "+e.value(from)+" AND "+e.value(to)),
	})
	pages := dynamodb.NewQueryPaginator(s.db, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, it := range page.Items {
			counts := map[string]int{}
			for name := range it {
				if of, ok := strings.CutPrefix(name, countPrefix); ok {
					counts[of] = intOf(it, name)
				}
			}
			day := textOf(it, "SK")
			if known[day], err = fact.SumOf(tenant, day, counts); err != nil {
				return nil, err
			}
		}
	}
	return known, nil
}
