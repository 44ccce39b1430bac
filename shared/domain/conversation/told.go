package conversation

import (
	"fmt"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// words are the system's messages about actions and refusals, for people and the agent.
type words struct {
	succeeded, failed, unknown, rejected, expired, cancelled string
	exit, output, notKept, notShown, tail, stopped, later    string
	outdated, changed, more, notTaken, lost, emptied, unread string
	ran                                                      ranWords
	returned, entries, bytes, resultGone, resultOld          string // of a tool
	pulled, branched                                         string // of a pull request
	taken, fetchAgain                                        string
	ownProposal                                              string
}

var said = language.InEach(
	words{
		succeeded: "操作 #%d が完了しました。", failed: "操作 #%d は失敗しました。", unknown: "操作 #%d の結果は不明です。実行されたかどうかを人が確かめる必要があります。",
		rejected: "操作 #%d は却下されました。理由: ", expired: "操作 #%d は期限までに承認されませんでした。", cancelled: "操作 #%d は取り消されました。",
		exit: "終了コード: %d", output: "出力は全部で %s 行です。", notKept: "%s 行目は残っていません。", notShown: "%s 行目は見せていません。",
		ownProposal: "操作 #%d は、人が自分で提案しました。種類: %s。目的と内容:",
		tail:        "最後の行を、行番号に続けて示します:",
		stopped:     "回答を止めました。続けるには、もう一度書いてください。",
		later:       "操作 #%d を実行しています。いただいたメッセージには、それが終わったあとにお答えします。",
		outdated:    "操作 #%d は、Ringi が更新される前に提案されたため、取り消されました。必要なら、もう一度提案してください。",
		changed:     "変わったファイル: %d 件、+%d 行 −%d 行", more: "ほか %d 件",
		lost:       "この会話のファイルは保存期間を過ぎて削除されています。空のフォルダーで続けるかどうかを、会話のページで選んでください。それまで、ファイルの操作はできません。",
		notTaken:   "この操作が残したファイルは、会話のファイルになっていません。会話のファイルは、この操作の前のままです。",
		taken:      "操作 #%d が遅れて残したファイルを、人の選択により、会話のファイルにしました。",
		fetchAgain: "作業フォルダーの前のファイルは失われています。ソースのファイルをもう一度取得します。",
		emptied:    "作業フォルダーの前のファイルは失われています。空の作業フォルダーで続けることになりました。",
		unread:     "添付ファイルについてのお知らせです。",
		ran: ranWords{
			command: "コマンド %d: ", exit: "終了コード %d", signal: "途中で強制終了 (%s)", timedOut: "時間切れで停止", began: "始まったことまでは確認済み、結果は不明", runs: "実行中",
			notRun: "実行していません", took: "%s 秒", lines: "出力 %s 行目",
		},
		pulled: "プルリクエストの下書き: %s", branched: "ブランチはありますが、プルリクエストはありません: %s",
		returned: "ツールの結果です。メールアドレス・電話番号・マイナンバーは伏せてあります。", entries: "長いため、最も長い一覧の %s 件のうち、はじめの %s 件だけです。残りは見せていません。",
		bytes:      "長いため、%s バイトのうち、はじめの %s バイトだけです。残りは見せていません。",
		resultGone: "ツールの結果は、もう残っていません。", resultOld: "ツールの結果は古いため、もう見せていません。必要なら、もう一度呼び出しを提案してください。",
	},
	words{
		succeeded: "Action #%d is done.", failed: "Action #%d failed.", unknown: "What action #%d did is not known: a person has to look.",
		rejected: "Action #%d was rejected. The reason: ", expired: "Nobody approved action #%d in time.", cancelled: "Action #%d was withdrawn.",
		exit: "Exit code: %d", output: "Its output has %s lines.", notKept: " Lines %s are not kept.",
		notShown: " You are not shown lines %s.", tail: " The last lines, each after its number:",
		ownProposal: "Action #%d was proposed by a person themself. Its kind: %s. What it is for, and what it does:",
		stopped:     "The answer was stopped. Write again to go on.",
		later:       "Action #%d is running. What you write meanwhile is answered after it.",
		outdated:    "Action #%d was withdrawn, since it was proposed before Ringi was updated. Propose it again if it is still needed.",
		changed:     "Files changed: %d, +%d −%d lines", more: "and %d more",
		lost:       "The files of this conversation were deleted when their time was over. Choose on the conversation’s page whether to go on with an empty folder; until then no action can be proposed.",
		notTaken:   "The files that it left did not become the conversation's, which are as they were before it.",
		taken:      "A person chose the files that action #%d left late. They are the conversation's now.",
		fetchAgain: "The files that were in the folder are lost. A person chose to fetch the source's files again.",
		emptied:    "The files that were in the folder are lost. A person chose to go on with an empty folder.",
		unread:     "About the attachments:",
		ran: ranWords{
			command: "Command %d: ", exit: "exit code %d", signal: "killed (%s)", timedOut: "stopped, out of time",
			began: "it began, and nobody knows how it ended", runs: "running", notRun: "not run", took: "%s s",
			lines: "lines %s of the output",
		},
		pulled: "Draft pull request: %s", branched: "The branch is there, without a pull request: %s",
		returned: "What the tool returned, with e-mail addresses, phone numbers and personal numbers masked:", entries: "It is long: of the %s entries of its longest list only the first %s are shown.",
		bytes:      "It is long: of its %s bytes only the first %s are shown.",
		resultGone: "What the tool returned is not kept any more.", resultOld: "What the tool returned is older, and is not shown any more. Propose the call again if you need it.",
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
		m.Content += x.ErrorDetail
	case x.CancelReason == ReasonExpired:
		m.own(fmt.Sprintf(w.expired, x.Number))
	case x.CancelReason == ReasonOutdated:
		m.own(fmt.Sprintf(w.outdated, x.Number))
	default:
		m.own(fmt.Sprintf(w.cancelled, x.Number))
	}
	if x.CancelReason == "" { // these texts name files and programs
		m.quote(x.ResultSummary)
		m.quote(x.ErrorDetail)
	}
	if x.ExitCode != nil {
		m.own(fmt.Sprintf(w.exit, *x.ExitCode))
	}
	for _, line := range x.RanLines(locale) {
		m.own(line)
	}
	if p := x.Pushed; p != nil && p.URL() != "" {
		m.own(fmt.Sprintf(map[bool]string{true: w.pulled, false: w.branched}[p.Number > 0], p.URL()))
	}
	m.changes(w, x)
	if text := x.printed(w); text != "" {
		m.own(text)
		m.quote(x.tail)
	}
	return m
}

// printed says how many lines the output has, and which of them are not kept or not shown.
func (x *Action) printed(w words) string {
	if x.Lines == 0 && x.tail == "" {
		return ""
	}
	text, shown := fmt.Sprintf(w.output, Grouped(x.Lines)), x.Lines+1
	if gone := x.NotKept(); gone != "" {
		text += fmt.Sprintf(w.notKept, gone)
	}
	if x.tail != "" {
		shown = x.tailFrom
	}
	if shown > 1 {
		text += fmt.Sprintf(w.notShown, NumbersOf([]Lines{{1, shown - 1}}, false))
	}
	if x.tail != "" {
		text += w.tail
	}
	return text
}

// changes adds what an action changed; paths are quoted.
func (m *Message) changes(w words, x *Action) {
	if d := x.Changed; d != nil && d.Files > 0 {
		m.own(fmt.Sprintf(w.changed, d.Files, d.Added, d.Removed))
		m.quote(strings.Join(d.Names, "\n"))
		if more := d.Files - len(d.Names); more > 0 {
			m.own(fmt.Sprintf(w.more, more))
		}
	}
	if x.NotTaken {
		m.own(w.notTaken)
	}
}

// own adds a line in the system's own words.
func (m *Message) own(text string) {
	m.quote(text)
	m.Own = append(m.Own, Span{len(m.Content) - len(text), len(m.Content)})
}

// quote adds a quoted text on a new line.
func (m *Message) quote(text string) {
	if m.Content != "" && text != "" {
		m.Content += "\n"
	}
	m.Content += text
}

// Piece is a part of a system message: the system's own words, or a quotation.
type Piece struct {
	Text   string
	Quoted bool
}

// Pieces splits a system message into own words and quotations, without blank pieces. In rows of earlier releases about
// an action, everything counts as quoted.
func (m Message) Pieces() (all []Piece) {
	own := m.Own
	switch at := strings.Index(m.Content, m.Detail); {
	case own != nil, m.ActionID != "":
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

var _ aggregate.Asking = (*Action)(nil)
