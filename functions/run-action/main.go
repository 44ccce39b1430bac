// Command run-action executes an approved action. It writes files itself, and executes commands in a sandbox.
package main

import (
	"ringi/shared/decide/pipeline"
	"ringi/shared/runtime/boot"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}
