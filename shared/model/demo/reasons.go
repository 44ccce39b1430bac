package demo

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// take follows the reasons of rejections, each sentence by itself: what is understood of a reason is followed, and what
// is not is named. Steps are planned after the policy is stamped, so only what leaves steps out or asks for a check
// counts there.
func (r *reading) take(in input, steps bool) {
	for _, v := range in.Earlier {
		whole := strings.Join(strings.Fields(v.Reason), " ")
		if whole == "" {
			continue
		}
		if steps && len(v.Steps) == 0 { // of older versions only the reason is known, so the steps are planned again
			v.Steps, _, _ = plan(in, *r)
		}
		rest, _, _ := quotations(v.Reason)
		fates := r.sentences(lex(normal(rest), true), v, steps)
		if !slices.ContainsFunc(fates, func(f fate) bool { return f.form != fates[0].form }) {
			fates = []fate{{whole, fates[0].form}}
		}
		for i, f := range fates {
			if f.form != r.words.Say["reflected"] {
				fates[i].reason = oneLine(f.reason)
			}
			switch f.form {
			case r.words.Say["stillNeeded"]:
				r.needed = add(r.needed, f.reason)
			case r.words.Say["reflected"]:
				r.taken = add(r.taken, f.reason)
			default:
				r.refused = add(r.refused, f.reason)
			}
		}
		r.fates = append(r.fates, fates...)
	}
}

// follow takes the reasons that an approved policy says it followed, because people stamped what came of them.
func (r *reading) follow(policy string) {
	before, after, _ := strings.Cut("\n• "+fmt.Sprintf(r.words.Say["reflected"], r.words.Say["quote"])+"\n", "%s")
	for line := range strings.SplitSeq(policy, "\n") {
		reason, ok := strings.CutPrefix("\n"+line+"\n", before)
		if reason, done := strings.CutSuffix(reason, after); ok && done {
			r.sentences(lex(normal(reason), true), version{}, false)
		}
	}
}

// sentences follows the sentences of a reason. One that is not understood is split at its commas.
func (r *reading) sentences(all []token, v version, steps bool) (out []fate) {
	for _, part := range split(all, "s") {
		f := r.sentence(part, v, steps)
		if pieces := split(part, "j"); f.form == r.words.Say["notReflected"] && len(pieces) > 1 {
			var some []fate
			n := *r
			for _, p := range pieces {
				some = append(some, n.sentence(p, v, steps))
			}
			if slices.ContainsFunc(some, func(f fate) bool { return f.form == r.words.Say["reflected"] }) {
				*r, out = n, append(out, some...)
				continue
			}
		}
		out = append(out, f)
	}
	if out == nil {
		out = []fate{{joined(all), r.words.Say["notReflected"]}}
	}
	return out
}

func (r *reading) sentence(part []token, v version, steps bool) fate {
	form := r.words.Say["notReflected"]
	switch understood, needed := r.takeOne(slices.Clone(part), v, steps); {
	case needed:
		form = r.words.Say["stillNeeded"]
	case understood:
		form = r.words.Say["reflected"]
	}
	return fate{joined(part), form}
}

// split parts tokens at those of a tag, and leaves out parts that say nothing.
func split(all []token, tag string) (out [][]token) {
	var part []token
	for _, t := range append(slices.Clone(all), token{tag: tag}) {
		if t.tag != tag {
			part = append(part, t)
			continue
		}
		if slices.ContainsFunc(part, func(t token) bool { return !slices.Contains(quiet, t.tag) }) {
			out = append(out, part)
		}
		part = nil
	}
	return out
}

// fate is what became of a reason, as a form of the words.
type fate struct{ reason, form string }

// since returns the fates up to the newest reason that was followed, and those after it.
func (r reading) since() (upTo, after []fate) {
	n := len(r.fates)
	for n > 0 && r.fates[n-1].form != r.words.Say["reflected"] {
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
		if f.form == t.Say["stillNeeded"] {
			needed = add(needed, f.reason)
		} else {
			strange = add(strange, f.reason)
		}
	}
	var said []string
	if n := len(strange); n > 0 {
		said = append(said, fmt.Sprintf(t.Say["refused"], t.quoted(strange[max(0, n-maxUnread):])))
	}
	if n := len(needed); n > 0 {
		said = append(said, fmt.Sprintf(t.Say["kept"], t.quoted(needed[max(0, n-maxUnread):])))
	}
	if len(strange) > 0 {
		said = append(said, r.examples())
	}
	return strings.TrimSpace(strings.Join(said, ""))
}

// examples says which reasons would be followed by this policy.
func (r reading) examples() string {
	var known []string
	for reason := range strings.SplitSeq(r.words.Say["feedback"], "|") {
		n := r
		if understood, _ := n.takeOne(lex(normal(reason), true), version{}, false); understood {
			known = append(known, reason)
		}
	}
	if len(known) == 0 {
		return ""
	}
	return fmt.Sprintf(r.words.Say["understood"], r.words.quoted(known))
}

// followed are the last lines of a policy: what became of the reasons, up to the newest that was followed.
func (r reading) followed() (lines []string) {
	upTo, _ := r.since()
	for _, f := range upTo {
		lines = append(lines, "• "+fmt.Sprintf(f.form, fmt.Sprintf(r.words.Say["quote"], f.reason)))
	}
	if len(lines) > 0 {
		lines = append([]string{r.words.Say["earlier"]}, lines...)
	}
	return lines
}

// scope is the extent of a request and its recipients.
type scope struct {
	months      []month
	departments []string
	recipients  []string
}

func (s scope) empty() bool { return len(s.months)+len(s.departments)+len(s.recipients) == 0 }

// scopeOf reads what tokens say of the extent, and adds why it can't be to n.stops.
func (r reading) scopeOf(all []token) (out scope, n reading) {
	n = r
	n.months, n.departments, n.recipients, n.copied = nil, nil, nil, false
	n.people(all)
	if r.dates() {
		n.periods(all)
	}
	if r.topic.takesDepartments() {
		n.narrow(all)
	}
	return scope{n.months, n.departments, n.recipients}, n
}

// takeOne follows a sentence that was understood completely. needed reports that it is against steps that others need.
func (r *reading) takeOne(all []token, v version, steps bool) (understood, needed bool) {
	n := *r
	tags := map[string]bool{}
	not := -1
	for i, t := range all {
		tags[t.tag] = true
		if t.tag == "not" {
			not = i
		}
	}
	wanted, unwanted := all, []token{}
	if not >= 0 {
		if wanted, unwanted = all[not+1:], all[:not]; all[not].text[0] < utf8.RuneSelf {
			wanted, unwanted = all[:not], all[not+1:]
		}
		all[not].used = true
	}
	now, read := r.scopeOf(wanted)
	gone, read2 := r.scopeOf(unwanted)
	if len(read.stops)+len(read2.stops) > 2*len(r.stops) || steps && !(now.empty() && gone.empty()) ||
		not >= 0 && now.empty() {
		return false, false
	}
	out, known, against := n.without(all, v, *r, steps)
	if !known || against {
		return false, against
	}
	adds := tags["add"] || tags["too"] || slices.ContainsFunc(all, func(t token) bool {
		return t.text == "も" || t.tag == "dest" && strings.Contains(t.text, "も")
	})
	changes := tags["set"] || tags["only"] || not >= 0
	for i := range all {
		n.remark(&all[i], *r, steps, !now.empty())
	}
	flags := slices.ContainsFunc(all, func(t token) bool {
		return t.used && slices.Contains([]string{"nodm", "nosheet", "neither", "dm", "sheet", "check", "validate", "brief"}, t.tag)
	})
	if len(strange(all)) > 0 || len(n.stops) > len(r.stops) || !out && !flags && now.empty() {
		return false, false
	}
	if !now.empty() && (adds == changes && len(now.recipients) == 0 || !n.change(now, gone, adds)) {
		return false, false
	}
	if len(now.months) > 0 {
		n.assumed, n.fiscal = false, read.fiscal
	}
	*r = n
	return true, false
}

// remark takes up a token of a reason that says nothing of the extent. Not even a reason goes beyond a stamped policy.
func (r *reading) remark(t *token, was reading, steps, scoped bool) {
	of := map[string]topic{"overtime": overtime, "attendance": attendance, "room": meeting}
	switch {
	case t.used:
	case t.tag == "dm" || t.tag == "sheet":
		if had := map[string]bool{"dm": was.noNotice, "sheet": was.noSheet}[t.tag]; had && steps || was.topic == message ||
			t.tag == "sheet" && was.topic.booked() {
			return
		}
		t.used = true
		r.noNotice, r.noSheet = r.noNotice && t.tag != "dm", r.noSheet && t.tag != "sheet"
	case of[t.tag] != other:
		t.used = of[t.tag] == was.topic
	case strings.HasPrefix(t.tag, "list ") && was.topic.list() != nil:
		t.used = t.tag == "list "+was.topic.list().Name
	case t.tag == "send" || t.tag == "only" || t.tag == "too" || t.tag == "set":
		t.used = scoped
	case t.tag == "add":
		t.used = true
	case t.tag == "q" || t.tag == "tab":
	default:
		r.flag(t, nil)
	}
}

// change extends a request's scope or replaces a part of it. It reports false if it is about something that the scope
// does not have.
func (r *reading) change(now, gone scope, adds bool) bool {
	if r.noNotice && len(now.recipients) > 0 || adds && len(now.departments) > 0 && len(r.departments) == 0 {
		return false // a request without departments is about everybody already
	}
	copied := r.copied && (len(now.recipients) == 0 || len(gone.recipients) > 0)
	if adds {
		copied = r.copied || len(now.recipients) > 0 && len(r.recipients) == 0
	}
	months, ok1 := changed(r.months, gone.months, now.months, adds)
	departments, ok2 := changed(r.departments, gone.departments, now.departments, adds)
	recipients, ok3 := changed(r.recipients, gone.recipients, now.recipients, adds)
	if !ok1 || !ok2 || !ok3 {
		return false
	}
	r.months, r.departments, r.recipients, r.copied = slices.Sorted(slices.Values(months)), departments, recipients, copied
	return true
}

// changed adds the wanted values, or puts them in the place of the unwanted ones, or of all values if none is unwanted.
// It reports false if had lacks an unwanted value, or if there is nothing to replace it by.
func changed[T comparable](had, unwanted, wanted []T, adds bool) (out []T, ok bool) {
	switch {
	case len(wanted) == 0:
		return had, len(unwanted) == 0
	case len(unwanted) == 0 && !adds:
		return wanted, true
	}
	for _, h := range had {
		if !slices.Contains(unwanted, h) {
			out = append(out, h)
		}
	}
	ok = len(out)+len(unwanted) == len(had)
	for _, w := range wanted {
		out = add(out, w)
	}
	return out, ok
}

func (r reading) leaves(kind string) bool { return slices.Contains(r.left, kind) }

// without leaves out the steps that a reason names by their numbers, or all but those that it keeps. was is the reading
// before the reason. known is false if the version has no such step; against, if others need what is left out.
func (r *reading) without(all []token, v version, was reading, steps bool) (out, known, against bool) {
	var gone, kept []int
	how := was.how()
	calculates := 1 + slices.IndexFunc(how, func(a action) bool { return a.kind == actCalculate })
	if steps {
		calculates = 1 + slices.IndexFunc(v.Steps, func(p planned) bool { return p.Tool == "calculate_overtime" })
	}
	for i := range all {
		t := &all[i]
		switch t.tag {
		case "out":
			gone, t.used = append(gone, numbers(t.text)...), true
		case "keep":
			kept, t.used = append(kept, numbers(t.text)...), true
		case "beside": // a validation is always done before the calculation
			n := numbers(t.text)[0]
			if has(strings.ToLower(t.text), "後", "あと", "after") {
				n++
			}
			if t.used = n == calculates && slices.ContainsFunc(all, func(t token) bool { return t.tag == "validate" }); !t.used {
				return false, false, false
			}
		}
	}
	if len(gone)+len(kept) == 0 {
		return false, true, false
	}
	if !steps {
		known, against = r.leaveActions(how, gone)
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
