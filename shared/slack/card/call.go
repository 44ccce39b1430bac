package card

import (
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
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
	var b strings.Builder
	b.WriteString(fill(w.Call, "tool", inlineCode(p.Tool), "kind", CallKind(p.Access, d.w.Locale)) + "\n")
	for _, piece := range explain.StepLines(d.w.Locale, []task.Step{call})[0] {
		b.WriteString(d.piece(piece))
	}
	blob := aggregate.Blob{JSON: call.ToolInput, Bytes: len(call.ToolInput)}
	out := d.sections(codePages(b.String(), maxSection), most).with(d.arguments(call, blob, most))
	if p.Changes == nil {
		return out
	}
	return out.with(d.listed(d.difference(p.Changes), most))
}

// callNotes says of a call that waits what CallNotes says.
func (d conversationDrawing) callNotes(x *conversation.Action) []string {
	if x.ActionType != conversation.ToolCall {
		return nil
	}
	p, _ := d.read(x)
	return CallNotes(d.t.Conversation, p, d.w.Locale)
}

// CallNotes says on any surface of a call that waits what nobody wrote, where its result goes, and who can read it.
func CallNotes(s *conversation.Conversation, p conversation.Payload, locale string) (lines []string) {
	w := conversationWordsOf.In(locale)
	if p.Unseen {
		lines = append(lines, w.CallUnseen)
	}
	vendor := or(w.CallVendors[s.Provider], inline(s.Provider, maxTool))
	goes := fill(w.CallGoes, "agent", or(inline(s.AgentID, maxTool), "—"), "vendor", or(vendor, "—"))
	lines = append(lines, goes)
	if f, ok := catalog.Of(p.Tool); ok && f.Demo != nil && f.Demo.Words[locale].Handled != "" {
		lines = append(lines, fill(w.CallData, "data", f.Demo.Words[locale].Handled))
	}
	lines = append(lines, w.readers(s))
	if p.Push != nil {
		lines = append(lines, fill(w.PushReaders, "repository", inline(p.Push.Repository, maxTool)))
	}
	return lines
}

// CallKind says on any surface whether a call only reads.
func CallKind(access aggregate.Access, locale string) string {
	if access == aggregate.Write {
		return conversationWordsOf.In(locale).CallWrites
	}
	return conversationWordsOf.In(locale).CallReads
}
