package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"ringi/shared/domain/tenancy"
	"ringi/shared/store"
)

// bound is a limit that a steady load meets.
type bound struct {
	name      string
	of        string  // what it is of: a person, a workspace or all
	perMinute float64 // tasks a minute at which it is met
	formula   string
	from      string // where the limit's number comes from
	then      string // what an operator does
	elsewhere bool   // the simulated deployment doesn't have it
}

// Where numbers come from. A stored copy of a page was read on the day that stands there.
const (
	ofSettings = "settings' default"
	ofTemplate = "template.yaml"
	ofMemory   = "from memory (early 2025)"
	ofLambda   = "[Lambda quotas](https://docs.aws.amazon.com/lambda/latest/dg/limits.html), read 2026-11-23"
	ofDynamoDB = "[Throttling on demand](https://www.repost.aws/knowledge-center/on-demand-table-throttling-dynamodb), " +
		"read 2026-11-23"
	ofS3 = "[S3's rate limits](https://raw.githubusercontent.com/api-evangelist/amazon-s3/refs/heads/main/" +
		"rate-limits/amazon-s3-rate-limits.yml), 2026-05-05"
	ofStates = "[Step Functions quotas](https://docs.aws.amazon.com/ko_kr/step-functions/latest/dg/limits.html), " +
		"read 2026-11-23"
	ofKMS = "[KMS, 2018](https://aws.amazon.com/cn/about-aws/whats-new/2018/08/" +
		"aws-key-management-service-increases-api-requests-per-second-limits/)"
	ofSlack  = "[Slack's rate limits](https://docs.slack.dev/apis/web-api/rate-limits), read 2026-11-23; pace.go"
	ofEvents = "[Slack's events](https://docs.slack.dev/reference/events/app_rate_limited), read 2026-11-23"
)

const (
	// weekend is from Friday evening to Monday morning.
	weekend = 64.0
	// needed are a task's posts in its channel, and its updates, that Slack's pace must not leave out. A direct message
	// tells of its end.
	needed, direct = 4.0, 1.0
	// counted is how often a task changes the counter of its workspace's open tasks, and for how long each.
	counted, transactionTime = 2.0, 10 * time.Millisecond
)

// firstMet is how many of the limits that are met first the page shows.
const firstMet = 8

// breaks returns the table of what breaks first, of the first n limits. Only that of all limits has their formulas.
func (m *Measured) breaks(n int) string {
	if m.Load == nil {
		return ""
	}
	all := m.bounds()
	rows := [][]string{{"limit", "tasks a minute", "of", "formula", "the limit's number", "then"},
		slices.Repeat([]string{"---"}, 6)}
	for _, b := range all[:min(n, len(all))] {
		rows = append(rows, []string{b.name, atRate(b.perMinute), b.of, b.formula, b.from, b.then})
	}
	var t markdownTable
	for _, row := range rows {
		if n < len(all) {
			row = slices.Delete(row, 3, 5)
		}
		t.row(row...)
	}
	return t.String()
}

// bounds returns all limits, the one met first first.
func (m *Measured) bounds() []bound {
	all := slices.Concat(m.boundsOfSettings(), m.boundsOfSlack(), m.boundsOfLambda(), m.boundsOfTable(), m.boundsOfOthers())
	slices.SortStableFunc(all, func(x, y bound) int { return cmp.Compare(x.perMinute, y.perMinute) })
	return all
}

// most says which limit a load uses most of, and how much of it.
func (m *Measured) most(rate float64, workspaces int) string {
	part := map[string]float64{
		"all": rate, "a workspace": rate / float64(workspaces), "a channel": rate / float64(workspaces) / Channels,
		"a shard": rate / min(shards, float64(workspaces)),
	}
	var name string
	var used float64
	for _, b := range m.bounds() {
		if x := part[b.of] / b.perMinute; !b.elsewhere && x > used {
			name, used = b.name, x
		}
	}
	return fmt.Sprintf("%s: %.0f %%", name, 100*used)
}

func atRate(x float64) string {
	if x < 100 {
		return fmt.Sprintf("%.3g", x)
	}
	return thousands(int(x))
}

// perSecond is the bound at which limit a second are used, each of a task.
func perSecond(name, of string, limit, each float64, what, from, then string) bound {
	formula := fmt.Sprintf("%s a second × 60 / %s %s", thousands(int(limit)), num(each), what)
	return bound{name: name, of: of, perMinute: limit * 60 / each, formula: formula, from: from, then: then}
}

// atOnce is the bound at which limit invocations are at work, a task's for so many seconds.
func atOnce(name string, limit, seconds float64, what, from, then string) bound {
	formula := fmt.Sprintf("%s at once × 60 s / %s s of %s", thousands(int(limit)), num(seconds), what)
	return bound{name: name, of: "all", perMinute: limit * 60 / seconds, formula: formula, from: from, then: then}
}

func (m *Measured) boundsOfSettings() []bound {
	s := tenancy.DefaultSettings()
	open := func(who string, n int, hours float64, then string) bound {
		return bound{"`max_open_tasks`, decided within " + num(hours) + " h", who, float64(n) / (hours * 60),
			fmt.Sprintf("%s open / (%s h × 60)", thousands(n), num(hours)), ofSettings, then, true}
	}
	hour := func(who string, n int) bound {
		return bound{"`max_tasks_per_hour`", who, float64(n) / 60, thousands(n) + " / 60", ofSettings,
			"RequestsLostAlarm (of a workspace): raise it in *Settings*", true}
	}
	warned := fmt.Sprintf("administrators are told at %s open: raise it, or decide", thousands(s.MaxOpenTasks.Nearly()))
	return []bound{
		open("a person", s.MaxOpenTasks.Person, openHours, "the person is told: others decide, or raise it"),
		open("a workspace", s.MaxOpenTasks.Tenant, weekend, warned),
		open("a workspace", s.MaxOpenTasks.Tenant, openHours, warned),
		hour("a person", s.MaxTasksPerHour.Person), hour("a workspace", s.MaxTasksPerHour.Tenant),
	}
}

func (m *Measured) boundsOfSlack() []bound {
	pace := func(name, of string, b Budget, each float64) bound {
		return bound{"Slack's pace: " + name, of, b.PerMinute() / each,
			fmt.Sprintf("%d in %s, %.0f a minute / %s", b.Calls, b.Window, b.PerMinute(), num(each)), ofSlack,
			"progress is left out first, then cards come late", false}
	}
	const hourly = 30_000
	events := m.Calls.Quiet.Functions["receive-event"].Invocations
	return []bound{
		pace("updates", "a workspace", updates, needed),
		pace("posts of a channel, or of those in its group", "a channel", posts, needed),
		pace("posts", "a workspace", allPosts, needed+direct),
		{"Slack's events", "a workspace", hourly / 60 / events,
			fmt.Sprintf("%s an hour / 60 / %s", thousands(hourly), num(events)), ofEvents, "RequestsLostAlarm: people ask again", false},
	}
}

func (m *Measured) boundsOfLambda() []bound {
	f, l := m.Calls.Quiet.Functions, m.Load.Limits
	busy := models*modelSeconds + stepsSeconds
	for _, name := range slices.Sorted(maps.Keys(m.Load.Uses)) {
		busy += Seconds(m.Load.Uses[name])
	}
	busy -= f["execute-process"].Vendor * Seconds(Use{Vendor: 1}) // those are the steps' time
	cards := Seconds(m.Load.Uses["update-card"])
	relayed := Seconds(m.Load.Uses["relay-changes"])
	kinds, sealed := m.Calls.Quiet.kinds(), m.Load.Uses["seal-audit"]
	entries := kinds["AUDIT"] + kinds["USAGE"]
	batch := Seconds(sealed) / sealed.Invocations
	fresh := atOnce("Lambda, a new account's functions at once", newFunctions, busy, "functions", ofMemory,
		"ask for more before the first day")
	fresh.elsewhere = true
	return []bound{
		fresh, atOnce("Lambda, functions at once", accountFunctions, busy, "functions", ofLambda,
			"ask for more; what is throttled comes again, runs go on"),
		atOnce("`CardConcurrency`", float64(l.Cards), cards, "update-card", ofTemplate,
			"raise it: it counts against the account's"),
		atOnce(fmt.Sprintf("relay-changes' batches at once, %d of each of %d shards", l.Parallel, shards), float64(l.Parallel*shards), relayed,
			"relay-changes", ofTemplate, "nothing: the stream's shards split as the table grows"),
		{fmt.Sprintf("seal-audit, one batch of %d at a time", l.Batch), "a shard", 60 / batch * float64(l.Batch) / entries,
			fmt.Sprintf("60 s / %.2f s × %d / %s entries", batch, l.Batch, num(entries)), ofTemplate,
			"StreamStandsAlarm: entries are sealed late, none is lost", false},
	}
}

func (m *Measured) boundsOfTable() []bound {
	all, kinds := m.Calls.Quiet.total(), m.Calls.Quiet.kinds()
	units := round(all.Write + all.Index)
	partition := func(name, of string, each float64, then string) bound {
		return perSecond("DynamoDB, a partition: "+name, of, partitionUnits, each, "units", ofDynamoDB, then)
	}
	const split = "one stack is too small for it: shard by tenant"
	return []bound{
		perSecond("DynamoDB, a new table's write units", "all", newTableUnits, units, "units", ofDynamoDB,
			"nothing while the load doubles within 30 minutes at most; else warm the table"),
		perSecond("DynamoDB, a table's write units", "all", 40_000, units, "units", ofDynamoDB, "ask for more"),
		partition("`QUOTA#<tenant>`, each row twice in a transaction", "a workspace", 2*kinds["QUOTA"], split),
		partition("`AUDIT#<tenant>#<month>`, likewise", "a workspace", 2*kinds["AUDIT"], split),
		partition(fmt.Sprintf("`DUE#0` to `DUE#%d`", store.Shards-1), "all", m.Calls.Quiet.due()/store.Shards,
			"raise `store.Shards`"),
		{"DynamoDB, transactions on one counter", "a workspace", 60 / (counted * transactionTime.Seconds()),
			fmt.Sprintf("60 s / (%s × %s)", num(counted), transactionTime),
			"assumed", "conflicts are tried again; they begin far below that", false},
	}
}

func (m *Measured) boundsOfOthers() []bound {
	p := m.Calls.Quiet
	const more = "ask for more"
	states := func(name string, limit, each float64, what, then string) bound {
		return perSecond("Step Functions, "+name, "all", limit, each, what, ofMemory, then)
	}
	tokyo := states("transitions in Tokyo", 800, p.Transitions, "transitions", more)
	tokyo.elsewhere = true
	return []bound{
		tokyo,
		perSecond("API Gateway, `ThrottlingRateLimit`", "all", throttledPerSecond, p.requests(), "requests", ofTemplate,
			"raise it; Slack sends again"),
		states("transitions", 5000, p.Transitions, "transitions", more),
		states("StartExecution", 300, startsPerTask, "start", "the sweeper starts them later; ask for more"),
		{"Step Functions, open executions", "all", 1_000_000 / (openHours * 60),
			fmt.Sprintf("1,000,000 / (%s h × 60)", num(openHours)), ofStates, "ask for more", false},
		perSecond("KMS, Sign with an ECC key", "all", 1000, p.Actions["KMS.Sign"], "signatures", ofMemory, "ask for more"),
		perSecond("KMS, Decrypt in Tokyo", "all", 5500, p.Actions["KMS.Decrypt"], "calls", ofKMS, "ask for more"),
		perSecond("S3, PUT below one prefix", "a workspace", 3500, p.Actions["S3.PutObject"], "objects", ofS3,
			"nothing: prefixes split"),
	}
}
