package demo

import (
	"strings"

	"ringi/shared/words/language"
	"ringi/shared/words/lazy"
)

// follow reads an approved policy of the demo's by the lines that the demo wrote into it. It replaces what was read
// from the message, because people stamped the policy.
func (r *reading) follow(policy string) {
	if r.topic == message {
		r.followMessage(policy)
		return
	}
	for _, locale := range language.All {
		t := *spoken.In(locale)
		for line := range strings.SplitSeq(policy, "\n") {
			r.line(t, line)
		}
		r.validate = r.validate || strings.Contains(policy, strings.TrimRight(t.ValidateLine, "。."))
		r.noNotice = r.noNotice || strings.Contains(policy, strings.TrimRight(t.NoNoticeLine, "。."))
		r.noSheet = r.noSheet || strings.Contains(policy, strings.TrimRight(t.NoSheetLine, "。."))
		r.humanCheck = r.humanCheck || strings.Contains(policy, strings.TrimRight(t.HumanLine, "。."))
	}
	if m := toldForm.Get().FindStringSubmatch(policy); m != nil {
		r.recipients, r.copied = nil, false
		for _, locale := range language.All {
			r.copied = r.copied || has(m[0], spoken.In(locale).Requester)
		}
		for _, id := range idForm.Get().FindAllStringSubmatch(m[0], -1) {
			r.recipients = add(r.recipients, id[1]+id[2])
		}
	}
	r.slot.follow(policy, r.now)
	r.order.follow(policy)
}

// followMessage reads a message's recipients and text from a policy. Lines inside the quoted text don't count, because
// they may imitate those of a policy.
func (r *reading) followMessage(policy string) {
	t := r.words
	_, form, _ := strings.Cut(t.SayLine, "%s")
	before, _, _ := strings.Cut(form, "%s")
	begin, end, _ := strings.Cut(t.Quote, "%s")
	head, text, _ := strings.Cut(policy, before+begin)
	at := strings.LastIndex(text, end+"\n"+t.PrivacyMessage)
	if at < 0 {
		return
	}
	r.quotes[0] = text[:at]
	r.humanCheck = r.humanCheck || strings.Contains(head, strings.TrimRight(t.HumanLine, "。."))
	for line := range strings.SplitSeq(head, "\n") {
		if said, ok := within(line, t.PurposeMessage); ok {
			r.recipients = nil
			for _, id := range idForm.Get().FindAllStringSubmatch(said, -1) {
				r.recipients = add(r.recipients, id[1]+id[2])
			}
		}
	}
}

// toldForm matches the part of a policy that says who is notified.
var (
	toldForm = &lazy.Regexp{Text: `(?:完了したら、|When done, (?:tell|send) )(?:(?:依頼者|the requester|<@[UW][A-Z0-9]+>|[\w.+-]+@[\w.-]+\w)(?:、|, | and )?)+`}
	idForm   = &lazy.Regexp{Text: `<@([UW][A-Z0-9]+)>|([\w.+-]+@[\w.-]+\w)`}
)

func (r *reading) line(t words, line string) {
	for _, form := range []string{t.Period, t.PeriodSoFar} {
		if said, ok := within(line, form); ok {
			n := reading{now: r.now, words: t}
			if n.periods(lex(normal(said), false)); len(n.months) > 0 {
				r.months, r.assumed = n.months, false
			}
			return
		}
	}
	l := r.topic.read()
	for _, form := range []string{"scopeOf", "scopeOfThen"} {
		form, _, _ := strings.Cut(t.ofList(l, form), "{when}")
		before, after, _ := strings.Cut(form, "%s")
		said, ok := strings.CutPrefix(line, before)
		if said, _, found := strings.Cut(said, after); ok && found && r.topic.takesDepartments() {
			r.departments = strings.Split(said, t.And)
			return
		}
	}
	if before, after, _ := strings.Cut(t.ofList(l, "scopeThen"), "{when}"); line == t.ofList(l, "scope") ||
		strings.HasPrefix(line, before) && strings.HasSuffix(line, after) {
		r.departments = nil
	}
}

// within returns the part of a line that stands where the form has %s.
func within(line, form string) (string, bool) {
	before, after, _ := strings.Cut(form, "%s")
	said, ok := strings.CutPrefix(line, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(said, after)
}
