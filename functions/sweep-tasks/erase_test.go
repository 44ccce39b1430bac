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
	"sync/atomic"
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
	"ringi/shared/domain/task"
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
	rows    *store.ConversationStore
	results large.Store
	ref     aggregate.Ref
	in      conversation.Inbound
	stamped []string // keys of the rows and objects that stay
}

var (
	member = aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1", Member: true}
	anyone = aggregate.Policy{Team: "T1", AllowSelf: true}
)

func value(n int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"script":"echo %d %s","timeout_seconds":60}`, n,
		strings.Repeat("x", large.MaxInline)))
}

// talks begins a conversation in a thread, has actions approved, rejected and archived in it, and closes it.
func talks(t *testing.T, w *ringitest.World, thread string) *talk {
	t.Helper()
	rows := store.NewConversations(w.Store.Table().DB, w.Table())
	rows.Now = w.Now
	in := conversation.Inbound{Team: "T1", Channel: "D1", ChannelType: "im", Thread: thread, TS: thread, User: "U1",
		Text: "secret words"}
	k := &talk{World: w, rows: rows, results: w.Results(), ref: in.Ref(), in: in}
	expect.NoError(t, rows.Begin(t.Context(), expect.Value(conversation.Begin(in,
		conversation.Opening{AgentID: "codex"}, w.Now()))(t)))
	propose := func(n int) *conversation.Action {
		payload := expect.Value(k.results.KeepPayload(t.Context(), k.ref, value(n)))(t)
		p := &conversation.Proposal{Type: conversation.ShellCommand, Payload: payload,
			Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24}}
		return k.do(t, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: "shall I?", Proposal: p}, w.Now())
		}).Current()
	}
	x := propose(1)
	k.do(t, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return decide.Approve(a, x.ActionID, member, anyone, w.Now())
	})
	k.do(t, func(a *conversation.Aggregate) (aggregate.Change, error) { return a.StartRun(w.Now()) })
	k.do(t, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Claim(a.Head.Run, "i1", w.Now().Add(time.Minute), w.Now())
	})
	k.prints(t, x.ActionID)
	x = k.do(t, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, "i1", conversation.Result{Status: conversation.ActionSucceeded}, w.Now())
	}).Action(x.ActionID)
	k.stamped = []string{x.Key(), x.Payload.S3Key}
	no := propose(2)
	k.do(t, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return decide.Reject("no")(a, no.ActionID, member, anyone, w.Now())
	})
	k.archives(t)
	versions := large.OpenVersions(w.Config, w.Bucket)
	of := k.ref
	for range 2 {
		expect.Value(versions.Put(t.Context(), of, &files.Tree{}))(t)
		expect.Value(k.results.Prompts(k.ref)(t.Context(), []byte(`{"what":"was sent"}`)))(t)
		expect.Value(k.results.KeepReads(t.Context(), k.ref, value(4)))(t)
	}
	expect.NoError(t, versions.Cancel(t.Context(), of, x.ActionID))
	k.do(t, func(a *conversation.Aggregate) (aggregate.Change, error) { return a.End(member, anyone, w.Now()) })
	return k
}

// archives adds actions that have left the conversation's partition: one that was stamped, and one that was not.
func (k *talk) archives(t *testing.T) {
	t.Helper()
	payload := expect.Value(k.results.KeepPayload(t.Context(), k.ref, value(3)))(t)
	stays := aggregate.Copy{From: payload.S3Key, To: strings.Replace(payload.S3Key, conversation.TalksPrefix,
		conversation.StampedPrefix, 1)}
	expect.NoError(t, k.results.Copy(t.Context(), stays))
	payload.S3Key = stays.To
	old := &conversation.Action{Number: 0, ActionID: "old-" + k.ref.ID[:8], SessionID: k.ref.ID, Payload: payload,
		ApprovedBy: conversation.ApprovedByUser, Status: conversation.ActionSucceeded}
	never := &conversation.Action{Number: 9999, ActionID: "never-" + k.ref.ID[:8], SessionID: k.ref.ID,
		Status: conversation.ActionCancelled, DeleteAfter: 1}
	expect.NoError(t, k.rows.PutListed(t.Context(), k.ref.Tenant, conversation.ActionsList, k.ref.ID,
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
	expect.NoError(t, k.rows.AppendLog(t.Context(), k.ref, action, lines, nil))
}

func (k *talk) do(t *testing.T, decide conversation.Decision) *conversation.Aggregate {
	t.Helper()
	return expect.Value(k.rows.Decide(t.Context(), k.ref, large.Copying(t.Context(), k.results, decide)))(t)
}

// left lists the keys of the rows and objects that stand.
func (k *talk) left(t *testing.T) (keys []string) {
	t.Helper()
	partitions := []string{"SESSION#" + k.ref.Tenant + "#" + k.ref.ID, "MESSAGES#" + k.ref.Tenant + "#" + k.ref.ID,
		"ACTIONS#" + k.ref.Tenant + "#" + k.ref.ID, "LOG#" + k.ref.Tenant + "#" + k.ref.ID}
	for _, pk := range partitions {
		e := table.NewExpression()
		out := expect.Value(k.rows.Table().DB.Query(t.Context(), table.Filled(e, &dynamodb.QueryInput{
			TableName: &k.rows.Table().Name, ConsistentRead: aws.Bool(true),
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
		if strings.Contains(key, k.ref.ID) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// dying is a connection that breaks for good after some calls.
type dying struct {
	next http.RoundTripper
	left atomic.Int64
}

func (d *dying) RoundTrip(r *http.Request) (*http.Response, error) {
	if d.left.Add(-1) < 0 {
		return nil, errors.New("the process is dead")
	}
	return d.next.RoundTrip(r)
}

// sweeps runs a sweep that makes at most so many calls.
func (k *talk) sweeps(calls int) (made int) {
	cfg := k.Config.Copy()
	d := &dying{next: k.Transport}
	d.left.Store(int64(calls))
	cfg.HTTPClient, cfg.Retryer = &http.Client{Transport: d}, func() aws.Retryer { return aws.NopRetryer{} }
	all := store.New(dynamodb.NewFromConfig(cfg), k.Table(), store.Kinds()...)
	bucket := openBucket(cfg, boot.Results{ResultsBucket: k.Bucket})
	h := &Handler{Store: all, Reminders: all, Effects: k.Effects(), Objects: bucket, Now: k.Now}
	h.Effects.Store = all
	_ = h.Sweep(context.Background()) // what it can't do the next one does
	return calls - int(max(0, d.left.Load()))
}

const enoughCalls = 1 << 20

func (k *talk) head(t *testing.T) conversation.Head {
	t.Helper()
	return expect.Value(k.rows.Head(t.Context(), k.ref))(t)
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
	k.sweeps(enoughCalls)
	expect.Must(t, k.head(t).ForgettingAt != nil, "it is not forgotten: %+v", k.head(t))
	k.shown(t)
	k.Later(16 * time.Minute)
}

// shown records that Slack shows the cards.
func (k *talk) shown(t *testing.T) {
	t.Helper()
	h := k.head(t)
	expect.NoError(t, k.rows.Shown(t.Context(), k.ref, *h.Common()))
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
	k := talks(t, versioned(t), "1775034000.000100")
	before := k.left(t)
	k.Later(23 * time.Hour)
	k.sweeps(enoughCalls)
	expect.Same(t, before, k.left(t))
	k.Later(2 * time.Hour)
	k.sweeps(enoughCalls)
	expect.Must(t, k.head(t).ForgettingAt != nil, "%+v", k.head(t))
	expect.Same(t, before, k.left(t)) // somebody may be writing
	expect.Fails(t, expect.Err(k.rows.Load(t.Context(), k.ref)), aggregate.ErrNotFound, "read")
	k.in.TS = "1775034001.000100"
	expect.Fails(t, k.rows.Tell(t.Context(), k.ref, expect.Value(conversation.Tell(k.in, conversation.Opening{},
		time.Time{}))(t)), aggregate.ErrNotFound, "told by a clock that is behind")
	for name, decide := range map[string]conversation.Decision{
		"begun anew": func(a *conversation.Aggregate) (aggregate.Change, error) { return a.Reopen(member, anyone, k.Now()) },
		"charged": func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Overtaken(aggregate.Usage{ID: "late", Calls: 1, Cost: 1}, k.Now())
		},
	} {
		expect.Fails(t, expect.Err(k.rows.KindStore.Decide(t.Context(), k.ref, decide)), aggregate.ErrNotFound, name)
	}
	k.shown(t)
	k.Later(10 * time.Minute)
	k.sweeps(enoughCalls)
	expect.Same(t, before, k.left(t))
	k.Later(6 * time.Minute)
	k.sweeps(enoughCalls)
	k.gone(t)
	for key, n := range map[string]int{k.stamped[1]: 1, k.stamped[3]: 1} {
		out := expect.Value(k.S3().ListObjectVersions(t.Context(),
			&s3.ListObjectVersionsInput{Bucket: &k.Bucket, Prefix: &key}))(t)
		expect.Is(t, len(out.Versions), n, "versions of what was stamped")
	}
	k.Later(2 * time.Minute)
	k.sweeps(enoughCalls)
	expect.That(t, k.head(t).DueAt == nil, "the sweeper comes again at %v", k.head(t).DueAt)
}

// Wherever the process dies, the next sweeps destroy the rest, and nothing that was stamped. A dozen places are tried
// by day.
func TestWhatASweepLeavesTheNextOneDestroys(t *testing.T) {
	w := versioned(t)
	whole := talks(t, w, "1775034000.000100")
	whole.forgets(t)
	calls := whole.sweeps(enoughCalls)
	whole.gone(t)
	places := 12
	if expect.Long() {
		places = 40
	}
	for n := 1; n < calls; n += 1 + calls/places {
		k := talks(t, w, fmt.Sprintf("1775034%03d.000100", n))
		k.forgets(t)
		k.sweeps(n)
		left := k.left(t)
		for _, key := range k.stamped {
			expect.That(t, slices.Contains(left, key), "after %d calls %s is gone", n, key)
		}
		for tries := 0; tries < 3 && k.head(t).ErasedAt == nil; tries++ { // one that failed is put off
			k.Later(time.Hour)
			k.sweeps(enoughCalls)
		}
		k.gone(t)
	}
}

// A conversation that is kept, and one that was begun anew within the day, stay.
func TestAConversationThatMayGoOnStays(t *testing.T) {
	k := talks(t, versioned(t), "1775034000.000100")
	k.Later(time.Hour)
	k.do(t, func(a *conversation.Aggregate) (aggregate.Change, error) { return a.Reopen(member, anyone, k.Now()) })
	before := k.left(t)
	k.Later(30 * time.Hour)
	k.sweeps(enoughCalls)
	expect.That(t, k.head(t).ForgettingAt == nil, "%+v", k.head(t))
	expect.Same(t, before, k.left(t))
}

func TestPromptsOfAParkedTaskExpire(t *testing.T) {
	w := ringitest.Start(t).World(t)
	s := w.Results()
	prompt, err := s.Prompts(w.Ref)(t.Context(), []byte(`{"what":"people wrote"}`))
	expect.NoError(t, err)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.GiveUp(1, "restarts", w.Now()) })
	expect.Must(t, w.Load().Head.Parked != nil, "not parked")
	h := &Handler{Results: Retention{Bucket: Bucket{S3: w.S3(), Name: w.Bucket}, Rows: w.Store,
		Conversations: store.ConversationsOf(w.Store.KindStore.Store),
		Now:           func() time.Time { return time.Now().AddDate(3, 0, 0) }}}
	expect.NoError(t, h.expire(t.Context()))
	_, err = s.Open(t.Context(), w.Ref, prompt)
	expect.That(t, errors.Is(err, large.ErrExpired), "three years after it was parked its prompt is there: %v", err)
}

// Files of a conversation that is not there any more expire as results do.
func TestFilesThatNoConversationNeedsExpire(t *testing.T) {
	w := ringitest.Start(t).World(t)
	s, of := large.OpenVersions(w.Config, w.Bucket), aggregate.Ref{Tenant: w.Ref.Tenant,
		ID: "53336444-3f36-80ce-9171-c57cbb83b9a6"}
	version := expect.Value(s.Put(t.Context(), of, &files.Tree{}))(t)
	h := expect.Value(newHandler(t.Context(), w.Config,
		environment{Table: boot.Table{TableName: w.Table()}, Results: boot.Results{ResultsBucket: w.Bucket}}))(t)
	r := h.Results.(Retention)
	r.Now = func() time.Time { return time.Now().AddDate(3, 0, 0) }
	h.Results = r
	expect.NoError(t, h.expire(t.Context()))
	expect.Fails(t, expect.Err(s.Get(t.Context(), of, version)), large.ErrGone)
}

type ran struct {
	Expired
	err error
}

func (r ran) Expire(context.Context) (Expired, error) { return r.Expired, r.err }

func TestARunSaysHowLateItIs(t *testing.T) {
	down := errors.New("down")
	for name, tt := range map[string]struct {
		ran  ran
		want string // the metric's value; empty: unknown
	}{
		"nothing is late":                   {ran{}, `"ExpireLag":0`},
		"an hour late":                      {ran{Expired: Expired{Deleted: 3, Lag: time.Hour}}, `"ExpireLag":3600`},
		"nothing could be looked at":        {ran{err: down}, ""},
		"an hour late, and one tenant down": {ran{Expired{Lag: time.Hour}, down}, `"ExpireLag":3600`},
	} {
		var err error
		out := expect.Metrics(t, func() { err = (&Handler{Results: tt.ran}).Handle(t.Context(), Schedule{Expire: true}) })
		expect.That(t, strings.Contains(out, tt.want) && (tt.want != "" || !strings.Contains(out, "ExpireLag")) &&
			errors.Is(err, tt.ran.err), "%s: %v, %s", name, err, out)
	}
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
