package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/store/large"
)

const (
	// pageSize is S3's limit for one listing and for one deletion.
	pageSize = 1000
	// tasksAtOnce is how many tasks of a page are loaded in parallel to see whether they have ended.
	tasksAtOnce = 16
	// expireSpare is the time that must be left to begin another page.
	expireSpare = 5 * time.Second
)

// Rows reads from the table what decides whether a result may be deleted.
type Rows interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	Head(ctx context.Context, ref aggregate.Ref) (task.Head, error)
}

// Conversations reads a conversation's rows. It returns aggregate.ErrNotFound for one that is forgotten.
type Conversations interface {
	Load(ctx context.Context, ref aggregate.Ref) (*conversation.Aggregate, error)
}

// Calls reads a call that an outside agent asked for. It returns aggregate.ErrNotFound for one that is forgotten.
type Calls interface {
	Load(ctx context.Context, ref aggregate.Ref) (*call.Aggregate, error)
}

// Retention deletes results and prompts that are older than their tenant's retain_results_days. It needs no cursor:
// task ids sort by time, so each listing begins with the oldest results left. Prompts of conversations and contests
// don't sort by time: each run lists all of them. It never deletes files that a conversation still needs.
type Retention struct {
	Bucket        Bucket
	Rows          Rows
	Conversations Conversations
	Calls         Calls
	Now           func() time.Time
}

// place is a prefix with results or prompts of a tenant.
type place struct{ prefix, tenant string }

// Expired is the outcome of a run.
type Expired struct {
	Deleted int
	Lag     time.Duration // how far past its expiry the oldest deletable object was
	Left    bool          // the time did not suffice to look through everything
}

// goesOn reports whether time is left to begin another page, and notes if not.
func (x *Expired) goesOn(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	x.Left = ctx.Err() != nil || ok && time.Until(deadline) <= expireSpare
	return !x.Left
}

// Expire deletes old results of every tenant until the time is up, in an order that differs each time, so that no
// prefix keeps the others waiting for long. An error in one place does not stop the others; all errors are joined.
func (r Retention) Expire(ctx context.Context) (x Expired, err error) {
	places, err := r.places(ctx)
	rand.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	for _, p := range places {
		if !x.goesOn(ctx) {
			break
		}
		if failed := r.expire(ctx, p, &x); failed != nil {
			err = errors.Join(err, fmt.Errorf("expire the results of %s: %w", p.tenant, failed))
		}
	}
	return x, err
}

// places lists the prefixes with objects that may expire.
func (r Retention) places(ctx context.Context) (list []place, err error) {
	for _, under := range []string{large.ResultsPrefix, large.FilesPrefix, conversation.PromptsPrefix,
		conversation.VersionsPrefix,
		conversation.AttachedPrefix, conversation.TalksPrefix} {
		pages := s3.NewListObjectsV2Paginator(r.Bucket.S3,
			&s3.ListObjectsV2Input{Bucket: &r.Bucket.Name, Prefix: &under, Delimiter: aws.String("/")})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return list, fmt.Errorf("list the tenants with results: %w", err)
			}
			for _, p := range page.CommonPrefixes {
				prefix := aws.ToString(p.Prefix)
				list = append(list, place{prefix, strings.TrimSuffix(strings.TrimPrefix(prefix, under), "/")})
			}
		}
	}
	return list, nil
}

func (r Retention) expire(ctx context.Context, p place, x *Expired) error {
	settings, err := r.Rows.Settings(ctx, p.tenant)
	if err != nil {
		return err
	}
	before := r.Now().AddDate(0, 0, -settings.RetainResultsDays)
	err = r.expireFrom(ctx, p, before, p.prefix, x)
	if err != nil || !strings.HasPrefix(p.prefix, conversation.PromptsPrefix) {
		return err
	}
	// Prompts of tasks have ids that sort by time. Ids of conversations and contests don't sort by time; where they
	// don't begin with a digit they begin with a small letter, so they follow the newest task.
	return r.expireFrom(ctx, p, before, p.prefix+aggregate.NewID()[:2]+"`", x)
}

// expireFrom deletes the old objects of one prefix after the key from.
func (r Retention) expireFrom(ctx context.Context, p place, before time.Time, from string, x *Expired) error {
	pages := r.Bucket.pages(p.prefix, from)
	for pages.more() && x.goesOn(ctx) {
		page, err := pages.next(ctx)
		if err != nil {
			return err
		}
		old, done, err := r.old(ctx, p, page, before)
		if err != nil {
			return err
		}
		var keys []types.ObjectIdentifier
		for _, o := range old {
			keys = append(keys, types.ObjectIdentifier{Key: &o.key, VersionId: o.version})
			x.Lag = max(x.Lag, before.Sub(o.at))
		}
		gone, err := r.Bucket.remove(ctx, keys)
		x.Deleted += gone
		if err != nil || done {
			return err
		}
	}
	return nil
}

// old returns the objects of a page that were stored before a time and may be deleted. done reports that all further
// objects belong to tasks that were created later.
func (r Retention) old(ctx context.Context, p place, page []stored,
	before time.Time) (list []stored, done bool, err error) {
	of := func(o stored) string {
		id, _, _ := strings.Cut(strings.TrimPrefix(o.key, p.prefix), "/")
		return id
	}
	if i := slices.IndexFunc(page, func(o stored) bool {
		begun, ok := aggregate.IDTime(of(o))
		return ok && begun.After(before)
	}); i >= 0 {
		page, done = page[:i], true
	}
	page = slices.DeleteFunc(slices.Clone(page), func(o stored) bool { return !o.at.Before(before) })
	may := map[string]func(key string) bool{}
	for _, o := range page {
		may[of(o)] = nil
	}
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(tasksAtOnce)
	for id := range maps.Clone(may) {
		all.Go(func() error {
			goes, err := r.mayGo(ctx, p, task.RefOf(p.tenant, id))
			mu.Lock()
			defer mu.Unlock()
			may[id] = goes
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return nil, false, err
	}
	return slices.DeleteFunc(page, func(o stored) bool { return !may[of(o)](o.key) }), done, nil
}

// mayGo returns which of a task's old objects may be deleted: its prompts always, its results and files once it has
// ended, since until then it may need them. Of what belongs to conversations only what was read may be deleted, and
// what a call returned, too.
func (r Retention) mayGo(ctx context.Context, p place, ref aggregate.Ref) (func(key string) bool, error) {
	switch {
	case strings.HasPrefix(p.prefix, conversation.PromptsPrefix): // nothing reads old ones
		return func(string) bool { return true }, nil
	case strings.HasPrefix(p.prefix, conversation.VersionsPrefix),
		strings.HasPrefix(p.prefix, conversation.AttachedPrefix):
		return r.unneeded(ctx, conversation.RefOf(ref.Tenant, ref.ID))
	}
	if call.ValidID(ref.ID) {
		return r.ofCall(ctx, call.RefOf(ref.Tenant, ref.ID))
	}
	if strings.HasPrefix(p.prefix, conversation.TalksPrefix) {
		return func(key string) bool { return strings.Contains(key, large.ReadsFolder) }, nil
	}
	head, err := r.Rows.Head(ctx, ref)
	if err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return nil, err
	}
	over := err != nil || head.Ended != nil
	return func(string) bool { return over }, nil
}

// ofCall returns whether what a call returned may be deleted: as a task's results.
func (r Retention) ofCall(ctx context.Context, ref aggregate.Ref) (func(key string) bool, error) {
	a, err := r.Calls.Load(ctx, ref)
	if err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return nil, fmt.Errorf("how long the result of %s is kept: %w", ref.ID, err)
	}
	kept := err == nil && (a.Call == nil || !a.Call.Over())
	return func(string) bool { return !kept }, nil
}

// unneeded returns which objects are of versions that the conversation does not need any more.
func (r Retention) unneeded(ctx context.Context, ref aggregate.Ref) (func(key string) bool, error) {
	a, err := r.Conversations.Load(ctx, ref)
	switch {
	case errors.Is(err, aggregate.ErrNotFound):
		return func(string) bool { return true }, nil
	case err != nil:
		return nil, fmt.Errorf("which files %s needs: %w", ref, err)
	case a.Conversation == nil: // a torn read, or a row that was lost: nobody can tell
		return func(string) bool { return false }, nil
	}
	needed := a.Versions()
	return func(key string) bool {
		version, _, _ := strings.Cut(path.Base(key), ".")
		return !slices.Contains(needed, version)
	}, nil
}

// stored is an object as it was listed.
type stored struct {
	key     string
	version *string // what a deletion deletes for good; nil: it hides whatever has the key by then
	at      time.Time
}

// pages lists objects in the order of their keys.
type pages struct {
	more func() bool
	next func(ctx context.Context) ([]stored, error)
}

// pages returns the pages of the objects below a prefix, after the key from. Files of conversations, of which there is
// no from, come with their versions: a command may make files anew whose old ones are just being deleted, and their
// keys are the same.
func (b Bucket) pages(prefix, from string) pages {
	if strings.HasPrefix(prefix, conversation.VersionsPrefix) {
		return b.latest(prefix)
	}
	list := s3.NewListObjectsV2Paginator(b.S3, &s3.ListObjectsV2Input{
		Bucket: &b.Name, Prefix: &prefix, StartAfter: &from, MaxKeys: aws.Int32(pageSize),
	})
	return pages{list.HasMorePages, func(ctx context.Context) (out []stored, err error) {
		page, err := list.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range page.Contents {
			out = append(out, stored{aws.ToString(o.Key), nil, aws.ToTime(o.LastModified)})
		}
		return out, nil
	}}
}

func (b Bucket) latest(prefix string) pages {
	list := b.versions(prefix)
	return pages{list.HasMorePages, func(ctx context.Context) (out []stored, err error) {
		page, err := list.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, v := range page.Versions {
			if aws.ToBool(v.IsLatest) {
				out = append(out, stored{aws.ToString(v.Key), v.VersionId, aws.ToTime(v.LastModified)})
			}
		}
		return out, nil
	}}
}

// Bucket is the bucket of results.
type Bucket struct {
	S3   *s3.Client
	Name string
}

// openBucket returns the bucket by the environment. It uses path-style addresses because a bucket's name need not
// resolve as a host.
func openBucket(cfg aws.Config, env boot.Results) Bucket {
	return Bucket{S3: s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }), Name: env.ResultsBucket}
}

// Erase deletes every version of the objects below a prefix, and returns how many it deleted. Nobody can restore them
// from the bucket.
func (b Bucket) Erase(ctx context.Context, prefix string) (deleted int, err error) {
	for pages := b.versions(prefix); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return deleted, fmt.Errorf("list what is to be deleted: %w", err)
		}
		var list []types.ObjectIdentifier
		for _, v := range page.Versions {
			list = append(list, types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
		}
		for _, m := range page.DeleteMarkers {
			list = append(list, types.ObjectIdentifier{Key: m.Key, VersionId: m.VersionId})
		}
		n, err := b.remove(ctx, list)
		if deleted += n; err != nil {
			return deleted, fmt.Errorf("delete objects: %w", err)
		}
	}
	return deleted, nil
}

// versions lists the versions and delete markers below a prefix.
func (b Bucket) versions(prefix string) *s3.ListObjectVersionsPaginator {
	return s3.NewListObjectVersionsPaginator(b.S3, &s3.ListObjectVersionsInput{
		Bucket: &b.Name, Prefix: &prefix, MaxKeys: aws.Int32(pageSize),
	})
}

// remove deletes objects, at most a page of them, and returns how many it deleted.
func (b Bucket) remove(ctx context.Context, list []types.ObjectIdentifier) (int, error) {
	if len(list) == 0 {
		return 0, nil
	}
	out, err := b.S3.DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket: &b.Name, Delete: &types.Delete{Objects: list, Quiet: aws.Bool(true)},
	})
	if err != nil {
		return 0, err
	}
	if n := len(out.Errors); n > 0 {
		code := aws.ToString(out.Errors[0].Code)
		slog.WarnContext(ctx, "results not deleted", "count", n, "code", code)
		return len(list) - n, fmt.Errorf("%d results were not deleted: %s", n, code)
	}
	return len(list), nil
}
