package faults

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/decide"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

// talk is one conversation: somebody asks for a command, approves it, and the agent reports the result.
type talk struct {
	*harness
	*trace
	rows   *store.ConversationStore
	ref    aggregate.Ref
	thread string
}

// TestACrashInAConversationRunsNothingTwice kills processes anywhere in a conversation: each action is done, or failed
// with an outcome that people can trust, and its command was started at most once.
func TestACrashInAConversationRunsNothingTwice(t *testing.T) {
	t.Parallel()
	b := running
	first := b.talks(t)
	if x := first.end(t); x.Status != conversation.ActionSucceeded || first.started() != 1 {
		t.Fatalf("undisturbed, the action is %s (%s %s) after %d starts: %v", x.Status, x.Error, x.ErrorDetail,
			first.started(), first.counts)
	}
	crashes(t, first, func(t driver.T, kills []point) conversation.ActionStatus {
		k := b.talks(t, kills...)
		a := k.end(t)
		if n := k.started(); n > 1 {
			driver.Failf("the command of %s was started %d times", k.ref.ID, n)
		}
		if a.Status == conversation.ActionFailed && a.Outcome == "" && k.started() > 0 {
			driver.Failf("session %s: its command was started, and it is said to have failed: %s %s", k.ref.ID, a.Error,
				a.ErrorDetail)
		}
		return a.Status
	})
}

// crashes tries a conversation again with a crash at each point that first passed, or at some of them.
func crashes(t *testing.T, first *talk, try func(t driver.T, kills []point) conversation.ActionStatus) {
	t.Helper()
	all := trialsOf(first.points())
	trials := byDay(all)
	ends := make([]conversation.ActionStatus, len(trials))
	sideBySide(t, trials, func(t driver.T, i int, kills []point) { ends[i] = try(t, kills) })
	t.Logf("%d of %d points: %v; seed %d", len(trials), len(all), ends, seed)
}

// TestACrashWhileFilesAreWrittenLeavesAllOrNone kills processes anywhere while files are proposed, approved and
// written. Afterwards the conversation's files are what was approved, and stored, or there are none.
func TestACrashWhileFilesAreWrittenLeavesAllOrNone(t *testing.T) {
	t.Parallel()
	b := running
	written := func(t driver.T, kills ...point) (*talk, conversation.ActionStatus) {
		k := b.says(t, "make a file", kills...)
		x := k.end(t)
		a := k.load(t)
		version, files := a.Conversation.WorkspaceVersion, large.OpenVersions(b.AWS, b.BucketName)
		switch {
		case x.Status == conversation.ActionSucceeded && version == x.Version && version != "":
		case x.Status == conversation.ActionFailed && x.Outcome == "" && version == "":
			return k, x.Status
		default:
			driver.Failf("session %s: the action is %s (%s %q), its files are %q, the conversation's %q", k.ref.ID, x.Status,
				x.Error, x.Outcome, x.Version, version)
		}
		of := k.ref
		tree := expect.Value(files.Get(context.Background(), of, version))(t)
		p, problems := conversation.ReadKept(x.ActionType, []byte(x.Payload.JSON))
		if problems != nil || len(p.Changes) != 2 || len(tree.Paths()) != 2 || x.Changed == nil || x.Changed.Files != 2 {
			driver.Failf("session %s: it holds %v of %+v %v", k.ref.ID, tree.Paths(), x.Changed, problems)
		}
		changes := expect.Value(files.Difference(context.Background(), of, "", version))(t)
		if len(changes) != 2 || *changes[0].Is != *p.Changes[0].Is {
			driver.Failf("session %s: beside its version stand %+v", k.ref.ID, changes)
		}
		return k, x.Status
	}
	first, status := written(t)
	expect.Must(t, status == conversation.ActionSucceeded, "undisturbed, the action is %s: %v", status, first.counts)
	crashes(t, first, func(t driver.T, kills []point) conversation.ActionStatus {
		_, status := written(t, kills...)
		return status
	})
}

// TestACrashInAPersonsProposalMakesOneAction kills processes anywhere while a person's own command is proposed on a
// repository's files, approved and run.
func TestACrashInAPersonsProposalMakesOneAction(t *testing.T) {
	expect.AtNight(t) // TestACrashWhileFilesAreWrittenLeavesAllOrNone is a sample
	t.Parallel()
	b := running
	written := func(t driver.T, kills ...point) (*talk, conversation.ActionStatus) {
		k := b.opens(t, "hello", conversation.SourceOf(driver.Shop(b.Stack)), kills...)
		k.until(t, "the question answered, with files", func(a *conversation.Aggregate) bool {
			return len(a.Inbox) == 0 && a.Conversation.WorkspaceVersion != ""
		})
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: k.Sandbox.TeamID(), Member: true}
		policy := aggregate.Policy{Team: by.Team, Mode: aggregate.ApproversChannel, AllowSelf: true}
		def := agent.Definition{Capabilities: agent.Capabilities}
		for range 2 { // sent twice
			expect.Value(k.rows.Decide(context.Background(), k.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
				own, _ := conversation.Own("echo mine > NOTES", def, a.Conversation.On(), "en")
				own.Terms = aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24}
				return a.Propose(own, by, policy, time.Now())
			}))(t)
		}
		x := k.end(t)
		a := k.load(t)
		if a.Conversation.Actions != 1 || x.RequestedBy != conversation.RequestedByUser {
			driver.Failf("session %s: %d actions, %+v", k.ref.ID, a.Conversation.Actions, x)
		}
		return k, x.Status
	}
	first, status := written(t)
	expect.Must(t, status == conversation.ActionSucceeded, "undisturbed, the action is %s", status)
	crashes(t, first, func(t driver.T, kills []point) conversation.ActionStatus {
		_, status := written(t, kills...)
		return status
	})
}

// until waits until something holds of the conversation, and sweeps if that takes long.
func (k *talk) until(t driver.T, what string, holds func(*conversation.Aggregate) bool) {
	t.Helper()
	nudge := time.Now().Add(4 * time.Second)
	var a *conversation.Aggregate
	if !expect.Holds(context.Background(), stepTimeout, 50*time.Millisecond, func() bool {
		if a = k.load(t); holds(a) {
			return true
		}
		if time.Now().After(nudge) {
			k.sweep(t)
			nudge = time.Now().Add(4 * time.Second)
		}
		return false
	}) {
		t.Fatalf("session %s: never is %s: %+v %+v", k.ref.ID, what, a.Head, a.Current())
	}
}

// talks begins a conversation that asks for a command.
func (b *harness) talks(t driver.T, kills ...point) *talk {
	t.Helper()
	return b.says(t, "run: echo done", kills...)
}

func (b *harness) says(t driver.T, text string, kills ...point) *talk {
	t.Helper()
	return b.opens(t, text, nil, kills...)
}

// opens begins a conversation, with the files of a source unless that is nil.
func (b *harness) opens(t driver.T, text string, source *conversation.Source, kills ...point) *talk {
	t.Helper()
	k := &talk{harness: b, trace: newTrace(kills...), rows: store.NewConversations(b.db, b.TableName)}
	k.recorded = len(kills) == 0
	var err error
	if k.thread, err = b.Sandbox.Say(webapi.Sato, webapi.HR, "ask the agent"); err != nil {
		t.Fatal(err)
	}
	in := conversation.Inbound{Team: b.Sandbox.TeamID(), Channel: webapi.HR, ChannelType: "channel", Thread: k.thread,
		TS: k.thread, Text: text, User: webapi.Sato}
	k.ref = in.Ref()
	k.dying = func(c lambda.Call) {
		for number := range 2 {
			k.pass(t, conversation.ActionKey(number+1), "SET #c.lease_until = :past", "attribute_exists(#c.lease_until)",
				map[string]string{"#c": "claim"})
		}
		if c.Function == "UpdateCardFunction" {
			for _, card := range k.load(t).Cards {
				k.pass(t, card.Key(), "SET claimed_at = :past", "attribute_exists(claimed_at)", nil)
			}
		}
	}
	b.injector.knows(k.ref.ID, k.trace)
	c := expect.Value(conversation.Begin(in, conversation.Opening{AgentID: "codex", Locale: "en", Source: source},
		time.Now()))(t)
	expect.NoError(t, k.rows.Begin(context.Background(), c))
	return k
}

// started counts how often run-action started a sandbox.
func (k *talk) started() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, times := range k.left {
		if strings.HasPrefix(key, "RunActionFunction ") && strings.Contains(strings.ToLower(key), "response-streaming") {
			n += times
		}
	}
	return n
}

func (k *talk) load(t driver.T) *conversation.Aggregate {
	a, err := k.rows.Load(context.Background(), k.ref)
	expect.NoError(t, err)
	return a
}

// pass makes time pass for one of the session's rows if the condition holds.
func (k *talk) pass(t driver.T, sk, update, condition string, names map[string]string) {
	pk, _ := aggregate.Kinds{conversation.Kind, task.Kind}.Partition(k.ref)
	_, err := k.db.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: &k.TableName, UpdateExpression: &update, ConditionExpression: &condition, ExpressionAttributeNames: names,
		Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: pk},
			"SK": &types.AttributeValueMemberS{Value: sk}},
		ExpressionAttributeValues: map[string]types.AttributeValue{":past": &types.AttributeValueMemberS{Value: driver.Moment(
			time.Now().Add(-2 * time.Minute))}},
	})
	var moved *types.ConditionalCheckFailedException
	expect.That(t, err == nil || errors.As(err, &moved), "change %s: %v", sk, err)
}

// end approves the proposal, waits until everything is said and shown, and returns the action.
func (k *talk) end(t driver.T) *conversation.Action { return k.ends(t, 1) }

// ends is end for the action with a number.
func (k *talk) ends(t driver.T, number int) (x *conversation.Action) {
	t.Helper()
	k.until(t, "everything done", func(a *conversation.Aggregate) bool {
		if now := a.Current(); now != nil && now.Status == conversation.ActionPending {
			k.approves(t, now)
			return false
		}
		if len(a.Actions) != number || a.Current() != nil || !k.rests(a) {
			return false
		}
		k.shownOnce(t, a)
		x = a.Actions[number-1]
		return true
	})
	return x
}

func (k *talk) approves(t driver.T, x *conversation.Action) {
	t.Helper()
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: k.Sandbox.TeamID(), Member: true}
	policy := aggregate.Policy{Team: by.Team, AllowSelf: true}
	expect.Value(k.rows.Decide(context.Background(), k.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return decide.Approve(a, x.ActionID, by, policy, time.Now())
	}))(t)
}

// rests reports whether nothing is left to do, to say or to show.
func (k *talk) rests(a *conversation.Aggregate) bool {
	return len(a.Inbox) == 0 && a.Head.Resting && a.Head.ShownRev >= a.Head.Rev && !k.open()
}

func (k *talk) open() bool {
	view, err := k.Task(context.Background(), k.ref.ID)
	return err != nil || slices.ContainsFunc(view.Runs, func(r stack.RunView) bool { return r.Status == "RUNNING" })
}

// shownOnce checks that every card is one message of the thread; beside them the app says nothing but files.
func (k *talk) shownOnce(t driver.T, a *conversation.Aggregate) {
	n := 0
	for _, m := range k.Sandbox.Messages(webapi.HR, k.thread) {
		if m.User == webapi.Bot && len(m.Files) == 0 {
			n++
		}
	}
	expect.That(t, n == len(a.Cards), "session %s has %d cards and %d messages", k.ref.ID, len(a.Cards), n)
}

func (k *talk) sweep(t driver.T) {
	k.pass(t, aggregate.HeadKey, "SET due_at = :past, GSI1SK = :past", "attribute_exists(GSI1PK)", nil)
	k.clock.mu.Lock()
	defer k.clock.mu.Unlock()
	_, err := k.Fire(context.Background(), sweeper)
	expect.Must(t, err == nil, "sweep: %v", err)
}
