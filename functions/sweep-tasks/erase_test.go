package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/store/table"
)

// talk is a conversation that is not kept, with everything that its functions write.
type talk struct {
	*ringitest.World
	ringitest.Talk
	results large.Store
	stamped []string // keys of the rows and objects that stay
}

func value(n int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"script":"echo %d %s","timeout_seconds":60}`, n,
		strings.Repeat("x", large.MaxInline)))
}

// begun returns a conversation that begins with this message.
func begun(w *ringitest.World, thread string) ringitest.Talk {
	rows := store.NewConversations(w.Store.Table().DB, w.Table())
	rows.Now = w.Now
	in := ringitest.Heard(thread, "U1", "secret words")
	in.Thread = thread
	return ringitest.Begin(w.T, rows, w.Now, in, conversation.Opening{AgentID: "codex"})
}

// talks begins a conversation in a thread, has actions approved, rejected and archived in it, and closes it.
func talks(t *testing.T, w *ringitest.World, thread string) *talk {
	t.Helper()
	k := &talk{World: w, Talk: begun(w, thread), results: w.Results()}
	k.Objects = k.results
	proposes := func(n int) *conversation.Action {
		payload := expect.Value(k.results.KeepPayload(t.Context(), k.Talk.Ref, value(n)))(t)
		return k.Answer("shall I?", &conversation.Proposal{Type: conversation.ShellCommand, Payload: payload,
			Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24}}).Current()
	}
	x := proposes(1)
	k.Talk.Approve()
	k.Wake()
	k.Talk.Claim()
	k.prints(t, x.ActionID)
	x = k.Finish(x.ActionID, conversation.Result{Status: conversation.ActionSucceeded}).Action(x.ActionID)
	k.stamped = []string{x.Key(), x.Payload.S3Key}
	no := proposes(2)
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return decide.Reject("no")(a, no.ActionID, k.Talk.By, k.Under, w.Now())
	})
	k.archives(t)
	versions := large.OpenVersions(w.Config, w.Bucket)
	for range 2 {
		expect.Value(versions.Put(t.Context(), k.Talk.Ref, &files.Tree{}))(t)
		expect.Value(k.results.Prompts(k.Talk.Ref)(t.Context(), []byte(`{"what":"was sent"}`)))(t)
		expect.Value(k.results.KeepReads(t.Context(), k.Talk.Ref, value(4)))(t)
	}
	expect.NoError(t, versions.Cancel(t.Context(), k.Talk.Ref, x.ActionID))
	k.End()
	return k
}

// archives adds actions that have left the conversation's partition: one that was stamped, and one that was not.
func (k *talk) archives(t *testing.T) {
	t.Helper()
	payload := expect.Value(k.results.KeepPayload(t.Context(), k.Talk.Ref, value(3)))(t)
	stays := aggregate.Copy{From: payload.S3Key, To: strings.Replace(payload.S3Key, conversation.TalksPrefix,
		conversation.StampedPrefix, 1)}
	expect.NoError(t, k.results.Copy(t.Context(), stays))
	payload.S3Key = stays.To
	old := &conversation.Action{Number: 0, ActionID: "old-" + k.Talk.Ref.ID[:8], SessionID: k.Talk.Ref.ID,
		Payload: payload, ApprovedBy: conversation.ApprovedByUser, Status: conversation.ActionSucceeded}
	never := &conversation.Action{Number: 9999, ActionID: "never-" + k.Talk.Ref.ID[:8], SessionID: k.Talk.Ref.ID,
		Status: conversation.ActionCancelled, DeleteAfter: 1}
	expect.NoError(t, k.Rows.PutListed(t.Context(), k.Talk.Ref.Tenant, conversation.ActionsList, k.Talk.Ref.ID,
		[]aggregate.Row{old, never}, nil))
	k.prints(t, old.ActionID)
	k.stamped = append(k.stamped, old.Key(), payload.S3Key)
}

func (k *talk) prints(t *testing.T, action string) {
	t.Helper()
	var lines []conversation.LogEntry
	for i := range 30 {
		lines = append(lines, conversation.LogEntry{LogID: fmt.Sprint(i), ActionID: action, Order: i,
			Text: "secret output", CreatedAt: k.Now(), DeleteAfter: k.Now().Add(720 * time.Hour).Unix()})
	}
	expect.NoError(t, k.Rows.AppendLog(t.Context(), k.Talk.Ref, action, lines, nil))
}

// left lists the keys of the rows and objects that stand.
func (k *talk) left(t *testing.T) (keys []string) {
	t.Helper()
	for _, list := range []string{"SESSION#", "MESSAGES#", "ACTIONS#", "LOG#"} {
		pk := list + k.Talk.Ref.Tenant + "#" + k.Talk.Ref.ID
		e := table.NewExpression()
		out := expect.Value(k.Rows.Table().DB.Query(t.Context(), table.Filled(e, &dynamodb.QueryInput{
			TableName: &k.Rows.Table().Name, ConsistentRead: aws.Bool(true),
			KeyConditionExpression: table.All(e.Is("PK", "=", pk)),
		})))(t)
		for _, it := range out.Items {
			keys = append(keys, table.TextOf(it, "SK"))
		}
	}
	out := expect.Value(k.S3().ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: &k.Bucket}))(t)
	objects := map[string]bool{}
	for _, v := range out.Versions {
		objects[*v.Key] = true
	}
	for key := range objects {
		if strings.Contains(key, k.Talk.Ref.ID) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// sweeps runs a sweep, which may die, and returns how many calls it made.
func (k *talk) sweeps(d *ringitest.Death) int {
	cfg := k.Config.Copy()
	cfg.HTTPClient = &http.Client{Transport: d.Over(k.Transport)}
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	all := store.New(dynamodb.NewFromConfig(cfg), k.Table(), store.Kinds()...)
	bucket := openBucket(cfg, boot.Results{ResultsBucket: k.Bucket})
	h := &Handler{Store: all, Reminders: all, Effects: k.Effects(), Objects: bucket, Now: k.Now}
	h.Effects.Store = all
	_ = h.Sweep(context.Background()) // what it can't do the next one does
	return d.Calls()
}

func (k *talk) head(t *testing.T) conversation.Head {
	t.Helper()
	return expect.Value(k.Rows.Head(t.Context(), k.Talk.Ref))(t)
}

func versioned(t *testing.T) *ringitest.World {
	t.Helper()
	w := ringitest.Start(t).World(t)
	expect.Value(w.S3().PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: &w.Bucket,
		VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusEnabled}}))(t)
	return w
}

// forgets lets the day and the last writers' time pass.
func (k *talk) forgets(t *testing.T) {
	t.Helper()
	k.Later(25 * time.Hour)
	k.sweeps(&ringitest.Death{})
	expect.Must(t, k.head(t).ForgettingAt != nil, "it is not forgotten: %+v", k.head(t))
	k.shown(t)
	k.Later(16 * time.Minute)
}

// shown records that Slack shows the cards.
func (k *talk) shown(t *testing.T) {
	t.Helper()
	h := k.head(t)
	expect.NoError(t, k.Rows.Shown(t.Context(), k.Talk.Ref, *h.Common()))
}

// gone fails the test unless what was stamped is all that is left.
func (k *talk) gone(t *testing.T) {
	t.Helper()
	want := append([]string{"HEAD"}, k.stamped...)
	slices.Sort(want)
	expect.Same(t, want, k.left(t))
	expect.That(t, k.head(t).ErasedAt != nil, "nobody noted it: %+v", k.head(t))
}

func TestAConversationThatIsNotKeptIsDestroyed(t *testing.T) {
	t.Parallel()
	k := talks(t, versioned(t), "1775034000.000100")
	before := k.left(t)
	k.Later(23 * time.Hour)
	k.sweeps(&ringitest.Death{})
	expect.Same(t, before, k.left(t))
	k.Later(2 * time.Hour)
	k.sweeps(&ringitest.Death{})
	expect.Must(t, k.head(t).ForgettingAt != nil, "%+v", k.head(t))
	expect.Same(t, before, k.left(t)) // somebody may be writing
	expect.Fails(t, expect.Err(k.Rows.Load(t.Context(), k.Talk.Ref)), aggregate.ErrNotFound, "read")
	more := expect.Value(conversation.Tell(ringitest.Heard("1775034001.000100", "U1", "more"), conversation.Opening{},
		time.Time{}))(t)
	expect.Fails(t, k.Rows.Tell(t.Context(), k.Talk.Ref, more), aggregate.ErrNotFound, "told by a clock that is behind")
	k.shown(t)
	k.Later(10 * time.Minute)
	k.sweeps(&ringitest.Death{})
	expect.Same(t, before, k.left(t))
	k.Later(6 * time.Minute)
	k.sweeps(&ringitest.Death{})
	k.gone(t)
	for key, n := range map[string]int{k.stamped[1]: 1, k.stamped[3]: 1} {
		out := expect.Value(k.S3().ListObjectVersions(t.Context(),
			&s3.ListObjectVersionsInput{Bucket: &k.Bucket, Prefix: &key}))(t)
		expect.Is(t, len(out.Versions), n, "versions of what was stamped")
	}
	k.Later(2 * time.Minute)
	k.sweeps(&ringitest.Death{})
	expect.That(t, k.head(t).DueAt == nil, "the sweeper comes again at %v", k.head(t).DueAt)
}

// Wherever the process dies, the next sweeps destroy the rest, and nothing that was stamped. Some places are tried by
// day.
func TestWhatASweepLeavesTheNextOneDestroys(t *testing.T) {
	t.Parallel()
	w := versioned(t)
	whole := talks(t, w, "1775034000.000100")
	whole.forgets(t)
	calls := whole.sweeps(&ringitest.Death{})
	whole.gone(t)
	places := 6
	if expect.Long() {
		places = 40
	}
	for n := 1; n <= calls; n += 1 + calls/places {
		k := talks(t, w, fmt.Sprintf("1775034%03d.000100", n))
		k.forgets(t)
		k.sweeps(&ringitest.Death{At: n, After: n%2 == 0})
		left := k.left(t)
		for _, key := range k.stamped {
			expect.That(t, slices.Contains(left, key), "after %d calls %s is gone", n, key)
		}
		for tries := 0; tries < 3 && k.head(t).ErasedAt == nil; tries++ { // one that failed is put off
			k.Later(time.Hour)
			k.sweeps(&ringitest.Death{})
		}
		k.gone(t)
	}
}

// A conversation that is kept, and one that was begun anew within the day, stay.
func TestAConversationThatMayGoOnStays(t *testing.T) {
	k := talks(t, versioned(t), "1775034000.000100")
	k.Later(time.Hour)
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Reopen(k.Talk.By, k.Under, k.Now())
	})
	before := k.left(t)
	k.Later(30 * time.Hour)
	k.sweeps(&ringitest.Death{})
	expect.That(t, k.head(t).ForgettingAt == nil, "%+v", k.head(t))
	expect.Same(t, before, k.left(t))
}

// Nothing is left of a call of an outside agent on which nobody acted, once its time is over.
func TestACallOnWhichNobodyActedIsDestroyed(t *testing.T) {
	w := ringitest.Start(t).World(t)
	all := store.New(w.Store.Table().DB, w.Table(), store.Kinds()...)
	rows := store.CallsOf(all)
	x := call.Proposal{Keep: 30, Effect: "e", Content: call.Content{Key: "k1", Tool: "t", Arguments: "{}"},
		Key: tenancy.Key{ID: "k1", TenantID: w.Ref.Tenant, Tools: []string{"t"}, QuotaDay: 9,
			ExpiresAt: w.Now().AddDate(1, 0, 0)},
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24}}
	a, err := rows.Ask(t.Context(), &x, expect.Value(x.Ask(w.Now()))(t))
	expect.NoError(t, err)
	expect.Value(rows.Decide(t.Context(), a.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Cancel("k1", w.Now())
	}))(t)
	h := &Handler{Store: all, Reminders: all, Effects: w.Effects(), Now: w.Now}
	h.Effects.Store = all
	var log bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	for _, left := range []bool{true, false} {
		w.Later(29 * 24 * time.Hour)
		expect.NoError(t, h.Sweep(t.Context()))
		_, err := rows.Load(t.Context(), a.Ref())
		expect.That(t, errors.Is(err, aggregate.ErrNotFound) != left, "%v", err)
	}
	expect.That(t, !strings.Contains(log.String(), "put off"), "%s", &log)
	row := expect.Value(all.Table().DB.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(w.Table()),
		Key: table.Key(call.Kind.Prefix+w.Ref.Tenant+"#"+a.Head.CallID, aggregate.HeadKey)}))(t)
	expect.That(t, row.Item == nil, "a head is left: %v", row.Item)
}
