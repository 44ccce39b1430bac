package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"ringi/infra/bench/measure"
	"ringi/infra/local/template"
)

// Load is what open loads do to a deployment, by simulation. Uses are the measured ones that it was made of.
type Load struct {
	Arrivals time.Duration
	Uses     map[string]measure.Use
	Limits   measure.Limits
	Results  []measure.Result

	of *Calls // that Uses are of
}

// Slack's pace is that of update-card, which a test compares.
var (
	updates  = measure.Budget{Calls: 10, Window: 13 * time.Second}
	posts    = measure.Budget{Calls: 3, Window: 3500 * time.Millisecond}
	allPosts = measure.Budget{Calls: 10, Window: 3 * time.Second}
)

// fewCards is the CardConcurrency of the loads that show what one for a new account does.
const fewCards = 5

// An account's and a new table's limits in AWS. A new table on demand takes 4,000 write units a second, a partition
// 1,000; a partition is a shard of the stream.
const (
	accountFunctions, newFunctions     = 1000, 10
	newTableUnits, partitionUnits      = 4000, 1000
	shards                             = newTableUnits / partitionUnits
	throttledPerSecond, throttledBurst = 100, 200 // API Gateway, by the template
)

// reckonLoad simulates each load with the calls that were measured in this run, or else with the baseline's.
func (m *Measured) reckonLoad(root string, arrivals time.Duration) error {
	calls := m.Calls
	if calls == nil {
		stored, err := load(root)
		if err != nil {
			return err
		}
		calls = stored.Calls
	}
	limits, err := deployed(root)
	if err != nil {
		return err
	}
	m.Load = &Load{Arrivals: arrivals, Uses: calls.Quiet.uses(), Limits: limits, of: calls}
	for _, cards := range []int{limits.Cards, fewCards} {
		for _, rate := range []float64{1, 10, 100} {
			for _, workspaces := range []int{1, 10, 50} {
				if cards == fewCards && rate < 100 {
					continue
				}
				limits.Cards = cards
				m.Load.Results = append(m.Load.Results, measure.Run(measure.Load{
					Rate: rate, Workspaces: workspaces, For: arrivals, Seed: 1, Uses: m.Load.Uses,
					Rows: calls.Quiet.kinds(), Limits: limits,
				}))
			}
		}
	}
	return nil
}

// uses returns what a request makes each function do.
func (p Pipeline) uses() map[string]measure.Use {
	out := map[string]measure.Use{}
	for name, u := range p.Functions {
		out[name] = measure.Use{Invocations: u.Invocations, AWS: u.AWS, Slack: u.Slack, Vendor: u.Vendor}
	}
	return out
}

// kinds returns how many rows of each kind a request writes.
func (p Pipeline) kinds() map[string]float64 {
	out := map[string]float64{}
	for kind, by := range p.Rows {
		name, _, _ := strings.Cut(kind, " ")
		out[name] += sum(by)
	}
	return out
}

// deployed returns the limits of a deployment with the template's defaults.
func deployed(root string) (measure.Limits, error) {
	l := measure.Limits{
		Functions: accountFunctions, Shards: shards, RequestsPerSecond: throttledPerSecond, Burst: throttledBurst,
		Updates: updates, Posts: posts, AllPosts: allPosts, Memory: map[string]int{},
	}
	t, err := template.Read(filepath.Join(root, "template.yaml"), template.Names{}, map[string]string{"Stage": "dev"})
	if err != nil {
		return l, err
	}
	for _, f := range t.Functions {
		l.Memory[template.Folder(f.ID)] = f.Memory
		switch f.ID {
		case updater:
			l.Cards = f.Queues[0].Concurrency
		case relay:
			l.Parallel = f.Streams[0].Parallel
		case sealer:
			l.Batch, l.Window = f.Streams[0].BatchSize, f.Streams[0].Window
		}
	}
	return l, nil
}

const sealer = "SealAuditFunction"

// markdown returns the table of the loads, which were made of these calls.
func (l *Load) markdown(of *Calls) string {
	if l == nil {
		return ""
	}
	var t table
	t.row("tasks a minute, workspaces, `CardConcurrency`", "most used limit of those below", "completed of asked",
		"message → first card: p50, p99", "click → run goes on: p50, p99",
		"functions at once (update-card, execute-process)", "oldest message to update-card",
		"cards that waited for Slack's pace; progress left out", "throttled; conflicts of counters", "hottest partition")
	t.row(strings.Split(strings.Repeat("--- ", 10), " ")[:10]...)
	for _, r := range l.Results {
		m := &Measured{Calls: of, Load: &Load{Uses: l.Uses, Limits: l.Limits}}
		m.Load.Limits.Cards = r.Cards
		t.row(fmt.Sprintf("%s, %d, %d", num(r.Rate), r.Workspaces, r.Cards), m.most(r.Rate, r.Workspaces),
			thousands(r.Completed)+" of "+thousands(r.Asked),
			seconds(r.FirstCard.P50)+", "+seconds(r.FirstCard.P99), seconds(r.Resumed.P50)+", "+seconds(r.Resumed.P99),
			fmt.Sprintf("%d (%d, %d)", r.AtOnce["all"], r.AtOnce["update-card"], r.AtOnce["execute-process"]),
			seconds(r.OldestCard), thousands(r.PaceWaits)+"; "+thousands(r.Skipped),
			thousands(r.Throttled)+"; "+thousands(r.Conflicts), fmt.Sprintf("%s %s units in a second", r.Hottest,
				num(r.HottestUnits)))
	}
	return fmt.Sprintf("Arrivals at random for %s minutes, and 15 more to end.\n\n%s", num(l.Arrivals.Minutes()), t.String())
}

// follows reports whether the loads were made of these calls.
func (l *Load) follows(p Pipeline) bool { return l != nil && maps.Equal(l.Uses, p.uses()) }
