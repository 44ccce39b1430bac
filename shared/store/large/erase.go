package large

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Erase deletes every version of the objects below a prefix, except those whose keys are in keep, and returns how many
// it deleted. Nobody can restore them from the bucket.
func (s Store) Erase(ctx context.Context, prefix string, keep map[string]bool) (deleted int, err error) {
	pages := s3.NewListObjectVersionsPaginator(s.S3, &s3.ListObjectVersionsInput{Bucket: &s.Bucket, Prefix: &prefix, MaxKeys: aws.Int32(pageSize)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return deleted, fmt.Errorf("list what is to be deleted: %w", err)
		}
		var list []types.ObjectIdentifier
		add := func(key, version *string) {
			if !keep[aws.ToString(key)] {
				list = append(list, types.ObjectIdentifier{Key: key, VersionId: version})
			}
		}
		for _, v := range page.Versions {
			add(v.Key, v.VersionId)
		}
		for _, m := range page.DeleteMarkers {
			add(m.Key, m.VersionId)
		}
		n, err := (Retention{Results: s}).remove(ctx, list)
		if deleted += n; err != nil {
			return deleted, fmt.Errorf("delete objects: %w", err)
		}
	}
	return deleted, nil
}
