package infra_test

import (
	"time"

	"ringi/shared/tool"
)

// besideACall is the time that a fresh invocation needs besides its first call of a tool: it reads rows,
// settings and large arguments before, and stores and commits the result afterwards.
const besideACall = 40 * time.Second

// timeRules: a fresh invocation gives any tool its whole timeout.
func timeRules(s *stack, wrong report) {
	catalog, err := tool.Builtin()
	if err != nil {
		wrong("the catalog: %v", err)
		return
	}
	longest := tool.MaxPinned
	for _, spec := range catalog.All() {
		longest = max(longest, spec.Timeout)
	}
	for _, id := range []string{"ExecuteProcessFunction", "CallToolFunction"} {
		has := s.functions[id].Timeout
		wrong.where(has < longest+besideACall,
			"%s ends after %s: a call may take %s, and %s go by beside it", id, has, longest, besideACall)
	}
}
