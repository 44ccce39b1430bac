package explain

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/isolated"
	"ringi/shared/words/language"
)

// goOn are phrases for what people do to continue: within a sentence, at its beginning, and where it may be one of
// several buttons. Undone says what did not happen, such as "nothing was begun".
type goOn struct{ Again, Press, Button, Undone string }

// endWords are the texts of one language. In sentences {detail} is replaced by the reason's detail, and {again},
// {press}, {button} and {undone} by the phrases of goOn: a task's card has buttons to continue, in a conversation
// people write.
type endWords struct {
	Detail, Seconds      string
	Spent                string // the amount and its limit
	AtMost               string // a limit on the number of tasks
	Untouched            string // no write was called
	NotWritten           string // each failed
	People               string // people whom a policy mentions, and the limit
	Sources              string // by which a person may begin conversations
	NoSources            string
	SourceUnnamed        string
	NoneUnnamed          string // the same where there is no source
	Step                 string
	Decided              string            // what a decision alone was on, with its number
	RuleRefuses          string            // names the rule and has what it says
	RuleStops            string            // the same, while steps run
	Lacks                map[string]string // why a stage finds nobody, and what to do; without a code: nobody knows why
	Aged                 string            // for how many days an approval was good
	Task, Run, Talk, Log goOn
	Sentences, Unmet     map[aggregate.Reason]string // Unmet: where people are found, not those that the rule needs
	StandIns             map[aggregate.Reason]string // notices of delegations
	Unread               map[conversation.Cause]string
	UnreadOfRequest      map[conversation.Cause]string `json:"unread_of_request"` // where it differs from Unread
	NotAttached          map[task.LeftOut]string       `json:"not_attached"`
	Remarks              map[isolated.FileRemark]string
}

var endWordsOf = language.Catalog[endWords]{Files: &texts, Folder: "texts/ended"}

// Ended describes a reason. A detail (a tool, a step, seconds for a timeout) follows in brackets, or stands on a
// line before if it has sentences itself. An unknown reason is described as our own fault, and an unknown locale is
// treated as Japanese.
func Ended(locale string, r aggregate.Reason, detail string, by Retry) string {
	w := endWordsOf.In(locale)
	return w.sentence([]goOn{{Undone: w.Task.Undone}, w.Task, w.Run}[by], r, detail)
}

// EndedInTalk is Ended for conversations with an agent.
func EndedInTalk(locale string, r aggregate.Reason, detail string) string {
	w := endWordsOf.In(locale)
	if text, own := conversation.Unanswered(locale, r); own {
		return text + w.inBrackets(r, detail)
	}
	return w.sentence(w.Talk, r, detail)
}

// Unwritten says of steps' results that no call can have written; "" if one did, or may have.
func Unwritten(locale string, rows []*task.StepResult) string {
	w, where := endWordsOf.In(locale), ""
	for _, row := range rows {
		if row.Access == aggregate.Read {
			continue
		}
		if row.Status != task.StepFailed {
			return ""
		}
		if server, _, is := tenancy.ServerTool(row.Tool); is { // it may have done something before it reported an error
			where = server
		}
	}
	if where != "" {
		return fill(w.NotWritten, "where", where)
	}
	return w.Untouched
}

// DecidedOn says what a decision alone was on, with its number.
func DecidedOn(locale, title, number string) string {
	return fill(endWordsOf.In(locale).Decided, "title", title, "number", number)
}

// StandIn describes the notice of a delegation. The caller has made its names fit to be shown.
func StandIn(locale string, r aggregate.Reason, told task.StandInTold) string {
	return endWordsOf.In(locale).standIn(r, told)
}

func (w endWords) standIn(r aggregate.Reason, told task.StandInTold) string {
	return fill(w.StandIns[r], "hand", told.Hand, "principal", told.Principal, "from", told.From,
		"until", told.Until, "by", told.By)
}

func (w endWords) sentence(how goOn, r aggregate.Reason, detail string) string {
	if told, is := task.StandInOf(r, detail); is {
		return w.standIn(r, told)
	}
	text, ok := w.Sentences[r]
	if !ok {
		text = w.Sentences[task.ReasonRunFailed]
	}
	if text := w.byRule(r, detail); text != "" {
		return text
	}
	if x, is := lackOf(r, detail); is {
		return fill(how.put(w.unrouted(r, x), w.inBrackets(r, x[0])), "why", w.lacks(x))
	}
	if r == task.ReasonApprovalAged && detail != "" {
		return fill(w.Aged, "days", detail)
	}
	if strings.ContainsAny(detail, "。()") || strings.HasSuffix(detail, ".") {
		text = how.put(text, "")
		if r == task.ReasonToolConstraint || r == task.ReasonToolFailed { // the detail says what happened
			text = strings.TrimSpace(strings.TrimPrefix(text, Happened(text)))
		}
		if r == task.ReasonUnsupported { // the verdict, then the reason and what helps
			detail, text = text, detail
		}
		return strings.TrimSpace(detail + "\n" + text)
	}
	return how.put(text, w.inBrackets(r, detail))
}

func (how goOn) put(text, detail string) string {
	if how.Again == "" && pressed.Get().MatchString(text) {
		text = Happened(text)
	}
	return fill(text, "detail", detail, "again", how.Again, "press", how.Press, "button", how.Button, "undone",
		how.Undone)
}

// sentences end outside of quotation marks.
var sentences = []*language.Regexp{{Text: `^(?:「[^」]*」|[^「])*?。`}, {Text: `^(?:“[^”]*”|[^“])*?\. `}}

// Happened is the first sentence of a text, which says what happened and not what to do.
func Happened(text string) string {
	for _, sentence := range sentences {
		if said := sentence.Get().FindString(text); said != "" {
			return strings.TrimSpace(said)
		}
	}
	return text
}

// Length says how long something lasted, "" for zero: below ten seconds it has tenths.
func Length(locale string, d time.Duration) string {
	units := language.InEach([3]string{" 時間", " 分", " 秒"}, [3]string{" h", " min", " s"}).In(locale)
	h, m, s, alone := units[0], units[1], units[2], language.InEach("秒", " s").In(locale)
	switch seconds := int(d.Round(time.Second).Seconds()); {
	case d <= 0:
		return ""
	case d < 10*time.Second-time.Second/20:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", max(d.Seconds(), 0.1)), ".0") + alone
	case seconds < 60:
		return fmt.Sprintf("%d%s", seconds, alone)
	case seconds < 3600 && seconds%60 == 0:
		return fmt.Sprintf("%d%s", seconds/60, m)
	case seconds < 3600:
		return fmt.Sprintf("%d%s %d%s", seconds/60, m, seconds%60, s)
	case seconds/60%60 == 0:
		return fmt.Sprintf("%d%s", seconds/3600, h)
	default:
		return fmt.Sprintf("%d%s %d%s", seconds/3600, h, seconds/60%60, m)
	}
}

// Unread says why an agent could not read an attachment.
func Unread(locale, why string) string {
	return endWordsOf.In(locale).Unread[conversation.CauseOf(why)]
}

// UnreadFile says why a file of a request was not read.
func UnreadFile(locale, why string) string {
	return cmp.Or(endWordsOf.In(locale).UnreadOfRequest[conversation.CauseOf(why)], Unread(locale, why))
}

// NotAttached says why a file of a request is not attached; "" if it is.
func NotAttached(locale string, f task.ReadFile) string {
	switch {
	case f.Left != "":
		return fill(endWordsOf.In(locale).NotAttached[f.Left], "types", strings.Join(task.FileTypes, ", "),
			"most", strconv.Itoa(task.MaxAttached))
	case f.SHA256 == "":
		return UnreadFile(locale, f.Why)
	}
	return ""
}

// FileRemark says what the text of an attachment doesn't show.
func FileRemark(locale string, r isolated.FileRemark) string { return endWordsOf.In(locale).Remarks[r] }

// EndDetail returns a reason's detail in brackets: seconds for a timeout, the amount and the limit for costs and
// people.
func EndDetail(locale string, r aggregate.Reason, detail string) string {
	return endWordsOf.In(locale).inBrackets(r, detail)
}

func (w endWords) inBrackets(r aggregate.Reason, detail string) string {
	spent, limit, sums := strings.Cut(detail, "/")
	switch {
	case detail == "":
		return ""
	case r == task.ReasonTimeout && strings.Trim(detail, "0123456789") == "":
		return fill(w.Seconds, "detail", detail)
	case r == task.ReasonStepsNotDone:
		return fill(w.Detail, "detail", fill(w.Step, "step", detail))
	case (r == task.ReasonCostLimit || r == task.ReasonDayBudget) && sums:
		return fill(w.Spent, "spent", spent, "limit", limit)
	case r == task.ReasonOpenPerson || r == task.ReasonHourPerson:
		return fill(w.AtMost, "n", Grouped(detail))
	case r == task.ReasonNoSource && sums && spent == "":
		text := w.SourceUnnamed
		if limit == "" {
			text = w.NoneUnnamed
		}
		return fill(text, "names", limit)
	case r == task.ReasonNoSource && sums && limit == "":
		return fill(w.NoSources, "name", spent)
	case r == task.ReasonNoSource && sums:
		return fill(w.Sources, "name", spent, "names", limit)
	case r == task.ReasonTooManyPeople && sums:
		return fill(w.People, "n", spent, "limit", limit)
	}
	return fill(w.Detail, "detail", detail)
}

// Say adds a sentence for people. Personal data in texts of vendors and schemas is masked; an unknown recipient is
// shown, so that people can correct it. For a long rate limit the sentence says when it ends.
func (e *CallError) Say(locale string, now time.Time) *CallError {
	args := slices.Clone(e.Args)
	for i, a := range args {
		if text, ok := a.(string); ok && e.Problem != ProblemNoRecipient {
			args[i] = language.Mask(text)
		}
	}
	said := e.Problem
	if said == ProblemRateLimited && e.RetryAfter >= time.Minute && len(args) == 1 {
		said, args = ProblemLimitedUntil, append(args, Clock(locale, now.Add(e.RetryAfter)))
	}
	e.Detail = FailedCall(locale, said, args...)
	return e
}

// lineWords are the texts of one language. {name} is a placeholder for a value.
type lineWords struct {
	open, shut, nothing, empty, unread, missing, more, result, resultAt, resultCalled, server string
	atMost, exactly, oneRow, listed, oneListed, asked, automatic, step, nth                   string
}

func lineWordsOf(locale string) *lineWords { return language.InEach(&japanese, &english).In(locale) }

const between = " · "

var japanese = lineWords{
	missing: "(指定なし)", more: "引数 ",
	open: "「", shut: "」", nothing: "(なし)", empty: "(空)", unread: "ステップ {n} ({tool}) の引数を読み取れません",
	result: "{step}の結果", resultAt: "{step}の結果の「{path}」", resultCalled: "{step}の{heading}",
	atMost: "最大 {n} 行", exactly: "{n} 行", oneRow: "1 行", listed: "{n} 件", oneListed: "1 件",
	server: "{server} の {tool}", step: "ステップ{n}", nth: "{n} 件目",
	asked: "依頼: {who} · 承認: {by}", automatic: "自動承認",
}

var english = lineWords{
	missing: "(not given)", more: "argument ",
	open: "“", shut: "”", nothing: "(none)", empty: "(empty)", unread: "Couldn't read the arguments of step {n} ({tool})",
	result: "the result of {step}", resultAt: "“{path}” from {step}", resultCalled: "the {heading} from {step}",
	atMost: "up to {n} rows", exactly: "{n} rows", oneRow: "1 row", listed: "{n} entries", oneListed: "1 entry",
	server: "{tool} on {server}", step: "step {n}", nth: "item {n}",
	asked: "Requested by {who} · approved by {by}", automatic: "nobody (automatic)",
}

func (w *lineWords) rows(n string) string {
	if n == "1" {
		return w.oneRow
	}
	return fill(w.exactly, "n", Grouped(n))
}

// entries says how many things a list beside the line has.
func (w *lineWords) entries(n int) string {
	if n == 1 {
		return w.oneListed
	}
	return fill(w.listed, "n", n)
}

// Sent is the line below a message that a step sends: who asked for it, and who stamped it, if somebody was asked to.
func Sent(locale, who string, by ...string) string {
	w := lineWordsOf(locale)
	return fill(w.asked, "who", who, "by", cmp.Or(Surface{Locale: locale}.few(by), w.automatic))
}

// NoToken returns the error of a call without a token: why there is none and what people can do.
func NoToken(p Provider, err error) *CallError {
	var known *CallError
	if errors.As(err, &known) {
		return known
	}
	e := &CallError{Outcome: CallFailed, Problem: ProblemLocked, Args: []any{p}, Err: err}
	ended := tenancy.ErrNotConnected{}
	switch {
	case errors.As(err, &ended):
		e.Problem = ending(ended.Reason)
	case errors.Is(err, aggregate.ErrNotFound):
		e.Problem = ProblemNotConnected
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		e.Problem = ProblemTimeout
	}
	return e
}

func ending(why tenancy.IntegrationReason) Problem {
	switch why {
	case tenancy.CredentialRefused:
		return ProblemUnauthorized
	case tenancy.CredentialLost:
		return ProblemTokenLost
	case tenancy.AppUninstalled:
		return ProblemUninstalled
	case tenancy.TokensRevoked:
		return ProblemRevoked
	case tenancy.CredentialElsewhere:
		return ProblemElsewhere
	}
	return ProblemNotConnected
}

//go:embed texts
var texts embed.FS

type callWords struct {
	Providers map[Provider]string
	Problems  map[Problem]string
	NotListed map[string]string // by the constraint; ProblemNotListed has the words for others
}

var callWordsOf = language.Catalog[callWords]{Files: &texts, Folder: "texts/failedcall"}

// Called returns what a provider is called.
func (p Provider) Called(locale string) string { return p.name(callWordsOf.In(locale).Providers) }

// FailedCall tells people in their language what went wrong and what they can do.
func FailedCall(locale string, p Problem, args ...any) string {
	w := callWordsOf.In(locale)
	text, ok := w.Problems[p]
	if !ok {
		return string(p)
	}
	if p == ProblemNotListed && len(args) > 1 {
		constraint, _ := args[1].(string)
		text = cmp.Or(w.NotListed[constraint], text)
	}
	named := make([]any, len(args))
	for i, a := range args {
		named[i] = a
		switch a := a.(type) {
		case Provider:
			named[i] = a.name(w.Providers)
		case string:
			if strings.Contains(text, fmt.Sprintf("%s%%[%d]", lineWordsOf(locale).open, i+1)) {
				named[i] = Within(locale, a)
			}
		}
	}
	return fmt.Sprintf(text, named...)
}

// Clock formats a time, rounded up to the minute. In Japanese it is in Japan's time zone.
func Clock(locale string, t time.Time) string {
	t = t.Add(time.Minute - time.Nanosecond).Truncate(time.Minute)
	return language.InEach(
		t.In(tenancy.Zone()).Format("1月2日 15:04 (日本時間)"),
		t.UTC().Format("15:04 UTC on January 2"),
	).In(locale)
}

// Provider is a vendor's name as in integrations.
type Provider string

const (
	Freee  Provider = "freee"
	Google Provider = "google"
	Slack  Provider = "slack"
	GitHub Provider = "github"
)

func (p Provider) name(names map[Provider]string) string {
	if name, ok := names[p]; ok {
		return name
	}
	if server, ok := strings.CutPrefix(string(p), "mcp:"); ok {
		return server + " (MCP)"
	}
	return string(p)
}
