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

	"ringi/shared/task"
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
	Settings(ctx context.Context, tenant string) (task.Settings, error)
	Head(ctx context.Context, ref task.Ref) (task.Head, error)
}

// Retention deletes results that are older than their tenant's retain_results_days.
// It keeps no place of its own: ids of tasks sort by time, so that what is old stands
// first in each tenant's listing, and what is deleted is gone from it.
type Retention struct {
	Shelf Shelf
	Rows  Rows
	Now   func() time.Time
}

// Expire looks at every tenant that has results, as long as there is time, and
// returns how many it deleted. A tenant that can't be handled delays no other.
func (r Retention) Expire(ctx context.Context) (deleted int, err error) {
	tenants, err := r.tenants(ctx)
	rand.Shuffle(len(tenants), func(i, j int) { tenants[i], tenants[j] = tenants[j], tenants[i] })
	for _, tenant := range tenants {
		if !spare(ctx) {
			break
		}
		n, failed := r.tenant(ctx, tenant)
		deleted += n
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("expire the results of %s: %w", tenant, failed))
		}
	}
	return deleted, err
}

func spare(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) > expireSpare)
}

// tenants are those that have results at all.
func (r Retention) tenants(ctx context.Context) (list []string, err error) {
	pages := s3.NewListObjectsV2Paginator(r.Shelf.S3, &s3.ListObjectsV2Input{Bucket: &r.Shelf.Bucket, Prefix: aws.String(results), Delimiter: aws.String("/")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return list, fmt.Errorf("list the tenants with results: %w", err)
		}
		for _, p := range page.CommonPrefixes {
			list = append(list, strings.TrimSuffix(strings.TrimPrefix(aws.ToString(p.Prefix), results), "/"))
		}
	}
	return list, nil
}

// tenant deletes the old results of one tenant.
func (r Retention) tenant(ctx context.Context, tenant string) (deleted int, err error) {
	settings, err := r.Rows.Settings(ctx, tenant)
	if err != nil {
		return 0, err
	}
	before := r.Now().AddDate(0, 0, -settings.RetainResultsDays)
	pages := s3.NewListObjectsV2Paginator(r.Shelf.S3, &s3.ListObjectsV2Input{Bucket: &r.Shelf.Bucket, Prefix: aws.String(results + tenant + "/"), MaxKeys: aws.Int32(pageSize)})
	for n := 0; n < maxPages && pages.HasMorePages() && spare(ctx); n++ {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return deleted, err
		}
		old, done, err := r.old(ctx, tenant, page.Contents, before)
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
func (r Retention) old(ctx context.Context, tenant string, page []types.Object, before time.Time) (list []types.ObjectIdentifier, done bool, err error) {
	ended := map[string]bool{}
	for _, o := range page {
		id, _, _ := strings.Cut(strings.TrimPrefix(aws.ToString(o.Key), results+tenant+"/"), "/")
		if begun, ok := task.IDTime(id); ok && begun.After(before) {
			return list, true, nil
		}
		if !aws.ToTime(o.LastModified).Before(before) {
			continue
		}
		over, known := ended[id]
		if !known {
			head, err := r.Rows.Head(ctx, task.Ref{Tenant: tenant, Task: id})
			if err != nil && !errors.Is(err, task.ErrNotFound) {
				return nil, false, err
			}
			over = err != nil || head.Ended != nil
			ended[id] = over
		}
		if over {
			list = append(list, types.ObjectIdentifier{Key: o.Key})
		}
	}
	return list, false, nil
}

func (r Retention) remove(ctx context.Context, list []types.ObjectIdentifier) (int, error) {
	if len(list) == 0 {
		return 0, nil
	}
	out, err := r.Shelf.S3.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &r.Shelf.Bucket, Delete: &types.Delete{Objects: list, Quiet: aws.Bool(true)}})
	if err != nil {
		return 0, err
	}
	if len(out.Errors) > 0 {
		slog.WarnContext(ctx, "results not deleted", "count", len(out.Errors), "code", aws.ToString(out.Errors[0].Code))
		return len(list) - len(out.Errors), fmt.Errorf("%d results were not deleted: %s", len(out.Errors), aws.ToString(out.Errors[0].Code))
	}
	return len(list), nil
}
