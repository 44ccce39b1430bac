package conversation

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/files"
	"ringi/shared/words/language"
)

const (
	// OwnCommand is the field in which a person types a command that they propose.
	OwnCommand = "command"
	// usualSeconds is the time limit of such a command.
	usualSeconds = 60
	// MaxSummary is how long the purpose of an agent's action may be, in characters.
	MaxSummary = 300
)

// OwnFault says what is wrong with a command that a person proposes; 0: nothing.
type OwnFault int

const (
	OwnMayNot   OwnFault = iota + 1 // the agent may not propose it, so people in its conversation may not, either
	OwnRequired                     // nothing is typed
	OwnLong                         // it has more than MaxScript characters
	OwnNoText                       // it has characters that no text has
)

type ownWords struct {
	command, mayNot, required, long, noText, open string
}

var ownSaid = language.InEach(
	ownWords{
		command: "コマンド", mayNot: "この会話のエージェントには許可されていません。", required: "入力してください。",
		long: "%d 文字以内にしてください。", noText: "テキストとして読めない文字が含まれています。",
		open: "ほかの操作が承認待ちか実行中です。終了してから提案してください。",
	},
	ownWords{
		command: "Command", mayNot: "This conversation’s agent isn’t allowed to do that.", required: "This is required.",
		long: "Use up to %d characters.", noText: "This has characters that can’t be read as text.",
		open: "Another action is running or waiting for approval. Propose yours once it’s done.",
	},
)

// OwnCommandCalled returns the field's name.
func OwnCommandCalled(locale string) string { return ownSaid.In(locale).command }

// Sentence says what is wrong, beginning with the field's name.
func (f OwnFault) Sentence(locale string) string {
	w := ownSaid.In(locale)
	text := map[OwnFault]string{OwnMayNot: w.mayNot, OwnRequired: w.required, OwnLong: fmt.Sprintf(w.long, MaxScript),
		OwnNoText: w.noText}[f]
	return w.command + ": " + text
}

// OtherActionOpen says that a person can't propose an action while another one is open.
func OtherActionOpen(locale string) string { return ownSaid.In(locale).open }

// Own returns the proposal of a command that a person typed, without its terms. def is the conversation's agent: a
// person may propose what the agent may. on is what there is to work on.
func Own(command string, def agent.Definition, on On) (Proposal, OwnFault) {
	p := Proposal{Type: ShellCommand, Seconds: usualSeconds, On: on}
	switch {
	case !def.May(ShellCommand):
		return p, OwnMayNot
	case strings.TrimSpace(command) == "":
		return p, OwnRequired
	case utf8.RuneCountInString(command) > MaxScript:
		return p, OwnLong
	case !files.IsText([]byte(command)):
		return p, OwnNoText
	}
	kept, problems := Payload{Script: command, TimeoutSeconds: usualSeconds}.Complete(ShellCommand, on, nil)
	if problems != nil {
		return p, OwnNoText
	}
	text := kept.JSON()
	p.Payload = aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)}
	return p, 0
}
