package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// keyWaitDays is how many days KMS keeps a key before it deletes it: the least that KMS takes.
const keyWaitDays = 7

// forget deletes the resources that the template retains when its stack is deleted. It goes on
// after an error; all errors are joined and name their resource.
func (s *stacks) forget(ctx context.Context) error {
	var errs error
	for _, r := range []struct {
		what, output string
		delete       func(context.Context, string) error
	}{
		{"table", "TableName", s.forgetTable},
		{"bucket", "ResultsBucketName", s.forgetBucket},
		{"bucket of heads", "HeadsBucketName", s.forgetLockedBucket},
		{"key", "CredentialsKeyArn", s.forgetKey},
		{"key", "ChainKeyArn", s.forgetKey},
		{"secret", "SlackSecretArn", s.forgetSecret},
		{"secret", "ModelSecretArn", s.forgetSecret},
	} {
		name := s.outputs[r.output]
		err := errors.New("the stack has no such output")
		if name != "" {
			err = r.delete(ctx, name)
		}
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("delete the %s %s (%s): %w", r.what, name, r.output, err))
			continue
		}
		s.say("ok  deleted the %s %s", r.what, name)
	}
	return errs
}

// forgetTable takes the table's protection off first.
func (s *stacks) forgetTable(ctx context.Context, name string) error {
	db := dynamodb.NewFromConfig(s.cfg)
	if _, err := db.UpdateTable(ctx,
		&dynamodb.UpdateTableInput{TableName: &name, DeletionProtectionEnabled: aws.Bool(false)}); err != nil {
		return err
	}
	if err := dynamodb.NewTableExistsWaiter(db).Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name},
		5*time.Minute); err != nil {
		return err
	}
	_, err := db.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name})
	return err
}

// forgetBucket empties the bucket of all versions first.
func (s *stacks) forgetBucket(ctx context.Context, name string) error {
	return s.empty(ctx, name, nil)
}

// forgetLockedBucket deletes objects that are locked under GOVERNANCE, as those of stage dev are. Nobody could delete
// them under COMPLIANCE.
func (s *stacks) forgetLockedBucket(ctx context.Context, name string) error {
	return s.empty(ctx, name, aws.Bool(true))
}

// empty deletes a bucket with all that is in it. bypass is for buckets that lock; S3 takes it for no other.
func (s *stacks) empty(ctx context.Context, name string, bypass *bool) error {
	c := s3.NewFromConfig(s.cfg, func(o *s3.Options) { o.UsePathStyle = true })
	pages := s3.NewListObjectVersionsPaginator(c, &s3.ListObjectVersionsInput{Bucket: &name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		var ids []types.ObjectIdentifier
		for _, v := range page.Versions {
			ids = append(ids, types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
		}
		for _, m := range page.DeleteMarkers {
			ids = append(ids, types.ObjectIdentifier{Key: m.Key, VersionId: m.VersionId})
		}
		if len(ids) == 0 {
			continue
		}
		out, err := c.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &name, BypassGovernanceRetention: bypass,
			Delete: &types.Delete{Objects: ids, Quiet: aws.Bool(true)}})
		if err != nil {
			return err
		}
		if len(out.Errors) > 0 {
			return fmt.Errorf("%d objects stay: %s", len(out.Errors), aws.ToString(out.Errors[0].Message))
		}
	}
	_, err := c.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &name})
	return err
}

func (s *stacks) forgetKey(ctx context.Context, id string) error {
	_, err := kms.NewFromConfig(s.cfg).ScheduleKeyDeletion(ctx,
		&kms.ScheduleKeyDeletionInput{KeyId: &id, PendingWindowInDays: aws.Int32(keyWaitDays)})
	return err
}

func (s *stacks) forgetSecret(ctx context.Context, id string) error {
	_, err := secretsmanager.NewFromConfig(s.cfg).DeleteSecret(ctx,
		&secretsmanager.DeleteSecretInput{SecretId: &id, ForceDeleteWithoutRecovery: aws.Bool(true)})
	return err
}
