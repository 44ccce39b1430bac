// Package kinds is the registry of all kinds of aggregates.
package kinds

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/config"
	"ringi/shared/store"
	"ringi/shared/store/tasks"
)

// Open is a function's store of all kinds, by its environment.
func Open(cfg aws.Config, env config.Table) *store.Store {
	return store.New(dynamodb.NewFromConfig(cfg), env.TableName, All()...)
}

// All are the kinds that this release knows.
func All() aggregate.Kinds {
	return aggregate.Kinds{tasks.Kind(), conversation.Kind, contest.Kind, contest.TeamKind}
}

// RefOf names the aggregate with this id, whose form tells its kind. The table has none of a form that no kind has.
func RefOf(tenant, id string) aggregate.Ref {
	ref := aggregate.Ref{Tenant: tenant, Kind: "unknown", ID: id}
	for _, k := range All() {
		if k.ValidID != nil && k.ValidID(id) {
			ref.Kind = k.Name
		}
	}
	return ref
}

// Asks reports whether people approve or reject what this type of card asks.
func Asks(card aggregate.CardType) bool {
	return slices.ContainsFunc(All(), func(k aggregate.Kind) bool { return slices.Contains(k.Asks, card) })
}

// Machines are the ARNs of the state machines that run aggregates, by kind. A kind may have none.
func Machines(env config.Effects) map[string]string {
	return map[string]string{task.Kind.Name: env.StateMachineARN, conversation.Kind.Name: env.ChatARN, contest.Kind.Name: env.ContestARN}
}
