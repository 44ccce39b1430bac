// Command call-tool calls the tool of a vendor whose call was approved, once, with the workspace's credentials.
package main

import (
	"ringi/shared/decide/pipeline"
	"ringi/shared/runtime/boot"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}
