package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/aggregate"
)

func threadOf(tenant, channel, thread string) string {
	return "THREAD#" + tenant + "#" + channel + "#" + thread
}

// Thread lists the newest requests that were written as replies in a thread, at most
// limit. The index may be a moment behind: load a task before deciding anything on it.
func (s *Store) Thread(ctx context.Context, tenant, channel, thread string, limit int) ([]aggregate.Ref, error) {
	if !keyPart(tenant) || !keyPart(channel) || !keyPart(thread) {
		return nil, fmt.Errorf("thread %.40q: %w", thread, aggregate.ErrNotFound)
	}
	e := newExpression()
	out, err := s.db.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.table, IndexName: aws.String("GSI1"), Limit: aws.Int32(int32(limit)), ScanIndexForward: aws.Bool(false),
		KeyConditionExpression:   all(e.is("GSI1PK", "=", threadOf(tenant, channel, thread))),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	})
	if err != nil {
		return nil, fmt.Errorf("list the requests of thread %s: %w", thread, err)
	}
	var refs []aggregate.Ref
	for _, it := range out.Items {
		if _, id, ok := strings.Cut(textOf(it, "GSI1SK"), "#"); ok {
			refs = append(refs, aggregate.Ref{Tenant: tenant, Task: id})
		}
	}
	return refs, nil
}
