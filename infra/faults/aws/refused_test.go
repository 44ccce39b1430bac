// Package aws makes AWS throttle, fail and refuse the functions' calls while people work with Ringi, and searches logs
// and histories afterwards for secrets.
package aws

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/runtime/expect"
)

var (
	running *stack.Stack
	faulty  *serviceFaults
	printed = &printedLines{}
)

// printedLines collects everything that functions print.
type printedLines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *printedLines) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printedLines) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func TestMain(m *testing.M) {
	faulty = &serviceFaults{seed: expect.Seed(), calls: map[string]uint64{}, tried: map[string]*fault{},
		hit: map[string]int{}}
	o := driver.Options()
	o.Faults, o.FunctionLog, o.SigningSecret = faulty, printed, signingSecret
	o.Sandbox.AnswerTime = 10 * time.Second // longer than Slack's 3 s, because the machine may be busy
	o.BotToken = botToken
	code := driver.Run(m, o, func(s *stack.Stack) { running = s })
	if code != 0 {
		log.Printf("the seed was %d", expect.Seed())
	}
	os.Exit(code)
}

func start(t *testing.T) *stack.Stack {
	t.Helper()
	driver.Leave(t, running)
	t.Cleanup(func() { faulty.set(0, 0, nil) })
	return running
}

// withLongTimeout makes a request wait long enough for the next sweep or the end of a lease.
func withLongTimeout(d *driver.Request) *driver.Request {
	d.Timeout, d.WhenQuiet = 150*time.Second, d.Sweep
	return d
}

// TestCredentialsThatMayNotBeOpened: the key's policy denies decryption. The card says that the tool could not be
// called; once the policy is fixed a retry works.
func TestCredentialsThatMayNotBeOpened(t *testing.T) {
	s := start(t)
	faulty.set(0, 0, func(c lambda.Call) *fault {
		if c.Kind != "TrentService.Decrypt" {
			return nil
		}
		return &fault{"AccessDenied", 400,
			`{"__type":"AccessDeniedException","Message":"User arn:aws:iam::123456789012:role/x is not authorized"}`}
	})
	d := say(t, s, webapi.Sato, "今月の勤怠をまとめて")
	d.Approve(webapi.Suzuki)
	failed := d.Card("CARD#execution", "retry_execution")
	a := d.Load()
	rows := a.StepsOf(a.Execution())
	expect.That(t, len(rows) == 1 && rows[0].Status == "failed", "the steps are %+v, not one that failed", rows)
	t.Log(a.Execution().Error, a.Execution().ErrorDetail)
	for _, leak := range []string{"arn:aws", "authorized", "AccessDenied"} {
		b := face(failed)
		expect.That(t, !strings.Contains(b, leak), "the card says %q: %s", leak, b)
	}
	faulty.set(0, 0, nil)
	d.Click(webapi.Sato, "CARD#execution", "retry_execution")
	d.Until("done", completed)
}

// Planted secrets that the test must find nowhere.
const (
	signingSecret = "planted0signing0secret0aa11bb22"
	botToken      = "xoxb-planted-bot-token"
	markText      = "PLANTEDTEXT7F3A"
	markReason    = "PLANTEDREASON9C2E"
)

var face = driver.Face

// planted are the task tokens of runs that waited.
var planted sync.Map

// checkLeaks: no line that a function printed and no event of a run's history has a secret, a token or people's texts.
func checkLeaks(t *testing.T, told []*driver.Request) {
	s := running
	expect.Must(t, len(told) != 0, "nothing was told: the test proves nothing")
	holds := func(where, text string, signs ...string) {
		for _, sign := range signs {
			expect.That(t, strings.Contains(text, sign), "%s: nothing says %s, the test proves nothing", where, sign)
		}
	}
	d := told[0]
	holds("the request", d.Load().Request.Text, markText)
	secrets := map[string]string{
		"the signing secret": signingSecret, "the bot's token": botToken, "the request's text": markText,
		"the reason": markReason, "a signature": "v0=", "an employee's address": "@example.com", "the policy": "進め方:"}
	planted.Range(func(token, _ any) bool {
		secrets["a task token "+token.(string)] = token.(string)
		return true
	})
	lines := printed.String()
	holds("what was printed", lines, `"decided"`, `"called"`, "_aws", d.Ref.ID)
	// Every function that handles content has printed something, so the search covers it.
	for _, name := range strings.Fields("ReceiveEvent ReceiveInteraction ResumeTask ExtractTask DraftPrompt " +
		"RequestApproval PlanProcess ExecuteProcess UpdateCard") {
		holds("what was printed", lines, `{"function":"`+name+`Function",`)
	}
	past := history(t)
	holds("the histories", past, d.Ref.ID)
	credentials := append(s.Vendors.Secrets(), signingSecret, botToken)
	for i, secret := range s.Vendors.Secrets() {
		secrets[fmt.Sprintf("a vendor's secret, number %d", i)] = secret
	}
	seen := everyRow(t) + messages()
	holds("rows and messages", seen, d.Ref.ID, markText, "connected")
	for i, secret := range credentials {
		if at := strings.Index(seen, secret); at >= 0 {
			t.Errorf("a row or a message holds secret %d of %d: …%s", i, len(credentials), seen[max(0, at-200):at])
		}
	}
	for what, secret := range secrets {
		for _, line := range strings.Split(lines, "\n") {
			if strings.Contains(line, secret) {
				t.Errorf("a function printed %s: %.300s", what, line)
				break
			}
		}
		if i := strings.Index(past, secret); i >= 0 && !strings.HasPrefix(what, "a task token") {
			t.Errorf("a run's history holds %s: …%s", what, past[max(0, i-200):i+60])
		}
	}
}

// everyRow returns all rows of the table.
func everyRow(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	pages := dynamodb.NewScanPaginator(dynamodb.NewFromConfig(running.AWS),
		&dynamodb.ScanInput{TableName: &running.TableName})
	for pages.HasMorePages() {
		page := expect.Value(pages.NextPage(context.Background()))(t)
		for _, it := range page.Items {
			var row map[string]any
			expect.NoError(t, attributevalue.UnmarshalMap(it, &row))
			fmt.Fprintln(&all, row)
		}
	}
	return all.String()
}

// messages returns everything that is visible in Slack.
func messages() string {
	var all strings.Builder
	for _, c := range running.Sandbox.Workspace().Channels() {
		found, _ := running.Sandbox.Workspace().Everything(c.ID) // none in a deleted channel
		fmt.Fprintf(&all, "%+v\n", found)
	}
	return all.String()
}

// renewed runs three tasks: one refreshes the vendors' tokens, one has its token revoked, and one loses the answer to
// its refresh. The test searches all that they print.
func renewed(t *testing.T) {
	s := running
	connect := func() { expect.NoError(t, driver.Connect(t.Context(), s, s.Sandbox.TeamID())) }
	connect()
	for shows, fault := range map[string]func(){
		"✅ 実行完了": func() { s.Vendors.Expire("freee"); s.Vendors.Expire("google") },
		"認証が切れて": func() { s.Vendors.Revoke("freee") },
		"接続が失われ": func() { s.Vendors.Expire("freee"); s.Vendors.Drop(vendors.FreeeTokens) },
	} {
		d := say(t, s, webapi.Sato, "従業員一覧を取得して demo: mark "+markText)
		fault()
		d.Approve(webapi.Tanaka)
		d.Card("CARD#execution", shows)
		connect()
	}
}

// history returns every event of every run, as the console shows them. AWS itself puts task tokens there, in the input
// of the calls that carry them.
func history(t *testing.T) string {
	t.Helper()
	client := sfn.NewFromConfig(running.AWS)
	var all strings.Builder
	runs := sfn.NewListExecutionsPaginator(client,
		&sfn.ListExecutionsInput{StateMachineArn: new(running.StateMachineARN("Pipeline"))})
	for runs.HasMorePages() {
		page := expect.Value(runs.NextPage(context.Background()))(t)
		for _, x := range page.Executions {
			events := sfn.NewGetExecutionHistoryPaginator(client, &sfn.GetExecutionHistoryInput{ExecutionArn: x.ExecutionArn})
			for events.HasMorePages() {
				page := expect.Value(events.NextPage(context.Background()))(t)
				b := expect.Value(json.Marshal(page.Events))(t)
				all.Write(b)
			}
		}
	}
	return all.String()
}
