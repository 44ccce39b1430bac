package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

// text is a JSON value of n bytes.
func text(n int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("x", n-2) + `"`) }

const day = 24 * time.Hour

// world is a tenant with a bucket and retention settings.
type world struct {
	*ringitest.World
	rows  retained
	calls calls
}

// retained are rows whose settings keep results for so many days.
type retained struct {
	*store.TaskStore
	days int
	down bool
}

func (r retained) Settings(context.Context, string) (tenancy.Settings, error) {
	s := tenancy.DefaultSettings()
	s.RetainResultsDays = r.days
	if r.down {
		return s, errors.New("down")
	}
	return s, nil
}

// expiring is a tenant whose results are kept for so many days.
func expiring(t *testing.T, days int) *world {
	t.Helper()
	w := ringitest.Start(t).World(t)
	return &world{World: w, rows: retained{w.Store, days, false}}
}

// calls are calls of outside agents.
type calls []*call.Aggregate

func (c calls) Load(_ context.Context, ref aggregate.Ref) (*call.Aggregate, error) {
	for _, a := range c {
		if a.Head.CallID == ref.ID {
			return a, nil
		}
	}
	return nil, aggregate.ErrNotFound
}

// retention is sweep-tasks' after the given time.
func (k *world) retention(t *testing.T, after time.Duration) Retention {
	t.Helper()
	h := expect.Value(newHandler(t.Context(), k.Config,
		environment{Table: boot.Table{TableName: k.Table()}, Results: boot.Results{ResultsBucket: k.Bucket}}))(t)
	r := h.Results.(Retention)
	r.Rows, r.Calls, r.Now = k.rows, k.calls, func() time.Time { return time.Now().Add(after) }
	return r
}

// expire runs sweep-tasks after the given time and returns how many objects it deleted.
func (k *world) expire(t *testing.T, after time.Duration) int {
	t.Helper()
	return expect.Value(k.retention(t, after).Expire(t.Context()))(t).Deleted
}

// put stores a version of one file.
func put(t *testing.T, s *large.Versions, of aggregate.Ref, text string) string {
	t.Helper()
	tree := expect.Value((&files.Tree{}).Apply([]files.File{{Path: "a", Content: text}}))(t)
	return expect.Value(s.Put(t.Context(), of, tree))(t)
}

// keep stores a result and arguments of a task.
func (k *world) keep(t *testing.T, ref aggregate.Ref, n int) (of, arguments aggregate.Blob) {
	t.Helper()
	of, err := k.Results().Keep(t.Context(), ref, text(n))
	expect.NoError(t, err)
	if arguments, err = k.Results().KeepArguments(t.Context(), ref, text(n)); err != nil {
		t.Fatal(err)
	}
	return of, arguments
}

func TestResultsAndPromptsExpireByTheTenantsDaysAndArgumentsNever(t *testing.T) {
	k := expiring(t, 400)
	of, arguments := k.keep(t, k.Ref, large.MaxInline+1)
	prompt, err := k.Results().Prompts(k.Ref)(t.Context(), text(10))
	expect.NoError(t, err)
	expect.Is(t, k.expire(t, 401*day), 1, "of a task that still runs … objects were deleted")
	k.Cancel()
	for _, tt := range []struct {
		days  int
		after time.Duration
		want  int
	}{{400, 399 * day, 0}, {500, 401 * day, 0}, {400, 401 * day, 1}, {400, 402 * day, 0}} {
		k.rows.days = tt.days
		expect.Is(t, k.expire(t, tt.after), tt.want, "deleted after %s", tt.after)
	}
	for name, b := range map[string]aggregate.Blob{"result": of, "prompt": prompt} {
		expect.Fails(t, expect.Err(k.Results().Open(t.Context(), k.Ref, b)), large.ErrExpired, "the %s", name)
	}
	_, err = k.Results().Open(t.Context(), k.Ref, arguments)
	expect.That(t, err == nil, "the arguments: %v", err)
}

// What a call of an outside agent returned expires by the settings, once it is over.
func TestWhatCallsReturnedExpires(t *testing.T) {
	k := expiring(t, 400)
	for _, name := range []string{"waits", "plain", "forgotten"} {
		ref := call.RefOf(k.Ref.Tenant, call.ID(k.Ref.Tenant, "k1", "t", name, ""))
		expect.Value(k.Results().KeepCallResult(t.Context(), ref, text(10)))(t)
		x, now := call.Call{Status: conversation.ActionSucceeded}, time.Now()
		if x.CompletedAt = &now; name == "waits" {
			x.Status = conversation.ActionPending
		}
		if name != "forgotten" {
			k.calls = append(k.calls, &call.Aggregate{Head: call.Head{CallID: ref.ID}, Call: &x})
		}
	}
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{399 * day, 0}, {401 * day, 2}, {3 * 366 * day, 0}} {
		expect.Is(t, k.expire(t, tt.after), tt.want, "deleted after %s", tt.after)
	}
}

// Ids of tasks sort by time, those of conversations and contests don't: their objects may be listed after those of a
// younger task.
func TestPromptsOfConversationsAndContestsExpireThoughATaskIsYounger(t *testing.T) {
	k := expiring(t, 30)
	now := time.Now().Add(31 * day)
	keep := func(id string) aggregate.Blob {
		return expect.Value(k.Results().Prompts(aggregate.Ref{Tenant: k.Ref.Tenant, ID: id})(t.Context(), text(10)))(t)
	}
	var old []aggregate.Blob
	for _, first := range []string{"00", "019", "01a", "5f", "ff"} {
		old = append(old, keep((first + "1b2e3a-0000-4000-8000-000000000001")[:36]))
	}
	young := keep(aggregate.Derive(now, "task"))
	n := k.expire(t, 31*day)
	expect.That(t, n == len(old), "%d deleted, want %d", n, len(old))
	_, err := k.Results().Open(t.Context(), aggregate.Ref{Tenant: k.Ref.Tenant, ID: strings.Split(young.S3Key, "/")[2]},
		young)
	expect.That(t, err == nil, "the younger task's: %v", err)
}

func TestOneTenantThatCannotBeHandledDelaysNoOther(t *testing.T) {
	k := expiring(t, 400)
	k.rows.down = true
	k.keep(t, k.Ref, large.MaxInline+1)
	x, err := k.retention(t, 0).Expire(t.Context())
	expect.That(t, x.Deleted == 0 && err != nil, "%d deleted, %v", x.Deleted, err)
}

// The listing stays small: old tasks come first, so it ends on its first page once the tasks are younger than the
// limit.
func TestExpiringIsBounded(t *testing.T) {
	k := expiring(t, 1)
	k.Cancel()
	for i := range 5 {
		k.keep(t, k.Ref, large.MaxInline+1+i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	x, err := k.retention(t, 3*day).Expire(ctx)
	expect.That(t, x.Deleted == 0 && x.Left && err == nil, "%d deleted without time for it, %v", x.Deleted, err)
	expect.Is(t, k.expire(t, 3*day), 5, "deleted")
}

// Workspaces of conversations expire like results, and no tenant's id equals their prefix.
func TestWorkspacesExpireByTheTenantsDays(t *testing.T) {
	k := expiring(t, 30)
	s, of := large.OpenVersions(k.Config, k.Bucket), conversation.RefOf(k.Ref.Tenant, "s")
	version := expect.Value(s.Put(t.Context(), of, &files.Tree{}))(t)
	expect.NoError(t, s.Cancel(t.Context(), of, "action"))
	expect.Is(t, k.expire(t, 29*day), 0, "deleted before their time")
	expect.Is(t, k.expire(t, 31*day), 1, "deleted")
	expect.Fails(t, expect.Err(s.Get(t.Context(), of, version)), large.ErrGone)
}

// torn reads conversations without their row, as while it is written.
type torn struct{}

func (torn) Load(context.Context, aggregate.Ref) (*conversation.Aggregate, error) {
	return &conversation.Aggregate{}, nil
}

// What a living conversation works on stays however old it is; what it worked on before doesn't.
func TestFilesThatAConversationNeedsNeverExpire(t *testing.T) {
	k := expiring(t, 30)
	c := begun(k.World, ringitest.Root)
	s, of := large.OpenVersions(k.Config, k.Bucket), c.Ref
	first, current := put(t, s, of, "1"), put(t, s, of, "2")
	c.Rewrite(func(c *conversation.Conversation) { c.WorkspaceVersion = current })
	unsure := k.retention(t, 31*day)
	unsure.Conversations = torn{}
	expect.Is(t, expect.Value(unsure.Expire(t.Context()))(t).Deleted, 0, "archives, though nobody knows which are needed")
	expect.Is(t, k.expire(t, 31*day), 1, "an archive of a living conversation")
	expect.Fails(t, expect.Err(s.Get(t.Context(), of, first)), large.ErrGone)
	expect.Value(s.Get(t.Context(), of, current))(t)

	c.End()
	expect.Is(t, k.expire(t, 31*day), 0, "deleted of a closed conversation that may be reopened")
	forgotten := k.retention(t, 31*day)
	forgotten.Conversations.(*store.ConversationStore).Now = func() time.Time { return time.Now().Add(25 * time.Hour) }
	expect.Is(t, expect.Value(forgotten.Expire(t.Context()))(t).Deleted, 1,
		"an archive of a conversation that is forgotten")
}

// Attachments of a living conversation never expire, nor do those on which an open action works.
func TestAttachmentsThatAConversationNeedsNeverExpire(t *testing.T) {
	k := expiring(t, 30)
	c := begun(k.World, ringitest.Root)
	s, of := large.OpenVersions(k.Config, k.Bucket).Attached(), c.Ref
	old, acting, current := put(t, s, of, "1"), put(t, s, of, "2"), put(t, s, of, "3")
	c.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		talk, head := *a.Conversation, a.Head
		talk.AttachmentsVersion = current
		c := aggregate.Change{Head: &head, Now: k.Now()}
		c.Put(&talk)
		c.Put(&conversation.Action{Number: 1, Status: conversation.ActionPending, AttachmentsVersion: acting})
		return c, nil
	})
	expect.Is(t, k.expire(t, 31*day), 1, "an archive")
	expect.Fails(t, expect.Err(s.Get(t.Context(), of, old)), large.ErrGone)
	for _, v := range []string{acting, current} {
		expect.Value(s.Get(t.Context(), of, v))(t)
	}
}

// meanwhile is a conversation in which somebody works between the look at its rows and the deletion.
type meanwhile struct {
	*store.ConversationStore
	work func()
}

func (m meanwhile) Load(ctx context.Context, ref aggregate.Ref) (*conversation.Aggregate, error) {
	a, err := m.ConversationStore.Load(ctx, ref)
	m.work()
	return a, err
}

// A command that makes old files anew while they expire keeps them: their names are the same.
func TestFilesThatAreStoredAnewDontExpireWithTheOldOnes(t *testing.T) {
	k := expiring(t, 30)
	expect.Value(k.S3().PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{Bucket: &k.Bucket,
		VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}}))(t)
	s, of := large.OpenVersions(k.Config, k.Bucket), begun(k.World, ringitest.Root).Ref
	old, r := put(t, s, of, "1"), k.retention(t, 31*day)
	rows := r.Conversations.(*store.ConversationStore)
	r.Conversations = meanwhile{rows, func() { expect.Is(t, put(t, s, of, "1"), old, "the version") }}
	expect.Is(t, expect.Value(r.Expire(t.Context()))(t).Deleted, 1, "old objects")
	expect.Value(s.Get(t.Context(), of, old))(t)
	r.Conversations = rows
	expect.Is(t, expect.Value(r.Expire(t.Context()))(t).Deleted, 1, "objects that nobody needs after all")
	expect.Fails(t, expect.Err(s.Get(t.Context(), of, old)), large.ErrGone)
}

// What an agent read, or read-file was lent by the address of that one object, expires as prompts do; of what belongs
// to a conversation nothing else does.
func TestWhatAgentsReadExpires(t *testing.T) {
	k := expiring(t, 30)
	ref := conversation.RefOf(k.Ref.Tenant, "0b1c2d3e-0000-4000-8000-000000000001")
	small := expect.Value(k.Results().KeepReads(t.Context(), ref, text(10)))(t)
	large := expect.Value(k.Results().KeepReads(t.Context(), ref, text(large.MaxInline+1)))(t)
	expect.That(t, small.S3Key == "" && strings.HasPrefix(large.S3Key, "talks/"+ref.Tenant+"/"+ref.ID+"/reads/"),
		"%+v, %+v", small, large)
	other := "talks/" + ref.Tenant + "/" + ref.ID + "/payload.json"
	expect.Value(k.S3().PutObject(t.Context(), &s3.PutObjectInput{Bucket: &k.Bucket, Key: &other,
		Body: strings.NewReader("{}")}))(t)
	expect.Is(t, k.expire(t, 29*day), 0, "deleted before its time")
	expect.Value(k.Results().Open(t.Context(), ref, large))(t)
	_, err := k.Results().Open(t.Context(), conversation.RefOf(ref.Tenant, "another"), large)
	expect.Fails(t, err, aggregate.ErrNotFound)
	address := expect.Value(k.Results().Lend(t.Context(), ref, []byte("PK\x00"), time.Minute))(t)
	got := expect.Value(http.Get(address))(t)
	defer got.Body.Close()
	expect.Is(t, string(expect.Value(io.ReadAll(got.Body))(t)), "PK\x00", "the file")
	expect.Is(t, k.expire(t, 31*day), 2, "deleted")
	expect.Value(k.S3().GetObject(t.Context(), &s3.GetObjectInput{Bucket: &k.Bucket, Key: &other}))(t)
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
