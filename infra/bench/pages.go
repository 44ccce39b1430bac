package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// seedWrites is how many rows the original description of the pipeline writes for a successful request.
const seedWrites = 21

// summary returns the few figures that the page shows.
func (m *Measured) summary() string {
	var t strings.Builder
	fmt.Fprintf(&t, "Measured %s on %s:\n\n", m.At, m.On)
	figure := func(name, value string) { fmt.Fprintf(&t, "- %s: %s\n", name, value) }
	for _, x := range []struct {
		name string
		of   Pipeline
	}{{"one request, 5 steps, 2 stamps", m.Calls.Quiet},
		{"one contest, 3 teams, 2 rounds", m.Contest.Pipeline}, {"one conversation, one action", *m.Conversation},
		{"one write of an outside agent, one stamp", m.Outside.Pipeline}} {
		figure(x.name, inShort(x.of.total()))
	}
	var ratios []float64
	for _, f := range m.Cold.Functions {
		ratios = append(ratios, f.Ratio)
	}
	figure("rows and state transitions of one request", num(sumOf(m.Calls.Quiet.kinds()))+"; "+
		num(m.Calls.Quiet.Transitions))
	figure("rows of an agent's write", num(sumOf(m.Outside.kinds())))
	figure("at the door", m.Outside.waits())
	figure("the sweeper, each minute, when nothing is due", inShort(m.Calls.Sweep.total()))
	figure("starts, against a bare handler with the nearest clients",
		num(slices.Min(ratios))+" to "+num(slices.Max(ratios))+"×")
	for _, x := range m.Latency.waits() {
		figure(x.name+": p50, p90, p99", fmt.Sprintf("%s, %s, %s", millis(x.s.P50), millis(x.s.P90), millis(x.s.P99)))
	}
	figure(fmt.Sprintf("%d requests at once in one channel", m.Throughput.Tasks),
		m.Throughput.Wall.Round(time.Second).String())
	return t.String()
}

// markdown returns the table of all measurements.
func (m *Measured) markdown() string {
	var t markdownTable
	t.row("measured", "", "")
	t.row("---", "---", "---")
	m.callRows(&t)
	m.coldRows(&t)
	m.timeRows(&t)
	m.otherRows(&t)
	return fmt.Sprintf("Measured %s on %s, by `go run ./infra/bench -write`. Times are of the local stack on a shared machine: good as ratios.\n\n%s", m.At, m.On, t.String())
}

type markdownTable struct{ strings.Builder }

func (t *markdownTable) row(cells ...string) { fmt.Fprintf(t, "| %s |\n", strings.Join(cells, " | ")) }

// part begins a part of the table.
func (t *markdownTable) part(title string, columns ...string) {
	cells := []string{"**" + title + "**"}
	for _, c := range columns {
		cells = append(cells, "*"+c+"*")
	}
	t.row(cells...)
}

func (m *Measured) callRows(t *markdownTable) {
	if m.Calls == nil {
		return
	}
	q, f := m.Calls.Quiet, m.Calls.Faulty
	t.part("One request, five steps, two stamps: calls and capacity", "undisturbed", "1 % of calls to AWS and Slack fail")
	for _, name := range slices.Sorted(maps.Keys(q.Functions)) {
		t.row(name, inShort(q.Functions[name]), inShort(f.Functions[name]))
	}
	t.row("all functions", inShort(q.total()), inShort(f.total()))
	t.row("all AWS calls by action", amounts(q.Actions), amounts(f.Actions))
	t.row(fmt.Sprintf("rows written; the first description of the pipeline has %d, without cards, heads and leases", seedWrites), q.writes(), f.writes())
	t.row("rows written by kind", q.byKind(), f.byKind())
	t.row("state transitions of the run", num(q.Transitions), num(f.Transitions))
	t.row("sweeper, each minute, when nothing is due", inShort(m.Calls.Sweep.total()), "")
}

// otherRows adds the rows of contests and conversations.
func (m *Measured) otherRows(t *markdownTable) {
	if c := m.Contest; c != nil {
		t.part(fmt.Sprintf("One contest, %d teams of a leader and a member, %d rounds each, two metrics: calls and capacity", c.Teams, c.Rounds), "of the contest", "of a round")
		each := map[string]string{"run-round": inShort(Usage{}.plus(c.Functions["run-round"], 1/float64(c.Teams*c.Rounds)))}
		t.alone(c.Pipeline, "contest", each)
		t.row("state transitions of the contest's run", num(c.Transitions), "")
	}
	if m.Conversation != nil {
		t.part("One conversation: a message, two files proposed, a stamp, the agent on the result: calls and capacity", "of all functions", "")
		t.alone(*m.Conversation, "conversation", nil)
	}
	if o := m.Outside; o != nil {
		t.part("One write of an outside agent: it asks, a stamp, a repeat is told the end: calls and capacity", "of all functions",
			"")
		t.alone(o.Pipeline, "call", nil)
		t.row("rows that a call writes; how long it takes", num(sumOf(o.kinds())), o.waits())
	}
}

// waits says how long an outside agent waits, against the vendor alone.
func (o *Outside) waits() string {
	return fmt.Sprintf("a write is answered in %s (p99 %s), a read in %s, of which the vendor takes %s", millis(o.Asked.P50),
		millis(o.Asked.P99), millis(o.Read.P50), millis(o.Direct.P50))
}

// alone adds the rows of a pipeline that was only measured undisturbed. more has texts for the third cell.
func (t *markdownTable) alone(p Pipeline, of string, more map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(p.Functions)) {
		t.row(name+", in a "+of, inShort(p.Functions[name]), more[name])
	}
	t.row("all functions, in a "+of, inShort(p.total()), "")
	t.row("rows that a "+of+" writes by kind", p.byKind(), "")
}

// inShort formats a usage for one cell.
func inShort(u Usage) string {
	parts := []string{num(u.Invocations) + " invocations"}
	for _, x := range []struct {
		n    float64
		name string
	}{{u.AWS, "AWS"}, {u.Slack, "Slack"}, {u.Vendor, "vendor"}} {
		if x.n > 0 {
			parts = append(parts, num(x.n)+" "+x.name)
		}
	}
	return strings.Join(parts, ", ") + fmt.Sprintf("; %s read, %s + %s write units", num(u.Read), num(u.Write), num(u.Index))
}

// amounts lists numbers with their names.
func amounts(of map[string]float64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, name+" "+num(of[name]))
	}
	return strings.Join(parts, ", ")
}

// byKind lists the rows that a pipeline writes by kind, most frequent first, with the functions that write them.
func (p Pipeline) byKind() string {
	kinds := slices.SortedFunc(maps.Keys(p.Rows), func(x, y string) int {
		return cmp.Or(cmp.Compare(sumOf(p.Rows[y]), sumOf(p.Rows[x])), cmp.Compare(x, y))
	})
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%s %s (%s)", kind, num(sumOf(p.Rows[kind])), amounts(p.Rows[kind]))
	}
	return strings.Join(kinds, "; ")
}

func (p Pipeline) writes() string {
	var rows float64
	for _, by := range p.Rows {
		rows += sumOf(by)
	}
	single := p.Actions["DynamoDB.UpdateItem"] + p.Actions["DynamoDB.PutItem"] + p.Actions["DynamoDB.DeleteItem"]
	return fmt.Sprintf("%s, of which %s in %s transactions and %s by single writes (bookkeeping of cards and waits)",
		num(rows), num(rows-single), num(p.Actions["DynamoDB.TransactWriteItems"]), num(single))
}

func sumOf(amounts map[string]float64) (all float64) {
	for _, n := range amounts {
		all += n
	}
	return round(all)
}

func (m *Measured) coldRows(t *markdownTable) {
	if m.Cold == nil {
		return
	}
	t.part(fmt.Sprintf("Cold start: process to first event asked for, %d pairs", m.Cold.Spawns), "median (min), against a bare handler with its clients, or the nearest", "binary, memory")
	for _, f := range m.Cold.Functions {
		t.row(f.Name, fmt.Sprintf("%s (%s), bare %s (%s): **%s×**", millis(f.Median), millis(f.Min), millis(f.OtherMedian),
			millis(f.OtherMin), num(f.Ratio)),
			fmt.Sprintf("%s, %s", mib(f.Size), mib(f.RSS)))
	}
	if b := m.Cold.Bolt; b != nil {
		t.row(fmt.Sprintf("the same clients in Bolt for JavaScript %s, Node %s", b.Bolt, b.Node),
			fmt.Sprintf("%s (%s): **%s×** receive-interaction", millis(b.Median), millis(b.Min),
				num(b.Ratio)), fmt.Sprintf("%s, %s", mib(b.Size), mib(b.RSS)))
	}
}

func (m *Measured) timeRows(t *markdownTable) {
	if l := m.Latency; l != nil {
		t.part(fmt.Sprintf("Latency in the local stack, %d requests one after another", l.FirstCard.Count), "p50, p90, p99", "")
		for _, x := range l.waits() {
			t.row(x.name, fmt.Sprintf("%s, %s, %s", millis(x.s.P50), millis(x.s.P90), millis(x.s.P99)), "")
		}
		var parts []string
		var whole time.Duration
		for _, s := range l.Shares {
			whole += s.Took
		}
		for _, s := range l.Shares {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", s.Stage, 100*float64(s.Took)/float64(whole)))
		}
		t.row("where message → first card goes", strings.Join(parts, ", "), fmt.Sprintf("in %s, with a proxy that takes the time", millis(whole)))
	}
	if x := m.Throughput; x != nil {
		t.part(fmt.Sprintf("Throughput: %d requests at once in one channel", x.Tasks), "", "")
		t.row("all completed and shown, one message per card", x.Wall.Round(time.Second).String(), fmt.Sprintf("0 in dead letter queues; people pressed %d times again and asked for %d executions again", x.Unsaved, x.Retried))
		t.row(fmt.Sprintf("Slack's limits at %s times their pace", num(x.Pace)), amounts(x.Writes),
			fmt.Sprintf("%d turned away and tried later; %d events delivered again", x.RateLimited, x.Redelivered))
	}
}

// wait is how long people wait for something.
type wait struct {
	name string
	s    Spread
}

func (l *Latency) waits() []wait {
	return []wait{{"message → first card", l.FirstCard}, {"click → card changed", l.Changed},
		{"click → run goes on", l.Resumed}}
}

func num(x float64) string { return strconv.FormatFloat(round(x), 'f', -1, 64) }

func millis(d time.Duration) string {
	if d < 20*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

func mib(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// seconds formats a wait of people's.
func seconds(d time.Duration) string {
	if d >= 10*time.Minute {
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// baseline is the file of the last measurements. The pages are made from it, and new measurements are compared with it.
const baseline = "infra/bench/baseline.json"

// The pages that show measurements, each between its own marks.
const (
	readme = "infra/bench/README.md"
	costs  = "infra/bench/cost.md"
)

// section is the text between a page's two marks with the section's name.
type section struct{ page, name, text string }

func (m *Measured) sections() []section {
	return []section{
		{readme, "bench", m.summary()}, {costs, "bill", m.bill()}, {readme, "breaks", m.breaks(firstMet)},
	}
}

// put replaces the text between the section's marks.
func (s section) put(page string) (string, error) {
	open, closing := "<!-- "+s.name+" -->", "<!-- /"+s.name+" -->"
	before, rest, ok := strings.Cut(page, open)
	_, after, ok2 := strings.Cut(rest, closing)
	if !ok || !ok2 {
		return "", fmt.Errorf("%s has no %s and %s after it", s.page, open, closing)
	}
	return before + open + "\n" + s.text + closing + after, nil
}

// load reads the baseline.
func load(root string) (m *Measured, err error) {
	text, err := os.ReadFile(filepath.Join(root, baseline))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("read the baseline: %w", err)
	}
	return m, nil
}

// keep saves measurements in the baseline and the pages.
func (m *Measured) keep(root string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, baseline), append(text, '\n'), 0o644); err != nil {
		return err
	}
	for _, s := range m.sections() {
		path := filepath.Join(root, s.page)
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		now, err := s.put(string(page))
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
			return err
		}
	}
	return nil
}
