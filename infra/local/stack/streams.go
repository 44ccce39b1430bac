package stack

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// streamNames maps a stream's ARN in the stack's region and account to the engine's own name. DynamoDB Local uses a
// region and account of its own, which no role mentions.
type streamNames map[string]string

// add returns the stack's ARN for a stream of the engine.
func (n streamNames) add(of string) (string, error) {
	is, err := arn.Parse(of)
	if err != nil {
		return "", fmt.Errorf("the stream %q: %w", of, err)
	}
	is.Region, is.AccountID = Region, Account
	n[is.String()] = of
	return is.String(), nil
}

// streamReader reads streams by the stack's ARNs.
type streamReader struct {
	*dynamodbstreams.Client
	names streamNames
}

func (s *Stack) streamReader() streamReader {
	return streamReader{dynamodbstreams.NewFromConfig(config(s.tables.URL)), s.streams}
}

func (r streamReader) DescribeStream(
	ctx context.Context, in *dynamodbstreams.DescribeStreamInput, o ...func(*dynamodbstreams.Options),
) (*dynamodbstreams.DescribeStreamOutput, error) {
	of := *in
	of.StreamArn = aws.String(r.names[aws.ToString(in.StreamArn)])
	return r.Client.DescribeStream(ctx, &of, o...)
}

func (r streamReader) GetShardIterator(
	ctx context.Context, in *dynamodbstreams.GetShardIteratorInput, o ...func(*dynamodbstreams.Options),
) (*dynamodbstreams.GetShardIteratorOutput, error) {
	of := *in
	of.StreamArn = aws.String(r.names[aws.ToString(in.StreamArn)])
	return r.Client.GetShardIterator(ctx, &of, o...)
}
