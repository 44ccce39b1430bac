package task

import "ringi/shared/aggregate"

const (
	CardTask      aggregate.CardType = "task"
	CardPrompt    aggregate.CardType = "prompt"
	CardProcess   aggregate.CardType = "process"
	CardExecution aggregate.CardType = "execution"
	CardStep      aggregate.CardType = "step" // a step gate
)
