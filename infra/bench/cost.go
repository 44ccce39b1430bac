package main

import (
	"fmt"
	"maps"
	"math"
	"ringi/infra/bench/measure"
	"slices"
	"strconv"
)

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
	return measure.Seconds(use) / use.Invocations
}

// requests is how many requests of Slack's a task takes.
func (p Pipeline) requests() float64 {
	return p.Functions["receive-event"].Invocations + p.Functions["receive-interaction"].Invocations
}

// asks are the functions that wait for a model's answer, one each.
var asks = []string{"extract-task", "draft-prompt", "plan-process"}

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
		if folder != "update-card" && folder != "execute-process" && !slices.Contains(asks, folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}

// bill returns the table of what 1,000 tasks cost, and a sentence about contests.
func (m *Measured) bill() string {
	var t table
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
	asking, large, card := m.memory(asks...), m.memory("execute-process"), m.memory("update-card")
	small := m.memory(p.others()...)
	others := f.Invocations - models - 1 - cards
	t.row("", "per task", "dollars per 1,000 tasks")
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
A contest of three teams and two rounds, measured likewise: %s transitions (%.2f dollars per 1,000 contests),
%.0f write units with indexes (%.2f), %.0f read units (%.2f), %s PUT of prompts (%.2f).
A round's function waits for four answers one after another, 40 s × 512 MB = 20 GB-s, six of them are %s GB-s (%.2f).
The thirty answers of models of each cost more than a hundred times all of that.
`, num(m.Contest.Transitions), m.Contest.Transitions*perTransition*1000,
		contest.Write+contest.Index, (contest.Write+contest.Index)*perWriteUnit*1000, contest.Read,
		contest.Read*perReadUnit*1000,
		num(puts), puts*perPut*1000, num(played), played*perGBSecond*1000)
	return t.String()
}

func gbSeconds(times, seconds, gb float64) string {
	return fmt.Sprintf("%s × %s s × %s MB = %.1f GB-s", num(times), num(seconds), num(gb*1024), times*seconds*gb)
}

func dollars(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
