package task

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// TestHowARequestStandsInEachState prints the status of every state of the matrix and of what becomes of a choice or a
// plain reply, as people are told it, and as lists find it.
func TestHowARequestStandsInEachState(t *testing.T) {
	var got strings.Builder
	for _, state := range slices.Concat(states, restingStates) {
		a := state.reach(t).load()
		listed := "-"
		if a.Task != nil {
			listed = string(a.Task.ListedAs)
		} else if a.Listing != nil {
			listed = string(a.Listing.ListedAs) + ", without a task"
		}
		fmt.Fprintf(&got, "%-24s%-14s%-10s%s\n", state.name, a.Status(), a.WaitsFor(), listed)
	}
	golden := filepath.Join("testdata", "statuses.txt")
	if os.Getenv("UPDATE") != "" {
		expect.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want := string(expect.Value(os.ReadFile(golden))(t))
	expect.Same(t, strings.Split(want, "\n"), strings.Split(got.String(), "\n"))
	for _, s := range Statuses {
		expect.That(t, strings.Contains(want, string(s)), "no state is %s", s)
	}
}

// restingStates are those in which a request rests without a task, and failures that nobody can mend.
var restingStates = []struct {
	name  string
	reach func(testing.TB) *story
}{
	{"form given back", told(waitingForm, func(s *story) { s.do(s.giveBack(s.load().Process().ID, suzuki)) })},
	{"refused", told(begin, func(s *story) {
		s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Refuse(a.Head.Run, ReasonWorkspace, now)
		})
	})},
	{"can't be done", told(begin, func(s *story) { s.do(plain(KindUnsupported)) })},
	{"answered", told(begin, func(s *story) { s.do(plain(KindHelp)) })},
	{"a vendor puts it off", told(begin, func(s *story) {
		s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.WaitUntil(a.Head.Run, a.Generating(), now.Add(time.Minute), now)
		})
	})},
	{"L1 tried again", told(begin, func(s *story) { s.do(s.park, s.retryGeneration) })},
	{"L1 again and extracted", told(begin, func(s *story) { s.do(s.park, s.retryGeneration, s.extract) })},
	{"prompt tried again", told(begin, func(s *story) { s.do(s.extract, s.park, s.retryGeneration) })},
	{"a stamped value is gone", told(running, func(s *story) {
		s.do(s.claim, s.finish(failed), s.failAs(ReasonToolValue, ""))
	})},
}

func plain(k ExtractKind) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, Extract{Kind: k, Sentence: "…"}, now)
	}
}

func TestAFilterOfStatusNamesThem(t *testing.T) {
	for _, s := range Statuses {
		expect.NoError(t, (Filter{Status: s}).Check())
		_, partitions, _ := (Filter{Status: s}).In("t")
		expect.That(t, len(partitions) > 0, "%s is read from nowhere", s)
	}
	err := (Filter{Status: "extracted"}).Check()
	expect.That(t, err != nil && strings.Contains(err.Error(), "drafting, waits, returned, not_drafted"), "%v", err)
}

// Status returns how the request stands, by its rows alone. The head says the same after every commit: see listed.
func (a *Aggregate) Status() Status {
	switch h := a.Head; {
	case h.Ended != nil && h.Ended.As == TaskFailed && len(a.retryExecution()) > 0 &&
		!slices.Contains(AskAnew, a.Execution().Error):
		return StatusToRetry
	case h.Ended != nil:
		return h.Ended.status()
	case h.Parked != nil:
		return StatusNotDrafted
	case a.WaitingTerms() != nil:
		return StatusWaits
	case a.Returned() != nil:
		return StatusReturned
	case a.Execution() != nil:
		return StatusRunning
	}
	return StatusDrafting
}

// WaitsFor is what the head says of the same name, by the rows alone.
func (a *Aggregate) WaitsFor() aggregate.CardType {
	if a.Status() != StatusWaits {
		return ""
	}
	open, _ := a.OpenGate()
	return open.Kind
}

// Routed is what the head says of the same name, by the rows alone.
func (a *Aggregate) Routed() bool {
	if a.WaitsFor() == "" {
		return false
	}
	open, _ := a.OpenGate()
	return a.Asked(open.ID).Gate.Ruled()
}

// table commits Changes like the store: everything or nothing, if the head's rev and run, each row's revision and the
// rows relied on are as they were read. It keeps every state of the rows.
type table struct {
	t       expect.T
	head    Head
	rows    map[string]aggregate.Row
	waits   map[string]aggregate.Wait
	audit   []aggregate.AuditEntry
	changes int
	counts  map[string]int // counters of open tasks and of hours
	spent   aggregate.MicroUSD
	images  []image // one for each rev, oldest first
	dropped []string
}

type image struct {
	head Head
	rows map[string]aggregate.Row
}

// create writes the rows of a received message.
func create(t expect.T, c aggregate.Change) *table {
	t.Helper()
	tb := &table{t: t, rows: map[string]aggregate.Row{}, waits: map[string]aggregate.Wait{}, counts: map[string]int{}}
	first := c.Head.(*Head)
	tb.head = Head{Head: aggregate.Head{TenantID: first.TenantID, Run: first.Run}, TaskID: first.TaskID}
	expect.NoError(t, tb.commit(Head{Head: aggregate.Head{Run: first.Run}}, c))
	return tb
}

// count adds to counters, those of quotas and those of daily costs.
func (tb *table) count(counts []aggregate.Count) {
	for _, n := range counts {
		if strings.HasPrefix(n.Key, tenancy.SpentPrefix) {
			tb.spent += aggregate.MicroUSD(n.By)
		} else {
			tb.counts[n.Key] += n.By
		}
	}
}

// commit writes c, which was decided on a head with read's rev and run.
func (tb *table) commit(read Head, c aggregate.Change) error {
	tb.t.Helper()
	if c.Empty() {
		return nil
	}
	tb.wellFormed(c)
	if c.Head == nil {
		if tb.putAbsent(c.Rows) {
			tb.count(c.Counts)
		}
		return nil
	}
	if tb.head.Rev != read.Rev || tb.head.Run != read.Run {
		return aggregate.ErrConflict
	}
	for _, r := range slices.Concat(c.Rows, c.Drop, c.Rely) {
		if tb.revision(r.Key()) != r.Revision() {
			return fmt.Errorf("%s: %w", r.Key(), aggregate.ErrConflict)
		}
	}
	tb.changes++
	tb.count(c.Counts)
	c.ID = fmt.Sprint("change-", tb.changes)
	head := *c.Head.(*Head)
	head.Head = head.Committed(tb.head.Head, c)
	tb.head = head
	tb.rows = maps.Clone(tb.rows)
	for _, r := range c.Rows {
		tb.rows[r.Key()] = r.At(head.Rev)
	}
	for _, r := range c.Drop {
		delete(tb.rows, r.Key())
		tb.dropped = append(tb.dropped, r.Key())
	}
	tb.audit = append(tb.audit, c.Audit...)
	tb.images = append(tb.images, image{tb.head, tb.rows})
	tb.listed()
	return nil
}

// listed checks that the head and the row that lists have say how the request stands.
func (tb *table) listed() {
	tb.t.Helper()
	a := tb.load()
	is, waitsFor := a.Head.Noted, a.Head.WaitsFor
	expect.Must(tb.t, is == a.Status() && waitsFor == a.WaitsFor(), "the head says %s %s, it is %s %s: %+v", is,
		waitsFor, a.Status(), a.WaitsFor(), a.Head)
	expect.Must(tb.t, a.Head.Routed == a.Routed(), "under a rule: %v, by the rows %v", a.Head.Routed, a.Routed())
	expect.Must(tb.t, a.Head.Ended == nil || a.Head.Parked == nil, "it ended, and is parked: %+v", a.Head)
	expect.Same(tb.t, a.glance(), a.Head.Glance)
	var as Status
	switch {
	case a.Task != nil && a.Listing != nil:
		expect.Must(tb.t, false, "it is listed twice: %+v", a.Head)
	case a.Task != nil:
		as = a.Task.ListedAs
	case a.Listing != nil:
		as = a.Listing.ListedAs
	default:
		rests := !is.Open() || is == StatusWaits
		expect.Must(tb.t, !rests, "%s, and no list has it: %+v", is, a.Head)
		return
	}
	expect.Must(tb.t, as == is || as.Open() && is.Open(), "listed as %s, it is %s: %+v", as, is, a.Head)
	f := Filter{Status: is}
	_, partitions, _ := f.In("t")
	expect.Must(tb.t, f.MayKeep(as) && slices.Contains(partitions, WithStatus("t", as)),
		"listed as %s, and none who looks for %s finds it", as, is)
}

// wellFormed refuses what DynamoDB would refuse: an item that occurs twice, or too many items.
func (tb *table) wellFormed(c aggregate.Change) {
	tb.t.Helper()
	seen := map[string]bool{}
	for _, r := range slices.Concat(c.Rows, c.Drop, c.Rely) {
		expect.Must(tb.t, !seen[r.Key()], "%s has two places in one change", r.Key())
		seen[r.Key()] = true
	}
	n := len(seen) + len(c.Audit) + 2 + 4
	expect.Must(tb.t, n <= 100, "%d actions in one change", n)
	exact := c.Now.Location() == time.UTC && c.Now.Nanosecond()%1e6 == 0
	expect.Must(tb.t, exact, "change at %v: not UTC to the millisecond", c.Now)
}

// putAbsent puts rows that a Change without a head puts if they are absent.
func (tb *table) putAbsent(rows []aggregate.Row) (put bool) {
	tb.rows = maps.Clone(tb.rows)
	for _, r := range rows {
		if tb.rows[r.Key()] == nil {
			tb.rows[r.Key()], put = r, true
		}
	}
	tb.images[len(tb.images)-1].rows = tb.rows
	return put
}

// putLease replaces the lease in a, if it is still as it was read.
func (tb *table) putLease(a *Aggregate, l *aggregate.Lease) error {
	is, _ := tb.rows[l.Key()].(*aggregate.Lease)
	if !is.Same(aggregate.Find(a.Leases, l.Key())) {
		return aggregate.ErrInFlight
	}
	tb.rows = maps.Clone(tb.rows)
	tb.rows[l.Key()] = l
	tb.images[len(tb.images)-1].rows = tb.rows
	return nil
}

func (tb *table) revision(key string) int {
	if r, ok := tb.rows[key]; ok {
		return max(1, r.Revision()) // a row that is put only once has revision 0
	}
	return 0
}

// load returns the current rows, like a Query without a concurrent commit.
func (tb *table) load() *Aggregate {
	return tb.mixed(tb.head, func(string) map[string]aggregate.Row { return tb.rows })
}

// at returns what load returned after the commit rev.
func (tb *table) at(rev int) *Aggregate {
	im := tb.images[rev-1]
	return tb.mixed(im.head, func(string) map[string]aggregate.Row { return im.rows })
}

// mixed takes each row from the state that pick returns for its key.
func (tb *table) mixed(head Head, pick func(key string) map[string]aggregate.Row) *Aggregate {
	a := &Aggregate{Head: head}
	add := func(key string) {
		if r, ok := pick(key)[key]; ok {
			a.Add(r)
		}
	}
	for key := range tb.rows {
		add(key)
	}
	for _, key := range tb.dropped {
		add(key)
	}
	for _, w := range tb.waits {
		a.Waits = append(a.Waits, w)
	}
	slices.SortFunc(a.Waits, func(x, y aggregate.Wait) int { return x.Entered.Compare(y.Entered) })
	return a
}

// changed returns the keys of the rows that differ between two revs, without cards, which no decision reads.
func (tb *table) changed(from, to int) []string {
	var out []string
	keys := maps.Clone(tb.images[from-1].rows)
	maps.Copy(keys, tb.images[to-1].rows)
	for key := range keys {
		r := tb.images[to-1].rows[key]
		if tb.images[from-1].rows[key] != r && !strings.HasPrefix(key, "CARD#") {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
