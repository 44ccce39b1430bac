package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// template writes a line of a tool's file.
//
//go:noinline
func (l *writer) template(f *tenancy.OwnTool, text string) {
	l.fill(text, func(name string) {
		v := l.take(name)
		words := wordsFor(f.Arguments[name], v)
		if words == nil {
			l.value(v)
			return
		}
		l.fill(words.In(l.locale), func(string) {
			if day, is := v.(string); is && date.Get().MatchString(day) {
				l.add(Value, day)
				return
			}
			l.value(v)
		})
	})
}

// date is a day or a month, which nothing else in a line looks like.
var date = language.Regexp{Text: `^20[0-9]{2}-[01][0-9](-[0-3][0-9])?$`}

// wordsFor returns the words for an argument's value, nil if the value is shown as it is.
func wordsFor(a tenancy.ToolArgument, v any) language.Texts {
	var words language.Texts
	switch v := v.(type) {
	case nil:
		words = a.Null
	case missing:
		words = a.Absent
	case string:
		words = a.Is[v]
	case json.Number:
		words = a.Number[v.String()]
	}
	if words == nil {
		return a.Other
	}
	return words
}

// headings returns what people call the members of rows that come from a tool of the catalog, in the language of a
// title that is one of a member's headings; nil for other rows.
func (l *writer) headings(rows any) func(member, title string) string {
	path, _ := reference(rows)
	s, inside := source(path, l.earlier)
	if s == nil || inside == "" {
		return nil
	}
	f, known := tenancy.OwnToolNamed(s.Tool)
	if !known {
		return nil
	}
	return func(member, title string) string {
		for _, locale := range language.All {
			if f.Heading(locale, inside+"."+member) == title {
				return title
			}
		}
		return f.Heading(l.locale, inside+"."+member)
	}
}

// columns writes each column's title, and what fills it unless people call that by the title.
func (l *writer) columns(columns []any, headings func(member, title string) string) {
	for i, c := range columns {
		if i > 0 {
			l.words(", ")
		}
		key, title, _ := pair(c, "key", "title")
		name, member := title.(string), key.(string)
		heading := ""
		if headings != nil {
			heading = headings(member, name)
		}
		l.name(name)
		switch {
		case heading != "" && heading != name:
			l.words(" = (" + heading + ")")
		case heading == "" && (member != name || headings != nil):
			l.words(" = ")
			l.name(member)
		}
	}
}

// most returns how many rows a reference gives at most: the limit of its tool or of a sheet.
func (l *writer) most(rows any) int {
	sheet, _ := tenancy.OwnToolNamed(toolSheet)
	path, _ := reference(rows)
	step, _, _ := strings.Cut(path, ".")
	if s, _ := source(step+".result", l.earlier); s != nil {
		if f, ok := tenancy.OwnToolNamed(s.Tool); ok {
			return min(f.Limits.MaxRows, sheet.Limits.MaxRows)
		}
	}
	return sheet.Limits.MaxRows
}

var userForm = language.Regexp{Text: `^[UW][A-Z0-9]{2,40}$`}

// titled names a step's tool: as its server does, which anybody may write, and by its name.
func (l *writer) titled(s *task.Step) {
	if s.ToolTitle == "" || strings.HasSuffix(s.Tool, "."+s.ToolTitle) {
		l.foreign(s.Tool)
		return
	}
	l.quoted(s.ToolTitle)
	l.words(" (")
	l.foreign(s.Tool)
	l.words(")")
}

// foreign names a tool of an MCP server, or one that doesn't exist any more.
func (l *writer) foreign(name string) {
	server, own, ok := tenancy.ServerTool(name)
	if !ok {
		l.name(name)
		return
	}
	l.fill(l.w.server, func(part string) { l.name(map[string]string{"server": server, "tool": own}[part]) })
}

// pair returns the members of an object that has exactly these two.
func pair(v any, first, second string) (a, b any, ok bool) {
	m, _ := v.(map[string]any)
	a, hasFirst := m[first]
	b, hasSecond := m[second]
	return a, b, hasFirst && hasSecond && len(m) == 2
}

const toolSheet = "write_rows_to_google_sheet"

// CallOutcome says whether a call without a result had an effect.
type CallOutcome string

const (
	CallFailed  CallOutcome = "failed"  // it had no effect
	CallUnknown CallOutcome = "unknown" // a write was sent, and no answer says whether it was done
)

// CallError is why a call of a tool or a vendor returned no result, and whether it can have had an effect.
type CallError struct {
	Outcome    CallOutcome
	Problem    Problem
	Detail     string        // a sentence for people, without credentials
	RetryAfter time.Duration // how long the vendor asks to wait; 0 if it doesn't say
	Args       []any         // the values in the sentence
	Err        error         // the cause, for logs
}

// Fail returns the error of a call that had no effect. args are the values in the sentence; err is the cause, or nil.
func Fail(why Problem, err error, args ...any) *CallError {
	return &CallError{Outcome: CallFailed, Problem: why, Args: args, Err: err}
}

func (e *CallError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s (%s): %v", e.Problem, e.Outcome, e.Err)
	}
	return fmt.Sprintf("%s (%s)", e.Problem, e.Outcome)
}

func (e *CallError) Unwrap() error { return e.Err }

// Unsure reports whether a call that ended with this error may have had an effect. Only a *CallError can rule that out.
func Unsure(err error) bool {
	e, is := errors.AsType[*CallError](err)
	return err != nil && (!is || e.Outcome == CallUnknown)
}

// Problem is a kind of error. Each has a sentence in every language.
type Problem string

const (
	ProblemNotConnected Problem = "not_connected" // provider
	ProblemUnauthorized Problem = "unauthorized"  // provider
	ProblemForbidden    Problem = "forbidden"     // provider
	ProblemNotFound     Problem = "not_found"     // provider
	ProblemDenied       Problem = "denied"        // provider, what it said
	ProblemRateLimited  Problem = "rate_limited"  // provider
	ProblemLimitedUntil Problem = "limited_until" // provider, until when
	ProblemRejected     Problem = "rejected"      // provider, what it said
	ProblemDown         Problem = "down"          // provider, status
	ProblemTimeout      Problem = "timeout"       // provider
	ProblemUnreachable  Problem = "unreachable"   // provider
	ProblemLost         Problem = "lost"          // provider
	ProblemBadAnswer    Problem = "bad_answer"    // provider
	ProblemBadArguments Problem = "bad_arguments" // tool, what is wrong
	ProblemBadData      Problem = "bad_data"      // how many, the first of them
	ProblemNoRecipient  Problem = "no_recipient"  // recipient
	ProblemNoCompany    Problem = "no_company"    // provider
	ProblemTokenLost    Problem = "token_lost"    // provider
	ProblemUninstalled  Problem = "uninstalled"   // provider
	ProblemRevoked      Problem = "revoked"       // provider
	ProblemElsewhere    Problem = "elsewhere"     // provider
	ProblemLocked       Problem = "locked"        // provider
	ProblemChanged      Problem = "changed"       // provider, tool
	ProblemAddress      Problem = "address"       // provider
	ProblemNotListed    Problem = "not_listed"    // tool, constraint, value, the values that are
	ProblemNoValue      Problem = "no_value"      // tool, argument, number of the earlier step, where in its result
	ProblemTooMany      Problem = "too_many"      // tool, constraint, limit, how many
	ProblemTooLong      Problem = "too_long"      // tool, its longest argument, characters of the message, limit
	ProblemUnbound      Problem = "unbound"       // tool, what is wrong with its constraints
	ProblemTooLarge     Problem = "too_large"     // tool, limit with its unit
	ProblemNoDepartment Problem = "no_department" // provider, department, those that there are
	ProblemPayMonth     Problem = "pay_month"     // provider, what it says
	ProblemPeriod       Problem = "period"        // provider, employee id, month asked for, first day, last day
	ProblemSheetFull    Problem = "sheet_full"    // provider, cells it would have, limit
	ProblemCellTooLong  Problem = "cell_too_long" // provider, row, column's letters and title, characters, limit
	ProblemInternal     Problem = "internal"      // tool
)
