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
	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// Each day has a row of sums. A row for each task and day has what the task adds to the day, and the sources of its
// facts that were counted.
const (
	countedDays = "days"
	countPrefix = "n "
	taskDay     = "task_facts"
	taskSources = "sources"
	// factsAtOnce is how many facts one transaction counts: its condition names all facts of a task, and DynamoDB
	// limits a condition to 4 KB.
	factsAtOnce = 50
	// daysAtOnce is how many tenants' days are counted in parallel.
	daysAtOnce = 16
)

func daysOf(tenant string) string { return countedPrefix + tenant + "#" + countedDays }

// PutFacts counts each fact once in the sums of its day and of its task's day, however often it is called with it. A
// fact never changes because it is made from a row that never changes.
func (s *Counter) PutFacts(ctx context.Context, facts []tenancy.DailyFact) error {
	days := map[[2]string]map[string]tenancy.DailyFact{} // a transaction takes each key only once
	for _, f := range facts {
		if !table.KeyPart(f.Tenant) || !table.KeyPart(f.Task) {
			return fmt.Errorf("fact of task %.40q: %w", f.Task, aggregate.ErrNotFound)
		}
		of := [2]string{f.Tenant, tenancy.DayOf(f.At)}
		if days[of] == nil {
			days[of] = map[string]tenancy.DailyFact{}
		}
		days[of][f.Key()] = f
	}
	var each errgroup.Group
	each.SetLimit(daysAtOnce)
	for of, byKey := range days {
		each.Go(func() error { return s.putFacts(ctx, of[0], of[1], slices.Collect(maps.Values(byKey))) })
	}
	return each.Wait()
}

// putFacts is PutFacts for one day of a tenant.
func (s *Counter) putFacts(ctx context.Context, tenant, day string, facts []tenancy.DailyFact) error {
	slices.SortFunc(facts, func(a, b tenancy.DailyFact) int { return strings.Compare(a.Key(), b.Key()) })
	for part := range slices.Chunk(facts, factsAtOnce) {
		if err := s.countFacts(ctx, tenant, day, part); err != nil {
			return fmt.Errorf("put facts: %w", err)
		}
	}
	return nil
}

// countFacts adds uncounted facts to the sums of their tasks and of the day in one transaction. It takes two write
// units per row, however many facts there are.
func (s *Counter) countFacts(ctx context.Context, tenant, day string, facts []tenancy.DailyFact) error {
	for len(facts) > 0 {
		byTask := map[string][]tenancy.DailyFact{}
		for _, f := range facts {
			byTask[f.Task] = append(byTask[f.Task], f)
		}
		tasks := slices.Sorted(maps.Keys(byTask))
		var items []types.TransactWriteItem
		for _, task := range tasks {
			items = append(items, s.countOfTask(tenant, day, task, byTask[task]))
		}
		e := table.NewExpression()
		counts(e, tenancy.FoldFacts(tenant, day, facts))
		e.Row("counted_day", time.Time{})
		items = append(items, s.t.Move(table.Key(daysOf(tenant), day), e))
		err := s.t.TransactPast(ctx, aggregate.NewID(), items)
		var l *table.Lost
		if !errors.As(err, &l) || l.OnlyInTheWay() {
			return err
		}
		var left []tenancy.DailyFact
		for i, task := range tasks {
			counted := sourcesOf(l.Found(i))
			for _, f := range byTask[task] {
				if !slices.Contains(counted, f.Source) {
					left = append(left, f)
				}
			}
		}
		if len(left) == len(facts) {
			return err
		}
		facts = left
	}
	return nil
}

// countOfTask adds facts to their task's sums of the day on condition that none of them was counted.
func (s *Counter) countOfTask(tenant, day, task string, facts []tenancy.DailyFact) types.TransactWriteItem {
	e := table.NewExpression()
	var sources, absent []string
	for _, f := range facts {
		sources = append(sources, f.Source)
		absent = append(absent, "NOT contains("+e.Name(taskSources)+", "+e.Value(f.Source)+")")
	}
	e.Adds = append(e.Adds, e.Name(taskSources)+" "+e.Placeholder(&types.AttributeValueMemberSS{Value: sources}))
	counts(e, tenancy.FoldFacts(tenant, day, facts))
	e.Row(taskDay, begins(day).Add(factsLast))
	move := s.t.Move(table.Key(factsOf(tenant, day), task), e, absent...)
	move.Update.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	return move
}

// sourcesOf returns the sources of the facts that a task's row has counted.
func sourcesOf(it table.Item) []string {
	if v, ok := it[taskSources].(*types.AttributeValueMemberSS); ok {
		return v.Value
	}
	return nil
}

// counts adds a sum's numbers to an update expression.
func counts(e *table.Expression, sum tenancy.DailySum) {
	counts := sum.Counts()
	for i, name := range slices.Sorted(maps.Keys(counts)) {
		e.AddTo(fmt.Sprintf("#n%d", i), countPrefix+name, counts[name])
	}
}

// countsOf reads a sum from a row's numbers.
func countsOf(it table.Item, tenant, day string) (tenancy.DailySum, error) {
	counts := map[string]int{}
	for name := range it {
		if of, ok := strings.CutPrefix(name, countPrefix); ok {
			counts[of] = table.IntOf(it, name)
		}
	}
	return tenancy.DailySumOf(tenant, day, counts)
}

// countedSumsOf returns the sums of the days from one to another that have facts.
func (s *Counter) countedSumsOf(ctx context.Context, tenant, from, to string) (map[string]tenancy.DailySum, error) {
	known := map[string]tenancy.DailySum{}
	e := table.NewExpression()
	for x, err := range table.Queried(ctx, s.t, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, KeyConditionExpression: table.All(e.Is("PK", "=", daysOf(tenant)), e.Between("SK", from, to)),
	}), func(it table.Item) (tenancy.DailySum, error) { return countsOf(it, tenant, table.TextOf(it, "SK")) }) {
		if err != nil {
			return nil, err
		}
		known[x.Day] = x
	}
	return known, nil
}
