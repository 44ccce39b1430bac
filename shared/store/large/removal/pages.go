package removal

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/shared/domain/conversation"
)

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
	list := s3.NewListObjectVersionsPaginator(b.S3, &s3.ListObjectVersionsInput{
		Bucket: &b.Name, Prefix: &prefix, MaxKeys: aws.Int32(pageSize),
	})
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
