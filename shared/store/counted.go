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

// Counted is what one row adds to sums of its subject, such as a team's statistics. A later revision of the row
// replaces what an earlier one added.
type Counted struct {
	Tenant string         `json:"tenant_id"`
	Of     string         `json:"of"`  // what the sums are of
	Row    string         `json:"row"` // id of the aggregate, and the row's key
	Rev    int            `json:"rev"` // of the row
	Adds   map[string]int `json:"adds"`
}

// One partition holds the sums of a subject and, for each row, what it added to them.
const (
	countedPrefix = "COUNTED#"
	countedSums   = "SUM"
	countedRow    = "ROW#"
)

// CountedOf returns what a row of an aggregate adds. ok is false for a row that adds nothing.
func (s *Counter) CountedOf(it table.Item) (c Counted, ok bool, err error) {
	ref, known := s.kinds.Ref(table.TextOf(it, "PK"))
	if !known {
		return c, false, nil
	}
	kind, _ := s.kinds.Named(ref.Kind)
	row, counts := kind.Row(table.TextOf(it, "type")).(aggregate.Counted)
	if !counts {
		return c, false, nil
	}
	if err := table.Unpack(it, row); err != nil {
		return c, false, err
	}
	of, adds := row.Counts()
	c = Counted{Tenant: ref.Tenant, Of: of, Row: ref.ID + "#" + table.TextOf(it, "SK"), Rev: table.IntOf(it, "rev"),
		Adds: adds}
	if !table.KeyPart(c.Tenant) || !table.KeyPart(c.Of) || c.Rev < 1 {
		return c, false, fmt.Errorf("count %.80q: %w", c.Row, aggregate.ErrNotFound)
	}
	return c, true, nil
}

// Count adds a row to its sums once, however often it is called, and replaces what an older revision of the row added.
// A revision older than the counted one changes nothing.
func (s *Counter) Count(ctx context.Context, c Counted) error {
	stop, wait := time.Now().Add(table.RetryFor), table.NewBackoff(20*time.Millisecond, 400*time.Millisecond)
	for {
		err := s.count(ctx, c)
		if !errors.Is(err, aggregate.ErrConflict) || !wait.Until(ctx, stop) {
			return err
		}
	}
}

func (s *Counter) count(ctx context.Context, c Counted) error {
	pk, sk := countedPrefix+c.Tenant+"#"+c.Of, countedRow+c.Row
	var was Counted
	if err := s.t.Get(ctx, pk, sk, &was); err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return fmt.Errorf("read what is counted of %s: %w", c.Row, err)
	}
	if was.Rev >= c.Rev {
		return nil
	}
	it, err := table.Pack("counted", pk, sk, c)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	for _, name := range slices.Sorted(maps.Keys(c.Adds)) {
		e.Add(name, c.Adds[name]-was.Adds[name])
	}
	e.Row("counted_sum", time.Time{})
	sum := s.t.Move(table.Key(pk, countedSums), e)
	if err := s.t.TransactPast(ctx, aggregate.NewID(), []types.TransactWriteItem{s.t.Put(it, was.Rev), sum}); err != nil {
		return fmt.Errorf("count %s: %w", c.Row, err)
	}
	return nil
}

// CountedSums returns a subject's sums by name, 0 for those that nothing was added to.
func (s *Counter) CountedSums(ctx context.Context, tenant, of string, names ...string) (map[string]int, error) {
	if !table.KeyPart(tenant) || !table.KeyPart(of) {
		return nil, fmt.Errorf("sums of %.40q: %w", of, aggregate.ErrNotFound)
	}
	found := map[string]any{}
	if err := s.t.Get(ctx, countedPrefix+tenant+"#"+of, countedSums, &found); err != nil &&
		!errors.Is(err, aggregate.ErrNotFound) {
		return nil, fmt.Errorf("read the sums of %.40q: %w", of, err)
	}
	out := map[string]int{}
	for _, name := range names {
		n, _ := found[name].(float64)
		out[name] = int(n)
	}
	return out, nil
}

// factsLast is how long it is known which facts were counted; the sums of their days are kept for ever.
const factsLast = 400 * 24 * time.Hour

// Counter counts rows from the table's stream: facts for daily numbers, and rows that add to sums such as a team's
// statistics. A row that the stream delivers twice is counted once.
type Counter struct {
	t     *table.Table
	kinds aggregate.Kinds
}

// CounterOf returns a counter in a table of rows of these kinds.
func CounterOf(t *table.Table, kinds aggregate.Kinds) *Counter {
	return &Counter{t: t, kinds: kinds}
}

func factsOf(tenant, day string) string { return "FACT#" + tenant + "#" + day }

// FactOf makes a fact of a row of the audit log or of a usage. ok is false for other rows.
func (s *Counter) FactOf(it table.Item) (f tenancy.DailyFact, ok bool, err error) {
	if ref, known := s.kinds.Ref(table.TextOf(it, "PK")); known {
		var u aggregate.Use
		if table.TextOf(it, "type") != u.Type() {
			return f, false, nil
		}
		if err := table.Unpack(it, &u); err != nil {
			return f, false, err
		}
		f, ok = tenancy.FactOfUse(ref, u), u.ChargedTo == ""
	} else {
		var x aggregate.AuditEntry
		if err := table.Unpack(it, &x); err != nil {
			return f, false, err
		}
		f, ok = tenancy.FactOfEntry(x)
	}
	if ok && (!table.KeyPart(f.Tenant) || !table.KeyPart(f.Task)) {
		return f, false, fmt.Errorf("fact of task %.40q: %w", f.Task, aggregate.ErrNotFound)
	}
	return f, ok, nil
}

// Sums returns the sum of each of the days, which must come from tenancy.DaysBetween.
func (s *Counter) Sums(ctx context.Context, tenant string, days []string) ([]tenancy.DailySum, error) {
	if !table.KeyPart(tenant) || len(days) == 0 {
		return nil, fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	known, err := s.countedSumsOf(ctx, tenant, days[0], days[len(days)-1])
	if err != nil {
		return nil, fmt.Errorf("read the counts of days: %w", err)
	}
	var out []tenancy.DailySum
	for _, d := range days {
		x, ok := known[d]
		if !ok { // nothing happened on that day
			x = tenancy.FoldFacts(tenant, d, nil)
		}
		out = append(out, x)
	}
	return out, nil
}

func begins(day string) time.Time {
	t, _ := tenancy.DayBegins(day)
	return t
}

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
