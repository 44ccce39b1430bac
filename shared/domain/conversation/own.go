package conversation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/files"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Own is an action that a person proposes, as typed into a form.
type Own struct {
	Type    ActionType `json:"type,omitempty"`
	Path    string     `json:"path,omitempty"`    // of the file that code_generate writes
	Content string     `json:"content,omitempty"` // the file, the command of the test on one line, or the script
	Seconds string     `json:"seconds,omitempty"` // time limit of a command; empty: UsualSeconds
	Summary string     `json:"summary,omitempty"` // what it is for
	Authors []string   `json:"authors,omitempty"` // whose message the form was opened on; along a route they ask, too
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
	about string
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

	// What the file would be beside the conversation's files.
	ownSame   // the file is like that already
	ownTaken  // a folder or a link is there
	ownBinary // the file that is there is no text
	ownTwin   // the path differs from another one only in how it is written
	ownWide   // a line of the difference has n of at most of characters
	ownLines  // the difference has n of at most of lines
	ownBytes  // the difference has n of at most of bytes
	ownElse   // about says why
)

type ownWords struct {
	fields language.Said[OwnField]
	rules  [ownElse + 1]string
	open   string
}

var ownSaid = language.InEach(
	ownWords{
		language.Said[OwnField]{
			{OwnType, "種類"}, {OwnPath, "ファイルのパス"}, {OwnContent, "内容"}, {OwnSeconds, "制限時間"}, {OwnSummary, "目的"},
		},
		[ownElse + 1]string{
			ownUnknown: "一覧から選んでください。", ownMayNot: "この会話のエージェントには許可されていません。", ownRequired: "入力してください。",
			ownLong: "%[2]d 文字以内にしてください (今は %[1]d 文字)。", ownLarge: "全体で %[2]d バイト以内にしてください (今は %[1]d バイト)。",
			ownNoText: "テキストとして読めない文字が含まれています。", ownNoPath: "作業フォルダー内のパスを入力してください。例: src/app.py",
			ownSame: "ファイルはすでにこの内容です。", ownTaken: "そのパスには、フォルダーかリンクがあります。",
			ownBinary: "既存のファイルはテキストではないため、置き換えられません。",
			ownTwin:   "大文字・小文字などだけが異なる、紛らわしい名前のファイルがあります。",
			ownWide:   "変更する行かその前後に、%[1]d 文字の行があります。承認者が読めるよう、1 行 %[2]d 文字以内にしてください。",
			ownLines:  "変更する行とその前後が %[1]d 行あります。承認者が読めるよう、%[2]d 行以内にしてください。",
			ownBytes:  "変更する行とその前後が %[1]d バイトあります。承認者が読めるよう、%[2]d バイト以内にしてください。",
			ownElse:   "書き込めません。理由: %[3]s",
			ownNumber: "%[1]d から %[2]d までの整数 (秒) を入力してください。", ownProgram: "最初の語は、プログラムの名前にしてください。",
			ownMany: "%[2]d 語以内にしてください (今は %[1]d 語)。",
		},
		"ほかの操作が承認待ちか実行中です。終了してから提案してください。",
	},
	ownWords{
		language.Said[OwnField]{
			{OwnType, "Kind"}, {OwnPath, "File path"}, {OwnContent, "Content"}, {OwnSeconds, "Time limit"},
			{OwnSummary, "Purpose"},
		},
		[ownElse + 1]string{
			ownUnknown: "Choose one from the list.", ownMayNot: "This conversation’s agent isn’t allowed to do that.",
			ownRequired: "This is required.",
			ownLong:     "Use up to %[2]d characters (now %[1]d).", ownLarge: "Use up to %[2]d bytes in all (now %[1]d).",
			ownNoText: "This has characters that can’t be read as text.",
			ownNoPath: "Enter a path inside the work folder, e.g. src/app.py.",
			ownSame:   "The file already has this content.", ownTaken: "There is a folder or link at that path.",
			ownBinary: "The existing file isn’t text, so it can’t be replaced.",
			ownTwin:   "A file with a confusingly similar name exists. It differs only in case, width or Unicode form.",
			ownWide: "A changed line, or one next to it, has %[1]d characters. So that approvers can read it, use up to %[2]d " +
				"a line.",
			ownLines:   "The changes and the lines around them come to %[1]d lines. So that approvers can read them, keep to %[2]d.",
			ownBytes:   "The changes and the lines around them come to %[1]d bytes. So that approvers can read them, keep to %[2]d.",
			ownElse:    "Can’t be written. Reason: %[3]s",
			ownNumber:  "Enter a whole number of seconds from %[1]d to %[2]d.",
			ownProgram: "The first word must be the name of a program.",
			ownMany:    "Use up to %[2]d words (now %[1]d).",
		},
		"Another action is running or waiting for approval. Propose yours once it’s done.",
	},
)

// Called returns the field's name.
func (f OwnField) Called(locale string) string { return ownSaid.In(locale).fields.Text(f) }

// Sentence says what is wrong, beginning with the field's name.
func (f OwnFault) Sentence(locale string) string {
	text := ownSaid.In(locale).rules[f.rule]
	if strings.Contains(text, "%") {
		text = fmt.Sprintf(text, f.n, f.of, f.about)
	}
	return f.Field.Called(locale) + ": " + text
}

// OtherActionOpen says that a person can't propose an action while another one is open.
func OtherActionOpen(locale string) string { return ownSaid.In(locale).open }

// Read checks what was typed as an agent's proposal is checked, and returns the proposal without its terms. def is the
// conversation's agent: a person may propose what the agent may. on is what there is to work on. first says that there
// are no files; else a proposal to write one has no payload yet.
func (o Own) Read(def agent.Definition, on On, first bool) (p Proposal, faults []OwnFault) {
	fault := func(f OwnField, r ownRule, numbers ...int) {
		x := OwnFault{Field: f, rule: r}
		if len(numbers) == 2 {
			x.n, x.of = numbers[0], numbers[1]
		}
		faults = append(faults, x)
	}
	p.Type, p.Authors = o.Type, o.Authors
	known := slices.Contains(agent.OwnTypes, o.Type)
	switch {
	case !known:
		fault(OwnType, ownUnknown)
		return p, faults
	case !def.May(o.Type):
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
	checked, problems := ReadPayload(o.Type, []byte(payload.JSON())) // the same checks decide for agents
	if problems != nil {
		return p, []OwnFault{{Field: OwnContent, rule: ownElse, about: problems[0]}}
	}
	if o.Type == CodeGenerate && !first {
		return p, nil
	}
	kept, problems := checked.First(o.Type, on)
	if problems != nil {
		return p, []OwnFault{refused(&files.Tree{}, checked.Files[0], problems[0])}
	}
	text := kept.JSON()
	p.Payload, p.On = aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)}, on
	return p, nil
}

// ReadBeside reads the proposal of a file beside others, as Read does, with its payload.
func (o Own) ReadBeside(def agent.Definition, on On, t *files.Tree) (p Proposal, faults []OwnFault) {
	if p, faults = o.Read(def, on, false); faults != nil || o.Type != CodeGenerate {
		return p, faults
	}
	typed, _ := o.payload(func(OwnField, ownRule, ...int) {})
	kept, problems := typed.Complete(o.Type, on, t)
	if problems != nil {
		return p, []OwnFault{refused(t, typed.Files[0], problems[0])}
	}
	text := kept.JSON()
	p.Payload, p.On = aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)}, on
	return p, nil
}

// refused says in the form's words why a file can't be proposed beside a tree's. why has the model's words for it.
func refused(t *files.Tree, f files.File, why string) OwnFault {
	e, there := t.Entry(f.Path)
	content, _ := t.Content(f.Path)
	switch {
	case there && e.Kind != files.KindFile:
		return OwnFault{Field: OwnPath, rule: ownTaken}
	case !files.IsText(content):
		return OwnFault{Field: OwnPath, rule: ownBinary}
	case there && string(content) == f.Content:
		return OwnFault{Field: OwnContent, rule: ownSame}
	}
	next, err := t.Apply([]files.File{f})
	if err != nil {
		return OwnFault{Field: OwnPath, rule: ownElse, about: why}
	}
	changes := files.Difference(t, next)
	if next.CheckNames(changes) != nil {
		return OwnFault{Field: OwnPath, rule: ownTwin}
	}
	return tooMuch(changes, why)
}

func tooMuch(changes []files.Change, why string) OwnFault {
	bytes, lines, widest := 0, 0, 0
	for _, c := range changes {
		b, l, w := c.Drawn()
		bytes, lines, widest = bytes+b, lines+l, max(widest, w)
	}
	switch {
	case widest > files.MaxChangedLine:
		return OwnFault{Field: OwnContent, rule: ownWide, n: widest, of: files.MaxChangedLine}
	case lines > files.MaxChangedLines:
		return OwnFault{Field: OwnContent, rule: ownLines, n: lines, of: files.MaxChangedLines}
	case bytes > files.MaxChangedBytes:
		return OwnFault{Field: OwnContent, rule: ownBytes, n: bytes, of: files.MaxChangedBytes}
	}
	return OwnFault{Field: OwnContent, rule: ownElse, about: why}
}

func (o Own) checkTexts(fault func(OwnField, ownRule, ...int)) {
	switch {
	case !files.IsText([]byte(o.Content)):
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
	case files.CheckWritable(strings.TrimSpace(o.Path)) != nil:
		fault(OwnPath, ownNoPath)
	}
}

// payload returns the payload of the form's fields, and its time limit.
func (o Own) payload(fault func(OwnField, ownRule, ...int)) (p Payload, seconds int) {
	if o.Type == CodeGenerate {
		p.Files = []files.File{{Path: strings.TrimSpace(o.Path), Content: o.Content}}
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
