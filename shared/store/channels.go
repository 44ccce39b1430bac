package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// The row of the channels that got other ids: CHANNELS#<tenant>, with an attribute for each former id, whose value is
// Slack's timestamp of the change and the new id.
const (
	channels    = "CHANNELS#"
	channelsKey = "MOVED"
	movedPrefix = "was_"
)

// Channels returns which of a tenant's channels got other ids.
func (s *Store) Channels(ctx context.Context, tenant string) (tenancy.Channels, error) {
	pk, err := table.TenantPartition(channels, tenant)
	if err != nil {
		return nil, err
	}
	out, err := s.t.DB.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.t.Name, Key: table.Key(pk, channelsKey), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("read which channels got other ids: %w", err)
	}
	all := tenancy.Channels{}
	for name, value := range out.Item {
		was, ok := strings.CutPrefix(name, movedPrefix)
		text, is := value.(*types.AttributeValueMemberS)
		if !ok || !is {
			continue
		}
		at, to, _ := strings.Cut(text.Value, " ")
		all[was] = tenancy.Moved{To: to, At: at}
	}
	return all, nil
}

// MoveChannel records that Slack gave a channel another id at this timestamp. It may be told repeatedly and in any
// order: a former id keeps the latest of its changes.
func (s *Store) MoveChannel(ctx context.Context, tenant, was string, m tenancy.Moved) error {
	pk, err := table.TenantPartition(channels, tenant)
	if err != nil {
		return err
	}
	e, value := table.NewExpression(), m.At+" "+m.To
	e.Set(movedPrefix+was, value)
	e.Row("channels", time.Time{})
	condition := table.AnyOf(e.Lacks(movedPrefix+was), e.Is(movedPrefix+was, "<", value))
	_, err = s.t.Update(ctx, table.Key(pk, channelsKey), e, &condition)
	return table.Wrapped(table.Unless(err, table.ErrCondition), "record that a channel got another id")
}
