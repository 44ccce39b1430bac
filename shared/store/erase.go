package store

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/store/table"
)

// Living returns aggregate.ErrNotFound if the conversation is being forgotten. Whoever writes something of it outside of
// its commits asks afterwards, and deletes what came too late.
func (s *ConversationStore) Living(ctx context.Context, ref aggregate.Ref) error {
	head, err := s.Head(ctx, ref)
	if err == nil && head.ForgettingAt != nil {
		err = aggregate.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("whether %s is forgotten: %w", ref, err)
	}
	return nil
}

// Objects are a conversation's objects outside of the table.
type Objects interface {
	// Erase deletes the objects below a prefix, except those in keep.
	Erase(ctx context.Context, prefix string, keep map[string]bool) (deleted int, err error)
	// Below lists the keys below a prefix, except those in known.
	Below(ctx context.Context, prefix string, known map[string]bool) (keys []string, err error)
}

// Erase deletes all of a conversation that is being forgotten, but its head and what was stamped: the rows of those
// actions, and the objects that they name. It returns how many rows and objects it deleted. After an error, or a crash,
// calling it again deletes the rest. When it returns 0 nothing is left.
func (s *ConversationStore) Erase(ctx context.Context, results Objects, ref aggregate.Ref) (deleted int, err error) {
	own := []string{conversation.Kind.Prefix, conversation.ActionsList, conversation.MessagesList}
	var actions []string
	stamped := map[string]bool{}
	for _, prefix := range own[:2] {
		pk, err := partition(prefix, ref.Tenant, ref.ID)
		if err == nil {
			err = s.eachAction(ctx, pk, func(x conversation.Action) {
				actions = append(actions, x.ActionID)
				if x.Stamped() {
					stamped[x.Payload.S3Key] = true
				}
			})
		}
		if err != nil {
			return 0, fmt.Errorf("which actions %s had: %w", ref, err)
		}
	}
	// Output goes before the rows by which it is found.
	for _, id := range actions {
		if err := s.eraseRows(ctx, &deleted, conversation.LogList, ref.Tenant, id, outlives); err != nil {
			return deleted, err
		}
	}
	for _, prefix := range conversation.Objects {
		n, err := results.Erase(ctx, prefix+ref.Tenant+"/"+ref.ID+"/", stamped)
		if deleted += n; err != nil {
			return deleted, err
		}
	}
	// Cards go after the other rows: what is left of them says nothing of whether Slack shows them.
	for _, stays := range []func(table.Item) (bool, error){outlivesOrCard, outlives} {
		for _, prefix := range own {
			if err := s.eraseRows(ctx, &deleted, prefix, ref.Tenant, ref.ID, stays); err != nil {
				return deleted, err
			}
		}
	}
	if deleted > 0 {
		return deleted, nil
	}
	return 0, left(ctx, results, ref, stamped)
}

// left logs the copies that nobody stamped: the clicks that made them died, or were overtaken, before they committed.
// They stay, because no role may delete where stamped payloads stand.
func left(ctx context.Context, results Objects, ref aggregate.Ref, stamped map[string]bool) error {
	keys, err := results.Below(ctx, conversation.StampedPrefix+ref.Tenant+"/"+ref.ID+"/", stamped)
	for _, key := range keys {
		slog.WarnContext(ctx, "a copy that nobody stamped stays", ref.Log(), "key", key)
	}
	return err
}

func partition(prefix, tenant, of string) (string, error) {
	if !table.KeyPart(tenant) || !table.KeyPart(of) {
		return "", fmt.Errorf("%s%.40q: %w", prefix, of, aggregate.ErrNotFound)
	}
	return prefix + tenant + "#" + of, nil
}

func (s *ConversationStore) eraseRows(
	ctx context.Context, deleted *int, prefix, tenant, of string, stays func(table.Item) (bool, error),
) error {
	pk, err := partition(prefix, tenant, of)
	if err != nil {
		return err
	}
	n, err := s.Table().Erase(ctx, pk, stays)
	*deleted += n
	return err
}

// outlives reports whether a row stays when its conversation is forgotten.
func outlives(it table.Item) (bool, error) {
	switch table.TextOf(it, "type") {
	case "head":
		return true, nil
	case "action":
		var x conversation.Action
		err := table.Unpack(it, &x)
		return x.Stamped(), err
	}
	return false, nil
}

func outlivesOrCard(it table.Item) (bool, error) {
	if table.TextOf(it, "type") == "card" {
		return true, nil
	}
	return outlives(it)
}

// eachAction calls found with the actions of a partition, also with those that have expired.
func (s *ConversationStore) eachAction(ctx context.Context, pk string, found func(conversation.Action)) error {
	e := table.NewExpression()
	in := table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.Table().Name, ConsistentRead: aws.Bool(true),
		KeyConditionExpression: table.All(e.Is("PK", "=", pk), e.Begins("SK", "ACTION#")),
	})
	for pages := dynamodb.NewQueryPaginator(s.Table().DB, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, it := range page.Items {
			var x conversation.Action
			if err := table.Unpack(it, &x); err != nil {
				return err
			}
			found(x)
		}
	}
	return nil
}
