package card

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// slackMarks writes people, channels and times in Slack's markup, and others' words by inline.
type slackMarks struct{ w *words }

func (m slackMarks) Person(id string) string        { return m.w.mention(id) }
func (m slackMarks) Time(t time.Time) string        { return when(t) }
func (m slackMarks) Text(s string, most int) string { return inline(s, most) }

func (m slackMarks) Group(id string) string {
	if idForm.Get().MatchString(id) {
		return "<!subteam^" + id + ">"
	}
	return or(inline(id, maxTool), m.w.None)
}

func (m slackMarks) Channel(id string) string {
	if idForm.Get().MatchString(id) {
		return "<#" + id + ">"
	}
	return ""
}

func (w *words) surface() explain.Surface {
	return explain.Surface{Locale: w.Locale, Marks: slackMarks{w}}
}

// Surface returns the phrases of refusals and notes in Slack.
func Surface(locale string) explain.Surface { return wordsOf.In(locale).surface() }

// Note returns the sentence about an error, in mrkdwn.
func Note(locale string, err error) string {
	return told(locale, func(s explain.Surface) string { return s.Note(err) })
}

// told phrases a refusal in a locale. An empty locale means that the settings could not be read: then it uses every
// language, one below the other.
func told(locale string, say func(explain.Surface) string) string {
	locales := []string{locale}
	if locale == "" {
		locales = language.All
	}
	var lines []string
	for _, l := range locales {
		lines = append(lines, say(wordsOf.In(l).surface()))
	}
	return strings.Join(lines, "\n")
}

// Unreachable is the direct message to a requester whose channel refuses cards for good. refusal is Slack's error code.
func Unreachable(locale, channel, refusal string) string {
	w := wordsOf.In(locale)
	name := or(slackMarks{w}.Channel(channel), or(inline(channel, maxTool), w.None))
	return fill(w.Unreachable, "channel", name, "code", or(inline(refusal, maxTool), w.None))
}

// Sentence says what happened and what people can do next. The detail can't format, link or mention.
func Sentence(locale string, r aggregate.Reason, detail string, by explain.Retry) string {
	if told, is := task.StandInOf(r, detail); is {
		w := wordsOf.In(locale)
		told.Hand, told.Principal, told.By = w.mention(told.Hand), w.mention(told.Principal), w.mention(told.By)
		told.From, told.Until = inline(told.From, maxTool), inline(told.Until, maxTool)
		return explain.StandIn(locale, r, told)
	}
	fit := func(s string) string { return inline(s, maxDetail) }
	return explain.Ended(locale, r, explain.FitDetail(r, detail, fit, wordsOf.In(locale).mention), by)
}

// reply answers a message that became no task: first Ringi's sentence, then the model's, if there is one, in the same
// language.
func (d drawing) reply() string {
	why := d.a.Head.Ended.Reason
	if r := d.a.Answer; r != nil {
		if said := people(inline(r.Sentence, 2*task.MaxSentence)); said != "" {
			return Sentence(language.Detect(said, d.w.Locale), why, "", explain.NoRetry) + "\n" + said
		}
	}
	if told, is := d.a.Reminded(); is {
		return d.reminded(told)
	}
	return Sentence(d.w.Locale, why, d.a.Head.Ended.Detail, explain.NoRetry)
}

// Page returns where the console shows a request or a conversation, or "" without its address.
func Page(console string, ref aggregate.Ref) string {
	at := map[string]string{task.Kind.Name: "/tasks/", conversation.Kind.Name: "/sessions/",
		call.Kind.Name: "/calls/"}[ref.Kind]
	valid := aggregate.ValidID(ref.ID) || call.ValidID(ref.ID) || conversation.ValidID(ref.ID)
	if console == "" || at == "" || !valid {
		return ""
	}
	return console + at + ref.ID
}

// Suggestions are examples of requests; Slack shows at most four.
func Suggestions(locale string) []Suggestion {
	s := wordsOf.In(locale).Suggestions
	return s[:]
}

// AskAgent suggests a conversation with an agent: its message begins with the agent's id, which addresses it.
func AskAgent(locale, agent string) Suggestion {
	s := wordsOf.In(locale).AskAgent
	s.Message = agent + ": " + s.Message
	return s
}

// NoRequest is a note to whoever wrote in the thread of a request that waits for people: it is no request of its own.
// Whoever may reject that one gets a button: it opens the dialog for that, with their words in it.
func NoRequest(a *task.Aggregate, by aggregate.Actor, p aggregate.Policy, words, locale string) (
	text string, blocks []slack.Block) {
	w, asks := wordsOf.In(locale), askWordsOf.In(locale)
	open, _ := a.OpenGate()
	waits := fill(w.NoRequest, "title", titleOf(a, asks, "{text}"))
	x, _ := explain.AskOf(a, open.ID)
	if acts := Acts(words); acts || !x.MayReject(by, p) {
		text = waits + "\n" + map[bool]string{true: NoteActs.Told(locale), false: w.Elsewhere}[acts]
		return text, []slack.Block{section(text)}
	}
	hash, stage := x.Hash, w.surface().Route(x.Gate, true, x.Origin, tenancy.Settings{}).Present
	value := ident(open.ID) + "/" + hash
	if utf8.RuneCountInString(words) <= aggregate.MaxReason {
		value += "/" + words
	}
	text = waits + " " + w.RejectsSo + "\n" + w.Elsewhere
	return text, []slack.Block{section(text), slack.NewActionBlock(shownID(a.Head.TaskID, stage, hash),
		button(w.Reject, "reject_"+string(open.Kind), value, slack.StyleDanger))}
}

// acting matches words by which people think that they decide or cancel something, however these end, and the id behind
// them.
var acting = language.Regexp{Text: `(?i)^(?:[^\pL\pN]|[<‹]@[^>›]*[>›]|:[+\w-]+:|さん|はい|すみません(?:が)?|` +
	`ごめんなさい|お疲れ(?:様|さま)です|(?:了解|承知|確認)(?:です|しました)?|問題(?:ありません|なし)|やっぱり|一旦|please|i )*` +
	`(?:(?:この)?(?:依頼|申請|件)[をは])?` +
	`(?:(?:承認|却下|否決|差し?戻|取り?消|取り?下げ|取り?[や止]め|中止|撤回|不要|キャンセル)[ぁ-ゖー致願頂下済]*|` +
	`(?:approved?|reject(?:ed)?|cancel(?:l?ed)?|withdrawn?)(?: (?:this|it|the|my))?(?: request)?|lgtm)` +
	"(?:[\\s\\p{Z}]+`?\\w*\\d\\w*`?)?" +
	`(?:[^\pL\pN]|:[+\w-]+:|(?:よろしく|お願い|ありがとう)[ぁ-ゖ致願]*|please|thanks?(?: you)?)*$`}

// Acts reports whether all that somebody writes is that they decide or cancel something, which only a button does.
func Acts(text string) bool { return acting.Get().MatchString(language.Narrow(text)) }

// Elsewhere is a note to whoever replied in direct messages without a mention, where nothing waits.
func Elsewhere(locale string) string {
	return wordsOf.In(locale).NotRead + "\n" + wordsOf.In(locale).Elsewhere
}

// EditNote is a note to whoever edited the message of their request.
func EditNote(locale string) string { return wordsOf.In(locale).EditNote }

// reminded tells somebody what waits for them, a line for each item.
func (d drawing) reminded(told task.Reminded) string {
	w := askWordsOf.In(d.w.Locale)
	head := w.Reminded
	switch {
	case told.Shared:
		head = w.RemindedShared
	case told.As > 0:
		head = w.RemindedAs
	}
	lines := []string{fill(head, "n", told.N, "as", told.As)}
	for _, x := range told.Items {
		lines = append(lines, d.remindedLine(x, w))
	}
	if more := told.N - len(told.Items); more > 0 {
		lines = append(lines, fill(w.RemindedMore, "n", more))
	}
	last := w.RemindedDaily
	if told.Shared {
		return strings.Join(append(lines, w.RemindedSharedDaily), "\n")
	}
	if d.Console != "" && d.settings.RulesRev > 0 {
		last += linkAs(d.Console+"/stand-ins", w.HomeStandIn)
	}
	return strings.Join(append(lines, last), "\n")
}

func (d drawing) remindedLine(x task.RemindedItem, w *askWords) string {
	title := explain.Titled(or(inline(x.Title, maxListTitle), d.w.Untitled), x.Later)
	amount := ""
	if x.Amount.Moves() {
		amount = " " + explain.Money(w.Locale, x.Amount)
	}
	line := fill(w.RemindedItem, "title", title, "amount", amount, "who", d.w.mention(x.Asker))
	line += w.as(x.For) + w.until(x.Until)
	return line + opens(or(x.Link, Page(d.Console, aggregate.Ref{Kind: x.Kind, ID: x.ID})), w)
}
