package task

import "ringi/shared/domain/aggregate"

const (
	CardTask      aggregate.CardType = "task"
	CardPrompt    aggregate.CardType = "prompt"
	CardProcess   aggregate.CardType = "process"
	CardExecution aggregate.CardType = "execution"
	CardOutcome   aggregate.CardType = "outcome" // how the task ended, for the requester alone
	CardStep      aggregate.CardType = "step"    // a step gate
)
