// Command run-sandbox runs one isolated command of a conversation and answers with its output. It reads the order from
// standard input and writes the answer's frames to standard output. In AWS the managed runtime's handler (index.mjs)
// connects it with Lambda, on this machine the local stack does.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "run-sandbox:", err)
		os.Exit(1)
	}
}
