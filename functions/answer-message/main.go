// Command answer-message has an agent answer all waiting messages of a conversation, in one turn of its model. The
// console asks it which agents can answer, since no other function has the keys.
//
// A turn answers what waited when it began, twenty messages at most. Who may not ask is refused before a model is paid,
// and what a model needs to know (who is an app, what was said in the thread before, the text of attachments) is found
// out before too.
//
// The agent reads its files within a turn: 12 rounds of 8 calls, 256 KiB of results. Each answer that reads is
// committed with its cost before it is read for (ReadOn); so another try goes on from there, nothing is paid for twice,
// and nothing is read for a turn that was stopped. The tools are taken away for the last call, with a budget used up,
// or with less than a minute left. An answer that reads and proposes has its proposal refused: it comes after the
// reads.
//
// A proposal is completed here: base, the changes of each line, the version of a tool, values that no person wrote
// (unseen). What can't be made, or is over what people can read, goes back to the model in the same turn, by field and
// limit. Under rules the people are looked up here, and the action is proposed along its route in the answer's commit.
//
// An answer grows in Slack while it is made: the message (STREAM) is noted before Slack is told, and the commit gives
// it to the answer's first card. A message of which nothing came is deleted by whoever sees it.
//
// What is sent is counted from above in tokens, against what the agent's model takes. What alone is too large is left
// out and said; older messages are folded into a summary. A refusal for length is folded to half, and tried once more.
//
// It has the bot's token and may read files, so it also sends an action's files to Slack when a person presses for
// that.
package main

import (
	"ringi/shared/decide/pipeline"
	"ringi/shared/runtime/boot"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.serve(pipeline.Edge(h.Handle)) })
}
