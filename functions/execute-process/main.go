// Command execute-process is the fourth layer: it calls the tools of the approved steps.
//
// Each turn: claim, call, result. The claim of the next step is part of the result's commit, so a step costs one
// commit. Permissions are read before the first claim; what refuses a claim is found by the next turn.
//
// A call gets its tool's whole timeout. With less time left than that and 15 s nothing is claimed, and the run goes
// round to a fresh invocation. The lease ends 15 s after the call's deadline, so nobody takes a slow call for a dead
// one. Who meets another's live lease pauses until it ends.
//
// Large arguments and results are kept in memory for references (16 MiB) and in the bucket for everything else. A
// reference that finds null is not called: null means all there is, and nobody stamped that.
//
// Before a gate and before a claim constraints are held against resolved values, and the hash of the resolved arguments
// against the gate's. Write calls have no automatic retries. A cancel is looked for every 3 s, from the head's row.
//
// With executor managed, a session of Claude Managed Agents goes through the steps, and Ringi stays between it and the
// tools: each call that it asks for must be the next approved step with the approved arguments. It is polled for up to
// 100 s, then the run pauses. Each of Ringi's calls to it ends before its lease. Its cost is charged when it is closed,
// before a retry opens another and before the task rests.
package main

import (
	"ringi/shared/decide/pipeline"
	"ringi/shared/runtime/boot"
)

func main() {
	boot.BoundMemory()
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}
