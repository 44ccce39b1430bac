package result

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"ringi/shared/aggregate"
	"ringi/shared/task"
	"ringi/shared/tenancy"
)

const (
	// pageSize is how many objects one call lists, and deletes; S3 takes no more.
	pageSize = 1000
	// maxPages bounds what one run lists of a tenant. The next run lists the rest, since what
	// was deleted is no longer listed.
	maxPages = 10
	// expireSpare: no further page is begun when less than this is left of the caller's time.
	expireSpare = 5 * time.Second
)

// Rows are what decides whether a result may go.
type Rows interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	Head(ctx context.Context, ref aggregate.Ref) (task.Head, error)
	Load(ctx context.Context, ref aggregate.Ref) (*task.Aggregate, error)
}

// Retention deletes results, and prompts, that are older than their tenant's retain_results_days.
// It stores no cursor: task ids sort by time, so each tenant's listing begins with
// the oldest results that are left. Those of conversations and contests are all listed, each time from another place on: what there
// is no time for is listed first another time.
type Retention struct {
	Results Store
	Rows    Rows
	Now     func() time.Time
}

// place is a prefix with results, or prompts, of a tenant. An early release put results and arguments
// under one prefix (together): there the task's rows tell which is which.
type place struct {
	prefix, tenant string
	together       bool
}

// Expire deletes old results of every tenant, as long as there is time, and returns
// how many. An error of one tenant does not stop the others; all errors are joined.
func (r Retention) Expire(ctx context.Context) (deleted int, err error) {
	places, err := r.places(ctx)
	rand.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	for _, p := range places {
		if !spare(ctx) {
			break
		}
		n, failed := r.expire(ctx, p)
		deleted += n
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("expire the results of %s: %w", p.tenant, failed))
		}
	}
	return deleted, err
}

func spare(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) > expireSpare)
}

// places are the prefixes that have objects which may expire.
func (r Retention) places(ctx context.Context) (list []place, err error) {
	for _, above := range []string{results, prompts, versions, ""} {
		pages := s3.NewListObjectsV2Paginator(r.Results.S3, &s3.ListObjectsV2Input{Bucket: &r.Results.Bucket, Prefix: &above, Delimiter: aws.String("/")})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return list, fmt.Errorf("list the tenants with results: %w", err)
			}
			for _, p := range page.CommonPrefixes {
				prefix := aws.ToString(p.Prefix)
				if prefix != results && prefix != prompts && prefix != arguments && prefix != exports && prefix != workspaces && prefix != contests && prefix != turns {
					list = append(list, place{prefix, strings.TrimSuffix(strings.TrimPrefix(prefix, above), "/"), above == ""})
				}
			}
		}
	}
	return list, nil
}

// expire deletes the old results of one place.
func (r Retention) expire(ctx context.Context, p place) (deleted int, err error) {
	settings, err := r.Rows.Settings(ctx, p.tenant)
	if err != nil {
		return 0, err
	}
	before := r.Now().AddDate(0, 0, -settings.RetainResultsDays)
	deleted, err = r.expireFrom(ctx, p, before, p.prefix, "")
	if err != nil || !strings.HasPrefix(p.prefix, prompts) {
		return deleted, err
	}
	// Prompts are of tasks, whose ids sort by time, and of conversations and contests, whose ids don't and have small letters where
	// they don't begin with digits: these stand behind the newest task.
	behind := p.prefix + aggregate.NewID()[:2] + "`"
	begin := max(behind, fmt.Sprintf("%s%02x", p.prefix, rand.IntN(256)))
	n, err := r.expireFrom(ctx, p, before, begin, "")
	if deleted += n; err != nil {
		return deleted, err
	}
	n, err = r.expireFrom(ctx, p, before, behind, begin)
	return deleted + n, err
}

// expireFrom deletes the old results of one place behind a key, and up to another unless that is empty. Under a common prefix maxPages
// does not apply, because arguments, which stay, could fill all of those pages; nor where ids don't sort by time.
func (r Retention) expireFrom(ctx context.Context, p place, before time.Time, from, upTo string) (deleted int, err error) {
	pages := s3.NewListObjectsV2Paginator(r.Results.S3, &s3.ListObjectsV2Input{Bucket: &r.Results.Bucket, Prefix: &p.prefix, StartAfter: &from, MaxKeys: aws.Int32(pageSize)})
	unsorted := p.together || strings.HasPrefix(p.prefix, versions) || from != p.prefix
	for n, last := 0, false; !last && (unsorted || n < maxPages) && pages.HasMorePages() && spare(ctx); n++ {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return deleted, err
		}
		if i := slices.IndexFunc(page.Contents, func(o types.Object) bool { return upTo != "" && aws.ToString(o.Key) > upTo }); i >= 0 {
			page.Contents, last = page.Contents[:i], true
		}
		old, done, err := r.old(ctx, p, page.Contents, before)
		if err != nil {
			return deleted, err
		}
		gone, err := r.remove(ctx, old)
		if deleted += gone; err != nil || done {
			return deleted, err
		}
	}
	return deleted, nil
}

// old are the objects of a page that were stored before a time and may go. done says that all
// further objects belong to tasks that were created later.
func (r Retention) old(ctx context.Context, p place, page []types.Object, before time.Time) (list []types.ObjectIdentifier, done bool, err error) {
	known := map[string]func(key string) bool{}
	for _, o := range page {
		key := aws.ToString(o.Key)
		id, _, _ := strings.Cut(strings.TrimPrefix(key, p.prefix), "/")
		if begun, ok := aggregate.IDTime(id); ok && begun.After(before) {
			return list, true, nil
		}
		if !aws.ToTime(o.LastModified).Before(before) {
			continue
		}
		if known[id] == nil {
			if known[id], err = r.mayGo(ctx, p, task.RefOf(p.tenant, id)); err != nil {
				return nil, false, err
			}
		}
		if known[id](key) {
			list = append(list, types.ObjectIdentifier{Key: o.Key})
		}
	}
	return list, false, nil
}

// mayGo says which of a task's old objects may be deleted: its prompts, and none of its results while it has not ended,
// since it may need them. Under a common prefix arguments stay, and everything of a task without rows.
func (r Retention) mayGo(ctx context.Context, p place, ref aggregate.Ref) (func(key string) bool, error) {
	if strings.HasPrefix(p.prefix, prompts) || strings.HasPrefix(p.prefix, versions) { // no function needs them, and a session begins anew
		return func(string) bool { return true }, nil
	}
	if !p.together {
		head, err := r.Rows.Head(ctx, ref)
		if err != nil && !errors.Is(err, aggregate.ErrNotFound) {
			return nil, err
		}
		over := err != nil || head.Ended != nil
		return func(string) bool { return over }, nil
	}
	a, err := r.Rows.Load(ctx, ref)
	if errors.Is(err, aggregate.ErrNotFound) {
		return func(string) bool { return false }, nil
	}
	if err != nil {
		return nil, err
	}
	approved := map[string]bool{}
	for _, g := range a.Gates {
		approved[g.Arguments.S3Key] = true
	}
	for _, s := range a.Steps {
		approved[s.Arguments.S3Key] = true
	}
	return func(key string) bool { return a.Head.Ended != nil && !approved[key] }, nil
}

func (r Retention) remove(ctx context.Context, list []types.ObjectIdentifier) (int, error) {
	if len(list) == 0 {
		return 0, nil
	}
	out, err := r.Results.S3.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &r.Results.Bucket, Delete: &types.Delete{Objects: list, Quiet: aws.Bool(true)}})
	if err != nil {
		return 0, err
	}
	if len(out.Errors) > 0 {
		slog.WarnContext(ctx, "results not deleted", "count", len(out.Errors), "code", aws.ToString(out.Errors[0].Code))
		return len(list) - len(out.Errors), fmt.Errorf("%d results were not deleted: %s", len(out.Errors), aws.ToString(out.Errors[0].Code))
	}
	return len(list), nil
}
