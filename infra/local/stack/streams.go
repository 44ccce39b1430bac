package stack

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// streamNames are what the tables' engine calls their streams, by their ARNs in the stack's account and region:
// DynamoDB Local's are of a region and an account that are its own, for which no role grants anything.
type streamNames map[string]string

// add returns the ARN under which the stack knows a stream.
func (n streamNames) add(of string) (string, error) {
	is, err := arn.Parse(of)
	if err != nil {
		return "", fmt.Errorf("the stream %q: %w", of, err)
	}
	is.Region, is.AccountID = Region, Account
	n[is.String()] = of
	return is.String(), nil
}

// streamReader reads streams from their engine, by the names that the stack knows.
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
