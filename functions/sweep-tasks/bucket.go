package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"ringi/shared/runtime/boot"
)

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
