package card

import (
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain/line"
)

// CalledStep is an agent's call of a tool as a step, so that one code draws both.
func CalledStep(p conversation.Payload) task.Step {
	return task.Step{StepID: "step-1", Order: 1, Tool: p.Tool, ToolInput: aggregate.JSON(p.Arguments), Access: p.Access,
		ToolVersion: p.ToolVersion, LeftOut: aggregate.JSON(p.LeftOut)}
}

// callBody draws a call of a tool as the gate of a step is drawn: its line, its arguments and, where it changes files,
// their difference.
func (d conversationDrawing) callBody(p conversation.Payload, most int) body {
	call, w := CalledStep(p), d.texts
	kind := w.CallReads
	if p.Access == aggregate.Write {
		kind = w.CallWrites
	}
	var b strings.Builder
	b.WriteString(fill(w.Call, "tool", inlineCode(p.Tool), "kind", kind) + "\n")
	for _, piece := range line.Of(d.w.Locale, []task.Step{call})[0] {
		b.WriteString(d.piece(piece))
	}
	blob := aggregate.Blob{JSON: call.ToolInput, Bytes: len(call.ToolInput)}
	out := d.sections(codePages(b.String(), maxSection), most).with(d.arguments(call, blob, most))
	if p.Changes == nil {
		return out
	}
	heading := fill(w.Difference, "n", len(p.Changes))
	return out.with(d.packed(append([]string{heading}, d.difference(p.Changes)...), most))
}

// callNotes says of a call that waits what nobody wrote, and where its result goes.
func (d conversationDrawing) callNotes(x *conversation.Action) (lines []string) {
	if x.ActionType != conversation.ToolCall {
		return nil
	}
	if p, ok := d.read(x); ok && p.Unseen {
		lines = append(lines, d.texts.CallUnseen)
	}
	s := d.t.Conversation
	vendor := or(d.texts.CallVendors[s.Provider], inline(s.Provider, maxTool))
	goes := fill(d.texts.CallGoes, "agent", or(inline(s.AgentID, maxTool), d.w.None), "vendor", or(vendor, "—"))
	return append(lines, goes, d.texts.readers(s))
}
