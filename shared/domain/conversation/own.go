package conversation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Own is an action that a person proposes, as typed into a form.
type Own struct {
	Type    ActionType
	Path    string // of the file that code_generate writes
	Content string // the file, the command of the test on one line, or the script
	Seconds string // time limit of a command; empty: UsualSeconds
	Summary string // what it is for
}

// Limits of a form's fields. A payload stands in its row, so it is smaller than an agent's may be.
const (
	UsualSeconds = 60
	MaxOwn       = 32 << 10 // bytes of a payload
	MaxSummary   = 300      // characters
)

// OwnField is a field of the form.
type OwnField string

const (
	OwnType    OwnField = "type"
	OwnPath    OwnField = "path"
	OwnContent OwnField = "content"
	OwnSeconds OwnField = "seconds"
	OwnSummary OwnField = "summary"
)

// OwnFields lists the fields in the form's order.
var OwnFields = []OwnField{OwnType, OwnPath, OwnContent, OwnSeconds, OwnSummary}

// OwnFault says what is wrong with a field.
type OwnFault struct {
	Field OwnField
	rule  ownRule
	n, of int // what it has, and the limit
}

type ownRule int

const (
	ownUnknown  ownRule = iota // there is no such type
	ownMayNot                  // the agent may not propose it, so people in its conversation may not, either
	ownRequired                //
	ownLong                    // it has n of at most of characters
	ownLarge                   // the payload has n of at most of bytes
	ownNoText                  // it has characters that no text has
	ownNoPath
	ownNumber  // it is no whole number within the limits
	ownProgram // the first word is no program
	ownMany    // it has n of at most of words
)

type ownWords struct {
	fields map[OwnField]string
	rules  map[ownRule]string
	open   string
}

var ownSaid = language.InEach(
	ownWords{
		map[OwnField]string{OwnType: "種類", OwnPath: "ファイルのパス", OwnContent: "内容", OwnSeconds: "制限時間", OwnSummary: "目的"},
		map[ownRule]string{
			ownUnknown: "一覧から選んでください。", ownMayNot: "この会話のエージェントにできることではありません。", ownRequired: "入力してください。",
			ownLong: "%[2]d 文字以内にしてください（いまは %[1]d 文字）。", ownLarge: "全体で %[2]d バイト以内にしてください（いまは %[1]d バイト）。",
			ownNoText: "文字として読めないものが含まれています。", ownNoPath: "src/app.py のような、作業フォルダーの中の場所を入れてください。",
			ownNumber: "%[1]d から %[2]d までの整数（秒）を入れてください。", ownProgram: "最初の語は、プログラムの名前にしてください。", ownMany: "%[2]d 語以内にしてください（いまは %[1]d 語）。",
		},
		"ほかの操作が承認を待っているか、実行中です。それが終わってから提案してください。",
	},
	ownWords{
		map[OwnField]string{OwnType: "Kind", OwnPath: "The file’s path", OwnContent: "Content", OwnSeconds: "Time limit", OwnSummary: "What for"},
		map[ownRule]string{
			ownUnknown: "Choose one of the list.", ownMayNot: "The agent of this conversation may not do that.", ownRequired: "This is required.",
			ownLong: "At most %[2]d characters; it has %[1]d.", ownLarge: "At most %[2]d bytes in all; it has %[1]d.",
			ownNoText: "It has characters that can’t be read as text.", ownNoPath: "Enter a place within the work folder, such as src/app.py.",
			ownNumber: "Enter a whole number of seconds from %[1]d to %[2]d.", ownProgram: "The first word must be the name of a program.", ownMany: "At most %[2]d words; it has %[1]d.",
		},
		"Another action waits for approval, or is running. Propose yours when it is over.",
	},
)

// Called returns the field's name.
func (f OwnField) Called(locale string) string { return ownSaid.In(locale).fields[f] }

// Sentence says what is wrong, beginning with the field's name.
func (f OwnFault) Sentence(locale string) string {
	text := ownSaid.In(locale).rules[f.rule]
	if strings.Contains(text, "%") {
		text = fmt.Sprintf(text, f.n, f.of)
	}
	return f.Field.Called(locale) + ": " + text
}

// OtherActionOpen says that a person can't propose an action while another one is open.
func OtherActionOpen(locale string) string { return ownSaid.In(locale).open }

// Read checks what was typed as an agent's proposal is checked, and returns the proposal without its terms. def is the
// conversation's agent: a person may propose what the agent may. on is what there is to work on: a file
// can be written only where there are none.
func (o Own) Read(def agent.Definition, on On) (p Proposal, faults []OwnFault) {
	fault := func(f OwnField, r ownRule, numbers ...int) {
		x := OwnFault{Field: f, rule: r}
		if len(numbers) == 2 {
			x.n, x.of = numbers[0], numbers[1]
		}
		faults = append(faults, x)
	}
	p.Type = o.Type
	known := slices.Contains(agent.OwnTypes, o.Type)
	switch {
	case !known:
		fault(OwnType, ownUnknown)
		return p, faults
	case !def.May(o.Type), o.Type == CodeGenerate && on.Base != "":
		fault(OwnType, ownMayNot)
	}
	o.checkTexts(fault)
	payload, seconds := o.payload(fault)
	p.Seconds = seconds
	p.Summary = strings.Join(strings.Fields(legible.Visible(o.Summary)), " ")
	switch n := utf8.RuneCountInString(p.Summary); {
	case !legible.Text(p.Summary):
		fault(OwnSummary, ownRequired)
	case n > MaxSummary:
		fault(OwnSummary, ownLong, n, MaxSummary)
	}
	if faults != nil {
		return p, faults
	}
	if n := len(payload.JSON()); n > MaxOwn {
		fault(OwnContent, ownLarge, n, MaxOwn)
		return p, faults
	}
	payload, problems := ReadPayload(o.Type, []byte(payload.JSON())) // the same checks decide for agents
	if problems == nil {
		payload, problems = payload.First(o.Type, on)
	}
	if problems != nil {
		fault(OwnContent, ownNoText)
		return p, faults
	}
	text := payload.JSON()
	p.Payload, p.On = aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)}, on
	return p, nil
}

func (o Own) checkTexts(fault func(OwnField, ownRule, ...int)) {
	switch {
	case !utf8.ValidString(o.Content) || strings.Contains(o.Content, "\x00"):
		fault(OwnContent, ownNoText)
	case strings.TrimSpace(o.Content) == "" && o.Type != CodeGenerate:
		fault(OwnContent, ownRequired)
	}
	if o.Type != CodeGenerate {
		return
	}
	switch {
	case strings.TrimSpace(o.Path) == "":
		fault(OwnPath, ownRequired)
	case checkWritable(strings.TrimSpace(o.Path)) != nil:
		fault(OwnPath, ownNoPath)
	}
}

// payload returns the payload of the form's fields, and its time limit.
func (o Own) payload(fault func(OwnField, ownRule, ...int)) (p Payload, seconds int) {
	if o.Type == CodeGenerate {
		p.Files = []File{{Path: strings.TrimSpace(o.Path), Content: o.Content}}
		return p, 0
	}
	p.TimeoutSeconds = UsualSeconds
	if text := strings.TrimSpace(o.Seconds); text != "" {
		n, err := strconv.Atoi(text)
		if p.TimeoutSeconds = n; err != nil || n < MinSeconds || n > MaxSeconds {
			fault(OwnSeconds, ownNumber, MinSeconds, MaxSeconds)
		}
	}
	if o.Type == ShellCommand {
		if n := utf8.RuneCountInString(o.Content); n > MaxScript {
			fault(OwnContent, ownLong, n, MaxScript)
		}
		p.Script = o.Content
		return p, p.TimeoutSeconds
	}
	p.Argv = agent.Words(strings.TrimSpace(o.Content))
	switch n := len(p.Argv); {
	case n == 0: // it is required
	case n > MaxArgv:
		fault(OwnContent, ownMany, n, MaxArgv)
	case strings.TrimSpace(p.Argv[0]) == "" || strings.HasPrefix(p.Argv[0], "-"):
		fault(OwnContent, ownProgram)
	}
	for _, word := range p.Argv {
		if n := utf8.RuneCountInString(word); n > MaxArg {
			fault(OwnContent, ownLong, n, MaxArg)
			break
		}
	}
	return p, p.TimeoutSeconds
}
