// Command answer-message has an agent answer all waiting messages of a conversation, in one turn of its model. The
// console asks it which agents can answer.
package main

import (
	"ringi/shared/decide/pipeline"
	"ringi/shared/runtime/boot"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.serve(pipeline.Edge(h.Handle)) })
}
