package conversation

import (
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// words are the system's messages about actions and refusals, for people and the agent.
type words struct {
	succeeded, failed, unknown, rejected, expired string
	cancelled, unasked                            string
	notBegun, putBack, outputLater, callLater     string // of an action that is withdrawn
	lateStopped, lateDone, lateCall, lateUncalled string // what became of it afterwards
	exit, output, all, some, notKept              string
	stopped                                       string
	changed, wrote, deleted, more, notTaken       string
	lost, unread                                  string
	returned, bytes, resultGone                   string // of a tool
	resultOld                                     string // of a tool
	pulled, branched                              string // of a pull request
	ownProposal                                   string
}

var said = language.InEach(
	words{
		succeeded: "操作 #%d が完了しました。", failed: "操作 #%d は失敗しました。",
		unknown:     "操作 #%d の結果は不明です。実行されたかどうかを、人が確認する必要があります。",
		rejected:    "操作 #%d は却下されました。理由: ",
		expired:     "操作 #%d は期限までに承認されませんでした。",
		cancelled:   "操作 #%d は取り消されました。",
		unasked:     "操作 #%d は、もとになったメッセージが削除されたため、取り消されました。",
		notBegun:    "開始前だったため、何も実行していません。",
		putBack:     "途中まで実行しましたが、変更は破棄しました。作業フォルダーは、この操作の前のままです。",
		outputLater: "出力があれば、停止後に表示します。",
		callLater:   "呼び出しの開始後に取り消されました。結果は、分かり次第表示します。",
		lateStopped: "取り消された操作 #%d は停止しました。作業フォルダーは、この操作の前のままです。",
		lateDone: "取り消された操作 #%d は、停止前に完了していました。" +
			"変更は破棄しました。作業フォルダーは、この操作の前のままです。",
		lateCall:     "取り消された操作 #%d の呼び出しは、取り消しの前に完了していました。結果は表示しません。",
		lateUncalled: "取り消された操作 #%d の呼び出しは、実行されなかったか、失敗しました。",
		exit:         "終了コード: %d", output: "出力は全部で %s 行です。",
		all: "すべての行を、行番号付きで示します:", some: "最後の行を、行番号付きで示します:", notKept: "%s 行は残っていません。",
		ownProposal: "操作 #%d は、人が提案しました。種類: %s。内容:",
		stopped:     "回答を中止しました。続けるには、もう一度送信してください。",
		changed:     "変更されたファイル: %d 件、+%d 行 −%d 行", more: "ほか %d 件",
		wrote: "変更・追加されたファイル: %d 件", deleted: "削除されたファイル: %d 件",
		lost: "この会話のファイルは、保存期間を過ぎたため削除されました。会話は空のフォルダーで続きます。",
		notTaken: "この操作が残したファイルは会話には取り込まれていません。" +
			"会話のファイルは、この操作の前のままです。",
		unread:   "添付ファイルについてのお知らせです。",
		pulled:   "プルリクエストの下書き: %s",
		branched: "ブランチはありますが、プルリクエストはありません: %s",
		returned: "ツールの結果です。メールアドレス、電話番号、マイナンバーは * で伏せています。" +
			"氏名などはそのままです。",
		bytes:      "長いため、%s バイトのうち最初の %s バイトだけを示し、残りは省略しました。",
		resultGone: "ツールの結果は保存されていません。",
		resultOld: "ツールの結果は古いため、表示していません。" +
			"必要な場合は、もう一度呼び出してください。",
	},
	words{
		succeeded: "Action #%d is done.", failed: "Action #%d failed.",
		unknown:     "The outcome of action #%d is unknown. A person needs to check.",
		rejected:    "Action #%d was rejected. Reason: ",
		expired:     "Action #%d wasn’t approved in time.",
		cancelled:   "Action #%d was cancelled.",
		unasked:     "Action #%d was cancelled because the message that it came of was deleted.",
		notBegun:    "It hadn’t started, so nothing was done.",
		putBack:     "It had started, but its changes were discarded. The folder is unchanged.",
		outputLater: "Its output, if any, follows once it has stopped.",
		callLater:   "The call had started. Its outcome follows once it’s known.",
		lateStopped: "Cancelled action #%d has stopped. The folder is unchanged.",
		lateDone: "Cancelled action #%d finished before it could be stopped. " +
			"Its changes were discarded. The folder is unchanged.",
		lateCall: "Cancelled action #%d had already made its call. " +
			"Its result isn’t shown.",
		lateUncalled: "Cancelled action #%d didn’t make its call, or the call failed.",
		exit:         "Exit code: %d", output: "Its output has %s lines.",
		all: " All of them, each after its number:", some: " The last ones, each after its number:",
		notKept:     " Not kept: %s.",
		ownProposal: "A person proposed action #%d. Kind: %s. Content:",
		stopped:     "The answer was stopped. To continue, write again.",
		changed:     "Files changed: %d, +%d −%d lines", more: "and %d more",
		wrote: "Changed or new: %d", deleted: "Deleted: %d",
		lost:     "This conversation’s files were deleted after their retention period. It continues with an empty folder.",
		notTaken: "The files this action left did not become the conversation’s. The conversation’s files are unchanged.",
		unread:   "About the attachments:",
		pulled:   "Draft pull request: %s",
		branched: "The branch exists, without a pull request: %s",
		returned: "The tool’s result. Email addresses, phone numbers and My Numbers are masked with *; " +
			"names and everything else are unmasked:",
		bytes:      "It is long: of its %s bytes, only the first %s are shown.",
		resultGone: "The tool’s result is no longer kept.",
		resultOld: "The tool’s result is old and no longer shown. " +
			"If you need it, call the tool again.",
	},
)

// told returns the system's message about an action's result, with the end of its output.
func (x *Action) told(locale string) Message {
	w, m := said.In(locale), Message{Sender: FromSystem, ActionID: x.ActionID}
	switch {
	case x.Status == ActionSucceeded:
		m.own(fmt.Sprintf(w.succeeded, x.Number))
	case x.Outcome == OutcomeUnknown:
		m.own(fmt.Sprintf(w.unknown, x.Number))
	case x.Status == ActionFailed:
		m.own(fmt.Sprintf(w.failed, x.Number))
	case x.CancelReason == ReasonRejected:
		m.own(fmt.Sprintf(w.rejected, x.Number))
		m.quote(x.ErrorDetail)
	case x.CancelReason == ReasonExpired:
		m.own(fmt.Sprintf(w.expired, x.Number))
	case x.CancelReason == ReasonDeleted:
		m.own(fmt.Sprintf(w.unasked, x.Number))
		m.withdrawn(w, x)
	default:
		m.own(fmt.Sprintf(w.cancelled, x.Number))
		m.withdrawn(w, x)
	}
	if x.CancelReason == "" {
		for _, p := range x.details() {
			if p.Quoted {
				m.quote(p.Text)
			} else {
				m.own(p.Text)
			}
		}
	}
	m.came(w, x, locale)
	return m
}

// withdrawn says what is left of an action that was withdrawn. What it did until it stopped is told by toldLate.
func (m *Message) withdrawn(w words, x *Action) {
	switch {
	case x.StartedAt == nil:
		m.own(w.notBegun)
	case x.ActionType == ToolCall:
		m.own(w.callLater)
	case x.ActionType == CodeGenerate:
		m.own(w.putBack)
	default:
		m.own(w.putBack)
		m.own(w.outputLater)
	}
}

// toldLate returns the system's message about the result of an action that was withdrawn while it executed.
func (x *Action) toldLate(r Result, locale string) Message {
	w, m := said.In(locale), Message{Sender: FromSystem, ActionID: x.ActionID}
	text := w.lateStopped
	switch done := r.Status == ActionSucceeded; {
	case r.Error == ReasonUnknown:
		text = w.unknown
	case x.ActionType == ToolCall && done:
		text = w.lateCall
	case x.ActionType == ToolCall:
		text = w.lateUncalled
	case done:
		text = w.lateDone
	}
	m.own(fmt.Sprintf(text, x.Number))
	ended := *x
	ended.ExitCode, ended.tail = r.ExitCode, r.Tail
	m.came(w, &ended, locale)
	return m
}

// details are the parts of ErrorDetail, as far as it is known who said them; else all of it is quoted.
func (x *Action) details() []Piece {
	if x.detail == nil {
		return []Piece{{x.ErrorDetail, true}}
	}
	return x.detail
}

// came adds what came of an action: how it ended, what it changed and printed.
func (m *Message) came(w words, x *Action, locale string) {
	if x.ExitCode != nil {
		m.own(fmt.Sprintf(w.exit, *x.ExitCode))
	}
	if text := x.Tests.Said(locale); text != "" {
		m.own(text)
	}
	if p := x.Pushed; p != nil && p.URL() != "" {
		m.own(fmt.Sprintf(map[bool]string{true: w.pulled, false: w.branched}[p.Number > 0], p.URL()))
	}
	m.changes(w, x)
	if text := x.printed(w); text != "" {
		m.own(text)
		m.quote(x.tail)
	}
}

// printed says how many lines the output has and are not kept, and what of them follows.
func (x *Action) printed(w words) string {
	if x.Lines == 0 && x.tail == "" {
		return ""
	}
	text := fmt.Sprintf(w.output, Grouped(x.Lines))
	if x.Dropped > 0 {
		text += fmt.Sprintf(w.notKept, Grouped(x.Dropped))
	}
	switch {
	case x.tail == "":
	case strings.Count(x.tail, "\n")+1 == x.Lines:
		text += w.all
	default:
		text += w.some
	}
	return text
}

// changes adds what an action changed; paths are quoted.
func (m *Message) changes(w words, x *Action) {
	if d := x.Changed; d != nil && d.Files > 0 {
		m.own(fmt.Sprintf(w.changed, d.Files, d.Added, d.Removed))
		names := slices.DeleteFunc(slices.Clone(d.Names), func(p string) bool { return slices.Contains(d.DeletedNames, p) })
		if d.Deleted > 0 && d.Deleted < d.Files {
			m.own(fmt.Sprintf(w.wrote, d.Files-d.Deleted))
		}
		m.named(w, names, d.Files-d.Deleted)
		if d.Deleted > 0 {
			m.own(fmt.Sprintf(w.deleted, d.Deleted))
			m.named(w, d.DeletedNames, d.Deleted)
		}
	}
	if x.NotTaken {
		m.own(w.notTaken)
	}
}

// named adds the first names of so many.
func (m *Message) named(w words, names []string, of int) {
	m.quote(strings.Join(names, "\n"))
	if more := of - len(names); more > 0 {
		m.own(fmt.Sprintf(w.more, more))
	}
}

// own adds a line in the system's own words.
func (m *Message) own(text string) {
	m.quote(text)
	m.Own = append(m.Own, Span{len(m.Content) - len(text), len(m.Content)})
}

// quote adds a quoted text, on a new line but behind own words that end with a colon.
func (m *Message) quote(text string) {
	n := len(m.Own)
	introduced := n > 0 && m.Own[n-1].To == len(m.Content) && strings.HasSuffix(m.Content, ": ")
	if m.Content != "" && text != "" && !introduced {
		m.Content += "\n"
	}
	m.Content += text
}

// item adds a line of a list that quotes a text before own words.
func (m *Message) item(quoted, after string) {
	m.own("• ")
	m.Content += quoted + after
	m.Own = append(m.Own, Span{len(m.Content) - len(after), len(m.Content)})
}

// Worded returns the first part of a system message that the system itself worded.
func (m Message) Worded() string {
	for _, s := range m.Own {
		if s.From >= 0 && s.From <= s.To && s.To <= len(m.Content) {
			return m.Content[s.From:s.To]
		}
	}
	return m.Content
}

// Proposes reports whether a system message tells the agent of a person's own proposal, which it quotes.
func (m Message) Proposes(x *Action) bool {
	return m.Sender == FromSystem && x.RequestedBy == RequestedByUser && m.ActionID == x.ActionID &&
		m.CreatedAt.Equal(x.CreatedAt)
}

// Piece is a part of a system message: the system's own words, or a quotation.
type Piece struct {
	Text   string
	Quoted bool
}

// Pieces splits a system message into own words and quotations, without blank pieces.
func (m Message) Pieces() (all []Piece) {
	own := m.Own
	switch at := strings.Index(m.Content, m.Detail); {
	case own != nil:
	case m.Detail == "" || at < 0:
		own = []Span{{0, len(m.Content)}}
	default:
		own = []Span{{0, at}, {at + len(m.Detail), len(m.Content)}}
	}
	add := func(text string, quoted bool) {
		text = strings.Trim(text, "\n") // but keep the indentation of a quoted line
		switch last := len(all) - 1; {
		case strings.TrimSpace(text) == "":
		case last >= 0 && all[last].Quoted == quoted:
			all[last].Text += "\n" + text
		default:
			all = append(all, Piece{text, quoted})
		}
	}
	at := 0
	for _, s := range own {
		add(m.Content[at:s.From], true)
		add(m.Content[s.From:s.To], false)
		at = s.To
	}
	add(m.Content[at:], true)
	return all
}

var _ aggregate.AskingRow = (*Action)(nil)
