// Package faults breaks the running system at every place where it can break, and compares the result with an
// undisturbed run.
package faults

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// only chooses points: go test ./infra/faults -run ACrashAnywhere -only UpdateCard.
var only = flag.String("only", "", "try only points whose name contains this")

// seed is of all that is drawn at random.
var seed = expect.Seed()

// beside is how many scenarios run side by side.
const beside = 4

// running is the only stack of this package's tests, and places bounds how many trials run on it at once.
var (
	running *harness
	places  chan struct{}
)

func TestMain(m *testing.M) {
	flag.Parse()
	places = make(chan struct{}, beside)
	// Parallel tests, which mostly wait and don't affect others' scenarios, run after the rest.
	if err := flag.Set("test.parallel", strconv.Itoa(beside)); err != nil {
		log.Fatal(err)
	}
	os.Exit(func() int {
		if driver.LeftOut() {
			return 0
		}
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
		defer cancel()
		b, err := open(ctx)
		if err != nil {
			log.Println("start the stack:", err)
			return 1
		}
		defer b.Close()
		running = b
		return m.Run()
	}())
}

// open starts a stack whose calls the injector sees and whose sweeper runs only when told.
func open(ctx context.Context) (*harness, error) {
	w := newInjector()
	p := &delivery{lost: func(record []byte) bool {
		t := w.whose(lambda.Call{Event: record})
		return t != nil && t.sweeperOnly
	}}
	o := driver.Options()
	o.Faults, o.Between = w, p.wrap
	o.Sandbox = sandbox.Options{Shortcuts: []sandbox.Shortcut{{CallbackID: "cancel_task"}}, AnswerTime: 10 * time.Second}
	s, err := driver.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	return &harness{Stack: s, injector: w, db: dynamodb.NewFromConfig(s.AWS), delivery: p}, nil
}

// worldClock makes time pass for a task by changing times in its rows.
type worldClock struct {
	mu    sync.Mutex // one sweep at a time
	swept time.Time  // when the newest one began
}

// set changes a row behind the system's back if the condition still holds; :past is a time at which everything was due.
func (c *worldClock) set(d *scenarioRun, sk, update, condition string, more map[string]string) {
	texts := map[string]string{":past": driver.Moment(time.Now().Add(-2 * time.Minute))}
	maps.Copy(texts, more)
	d.ChangeRow(sk, update, condition, texts)
}

// expire ends a task's leases, or its claims on cards.
func (c *worldClock) expire(d *scenarioRun, leases bool) {
	a, err := d.Store.Load(context.Background(), d.Ref)
	if err != nil {
		return // there is no task yet
	}
	if leases {
		for _, s := range a.Steps {
			if s.Status == task.StepRunning {
				c.set(d, s.Key(), "SET claim.lease_until = :past", "claim.invocation = :by",
					map[string]string{":by": s.Claim.Invocation})
			}
		}
		return
	}
	for _, x := range slices.Concat(a.Cards, a.Copies) {
		if x.State == aggregate.CardPosting {
			c.set(d, x.Key(), "SET claimed_at = :past", "claimed_by = :by", map[string]string{":by": x.ClaimedBy})
		}
	}
}

// sweep makes a task due and runs the sweeper; concurrent calls share one run.
func (c *worldClock) sweep(d *scenarioRun) {
	if _, err := d.Store.Head(context.Background(), d.Ref); err != nil {
		return
	}
	c.due(d)
	asked := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.swept.After(asked) {
		return
	}
	c.swept = time.Now()
	if _, err := d.Fire(context.Background(), sweeper); err != nil {
		failf("sweep: %w", err)
	}
}

// sweepFor runs a sweep for one task alone; its calls belong to the task's scenario.
func (c *worldClock) sweepFor(d *scenarioRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due(d)
	event, err := json.Marshal(map[string]any{"source": "aws.events", "detail": map[string]string{"scenario": d.mark}})
	if err != nil {
		failf("sweep: %w", err)
	}
	// If a sweep dies, run another.
	if _, err := d.Lambda.Invoke(context.Background(), sweeper, event); err != nil {
		failf("sweep: %w", err)
	}
}

// due makes a task due, and the contest of its first version, unless nothing is due there any more.
func (c *worldClock) due(d *scenarioRun) {
	const update, condition = "SET due_at = :past, GSI1SK = :past", "attribute_exists(GSI1PK)"
	c.set(d, aggregate.HeadKey, update, condition, nil)
	contest := *d.Request
	contest.Ref = d.contest()
	contest.ChangeRow(aggregate.HeadKey, update, condition,
		map[string]string{":past": driver.Moment(time.Now().Add(-2 * time.Minute))})
}

// end is a scenario's result without values that differ between runs.
type end struct {
	Rows  map[string]any
	Cards map[string]string // what each card shows
	Audit []string
	Sent  map[string]int // calls of write tools that were sent
	Extra []string       // unexpected messages in the thread
}

// Values that differ between runs.
var (
	timeForm   = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?`)
	lastForm   = regexp.MustCompile(`\d+(\.\d+)?(分 ?\d+)?秒`) // how long the work took
	lastedForm = regexp.MustCompile(`⏱️ 実行時間: [^·\n]* · `)   // of a run that took long
	blockForm  = regexp.MustCompile(`(?m)^b[0-9a-f]{4,}$`)   // Slack's own name of a block that has none
	// earlierForm is what cards say of earlier runs, which asked for the same, or wrote more rows to the same sheet.
	earlierForm = regexp.MustCompile(`(?m)^🔁 30 日以内に、同じ件名の依頼がありました.*\nmrkdwn\ncontext\nBLOCK\n|` +
		`^mrkdwn\nsection\nBLOCK\n⚠️ ステップ \d+: 書き込んだ表の下に、以前の行が.*\n`)
	belowForm = regexp.MustCompile(`"rows_below":\d+`)
	stampForm = regexp.MustCompile(`\b\d{10}(\.\d{6})?\b`)
	// runOnly are attributes with counts, times or hashes of one run.
	runOnly = map[string]bool{
		"PK": true, "GSI1PK": true, "GSI1SK": true, "rev": true, "run": true, "restarts": true, "last_change": true,
		"newest": true, "shown_rev": true, "shown_redraws": true, "drawn": true, "redraws": true,
		"given_back": true,
		"due_at":     true, "entered": true,
		"settings_rev": true, "noted": true, "duration_ms": true, "waited_ms": true, "hash": true, "sweep_failures": true,
		"claimed_by": true, "rows_below": true,
		"crashes": true, "event_id": true, "s3_key": true, "ms": true,
		"asked": true, "revision": true, "route_hash": true, "acts_hash": true, "owed_rev": true,
	}
)

func (d *scenarioRun) normalizedText(s string) string {
	s = tookForm.ReplaceAllString(s, "TOOK")
	s = strings.ReplaceAll(s, d.mark, "MARK")
	s = strings.ReplaceAll(s, strings.ToLower(d.Ref.ID), "task")
	s = idForm.ReplaceAllString(s, "ID")
	s = timeForm.ReplaceAllString(s, "TIME")
	s = lastedForm.ReplaceAllString(s, "")
	s = lastForm.ReplaceAllString(s, "DURATION")
	s = blockForm.ReplaceAllString(s, "BLOCK")
	s = belowForm.ReplaceAllString(earlierForm.ReplaceAllString(s, ""), `"rows_below":0`)
	return stampForm.ReplaceAllString(s, "STAMP")
}

func (d *scenarioRun) normalized(v any) any {
	switch v := v.(type) {
	case string:
		return d.normalizedText(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = d.normalized(e)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, e := range v {
			if !runOnly[name] {
				out[name] = d.normalized(e)
			}
		}
		return out
	}
	return v
}

// partition returns every row of an aggregate.
func (d *scenarioRun) partition(pk string) (rows []map[string]any, err error) {
	pages := dynamodb.NewQueryPaginator(d.db, &dynamodb.QueryInput{TableName: &d.TableName,
		ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: pk}}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			var row map[string]any
			if err := attributevalue.UnmarshalMap(item, &row); err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// end collects the scenario's result.
func (d *scenarioRun) end() (end, error) {
	out := end{Rows: map[string]any{}, Cards: map[string]string{},
		Sent: map[string]int{writeRows: d.made(execute, writeRows), direct: d.made(execute, direct)}}
	rows, err := d.partition("TASK#" + d.Ref.Tenant + "#" + d.Ref.ID)
	if err != nil {
		return out, err
	}
	for _, row := range rows {
		key := fmt.Sprint(row["SK"])
		if row["type"] == "wait" {
			continue // an answered token's row expires or was deleted; the scenario ended with no run that waits
		}
		if row["type"] == "usage" {
			if key = "USAGE of " + fmt.Sprint(row["made"]); row["made"] == nil {
				continue // repeating a model call after a crash costs again
			}
			if out.Rows[key] != nil {
				return out, fmt.Errorf("two usages made %s", row["made"])
			}
		}
		out.Rows[key] = d.normalized(row)
	}
	if err := driver.Try(context.Background(), func(driver.T) {
		for _, x := range d.AuditRows() {
			out.Audit = append(out.Audit, fmt.Sprintf("%s by %s %s", x.Action, x.ActorType, x.ActorID))
		}
	}); err != nil {
		return out, err
	}
	known := map[string]bool{d.Root: true}
	for key, messages := range d.AllCards() {
		if len(messages) != 1 {
			return out, fmt.Errorf("%s is %d messages", key, len(messages))
		}
		known[messages[0].TS] = true
		out.Cards[key] = d.normalizedText(messages[0].Text + "\n" + driver.Face(messages[0]))
	}
	for _, m := range d.Sandbox.Messages(webapi.HR, d.Root) {
		if !known[m.TS] {
			out.Extra = append(out.Extra, d.normalizedText(m.Text))
		}
	}
	return out, nil
}
