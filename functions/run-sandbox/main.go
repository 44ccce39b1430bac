// Command run-sandbox runs one command of a conversation apart from everything else, and answers with its output. It
// reads the order from its standard input and writes the answer's frames to its standard output: in AWS the managed
// runtime's handler (index.mjs) stands between it and Lambda, on this machine the local stack does.
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
