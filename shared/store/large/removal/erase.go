package removal

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Erase deletes every version of the objects below a prefix, except those whose keys are in keep, and returns how many
// it deleted. Nobody can restore them from the bucket.
func (b Bucket) Erase(ctx context.Context, prefix string, keep map[string]bool) (deleted int, err error) {
	for page, err := range b.versions(ctx, prefix) {
		if err != nil {
			return deleted, fmt.Errorf("list what is to be deleted: %w", err)
		}
		page = slices.DeleteFunc(page, func(o types.ObjectIdentifier) bool { return keep[aws.ToString(o.Key)] })
		n, err := b.remove(ctx, page)
		if deleted += n; err != nil {
			return deleted, fmt.Errorf("delete objects: %w", err)
		}
	}
	return deleted, nil
}

// Below lists the keys below a prefix, except those in known, also of objects that only have earlier versions.
func (b Bucket) Below(ctx context.Context, prefix string, known map[string]bool) (keys []string, err error) {
	for page, err := range b.versions(ctx, prefix) {
		if err != nil {
			return keys, fmt.Errorf("list objects: %w", err)
		}
		for _, o := range page {
			if key := aws.ToString(o.Key); !known[key] && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys, nil
}

// versions yields the versions and delete markers below a prefix, page by page.
func (b Bucket) versions(ctx context.Context, prefix string) iter.Seq2[[]types.ObjectIdentifier, error] {
	return func(yield func([]types.ObjectIdentifier, error) bool) {
		pages := s3.NewListObjectVersionsPaginator(b.S3, &s3.ListObjectVersionsInput{
			Bucket: &b.Name, Prefix: &prefix, MaxKeys: aws.Int32(pageSize),
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			var list []types.ObjectIdentifier
			for _, v := range page.Versions {
				list = append(list, types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
			}
			for _, m := range page.DeleteMarkers {
				list = append(list, types.ObjectIdentifier{Key: m.Key, VersionId: m.VersionId})
			}
			if !yield(list, nil) {
				return
			}
		}
	}
}
