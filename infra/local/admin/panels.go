package admin

import (
	"net/http"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/vendors"
)

// tools makes the vendors fail.
type tools struct{ vendors *vendors.Vendors }

// List says which tools fail.
func (p tools) List() (out []sandbox.ToolFault) {
	for _, name := range vendors.Tools() {
		out = append(out, sandbox.ToolFault{Tool: name, Failing: p.vendors.Fails(name)})
	}
	return out
}

// Set switches a tool's failure: a definite one, so that trying again is safe.
func (p tools) Set(tool string, failing bool) { p.vendors.Fail(tool, http.StatusBadRequest, failing) }
