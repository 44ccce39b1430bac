package task

import "ringi/shared/domain/aggregate"

const (
	CardTask      aggregate.CardType = "task"
	CardPrompt    aggregate.CardType = "prompt"
	CardProcess   aggregate.CardType = "process"
	CardExecution aggregate.CardType = "execution"
	CardOutcome   aggregate.CardType = "outcome" // how the task ended; only the requester sees it
	CardStep      aggregate.CardType = "step"    // a step's gate
)
