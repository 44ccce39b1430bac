package result

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
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
	// maxPages bounds what is listed of one tenant at a time. The next time goes on:
	// what was deleted is not in the way any more.
	maxPages = 10
	// expireSpare is left of the caller's time when no page is begun any more.
	expireSpare = 5 * time.Second
)

// Rows are what decides whether a result may go.
type Rows interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	Head(ctx context.Context, ref aggregate.Ref) (task.Head, error)
	Load(ctx context.Context, ref aggregate.Ref) (*task.Aggregate, error)
}

// Retention deletes results that are older than their tenant's retain_results_days.
// It keeps no place of its own: ids of tasks sort by time, so that what is old stands
// first in each tenant's listing, and what is deleted is gone from it.
type Retention struct {
	Results Store
	Rows    Rows
	Now     func() time.Time
}

// place is where results of a tenant stand. Before results and arguments had places of
// their own, both stood together: there the task's rows tell which is which.
type place struct {
	prefix, tenant string
	together       bool
}

// Expire looks at every tenant that has results, as long as there is time, and
// returns how many it deleted. A tenant that can't be handled delays no other.
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

// places are those where anything stands that may expire.
func (r Retention) places(ctx context.Context) (list []place, err error) {
	for _, together := range []bool{false, true} {
		above := results
		if together {
			above = ""
		}
		pages := s3.NewListObjectsV2Paginator(r.Results.S3, &s3.ListObjectsV2Input{Bucket: &r.Results.Bucket, Prefix: &above, Delimiter: aws.String("/")})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return list, fmt.Errorf("list the tenants with results: %w", err)
			}
			for _, p := range page.CommonPrefixes {
				prefix := aws.ToString(p.Prefix)
				if prefix != results && prefix != arguments {
					list = append(list, place{prefix, strings.TrimSuffix(strings.TrimPrefix(prefix, above), "/"), together})
				}
			}
		}
	}
	return list, nil
}

// expire deletes the old results of one place. Where arguments stand among them, which
// stay, only time bounds the pages: else those of many tasks would hide what comes after.
func (r Retention) expire(ctx context.Context, p place) (deleted int, err error) {
	settings, err := r.Rows.Settings(ctx, p.tenant)
	if err != nil {
		return 0, err
	}
	before := r.Now().AddDate(0, 0, -settings.RetainResultsDays)
	pages := s3.NewListObjectsV2Paginator(r.Results.S3, &s3.ListObjectsV2Input{Bucket: &r.Results.Bucket, Prefix: &p.prefix, MaxKeys: aws.Int32(pageSize)})
	for n := 0; (p.together || n < maxPages) && pages.HasMorePages() && spare(ctx); n++ {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return deleted, err
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

// old are the objects of a page that were kept before a moment, by tasks that have
// ended: one that still waits for people will need its results. done says that all
// further objects belong to tasks that were begun later.
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
			if known[id], err = r.mayGo(ctx, p, aggregate.Ref{Tenant: p.tenant, Task: id}); err != nil {
				return nil, false, err
			}
		}
		if known[id](key) {
			list = append(list, types.ObjectIdentifier{Key: o.Key})
		}
	}
	return list, false, nil
}

// mayGo says of a task's objects that are old enough which may go. Where arguments stand
// among results, none that a gate or a step was given, and none of a task without rows that would say so.
func (r Retention) mayGo(ctx context.Context, p place, ref aggregate.Ref) (func(key string) bool, error) {
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
