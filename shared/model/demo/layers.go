package demo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/task"
	"ringi/shared/words/lazy"
	"ringi/shared/words/legible"
)

func extract(r reading) map[string]string {
	out := map[string]string{"kind": "task", "sentence": "", "title": "", "description": "", "priority": r.priority,
		"task_type": "standard"}
	if r.priority == "urgent" {
		out["task_type"] = "urgent"
	}
	switch why := r.cannot(); {
	case r.asksForHelp():
		out["kind"], out["sentence"] = "help", why
	case why != "":
		out["kind"], out["sentence"] = "unsupported", why
	case r.noTools:
		out["kind"], out["sentence"] = "unsupported", r.form("noTools")
	default:
		out["title"], out["description"] = r.title(), fmt.Sprintf(r.words.Say["describe"], legible.Clip(r.text, 2500))
	}
	return out
}

func (r reading) asksForHelp() bool {
	return r.shut == "" && (r.text == "" || r.courtesy || helpForm.Get().MatchString(r.text))
}

func (r reading) title() string {
	if r.topic == other {
		return cmp.Or(oneLine(r.text), r.words.Say["titleEmpty"])
	}
	return r.form("title")
}

// form is what the words say of the topic under a name, filled in.
func (r reading) form(name string) string {
	t, then, text := r.words, "", ""
	if r.dated() {
		then = fmt.Sprintf(t.Say["about"], r.when())
	}
	if len(r.quotes) > 0 {
		text = oneLine(r.quotes[0])
	}
	said := strings.NewReplacer("{of}", r.of(t.Say["titleOf"]), "{when}", r.when(), "{then}", then, "{to}", r.addressees(), "{text}", text,
		"{booked}", r.booked(), "{supplier}", r.order.supplier, "{short}", oneLine(r.order.supplier))
	if own := t.Topics[r.topic.name()][name]; own != "" {
		return said.Replace(strings.ReplaceAll(own, "{handled}", r.topic.read().Demo.Words[t.Locale].Handled))
	}
	return said.Replace(t.ofList(r.topic.read(), name))
}

// of puts the departments into a form. It returns an empty text for the whole company.
func (r reading) of(form string) string {
	if len(r.departments) == 0 {
		return ""
	}
	return fmt.Sprintf(form, strings.Join(r.departments, r.words.Say["and"]))
}

// when names the months: as a range, or one by one if there are gaps.
func (r reading) when() string {
	months, t := r.months, r.words
	first, last := months[0], months[len(months)-1]
	if len(months) > 1 && int(last-first) == len(months)-1 {
		return t.month(first) + t.Say["to"] + t.month(last)
	}
	var all []string
	for _, m := range months {
		all = append(all, t.month(m))
	}
	return strings.Join(all, t.Say["and"])
}

// dated reports whether a request is about months: its records', or those as of which a list is read.
func (r reading) dated() bool {
	l := r.topic.list()
	return r.withMonth() || l != nil && l.past && !r.assumed
}

func (r reading) withMonth() bool { return r.topic == attendance || r.topic == overtime }

func (r reading) withSheet() bool {
	return (r.withMonth() || r.topic >= lists) && !r.noSheet
}

// sheetOr returns the first text if results are written to the sheet, and the second if they are only counted.
func (r reading) sheetOr(sheet, counts string) string {
	if r.withSheet() {
		return sheet
	}
	return counts
}

// part is one table of the result, for one department, and for one month if the topic has months.
type part struct {
	department string
	month      month
	tab        string
}

// parts are the request's tables, each with its own tab.
func (r reading) parts() []part {
	departments, months := r.departments, r.months
	if len(departments) == 0 {
		departments = []string{""}
	}
	if !r.dated() {
		months = []month{0}
	}
	var out []part
	for _, d := range departments {
		for _, m := range months {
			out = append(out, part{d, m, r.tabOf(d, m, len(departments) > 1, len(months) > 1)})
		}
	}
	return out
}

// tabOf makes a tab's name from everything the table is about, so that different requests write to different tabs. A
// name from the message is used unchanged, unless there are several tables.
func (r reading) tabOf(department string, m month, departments, months bool) string {
	tab := r.tab
	if tab == "" && r.topic >= lists || tab == "" && r.withMonth() {
		tab = r.form("tab")
	}
	if m != 0 && (months || r.tab == "") {
		tab = strings.TrimSpace(tab + " " + m.text())
	}
	if department != "" && (departments || r.tab == "") {
		tab += " " + department
	}
	return tab
}

// cannot returns why nothing is planned and what the demo could do instead, or an empty text if there is a plan.
func (r reading) cannot() string {
	t := r.words
	switch {
	case r.asksForHelp():
		return t.examples()
	case len(r.recipients) > task.MaxMentioned:
		return fmt.Sprintf(t.Say["tooManyTold"], len(r.recipients), task.MaxMentioned)
	case len(r.unread) > 0:
		return t.withExamples(t.unread(r.unread) + r.where(r.unread...) + r.shut)
	case len(r.stops) > 0:
		return t.withExamples(r.stops[0] + r.shut)
	case r.shut != "":
		return t.withExamples(r.shut)
	case r.topic == meeting && r.slot.wrong(r.now):
		return t.Topics["meeting"]["wrong"]
	case r.topic == purchase && r.order.wrong:
		return t.Topics["purchase"]["wrong"]
	case r.dated() && len(r.months) > maxMonths:
		return fmt.Sprintf(t.Say["tooLong"], len(r.months), maxMonths)
	case len(r.parts()) > maxParts:
		return fmt.Sprintf(t.Say["tooMany"], len(r.parts()), maxParts)
	case r.withMonth() && r.withSheet() && len(r.parts()) > maxTables:
		return fmt.Sprintf(t.Say["tooWide"], len(r.parts()), maxTables)
	}
	return ""
}

// withExamples adds examples to the reason why nothing is planned, if an answer has space for both.
func (t words) withExamples(why string) string {
	if utf8.RuneCountInString(why+t.examples()) > task.MaxSentence {
		return legible.Clip(strings.TrimSpace(why), task.MaxSentence)
	}
	return why + t.examples()
}

// maxUnread is the most phrases that a refusal quotes.
const maxUnread = 4

// unread says which phrases were not understood.
func (t words) unread(phrases []string) string {
	said := fmt.Sprintf(t.Say["noWords"], t.quoted(phrases[:min(len(phrases), maxUnread)]))
	if more := len(phrases) - maxUnread; more > 0 {
		said = fmt.Sprintf(t.Say["tooMuch"], t.quoted(phrases[:maxUnread]), more)
	}
	return said
}

func (t words) quoted(said []string) string {
	var out []string
	for _, s := range said {
		out = append(out, fmt.Sprintf(t.Say["quote"], oneLine(s)))
	}
	return strings.Join(out, t.Say["andQuoted"])
}

// maxParts keeps a plan within task.MaxSteps: a part without a table takes four of them, one with a table five.
const maxParts = task.MaxSteps / 5

// maxTables is the most tables that a card of steps can show in full. Nobody may stamp steps that they can't see in
// full.
const maxTables = 9

var helpForm = &lazy.Regexp{Text: `(?i)^\W*(?:help|usage|hi|hello|hey|what can you do|how do i use (?:this|you|it)|使い方|ヘルプ|何が?でき(?:る|ます)|できること|こんにちは|こんばんは|おはよう|はじめまして)[\p{Hiragana}\p{P}\s!?]*$`}

// doubts are the first lines of a policy: what of the newest reasons it does not follow, which words make no difference
// to it, and what it does differently from the request.
func (r reading) doubts() (lines []string) {
	t := r.words
	if open := r.open(); open != "" {
		lines = append(lines, open)
	}
	if r.noTools {
		lines = append(lines, r.form("noTools"))
	}
	if !r.withMonth() {
		if l := r.topic.list(); l != nil && !l.past && !r.assumed {
			lines = append(lines, t.ofList(l, "noHistory"))
		}
		return lines
	}
	if r.marked && r.withSheet() {
		lines = append(lines, t.Say["marks"])
	}
	if last := r.months[len(r.months)-1]; last > thisMonth(r.now) {
		lines = append(lines, fmt.Sprintf(t.Say["ahead"], t.month(last)))
	}
	return lines
}

func draft(r reading) string {
	if why := r.cannot(); why != "" {
		return why + "\n" + r.words.Say["nothing"]
	}
	lines := append(r.doubts(), r.head()...)
	var how []string
	for i, a := range r.how() {
		if r.brief {
			how = append(how, strings.TrimRight(a.text, "。."))
		} else {
			how = append(how, fmt.Sprintf("%d. %s", i+1, a.text))
		}
	}
	if r.brief {
		lines = append(lines, r.words.Say["how"]+" "+strings.Join(how, " → "))
	} else {
		lines = append(append(lines, r.words.Say["how"]), how...)
	}
	lines = append(lines, r.form("privacy"))
	return strings.Join(append(lines, r.followed()...), "\n")
}

func (r reading) head() []string {
	t := r.words
	lines := []string{r.form(r.sheetOr("purpose", "count"))}
	switch {
	case r.topic == meeting:
		return append(lines, r.meetingPolicy()...)
	case r.topic == purchase:
		return append(lines, r.orderPolicy()...)
	case r.topic == message:
		return lines
	}
	lines = append(lines, r.scope())
	if !r.dated() {
		return lines
	}
	period := t.Say["period"]
	if r.withMonth() && slices.Contains(r.months, thisMonth(r.now)) {
		period = t.Say["periodSoFar"]
	}
	lines = append(lines, fmt.Sprintf(period, r.when()))
	if !r.withMonth() {
		return lines
	}
	if r.assumed {
		lines = append(lines, t.Say["assumedMonth"])
	}
	if r.fiscal {
		lines = append(lines, t.Say["fiscal"])
	}
	return lines
}

// scope says whom a request is about. Who was there in a month is as of that month.
func (r reading) scope() string {
	then := ""
	if r.dated() {
		then = "Then"
	}
	l := r.topic.read()
	said := cmp.Or(r.of(r.words.ofList(l, "scopeOf"+then)), r.words.ofList(l, "scope"+then))
	if r.dated() {
		said = strings.ReplaceAll(said, "{when}", r.when())
	}
	return said
}

func (r reading) addressees() string {
	var out []string
	if r.copied && r.topic != message {
		out = append(out, r.words.Say["requester"])
	}
	for _, id := range r.recipients {
		out = append(out, mention(id))
	}
	if last := len(out) - 1; last > 0 {
		return strings.Join(out[:last], r.words.Say["and"]) + r.words.Say["andLast"] + out[last]
	}
	return cmp.Or(strings.Join(out, ""), r.words.Say["requester"])
}

// action is a line of a policy's list. Its kind says what a reason such as “leave out step 4” leaves out.
type action struct{ kind, text string }

const (
	actRead, actCalculate, actValidate = "read", "calculate", "validate"
	actSheet, actNotice, actCheck      = "sheet", "notice", "check"
	actNone                            = "none" // says what is not done
)

// booked reports whether a topic is one of the servers' tools, which read and write nothing else.
func (t topic) booked() bool { return t == meeting || t == purchase }

func (r reading) how() []action {
	t := r.words
	if r.topic == message {
		say := fmt.Sprintf(t.Say["sayLine"], r.addressees(), fmt.Sprintf(t.Say["quote"], r.quotes[0]))
		if r.humanCheck {
			return []action{{actCheck, t.Say["humanLine"]}, {actRead, say}}
		}
		return []action{{actRead, say}}
	}
	var how []action
	add := func(when bool, kind, text string) {
		if when {
			how = append(how, action{kind, text})
		}
	}
	add(!r.topic.booked(), actRead, t.ofList(r.topic.read(), "read"))
	add(r.topic == purchase, actRead, t.Topics["purchase"]["place"])
	add(r.topic == meeting, actRead, t.Topics["meeting"]["find"])
	add(r.topic == meeting, actRead, t.Topics["meeting"]["book"])
	add(r.withMonth(), actRead, t.Say["readAttendance"])
	add(r.validate, actValidate, t.Say["validateLine"])
	add(r.withMonth(), actCalculate, r.sheetOr(t.Say["calculate"], t.Say["count"]))
	add(r.withMonth() && len(r.months) > 1, actCalculate, r.sheetOr(t.Say["average"], t.Say["countAverage"]))
	add(r.withSheet(), actSheet, r.sheetLine())
	add(r.noSheet, actNone, t.Say["noSheetLine"])
	add(r.noSheet && !r.topic.booked(), actNone, t.Say["onlyCounts"])
	add(r.noNotice, actNone, t.Say["noNoticeLine"]+t.Say["toldLine"]) // Ringi posts a card at every request's end
	add(!r.noNotice, actNotice, fmt.Sprintf(t.Say["noticeLine"], r.addressees()))
	add(r.humanCheck, actCheck, t.Say["humanLine"])
	return how
}

func (r reading) sheetLine() string {
	t := r.words
	var tabs, titles []string
	for _, p := range r.parts() {
		tabs = append(tabs, p.tab)
	}
	for _, key := range columnsOf(r.topic) {
		titles = append(titles, t.title(r.topic, key))
	}
	return fmt.Sprintf(t.Say["sheetLine"], t.quoted(tabs), strings.Join(titles, t.Say["and"]))
}
