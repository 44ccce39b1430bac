package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/infra/local/template"
)

// The table stands in infra/bench/README.md between these.
const (
	begin = "<!-- bench -->"
	end   = "<!-- /bench -->"
)

// seedWrites is how many rows the first description of the pipeline writes for
// a request that goes well.
const seedWrites = 21

// markdown is one table of everything that was measured.
func (m *Measured) markdown() string {
	var t table
	t.row("measured", "", "")
	t.row("---", "---", "---")
	m.callRows(&t)
	m.contestRows(&t)
	m.talkRows(&t)
	m.coldRows(&t)
	m.timeRows(&t)
	return fmt.Sprintf("Measured %s on %s, by `go run ./infra/bench -write`. Times are of the local stack on a shared machine: good as ratios.\n\n%s", m.At, machine(), t.String())
}

type table struct{ strings.Builder }

func (t *table) row(cells ...string) { fmt.Fprintf(t, "| %s |\n", strings.Join(cells, " | ")) }

// part begins a part of the table.
func (t *table) part(title string, columns ...string) {
	cells := []string{"**" + title + "**"}
	for _, c := range columns {
		cells = append(cells, "*"+c+"*")
	}
	t.row(cells...)
}

func (m *Measured) callRows(t *table) {
	if m.Calls == nil {
		return
	}
	q, f := m.Calls.Quiet, m.Calls.Faulty
	t.part("One request, five steps, two stamps: calls and capacity", "undisturbed", "1 % of calls to AWS and Slack fail")
	for _, name := range slices.Sorted(maps.Keys(q.Functions)) {
		if name == sweeper {
			continue
		}
		t.row(template.Folder(name), inShort(q.Functions[name]), inShort(f.Functions[name]))
	}
	t.row("all functions", inShort(q.Total()), inShort(f.Total()))
	t.row("all AWS calls by action", actions(q.Total().Calls), actions(f.Total().Calls))
	t.row(fmt.Sprintf("rows written; the first description of the pipeline has %d, without cards, heads and leases", seedWrites), writes(q.Total()), writes(f.Total()))
	t.row("rows written by kind", byKind(q), byKind(f))
	t.row("state transitions of the run", num(q.Transitions), num(f.Transitions))
	t.row("sweeper, each minute, when nothing is due", inShort(m.Calls.Sweep), "")
}

// inShort is a function's usage in one cell.
func inShort(u Usage) string {
	aws, slack, vendor := kinds(u.Calls)
	parts := []string{num(u.Invocations) + " invocations"}
	for _, x := range []struct {
		n    float64
		name string
	}{{aws, "AWS"}, {slack, "Slack"}, {vendor, "vendor"}} {
		if x.n > 0 {
			parts = append(parts, num(x.n)+" "+x.name)
		}
	}
	return strings.Join(parts, ", ") + fmt.Sprintf("; %s read, %s + %s write units", num(u.Read), num(u.Write), num(u.Index))
}

func actions(calls map[string]float64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		if strings.Contains(name, ".") && !strings.Contains(name, " ") {
			parts = append(parts, name+" "+num(calls[name]))
		}
	}
	return strings.Join(parts, ", ")
}

// byKind are the rows that a pipeline writes, the most first, and which functions write them.
func byKind(p Pipeline) string {
	all := p.Total().Kinds
	kinds := slices.SortedFunc(maps.Keys(all), func(x, y string) int {
		return cmp.Or(cmp.Compare(all[y], all[x]), cmp.Compare(x, y))
	})
	for i, kind := range kinds {
		var by []string
		for _, name := range slices.Sorted(maps.Keys(p.Functions)) {
			if n := p.Functions[name].Kinds[kind]; n > 0 && name != sweeper {
				by = append(by, template.Folder(name)+" "+num(n))
			}
		}
		kinds[i] = fmt.Sprintf("%s %s (%s)", kind, num(all[kind]), strings.Join(by, ", "))
	}
	return strings.Join(kinds, "; ")
}

func writes(u Usage) string {
	single := u.Calls["DynamoDB.UpdateItem"] + u.Calls["DynamoDB.PutItem"] + u.Calls["DynamoDB.DeleteItem"]
	return fmt.Sprintf("%s, of which %s in %s transactions and %s by single writes (bookkeeping of cards and waits)",
		num(u.Rows), num(u.Rows-single), num(u.Calls["DynamoDB.TransactWriteItems"]), num(single))
}

func (m *Measured) coldRows(t *table) {
	if m.Cold == nil {
		return
	}
	t.part(fmt.Sprintf("Cold start: process to first event asked for, %d pairs", m.Cold.Spawns), "median (min), against a bare handler with its clients, or the nearest", "binary, memory")
	for _, f := range m.Cold.Functions {
		t.row(f.Name, fmt.Sprintf("%s (%s), bare %s (%s): **%s×**", millis(f.Median), millis(f.Min), millis(f.OtherMedian), millis(f.OtherMin), num(f.Ratio)),
			fmt.Sprintf("%s, %s", mib(f.Size), mib(f.RSS)))
	}
	if b := m.Cold.Bolt; b != nil {
		t.row(fmt.Sprintf("the same clients in Bolt for JavaScript %s, Node %s", b.Bolt, b.Node),
			fmt.Sprintf("%s (%s): **%s×** receive-interaction", millis(b.Median), millis(b.Min), num(b.Ratio)), fmt.Sprintf("%s, %s", mib(b.Size), mib(b.RSS)))
	}
}

func (m *Measured) timeRows(t *table) {
	if l := m.Latency; l != nil {
		t.part(fmt.Sprintf("Latency in the local stack, %d requests one after another", l.FirstCard.Count), "p50, p90, p99", "")
		for _, x := range []struct {
			name string
			s    Spread
		}{{"message → first card", l.FirstCard}, {"click → card changed", l.Changed}, {"click → run goes on", l.Resumed}} {
			t.row(x.name, fmt.Sprintf("%s, %s, %s", millis(x.s.P50), millis(x.s.P90), millis(x.s.P99)), "")
		}
		var parts []string
		var whole time.Duration
		for _, s := range l.Shares {
			parts, whole = append(parts, fmt.Sprintf("%s %.0f %%", s.Stage, s.Of*100)), whole+s.Took
		}
		t.row("where message → first card goes", strings.Join(parts, ", "), fmt.Sprintf("in %s, with a proxy that takes the time", millis(whole)))
	}
	if x := m.Throughput; x != nil {
		t.part(fmt.Sprintf("Throughput: %d requests at once in one channel", x.Tasks), "", "")
		t.row("all completed and shown, one message per card", x.Wall.Round(time.Second).String(), fmt.Sprintf("0 in dead letter queues; people pressed %d times again and asked for %d executions again", x.Unsaved, x.Retried))
		var done []string
		for _, name := range slices.Sorted(maps.Keys(x.Writes)) {
			done = append(done, fmt.Sprintf("%s %d", name, x.Writes[name]))
		}
		t.row(fmt.Sprintf("Slack's limits at %s times their pace", num(x.Pace)), strings.Join(done, ", "),
			fmt.Sprintf("%d turned away and tried later; %d events delivered again", x.RateLimited, x.Redelivered))
	}
}

func num(x float64) string { return strconv.FormatFloat(round(x), 'f', -1, 64) }

func millis(d time.Duration) string {
	if d < 20*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

func mib(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// merged keeps the order of the old table; what it lacks comes last.
func merged(old, table string) string {
	now := pieces(table)
	out := now[0].rows
	for _, p := range pieces(old)[1:] {
		if i := slices.IndexFunc(now, func(x piece) bool { return x.name == p.name }); i >= 0 {
			p = now[i]
			now = slices.Delete(now, i, i+1)
		}
		out += p.rows
	}
	for _, p := range now[1:] {
		out += p.rows
	}
	return out
}

// piece is a part of a table as it is written; what stands before the first has no name.
type piece struct{ name, rows string }

func pieces(table string) []piece {
	all := []piece{{}}
	for line := range strings.Lines(table) {
		if title, ok := strings.CutPrefix(line, "| **"); ok {
			all = append(all, piece{name: title[:strings.IndexAny(title, ":,*")]}) // what follows says how often it was measured
		}
		all[len(all)-1].rows += line
	}
	return all
}

// insert puts a table between the marks of a file, with the parts that only the old one
// there has, so that a part can be measured alone.
func insert(path, table string) error {
	return between(path, begin, end, func(old string) string { return merged(strings.TrimPrefix(old, "\n"), table) })
}

// between replaces what stands between two marks of a file.
func between(path, open, closing string, text func(old string) string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(b), open)
	old, after, ok2 := strings.Cut(rest, closing)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no %s and %s after it", path, open, closing)
	}
	return os.WriteFile(path, []byte(before+open+"\n"+text(old)+closing+after), 0o644)
}
