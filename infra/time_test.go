package infra_test

import (
	"time"

	"ringi/shared/tool"
)

// besideACall is the time that a fresh invocation of execute-process needs besides its first call: it reads rows,
// settings and large arguments before, and stores and commits the result afterwards.
const besideACall = 40 * time.Second

// timeRules: a fresh invocation gives any tool its whole timeout.
func timeRules(s *stack, wrong report) {
	catalog, err := tool.Builtin()
	if err != nil {
		wrong("the catalog: %v", err)
		return
	}
	has := s.functions["ExecuteProcessFunction"].Timeout
	longest := tool.MaxPinned
	for _, spec := range catalog.All() {
		longest = max(longest, spec.Timeout)
	}
	wrong.where(has < longest+besideACall,
		"ExecuteProcessFunction ends after %s: a call may take %s, and %s go by beside it", has, longest, besideACall)
}
