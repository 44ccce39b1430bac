// Command smoke walks one request through a stack that README.md deploys in a real AWS account, with a stand-in for
// Slack beside it: it makes and stamps the request, and reads the audit log.
//
// It has not been run against AWS yet. Its test runs the walk against the local stack. Only an account can show one
// thing: that IAM judges the items of a transaction one by one, as the local stack does, and so lets transactions put
// audit entries although updates on AUDIT#* are denied.
//
// It needs the SAM CLI, Go and credentials. It calls neither Slack nor a vendor nor a model.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/clock"
	"ringi/shared/store"
)

func main() {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") != "" { // deployed as the stand-in for Slack
		lambda.Start(answerCall)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	name := flag.String("stack", "ringi-smoke", "the `name` of the stack; that of the stand-in for Slack ends with -slack")
	flag.Parse()
	if err := run(ctx, *name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stack string) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	if cfg.Region == "" {
		return errors.New("name a region: export AWS_DEFAULT_REGION=us-east-1")
	}
	slack, err := outputs(ctx, cfg.Region, stack+"-slack")
	if err != nil {
		return err
	}
	of, err := outputs(ctx, cfg.Region, stack)
	if err != nil {
		return err
	}
	w := &walk{cfg: cfg, outputs: of, slackURL: slack["SlackApiUrl"], out: os.Stdout, patience: 3 * time.Minute}
	return w.through(ctx)
}

// outputs returns a stack's outputs.
func outputs(ctx context.Context, region, stack string) (map[string]string, error) {
	cmd := exec.CommandContext(ctx, "sam", "list", "stack-outputs", "--stack-name", stack, "--region", region, "--output",
		"json")
	cmd.Env, cmd.Stderr = append(os.Environ(), "SAM_CLI_TELEMETRY=0"), os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd, err)
	}
	var list []struct{ OutputKey, OutputValue string }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("the outputs of %s: %w", stack, err)
	}
	all := map[string]string{}
	for _, o := range list {
		all[o.OutputKey] = o.OutputValue
	}
	return all, nil
}

// said is the text of the request; the demo model plans one direct message for it.
const said = "<@" + slackBot + "> <@" + slackStamper + "> さんに「動作確認です」と DM して"

// walk takes one request through the whole deployment. From extract-task on, each commit updates the task's head and
// puts audit entries in one transaction. So the policy's card only appears if IAM applies conditions on leading keys to
// each item of a transaction separately; otherwise the denial of UpdateItem on AUDIT# would refuse every commit.
type walk struct {
	cfg      aws.Config
	outputs  map[string]string // of the deployment
	slackURL string            // where the stand-in for Slack answers
	out      io.Writer
	patience time.Duration // how long each wait may take

	secret string // Slack's signing secret
	rows   *store.TaskStore
	ref    aggregate.Ref // of the task that is made from the message
	ts     string        // of the message
}

func (w *walk) through(ctx context.Context) error {
	w.secret, w.ts = rand.Text(), fmt.Sprintf("%d.%06d", time.Now().Unix(), 100)
	w.rows = store.NewTasks(dynamodb.NewFromConfig(w.cfg), w.outputs["TableName"])
	id, err := task.ID(slackTeam, slackChannel, w.ts)
	if err != nil {
		return err
	}
	w.ref = task.RefOf(aggregate.TenantID(slackTeam), id)
	stamp := func(what string, kind aggregate.CardType) func(context.Context) error {
		return func(ctx context.Context) error { return w.stamp(ctx, what, kind) }
	}
	for _, step := range []func(context.Context) error{w.paste, w.verify, w.ask, stamp("policy", task.CardPrompt),
		stamp("steps", task.CardProcess), w.done, w.audited} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) say(what string) { fmt.Fprintln(w.out, "ok  "+what) }

// until polls until a claim holds, or patience is over.
func (w *walk) until(ctx context.Context, what string, holds func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, w.patience)
	defer cancel()
	for {
		ok, err := holds()
		if ok {
			w.say(what)
			return nil
		}
		if clock.Sleep(ctx, time.Second) != nil {
			return errors.Join(fmt.Errorf("not within %s: %s", w.patience, what), err)
		}
	}
}

func (w *walk) paste(ctx context.Context) error {
	text, err := json.Marshal(map[string]string{"signing_secret": w.secret, "bot_token": "xoxb-smoke",
		"app_id": app, "api_url": w.slackURL, "tenant_admin": slackStamper})
	if err != nil {
		return err
	}
	_, err = secretsmanager.NewFromConfig(w.cfg).PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{
		SecretId: aws.String(w.outputs["SlackSecretArn"]), SecretString: aws.String(string(text)),
	})
	if err != nil {
		return fmt.Errorf("paste the secret: %w", err)
	}
	w.say("the signing secret and the bot token are pasted")
	return nil
}

// verify sends Slack's challenge, and one with a forged signature. A running function may have cached the empty secret;
// it reads it again after half a minute.
func (w *walk) verify(ctx context.Context) error {
	challenge := map[string]any{"type": "url_verification", "challenge": "smoke"}
	for _, x := range []struct {
		what, secret, answer string
		status               int
	}{
		{"the events address answers Slack's challenge", w.secret, "smoke", http.StatusOK},
		{"what Slack did not sign is refused", "somebody else's", "", http.StatusUnauthorized},
	} {
		err := w.until(ctx, x.what, func() (bool, error) {
			got, body, err := w.event(ctx, x.secret, challenge)
			if err == nil && (got != x.status || !strings.Contains(body, x.answer)) {
				err = fmt.Errorf("it is answered %d %.500s: the function's log says why", got, body)
			}
			return err == nil, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ask delivers the message until it was accepted twice: Slack delivers again too if an answer is late.
func (w *walk) ask(ctx context.Context) error {
	taken := 0
	return w.until(ctx, "the message is taken, twice", func() (bool, error) {
		status, body, err := w.event(ctx, w.secret, mention(said, w.ts))
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("the event is answered %d %.200s: the log of receive-event says why", status, body)
		}
		if err == nil {
			taken++
		}
		return taken == 2, err
	})
}

// stamp waits for a gate's card and presses 承認; it repeats the click if the decision could not be saved in time.
func (w *walk) stamp(ctx context.Context, what string, kind aggregate.CardType) error {
	var id, ts, shown string
	waits := func(a *task.Aggregate) (task.OpenGate, bool) {
		gate, open := a.OpenGate()
		return gate, open && gate.Kind == kind
	}
	err := w.rowsSay(ctx, "the "+what+" wait, and their card is posted", func(a *task.Aggregate) bool {
		gate, open := waits(a)
		at := slices.IndexFunc(a.Cards,
			func(c *aggregate.Card) bool { return c.CardType == kind && c.Subject == gate.Key && c.MessageTS != "" })
		if !open || at < 0 || !a.Head.Shown() {
			return false
		}
		id, ts = gate.ID, a.Cards[at].MessageTS
		shown = w.ref.ID + "/0/" + a.Asked(id).Hash // no rule has taken it, so the card shows no stage
		return true
	})
	if err != nil {
		return err
	}
	return w.until(ctx, "the stamp on the "+what+" stands", func() (bool, error) {
		a, err := w.rows.Load(ctx, w.ref)
		if err != nil {
			return false, err
		}
		if _, open := waits(a); !open {
			return true, nil
		}
		status, body, err := w.click(ctx, "approve_"+string(kind), shown, id, ts)
		if err == nil {
			err = fmt.Errorf("the stamp on the %s is answered %d %.200s", what, status, body)
		}
		return false, err
	})
}

func (w *walk) done(ctx context.Context) error {
	return w.rowsSay(ctx, "the work is done, and the cards show it", func(a *task.Aggregate) bool {
		e := a.Execution()
		return a.Task != nil && a.Task.Status == task.TaskCompleted && e != nil && e.Status == task.ExecutionCompleted &&
			a.Head.Shown()
	})
}

// rowsSay polls until a claim about the task's rows holds. Its error has the rows as last read.
func (w *walk) rowsSay(ctx context.Context, what string, holds func(*task.Aggregate) bool) error {
	return w.until(ctx, what, func() (bool, error) {
		a, err := w.rows.Load(ctx, w.ref)
		if err != nil {
			return false, err
		}
		if holds(a) {
			return true, nil
		}
		return false, fmt.Errorf("task %s: rev %d, shown %d, run %d, next %s, parked %+v, ended %+v", w.ref.ID, a.Head.Rev,
			a.Head.ShownRev, a.Head.Run, a.Next(time.Now()).State, a.Head.Parked, a.Head.Ended)
	})
}

// audited checks that the audit log has each action once.
func (w *walk) audited(ctx context.Context) error {
	want := []string{
		"task.created by system", "prompt.approved by " + slackStamper, "process.approved by " + slackStamper,
		"execution.started by system", "execution.completed by system",
	}
	return w.until(ctx, "the audit log has each of it once", func() (bool, error) { // an index lags behind
		page, err := w.rows.Audit(ctx, w.ref.Tenant, store.AuditFilter{Resource: w.ref.ID}, "", 100)
		if err != nil {
			return false, err
		}
		var got []string
		for _, x := range slices.Backward(page.Items) {
			by := x.ActorID
			if x.ActorType == aggregate.ActorSystem {
				by = "system"
			}
			got = append(got, string(x.Action)+" by "+by)
		}
		if !slices.Equal(got, want) {
			return false, errors.New("the audit log has " + strings.Join(got, ", "))
		}
		return true, nil
	})
}
