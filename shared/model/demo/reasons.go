package demo

import (
	"fmt"
	"slices"
	"strings"

	"ringi/shared/words/lazy"
)

// take follows the reasons of rejections. Steps are planned after the policy is stamped, so only reasons count there
// that leave steps out or ask for a check.
func (r *reading) take(in input, steps bool) {
	for _, v := range in.Earlier {
		reason := oneLine(v.Reason)
		if reason == "" {
			continue
		}
		if steps && len(v.Steps) == 0 { // of older versions only the reason is known, so the steps are planned again
			v.Steps, _, _ = plan(in, *r)
		}
		switch understood, needed := r.takeOne(v, steps); {
		case needed:
			r.needed, r.fates = add(r.needed, reason), append(r.fates, fate{reason, r.words.StillNeeded})
		case understood:
			r.taken, r.fates = add(r.taken, reason), append(r.fates, fate{reason, r.words.Reflected})
		default:
			r.refused, r.fates = add(r.refused, reason), append(r.fates, fate{reason, r.words.NotReflected})
		}
	}
}

// fate is what became of a reason, as a form of the words.
type fate struct{ reason, form string }

// since returns the fates up to the newest reason that was followed, and those after it.
func (r reading) since() (upTo, after []fate) {
	n := len(r.fates)
	for n > 0 && r.fates[n-1].form != r.words.Reflected {
		n--
	}
	return r.fates[:n], r.fates[n:]
}

// open is a policy's first line if its newest reasons are not followed, else empty. It says which, and what would be
// understood. The rest of such a policy is that of the version before.
func (r reading) open() string {
	t := r.words
	_, after := r.since()
	var strange, needed []string
	for _, f := range after {
		if f.form == t.StillNeeded {
			needed = add(needed, f.reason)
		} else {
			strange = add(strange, f.reason)
		}
	}
	var said []string
	if n := len(strange); n > 0 {
		said = append(said, fmt.Sprintf(t.Refused, t.quoted(strange[max(0, n-maxUnread):])))
	}
	if n := len(needed); n > 0 {
		said = append(said, fmt.Sprintf(t.Kept, t.quoted(needed[max(0, n-maxUnread):])))
	}
	if len(strange) > 0 {
		said = append(said, r.examples())
	}
	return strings.TrimSpace(strings.Join(said, ""))
}

// examples says which reasons would be followed by this policy.
func (r reading) examples() string {
	var known []string
	for reason := range strings.SplitSeq(r.words.Feedback, "|") {
		n := r
		if understood, _ := n.takeOne(version{Reason: reason}, false); understood {
			known = append(known, reason)
		}
	}
	if len(known) == 0 {
		return ""
	}
	return fmt.Sprintf(r.words.Understood, r.words.quoted(known))
}

// followed are the last lines of a policy: what became of the reasons, up to the newest that was followed.
func (r reading) followed() (lines []string) {
	upTo, _ := r.since()
	for _, f := range upTo {
		lines = add(lines, "• "+fmt.Sprintf(f.form, fmt.Sprintf(r.words.Quote, f.reason)))
	}
	if len(lines) > 0 {
		lines = append([]string{r.words.Earlier}, lines...)
	}
	return lines
}

func add[T comparable](list []T, s T) []T {
	if slices.Contains(list, s) {
		return list
	}
	return append(slices.Clip(list), s)
}

const (
	numbers  = `(\d{1,2}(?:\s*(?:,\s*and|,|、|・|と|や|and|&)\s*(?:ステップ|手順|steps?)?\s*#?\d{1,2})*)`
	leaveOut = `\b(?:without|skip|omit|drop|remove|delete|leave\s+out|take\s+out|cut|no|no\s+need\s+for|(?:do\s+not|don['’]?t)\s+(?:do|need|run)|exclude)\s+(?:the\s+)?`
)

var (
	digitsForm  = &lazy.Regexp{Text: `\d{1,2}`}
	insteadForm = &lazy.Regexp{Text: `(?is)^(.*?)\s*\b(?:instead\s+of|rather\s+than|and\s+not|,?\s+not)\b(.*)$`}
	ratherForm  = &lazy.Regexp{Text: `(?s)^(.*)(?:ではなく|じゃなくて?|でなく|の?(?:代わり|かわり)に)[、,]?\s*(.*)$`}
	// addForm asks for something more, onlyForm for something in place of the rest.
	addForm  = &lazy.Regexp{Text: `(?i)追加|加え|併せ|あわせて|さらに|含め|(?:[部課室月期度分にへ>]|さん|様)\s*も|\b(?:also|too|as\s+well|add|adding|plus|in\s+addition|include|including|cc)\b`}
	onlyForm = &lazy.Regexp{Text: `(?i)ではな|じゃな|でなく|代わり|かわり|だけ|のみ|にして|(?:期間|対象)\s*[はを]|変え|変更|直し|修正|絞|限定|[でに]お願い|\b(?:instead|rather|not|only|just|change|set|make|use|limit|restrict|narrow)\b`}

	stepsOutForm = &lazy.Regexp{Text: `(?i)(?:ステップ|手順)\s*` + numbers + `(?:番目?)?` + none + `|` + numbers + `\s*番目?(?:の?(?:ステップ|手順))?` + none + `|` + leaveOut + `steps?\s*#?` + numbers + `\b|` + leaveOut + numbers + `(?:st|nd|rd|th)\s+step\b|\b(?:leave|take)\s+steps?\s*#?` + numbers + `\s+out\b|\bsteps?\s*#?` + numbers + `\s+(?:is|are|isn['’]?t|aren['’]?t|can\s+be|should\s+be)\s+(?:not\s+)?(?:needed|necessary|unnecessary|removed|dropped|left\s+out|skipped|omitted)\b`}
	onlyStepForm = &lazy.Regexp{Text: `(?i)(?:ステップ|手順)\s*(\d{1,2})\s*(?:だけ|のみ)(?:に|で|を)?(?:して)?|\bonly\s+step\s*#?(\d{1,2})\b`}
	// besideStepForm says before or behind which step something is to be done.
	besideStepForm = &lazy.Regexp{Text: `(?i)(?:ステップ|手順)\s*(\d{1,2})\s*の?(?:直|すぐ)?(?:(?:前|まえ)|(後|あと))に?|\b(?:right\s+)?(?:before|(after))\s+(?:the\s+)?step\s*#?(\d{1,2})\b`}
	changeForm     = &lazy.Regexp{Text: `(?i)(?:に|を|へ)?(?:して|変えて|変更(?:して)?|直して|修正(?:して)?|絞って|限定(?:して)?|追加(?:して)?|加えて|入れて|含めて|併せて|さらに|お願い(?:します)?|願います)|対象(?:は|を)?|期間(?:は|を)?|\b(?:change|set|limit|restrict|narrow|make|use|add|include|plus|only|just|instead|too|as\s+well|period|department|for)\b`}
)

// rather splits a reason such as "September instead of October" into the wanted and the unwanted.
func rather(reason string) (wanted, unwanted string) {
	if m := insteadForm.Get().FindStringSubmatch(reason); m != nil {
		return m[1], m[2]
	}
	if m := ratherForm.Get().FindStringSubmatch(reason); m != nil {
		return m[2], m[1]
	}
	return reason, ""
}

// scope is the extent of a request and its recipients.
type scope struct {
	months      []month
	departments []string
	recipients  []string
}

func (s scope) empty() bool { return len(s.months)+len(s.departments)+len(s.recipients) == 0 }

// takeOne follows a reason that was understood completely. needed reports that it is against steps that others need.
func (r *reading) takeOne(v version, steps bool) (understood, needed bool) {
	rest, said, matched := quotations(v.Reason)
	wanted, unwanted := rather(scan(rest).text)
	n := *r
	n.recipients, n.people, n.unread = nil, nil, nil
	s := scan(wanted)
	s.people(&n)
	understood = n.flags(s)
	out, known, against := n.without(s, v, *r, steps)
	if !known || against {
		return false, against
	}
	understood = understood || out
	stops := len(r.stops)
	s.groups(&n)
	delayed := laterForm.Get().MatchString(s.text)
	p := s.when(r.now)
	departments, told := s.named()
	s.take(priorityForm)
	s.take(sameForm)
	n.self(s)
	s.take(sendForm)
	if about, second := s.about(); about != other && about != r.topic && r.topic != other || second != "" {
		return false, false
	}
	s.take(changeForm)
	strange := r.topic == purchase && len(p.months) > 0 || len(departments) > 0 && !r.topic.takesDepartments() ||
		len(s.unread())+len(n.people)+len(n.unread)+len(said)+len(told)+len(n.stops)-stops > 0 || n.validate && !r.withMonth() || r.topic == message &&
		(n.noNotice || n.noSheet)
	turned := deniedForm.Get().MatchString(s.text) || everyForm.Get().MatchString(s.text) || delayed || p.open != "" ||
		unknownYearForm.Get().MatchString(s.text)
	now := scope{p.months, departments, n.recipients}
	if strange || turned || !matched || steps && !now.empty() || !understood && now.empty() || unwanted != "" &&
		now.empty() {
		return false, false
	}
	n.people, n.unread, n.recipients = r.people, r.unread, r.recipients
	if !now.empty() && !n.change(now, rest, unwanted) {
		return false, false
	}
	if len(p.months) > 0 {
		n.assumed, n.period.part, n.period.quarter = false, p.part, p.quarter
	}
	*r = n
	return true, false
}

// change extends a request's scope or replaces a part of it. It reports false if the reason does neither or both, or is
// about something that the scope does not have.
func (r *reading) change(now scope, reason, unwanted string) bool {
	adds, only := addForm.Get().MatchString(reason), onlyForm.Get().MatchString(reason) || unwanted != ""
	if adds == only || r.noNotice && len(now.recipients) > 0 {
		return false
	}
	had := scope{r.period.months, r.departments, r.recipients}
	if adds {
		if len(now.departments) > 0 && len(had.departments) == 0 { // the request is about everybody already
			return false
		}
		r.copied = r.copied || len(now.recipients) > 0 && len(had.recipients) == 0
		now = scope{with(had.months, now.months), with(had.departments, now.departments),
			with(had.recipients, now.recipients)}
	} else {
		gone, ok := r.gone(unwanted)
		r.copied = r.copied && (len(now.recipients) == 0 || len(gone.recipients) > 0)
		months, ok1 := instead(had.months, gone.months, now.months)
		departments, ok2 := instead(had.departments, gone.departments, now.departments)
		recipients, ok3 := instead(had.recipients, gone.recipients, now.recipients)
		if now = (scope{months, departments, recipients}); !ok || !ok1 || !ok2 || !ok3 {
			return false
		}
	}
	slices.Sort(now.months)
	r.period.months, r.departments, r.recipients = now.months, now.departments, now.recipients
	return true
}

// gone reads the unwanted part of a reason. It reports false if that part has unknown words.
func (r *reading) gone(unwanted string) (out scope, ok bool) {
	s := scan(unwanted)
	for _, m := range s.take(idForm) {
		out.recipients = append(out.recipients, m[1]+m[2])
	}
	out.months = s.when(r.now).months
	out.departments, _ = s.named()
	return out, len(s.unread()) == 0
}

func with[T comparable](had, more []T) []T {
	for _, m := range more {
		had = add(had, m)
	}
	return had
}

// instead replaces the unwanted values by the wanted ones, or all values if none is unwanted. It reports false if had
// lacks an unwanted value, or if there is nothing to replace it by.
func instead[T comparable](had, unwanted, wanted []T) ([]T, bool) {
	switch {
	case len(wanted) == 0:
		return had, len(unwanted) == 0
	case len(unwanted) == 0:
		return wanted, true
	}
	var out []T
	for _, h := range had {
		if !slices.Contains(unwanted, h) {
			out = append(out, h)
		}
	}
	return with(out, wanted), len(with(unwanted, had)) == len(with(nil, had))
}

func (r reading) leaves(kind string) bool { return slices.Contains(r.left, kind) }

// without takes out the numbers of steps that a reason leaves out, or of the only steps that it keeps, and the step
// beside which it wants a validation. was is the reading before the reason. known is false if the version has no such
// step; against, if others need what is left out.
func (r *reading) without(s *scanner, v version, was reading, steps bool) (out, known, against bool) {
	if !r.beside(s, v, was, steps) {
		return false, false, false
	}
	var gone, kept []int
	for _, m := range s.take(stepsOutForm) {
		for _, n := range digitsForm.Get().FindAllString(strings.Join(m[1:], ""), -1) {
			gone = append(gone, number(n))
		}
	}
	for _, m := range s.take(onlyStepForm) {
		kept = append(kept, number(m[1]+m[2]))
	}
	if !steps {
		known, against = r.leaveActions(was.how(), gone)
		return len(gone) > 0, known && len(kept) == 0, against
	}
	var left []string
	for i, step := range v.Steps {
		if slices.Contains(gone, i+1) || len(kept) > 0 && !slices.Contains(kept, i+1) {
			left = append(left, step.kind())
		}
	}
	none := func(n int) bool { return n < 1 || n > len(v.Steps) }
	r.left = append(slices.Clip(r.left), left...)
	return len(left) > 0, !slices.ContainsFunc(gone, none) && !slices.ContainsFunc(kept, none), builtOn(v.Steps, left)
}

// leaveActions leaves out lines of a policy by their numbers.
func (r *reading) leaveActions(how []action, gone []int) (known, against bool) {
	for _, n := range gone {
		if n < 1 || n > len(how) || how[n-1].kind == actNone {
			return false, false
		}
		switch how[n-1].kind {
		case actSheet:
			r.noSheet = true
		case actNotice:
			r.noNotice = true
		case actValidate:
			r.validate = false
		case actCheck:
			r.humanCheck = false
		default:
			against = true
		}
	}
	return true, against
}

// beside takes out the step before or behind which a reason wants a validation. It reports false for any other place
// than before the calculation, where a validation is always done.
func (r *reading) beside(s *scanner, v version, was reading, steps bool) bool {
	if !r.validate || was.validate {
		return true
	}
	at := 1 + slices.IndexFunc(was.how(), func(a action) bool { return a.kind == actCalculate })
	if steps {
		at = 1 + slices.IndexFunc(v.Steps, func(p planned) bool { return p.Tool == "calculate_overtime" })
	}
	for _, m := range s.take(besideStepForm) {
		if n := number(m[1] + m[4]); m[2]+m[3] == "" && n != at || m[2]+m[3] != "" && n+1 != at {
			return false
		}
	}
	return true
}

// builtOn reports whether a remaining step refers to the result of a removed one. A removed step that wrote the sheet
// does not count, because the notice can omit the sheet's address.
func builtOn(steps []planned, left []string) bool {
	for _, gone := range steps {
		if !slices.Contains(left, gone.kind()) || gone.Tool == "write_rows_to_google_sheet" {
			continue
		}
		for _, s := range steps {
			if !slices.Contains(left, s.kind()) && strings.Contains(s.ToolInput, `"`+gone.StepID+`.`) {
				return true
			}
		}
	}
	return false
}
