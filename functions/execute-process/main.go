// Command execute-process is the fourth layer: it calls the tools that the
// approved steps name.
package main

import (
	"ringi/shared/boot"
	"ringi/shared/pipeline"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}
