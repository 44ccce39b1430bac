package main

import "ringi/infra/local/stack"

// options are the parts of the local system that no flag changes.
func options() stack.Options {
	return stack.Options{}
}
