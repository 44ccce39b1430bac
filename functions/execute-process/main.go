// Command execute-process is the fourth layer: it calls the tools that the
// approved steps name.
package main

import (
	"context"
	"log/slog"
	"os"

	"ringi/shared/pipeline"
)

func main() {
	h, err := newHandler(context.Background())
	if err != nil {
		slog.Error("start", "err", err)
		os.Exit(1)
	}
	pipeline.Start(h.Handle)
}
