package store

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/aggregate"
)

// listPartition is the key of a list that stands beside an aggregate.
func listPartition(list, tenant, of string) (string, error) {
	if !keyPart(tenant) || !keyPart(of) {
		return "", fmt.Errorf("%s%.40q: %w", list, of, aggregate.ErrNotFound)
	}
	return list + tenant + "#" + of, nil
}

// beside are the actions that put a change's rows of lists, each if it is absent.
func (s *Store) beside(ref aggregate.Ref, c aggregate.Change) ([]types.TransactWriteItem, error) {
	var out []types.TransactWriteItem
	for _, l := range c.Beside {
		pk, err := listPartition(l.List, ref.Tenant, l.Of)
		if err != nil {
			return nil, err
		}
		it, err := pack(l.Row.Type(), pk, l.Row.Key(), l.Row)
		if err != nil {
			return nil, err
		}
		out = append(out, s.put(it, 0))
	}
	return out, nil
}

// drop deletes the item of that revision.
func (s *Store) drop(k item, revision int) types.TransactWriteItem {
	e := newExpression()
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &s.table, Key: k, ConditionExpression: all(e.is("rev", "=", revision)),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}
}
