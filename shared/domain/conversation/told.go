package conversation

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// words are what a conversation says of itself, to people and the agent.
type words struct {
	Succeeded, Failed, Unknown, Rejected, Expired string // of actions
	Cancelled, Unasked                            string
	NotBegun, PutBack, OutputLater, CallLater     string // of an action that is withdrawn
	LateStopped, LateDone, LateCall, LateUncalled string // what became of it afterwards
	Ran, Exit, Output, All, Some, NotKept         string
	Stopped                                       string
	Changed, Wrote, Deleted, More, NotTaken       string
	Lost, Unread                                  string
	Returned, Bytes, ResultGone, ResultOld        string // of a tool
	Pulled, Branched                              string // of a pull request
	OwnProposal                                   string

	Own    struct{ Command, MayNot, Required, Long, NoText, Open string } // of a command that a person proposes
	Tests  struct{ Tests, Packages, Failed, Skipped, Files, More string }
	Source struct {
		There, Left string
		Failed      map[aggregate.Reason]string
	}
	Thread     struct{ Given, Unread string } // of the messages before the first in its thread
	Offers     struct{ Made, Already string } // of a request that the agent offers to make
	Unanswered map[aggregate.Reason]string
}

//go:embed texts
var texts embed.FS

var wordsOf = language.Catalog[words]{Files: &texts, Folder: "texts"}

// told returns the system's message about an action's result, with the end of its output.
func (x *Action) told(locale string) Message {
	w, m := wordsOf.In(locale), Message{Sender: FromSystem, ActionID: x.ActionID}
	switch {
	case x.Ran():
		m.own(fmt.Sprintf(w.Ran, x.Number, *x.ExitCode))
	case x.Status == ActionSucceeded:
		m.own(fmt.Sprintf(w.Succeeded, x.Number))
	case x.Outcome == OutcomeUnknown:
		m.own(fmt.Sprintf(w.Unknown, x.Number))
	case x.Status == ActionFailed:
		m.own(fmt.Sprintf(w.Failed, x.Number))
	case x.CancelReason == ReasonRejected:
		m.own(fmt.Sprintf(w.Rejected, x.Number))
		m.quote(x.ErrorDetail)
	case x.CancelReason == ReasonExpired:
		m.own(fmt.Sprintf(w.Expired, x.Number))
	case x.CancelReason == ReasonDeleted:
		m.own(fmt.Sprintf(w.Unasked, x.Number))
		m.withdrawn(w, x)
	default:
		m.own(fmt.Sprintf(w.Cancelled, x.Number))
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

// Ran reports whether its program ran and said by its exit code that not all is well, such as a test.
func (x *Action) Ran() bool {
	return x.ExitCode != nil && *x.ExitCode > 0 && x.CancelReason == "" && (x.Error == "" || x.Error == ReasonExit)
}

// withdrawn says what is left of an action that was withdrawn. What it did until it stopped is told by toldLate.
func (m *Message) withdrawn(w *words, x *Action) {
	switch {
	case x.StartedAt == nil:
		m.own(w.NotBegun)
	case x.ActionType == ToolCall:
		m.own(w.CallLater)
	case x.ActionType == CodeGenerate:
		m.own(w.PutBack)
	default:
		m.own(w.PutBack)
		m.own(w.OutputLater)
	}
}

// toldLate returns the system's message about the result of an action that was withdrawn while it executed.
func (x *Action) toldLate(r Result, locale string) Message {
	w, m := wordsOf.In(locale), Message{Sender: FromSystem, ActionID: x.ActionID}
	text := w.LateStopped
	switch done := r.Status == ActionSucceeded; {
	case r.Error == ReasonUnknown:
		text = w.Unknown
	case x.ActionType == ToolCall && done:
		text = w.LateCall
	case x.ActionType == ToolCall:
		text = w.LateUncalled
	case done:
		text = w.LateDone
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
func (m *Message) came(w *words, x *Action, locale string) {
	if x.ExitCode != nil && !x.Ran() {
		m.own(fmt.Sprintf(w.Exit, *x.ExitCode))
	}
	if text := x.Tests.Said(locale); text != "" {
		m.own(text)
	}
	if p := x.Pushed; p != nil && p.URL() != "" {
		m.own(fmt.Sprintf(map[bool]string{true: w.Pulled, false: w.Branched}[p.Number > 0], p.URL()))
	}
	m.changes(w, x)
	if text := x.printed(w); text != "" {
		m.own(text)
		m.quote(x.tail)
	}
}

// printed says how many lines the output has and are not kept, and what of them follows.
func (x *Action) printed(w *words) string {
	if x.Lines == 0 && x.tail == "" {
		return ""
	}
	text := fmt.Sprintf(w.Output, Grouped(x.Lines))
	if x.Dropped > 0 {
		text += fmt.Sprintf(w.NotKept, Grouped(x.Dropped))
	}
	switch {
	case x.tail == "":
	case strings.Count(x.tail, "\n")+1 == x.Lines:
		text += w.All
	default:
		text += w.Some
	}
	return text
}

// changes adds what an action changed; paths are quoted.
func (m *Message) changes(w *words, x *Action) {
	if d := x.Changed; d != nil && d.Files > 0 {
		m.own(fmt.Sprintf(w.Changed, d.Files, d.Added, d.Removed))
		names := slices.DeleteFunc(slices.Clone(d.Names), func(p string) bool { return slices.Contains(d.DeletedNames, p) })
		if d.Deleted > 0 && d.Deleted < d.Files {
			m.own(fmt.Sprintf(w.Wrote, d.Files-d.Deleted))
		}
		m.named(w, names, d.Files-d.Deleted)
		if d.Deleted > 0 {
			m.own(fmt.Sprintf(w.Deleted, d.Deleted))
			m.named(w, d.DeletedNames, d.Deleted)
		}
	}
	if x.NotTaken {
		m.own(w.NotTaken)
	}
}

// named adds the first names of so many.
func (m *Message) named(w *words, names []string, of int) {
	m.quote(strings.Join(names, "\n"))
	if more := of - len(names); more > 0 {
		m.own(fmt.Sprintf(w.More, more))
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
