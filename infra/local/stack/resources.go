package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	kmstypes "github.com/aws/aws-sdk-go-v2/service/kms/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/local/template"
)

// creator creates the template's resources in the AWS stand-ins.
type creator struct{ cfg aws.Config }

// storage creates the resources that others refer to, and returns the names that the services gave them.
func (m creator) storage(ctx context.Context, t *template.Template) (known map[string]string, err error) {
	known = map[string]string{}
	for _, table := range t.Tables {
		if known[table.ID+".StreamArn"], err = m.table(ctx, table); err != nil {
			return nil, fmt.Errorf("make table %s: %w", table.ID, err)
		}
	}
	// Queues for dead letters must exist before the queues that use them.
	queues := slices.Clone(t.Queues)
	slices.SortStableFunc(queues, func(a, b template.Queue) int { return len(a.DeadLetters) - len(b.DeadLetters) })
	for _, q := range queues {
		if _, err := sqs.NewFromConfig(m.cfg).CreateQueue(ctx,
			&sqs.CreateQueueInput{QueueName: &q.Name, Attributes: q.Attributes}); err != nil {
			return nil, fmt.Errorf("make queue %s: %w", q.ID, err)
		}
	}
	for _, b := range t.Buckets {
		if err := m.bucket(ctx, b); err != nil {
			return nil, fmt.Errorf("make bucket %s: %w", b.ID, err)
		}
	}
	for _, k := range t.Keys {
		out, err := kms.NewFromConfig(m.cfg).CreateKey(ctx,
			&kms.CreateKeyInput{Description: &k.ID, KeySpec: kmstypes.KeySpec(k.Spec), KeyUsage: kmstypes.KeyUsageType(k.Usage)})
		if err != nil {
			return nil, fmt.Errorf("make key %s: %w", k.ID, err)
		}
		known[k.ID], known[k.ID+".Arn"] = aws.ToString(out.KeyMetadata.KeyId), aws.ToString(out.KeyMetadata.Arn)
	}
	return known, nil
}

func (m creator) bucket(ctx context.Context, b template.Bucket) error {
	locks := b.Retention.Mode != ""
	// The host names of buckets don't resolve here.
	c := s3.NewFromConfig(m.cfg, func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := c.CreateBucket(ctx,
		&s3.CreateBucketInput{Bucket: &b.Name, ObjectLockEnabledForBucket: &locks}); err != nil {
		return err
	}
	if b.Versioned && !locks {
		_, err := c.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{Bucket: &b.Name,
			VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusEnabled}})
		return err
	}
	if !locks {
		return nil
	}
	_, err := c.PutObjectLockConfiguration(ctx,
		&s3.PutObjectLockConfigurationInput{Bucket: &b.Name, ObjectLockConfiguration: &s3types.ObjectLockConfiguration{
			ObjectLockEnabled: s3types.ObjectLockEnabledEnabled,
			Rule: &s3types.ObjectLockRule{DefaultRetention: &s3types.DefaultRetention{
				Mode: s3types.ObjectLockRetentionMode(b.Retention.Mode), Days: &b.Retention.Days}},
		}})
	return err
}

func (m creator) table(ctx context.Context, t template.Table) (streamARN string, err error) {
	db := dynamodb.NewFromConfig(m.cfg)
	in := t.Input(t.Name)
	if t.Stream != "" {
		in.StreamSpecification = &dynamodbtypes.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: t.Stream}
	}
	out, err := db.CreateTable(ctx, in)
	if err != nil {
		return "", err
	}
	if t.Expiry != "" {
		_, err = db.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName:               &t.Name,
			TimeToLiveSpecification: &dynamodbtypes.TimeToLiveSpecification{AttributeName: &t.Expiry, Enabled: aws.Bool(true)},
		})
	}
	if err != nil || t.Stream == "" {
		return "", err
	}
	return aws.ToString(out.TableDescription.LatestStreamArn), nil
}

// secret stores a value in the form in which people paste it in AWS.
func (m creator) secret(ctx context.Context, r template.Resource, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("make secret %s: %w", r.ID, err)
	}
	_, err = secretsmanager.NewFromConfig(m.cfg).CreateSecret(ctx,
		&secretsmanager.CreateSecretInput{Name: &r.Name, SecretString: aws.String(string(text))})
	if err != nil {
		return fmt.Errorf("make secret %s: %w", r.ID, err)
	}
	return nil
}

func (m creator) machine(ctx context.Context, machine template.Machine) error {
	out, err := sfn.NewFromConfig(m.cfg).CreateStateMachine(ctx, &sfn.CreateStateMachineInput{
		Name: &machine.Name, Definition: &machine.Definition, Type: sfntypes.StateMachineType(machine.Type),
		RoleArn: aws.String("arn:aws:iam::" + template.Account + ":role/" + machine.Name),
	})
	if err != nil {
		return fmt.Errorf("make state machine %s: %w", machine.ID, err)
	}
	if got := aws.ToString(out.StateMachineArn); got != machine.ARN {
		return fmt.Errorf("make state machine %s: its ARN is %s, the functions were told %s", machine.ID, got, machine.ARN)
	}
	return nil
}
