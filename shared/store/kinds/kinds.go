// Package kinds is the registry of all kinds of aggregates.
package kinds

import (
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

// Machines are the ARNs of the state machines that run aggregates, by kind. A kind may have none.
func Machines(env config.Effects) map[string]string {
	return map[string]string{task.Kind.Name: env.StateMachineARN, conversation.Kind.Name: env.ChatARN, contest.Kind.Name: env.ContestARN}
}
