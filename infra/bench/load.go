package main

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/infra/local/template"
)

// Load is what open loads do to a deployment, by simulation. Uses are the measured ones that it was made of.
type LoadReport struct {
	Arrivals time.Duration
	Uses     map[string]Use
	Limits   Limits
	Results  []Result

	of *Calls // that Uses are of
}

// Slack's pace is that of update-card, which a test compares.
var (
	updates  = Budget{Calls: 10, Window: 13 * time.Second}
	posts    = Budget{Calls: 3, Window: 3500 * time.Millisecond}
	allPosts = Budget{Calls: 10, Window: 3 * time.Second}
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
	m.Load = &LoadReport{Arrivals: arrivals, Uses: calls.Quiet.uses(), Limits: limits, of: calls}
	for _, cards := range []int{limits.Cards, fewCards} {
		for _, rate := range []float64{1, 10, 100} {
			for _, workspaces := range []int{1, 10, 50} {
				if cards == fewCards && rate < 100 {
					continue
				}
				limits.Cards = cards
				m.Load.Results = append(m.Load.Results, Run(Load{
					Rate: rate, Workspaces: workspaces, For: arrivals, Seed: 1, Uses: m.Load.Uses,
					Rows: calls.Quiet.kinds(), Limits: limits,
				}))
			}
		}
	}
	return nil
}

// uses returns what a request makes each function do.
func (p Pipeline) uses() map[string]Use {
	out := map[string]Use{}
	for name, u := range p.Functions {
		out[name] = Use{Invocations: u.Invocations, AWS: u.AWS, Slack: u.Slack, Vendor: u.Vendor}
	}
	return out
}

// kinds returns how many rows of each kind a request writes.
func (p Pipeline) kinds() map[string]float64 {
	out := map[string]float64{}
	for kind, by := range p.Rows {
		name, _, _ := strings.Cut(kind, " ")
		out[name] += sumOf(by)
	}
	return out
}

// deployed returns the limits of a deployment with the template's defaults.
func deployed(root string) (Limits, error) {
	l := Limits{
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
func (l *LoadReport) markdown(of *Calls) string {
	if l == nil {
		return ""
	}
	var t markdownTable
	t.row("tasks a minute, workspaces, `CardConcurrency`", "most used limit of those below", "completed of asked",
		"message → first card: p50, p99", "click → run goes on: p50, p99",
		"functions at once (update-card, execute-process)", "oldest message to update-card",
		"cards that waited for Slack's pace; progress left out", "throttled; conflicts of counters", "hottest partition")
	t.row(strings.Split(strings.Repeat("--- ", 10), " ")[:10]...)
	for _, r := range l.Results {
		m := &Measured{Calls: of, Load: &LoadReport{Uses: l.Uses, Limits: l.Limits}}
		m.Load.Limits.Cards = r.Cards
		t.row(fmt.Sprintf("%s, %d, %d", num(r.Rate), r.Workspaces, r.Cards), m.most(r.Rate, r.Workspaces),
			thousands(r.Completed)+" of "+thousands(r.Asked),
			seconds(r.FirstCard.P50)+", "+seconds(r.FirstCard.P99), seconds(r.Resumed.P50)+", "+seconds(r.Resumed.P99),
			fmt.Sprintf("%d (%d, %d)", r.AtOnce["all"], r.AtOnce["update-card"], r.AtOnce["execute-process"]),
			seconds(r.OldestCard), thousands(r.PaceWaits)+"; "+thousands(r.Skipped),
			thousands(r.Throttled)+"; "+thousands(r.Conflicts), fmt.Sprintf("%s %s units in a second", r.Hottest,
				num(r.HottestUnits)))
	}
	return fmt.Sprintf("Arrivals at random for %s minutes, and 15 more to end.\n\n%s", num(l.Arrivals.Minutes()),
		t.String())
}

// follows reports whether the loads were made of these calls.
func (l *LoadReport) follows(p Pipeline) bool { return l != nil && maps.Equal(l.Uses, p.uses()) }

// Prices in dollars, on demand, in us-east-1. The page names their sources.
const (
	perTransition = 0.025 / 1e3
	perWriteUnit  = 0.625 / 1e6
	perReadUnit   = 0.125 / 1e6
	perGBSecond   = 0.0000133334
	perInvocation = 0.20 / 1e6
	perQueueCall  = 0.50 / 1e6
	perPut        = 0.005 / 1e3
	perGet        = 0.0004 / 1e3
	perDecrypt    = 0.03 / 1e4
	perSign       = 0.15 / 1e4
	perAPICall    = 1.00 / 1e6
	perLogGB      = 0.50
	perTrace      = 5.00 / 1e6
)

// Assumptions about what the local stack can't measure, such as the time that functions wait for other services.
const (
	models, modelSeconds = 3.0, 10.0 // model calls, and the duration of each
	stepsSeconds         = 20.0      // of all steps and the summary, in one invocation
	otherSeconds         = 0.1
	logKB                = 25.0
	traced               = 0.05
	startsPerTask        = 1.0
	openHours            = 4.0
)

// due is how many write units a task takes in the partitions DUE#0 to DUE#7, if each change of its head makes it due at
// another time.
func (p Pipeline) due() float64 { return 2 * p.kinds()["HEAD"] }

// cardSeconds is how long a drawing takes, as the simulated loads have it.
func (p Pipeline) cardSeconds() float64 {
	use := p.uses()["update-card"]
	return Seconds(use) / use.Invocations
}

// requests is how many requests of Slack's a task takes.
func (p Pipeline) requests() float64 {
	return p.Functions["receive-event"].Invocations + p.Functions["receive-interaction"].Invocations
}

// asks are the functions that wait for a model's answer, one each.
var modelFunctions = []string{"extract-task", "draft-prompt", "plan-process"}

// memory returns the average memory of functions, in GB, as the template sets it, weighted by their invocations.
func (m *Measured) memory(folders ...string) float64 {
	var sum, all float64
	for _, folder := range folders {
		times := m.Calls.Quiet.Functions[folder].Invocations
		sum, all = sum+times*float64(m.Load.Limits.Memory[folder])/1024, all+times
	}
	return math.Round(1024*sum/max(1, all)) / 1024 // whole MB
}

// others returns the folders of the functions that have no line of their own in the bill.
func (p Pipeline) others() (folders []string) {
	for _, folder := range slices.Sorted(maps.Keys(p.Functions)) {
		if folder != "update-card" && folder != "execute-process" && !slices.Contains(modelFunctions, folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}

// bill returns the table of what 1,000 tasks cost, and a sentence about contests.
func (m *Measured) bill() string {
	var t markdownTable
	var sum float64
	p, contest := m.Calls.Quiet, m.Contest.total()
	f, cards := p.total(), p.Functions["update-card"].Invocations
	drawn, apiCalls := round(p.cardSeconds()), p.requests()
	sent, put, get := p.Actions["SQS.SendMessage"], p.Actions["S3.PutObject"], p.Actions["S3.GetObject"]
	decrypted, signed := p.Actions["KMS.Decrypt"], p.Actions["KMS.Sign"]
	add := func(what, amount string, each float64) {
		sum += each * 1000
		t.row(what, amount, dollars(each*1000))
	}
	asking, large, card := m.memory(modelFunctions...), m.memory("execute-process"), m.memory("update-card")
	small := m.memory(p.others()...)
	others := f.Invocations - models - 1 - cards
	t.row("", "per task", "dollars per 1,000")
	t.row("---", "---", "---")
	add("Step Functions", num(p.Transitions)+" transitions", p.Transitions*perTransition)
	add("DynamoDB writes", num(f.Write)+" units of the table, "+num(f.Index)+" of its indexes",
		(f.Write+f.Index)*perWriteUnit)
	add("DynamoDB reads", num(f.Read)+" units", f.Read*perReadUnit)
	add("Lambda, three models' answers", gbSeconds(models, modelSeconds, asking), models*modelSeconds*asking*perGBSecond)
	add("Lambda, carrying out five steps and the summary", gbSeconds(1, stepsSeconds, large),
		stepsSeconds*large*perGBSecond)
	add("Lambda, cards", gbSeconds(cards, drawn, card), cards*drawn*card*perGBSecond)
	add("Lambda, the rest", gbSeconds(others, otherSeconds, small), others*otherSeconds*small*perGBSecond)
	add("Lambda, invocations", num(f.Invocations), f.Invocations*perInvocation)
	add("SQS FIFO", num(sent)+" sent, as many received and deleted", 3*sent*perQueueCall)
	add("S3", num(put)+" PUT, "+num(get)+" GET", put*perPut+get*perGet)
	add("KMS, for credentials and the audit log's chain", num(decrypted)+" Decrypt, "+num(signed)+" Sign",
		decrypted*perDecrypt+signed*perSign)
	add("API Gateway", num(apiCalls)+" requests", apiCalls*perAPICall)
	add("logs", "about "+num(logKB)+" KB", logKB/1e6*perLogGB)
	add("traces", fmt.Sprintf("%s %% of %s", num(traced*100), num(f.Invocations)), traced*f.Invocations*perTrace)
	t.row("**AWS in all**", "", fmt.Sprintf("**%.2f**", sum))
	const played, puts = 120.0, 30.0 // GB-seconds of six rounds of 40 s in 512 MB, and stored prompts
	fmt.Fprintf(&t, `
1,000 contests of three teams and two rounds cost %.2f dollars, and their thirty answers of models each more than a
hundred times that.
`, 1000*(m.Contest.Transitions*perTransition+(contest.Write+contest.Index)*perWriteUnit+contest.Read*perReadUnit+
		puts*perPut+played*perGBSecond))
	return t.String()
}

func gbSeconds(times, seconds, gb float64) string {
	return fmt.Sprintf("%s × %s s × %s MB = %.1f GB-s", num(times), num(seconds), num(gb*1024), times*seconds*gb)
}

func dollars(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
