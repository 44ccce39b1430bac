// Package kinds is the registry of all kinds of aggregates.
package kinds

import (
	"ringi/shared/aggregate"
	"ringi/shared/config"
	"ringi/shared/task"
	"ringi/shared/tasks"
)

// All are they.
func All() aggregate.Kinds { return aggregate.Kinds{tasks.Kind()} }

// Machines are the ARNs of the state machines that run aggregates, by kind. A kind may have none.
func Machines(env config.Effects) map[string]string {
	return map[string]string{task.Kind.Name: env.StateMachineARN}
}
