package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/boot"
)

// Open returns a function's store of all kinds by its environment.
func OpenAll(cfg aws.Config, env boot.Table) *Store {
	return New(dynamodb.NewFromConfig(cfg), env.TableName, Kinds()...)
}

// All returns the kinds that this release knows.
func Kinds() aggregate.Kinds {
	return aggregate.Kinds{TaskKind(), conversation.Kind, contest.Kind, contest.TeamKind}
}

// Eraser deletes what must be deleted of an aggregate, and returns how many rows and objects that were. An aggregate of
// which it deletes 0 has nothing left.
type Eraser func(ctx context.Context, ref aggregate.Ref) (deleted int, err error)

// NewEraser returns the Eraser of all kinds that are ever erased.
func NewEraser(s *Store, results Objects) Eraser {
	talks := ConversationsOf(s)
	return func(ctx context.Context, ref aggregate.Ref) (int, error) {
		if ref.Kind != conversation.Kind.Name {
			return 0, fmt.Errorf("nothing of %s is ever erased", ref)
		}
		return talks.Erase(ctx, results, ref)
	}
}

// RefOf returns the reference of the aggregate with this id. The id's form determines the kind; an id of no known form
// names an aggregate that doesn't exist.
func RefOf(tenant, id string) aggregate.Ref {
	ref := aggregate.Ref{Tenant: tenant, Kind: "unknown", ID: id}
	for _, k := range Kinds() {
		if k.ValidID != nil && k.ValidID(id) {
			ref.Kind = k.Name
		}
	}
	return ref
}

// Asks reports whether people approve or reject on cards of this type.
func Asks(card aggregate.CardType) bool {
	return slices.ContainsFunc(Kinds(), func(k aggregate.Kind) bool { return slices.Contains(k.Asks, card) })
}

// Machines returns the ARNs of the state machines by kind. A kind may have none.
func Machines(env boot.Effects) map[string]string {
	return map[string]string{task.Kind.Name: env.StateMachineARN, conversation.Kind.Name: env.ChatARN, contest.Kind.Name: env.ContestARN}
}
