package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/store"
)

// said is the text of the request; the demo model plans one direct message for it.
const said = "<@" + slackBot + "> <@" + slackStamper + "> さんに「動作確認です」と DM して"

// request is a message in Slack and the task that is made from it.
type request struct {
	*stacks
	slack slack
	rows  *store.TaskStore
	ref   aggregate.Ref
	ts    string
}

// walk takes one request through the whole deployment. From extract-task on, each commit updates the task's head and
// puts audit entries in one transaction. So the policy's card only appears if IAM applies conditions on leading keys to
// each item of a transaction separately; otherwise the denial of UpdateItem on AUDIT# would refuse every commit.
func (s *stacks) walk(ctx context.Context) error {
	signing := make([]byte, 16)
	if _, err := rand.Read(signing); err != nil {
		return fmt.Errorf("make a signing secret: %w", err)
	}
	r := &request{stacks: s, ts: fmt.Sprintf("%d.%06d", time.Now().Unix(), 100)}
	r.slack = slack{http: s.http, secret: hex.EncodeToString(signing), events: s.outputs["EventsUrl"],
		interactions: s.outputs["InteractionsUrl"]}
	r.rows = store.NewTasks(dynamodb.NewFromConfig(s.cfg), s.outputs["TableName"])
	id, err := task.ID(slackTeam, slackChannel, r.ts)
	if err != nil {
		return err
	}
	r.ref = task.RefOf(aggregate.TenantID(slackTeam), id)
	for _, step := range []func(context.Context) error{r.paste, r.verify, r.ask, r.openHome, r.stampPolicy,
		r.stampSteps, r.done, r.audited} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *request) paste(ctx context.Context) error {
	text, err := json.Marshal(map[string]string{"signing_secret": r.slack.secret, "bot_token": "xoxb-smoke",
		"app_id": app, "api_url": r.slackURL})
	if err != nil {
		return err
	}
	_, err = secretsmanager.NewFromConfig(r.cfg).PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{
		SecretId: aws.String(r.outputs["SlackSecretArn"]), SecretString: aws.String(string(text)),
	})
	if err != nil {
		return fmt.Errorf("paste the secret: %w", err)
	}
	r.say("ok  the signing secret and the bot token are pasted")
	return nil
}

// verify sends Slack's challenge, and one with a forged signature. A running function may have cached the empty secret;
// it reads it again after half a minute.
func (r *request) verify(ctx context.Context) error {
	challenge := map[string]any{"type": "url_verification", "challenge": "smoke"}
	err := r.answers(ctx, "the events address answers Slack's challenge", http.StatusOK, "smoke",
		func() (int, string, error) { return r.slack.event(ctx, challenge) })
	if err != nil {
		return err
	}
	forged := r.slack
	forged.secret = "somebody else's"
	return r.answers(ctx, "what Slack did not sign is refused", http.StatusUnauthorized, "",
		func() (int, string, error) { return forged.event(ctx, challenge) })
}

// answers repeats call until its answer has this status and contains this text.
func (r *request) answers(ctx context.Context, what string, status int, text string,
	call func() (int, string, error)) error {
	return r.until(ctx, what, func() (bool, error) {
		got, body, err := call()
		if err == nil && (got != status || !strings.Contains(body, text)) {
			err = fmt.Errorf("it is answered %d %.500s: the function's log says why", got, body)
		}
		return err == nil, err
	})
}

// ask delivers the message until it was accepted twice: Slack delivers again too if an answer is late.
func (r *request) ask(ctx context.Context) error {
	taken := 0
	return r.until(ctx, "the message is taken, twice", func() (bool, error) {
		status, body, err := r.slack.event(ctx, mention(said, r.ts))
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("the event is answered %d %.200s: the log of receive-event says why", status, body)
		}
		if err == nil {
			taken++
		}
		return taken == 2, err
	})
}

// openHome opens the Home tab. Only a log shows that it was published: the stand-in for Slack stores nothing.
func (r *request) openHome(ctx context.Context) error {
	status, body, err := r.slack.event(ctx, homeOpened())
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the opened Home tab is answered %d %.200s", status, body)
	}
	if err != nil {
		return err
	}
	return r.until(ctx, "the Home tab is published", func() (bool, error) {
		out, err := r.run(ctx, "sam", "logs", "--cw-log-group", "/ringi/"+r.name+"/functions", "--region", r.cfg.Region,
			"--filter", `"Home tab published"`)
		if err == nil && !strings.Contains(string(out), "Home tab published") {
			err = errors.New("no Home tab is published: the log of update-card says why")
		}
		return err == nil, err
	})
}

func (r *request) stampPolicy(ctx context.Context) error {
	return r.stamp(ctx, "policy", task.CardPrompt)
}

func (r *request) stampSteps(ctx context.Context) error {
	return r.stamp(ctx, "steps", task.CardProcess)
}

// stamp waits for a gate's card and presses 承認; it repeats the click if the decision could not be saved in time.
func (r *request) stamp(ctx context.Context, what string, kind aggregate.CardType) error {
	var id, ts, shown string
	waits := func(a *task.Aggregate) (task.OpenGate, bool) {
		gate, open := a.OpenGate()
		return gate, open && gate.Kind == kind
	}
	err := r.rowsSay(ctx, "the "+what+" wait, and their card is posted", func(a *task.Aggregate) bool {
		gate, open := waits(a)
		at := slices.IndexFunc(a.Cards,
			func(c *aggregate.Card) bool { return c.CardType == kind && c.Subject == gate.Key && c.MessageTS != "" })
		if !open || at < 0 || a.Head.ShownRev < a.Head.Rev {
			return false
		}
		id, ts = gate.ID, a.Cards[at].MessageTS
		shown = r.ref.ID + "/0/" + a.Asked(id).Hash // no rule has taken it, so the card shows no stage
		return true
	})
	if err != nil {
		return err
	}
	return r.until(ctx, "the stamp on the "+what+" stands", func() (bool, error) {
		a, err := r.rows.Load(ctx, r.ref)
		if err != nil {
			return false, err
		}
		if _, open := waits(a); !open {
			return true, nil
		}
		status, body, err := r.slack.click(ctx, "approve_"+string(kind), shown, id, ts, r.ts)
		if err == nil {
			err = fmt.Errorf("the stamp on the %s is answered %d %.200s", what, status, body)
		}
		return false, err
	})
}

func (r *request) done(ctx context.Context) error {
	return r.rowsSay(ctx, "the work is done, and the cards show it", func(a *task.Aggregate) bool {
		e := a.Execution()
		return a.Task != nil && a.Task.Status == task.TaskCompleted && e != nil && e.Status == task.ExecutionCompleted &&
			a.Head.ShownRev >= a.Head.Rev
	})
}

// rowsSay polls until a claim about the task's rows holds. Its error has the rows as last read.
func (r *request) rowsSay(ctx context.Context, what string, holds func(*task.Aggregate) bool) error {
	return r.until(ctx, what, func() (bool, error) {
		a, err := r.rows.Load(ctx, r.ref)
		if err != nil {
			return false, err
		}
		if holds(a) {
			return true, nil
		}
		return false, fmt.Errorf("task %s: rev %d, shown %d, run %d, next %s, parked %+v, ended %+v", r.ref.ID, a.Head.Rev,
			a.Head.ShownRev, a.Head.Run, a.Next(time.Now()).State, a.Head.Parked, a.Head.Ended)
	})
}

// audited checks that the audit log has each action once.
func (r *request) audited(ctx context.Context) error {
	want := []string{
		"task.created by system", "prompt.approved by " + slackStamper, "process.approved by " + slackStamper,
		"execution.started by system", "execution.completed by system",
	}
	return r.until(ctx, "the audit log has each of it once", func() (bool, error) { // an index lags behind
		page, err := r.rows.Audit(ctx, r.ref.Tenant, store.AuditFilter{Resource: r.ref.ID}, "", 100)
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
