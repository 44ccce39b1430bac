package demo

import "strings"

// follow keeps to an approved policy of the demo's own, by the very lines it wrote: what
// people stamped counts, not what the message once said. It reports false for a policy of somebody else's.
func (r *reading) follow(policy string) bool {
	own := false
	for _, t := range []words{japanese, englishWords} {
		for line := range strings.SplitSeq(policy, "\n") {
			own = r.line(t, line) || own
		}
		r.validate = r.validate || strings.Contains(policy, strings.TrimRight(t.validateLine, "。."))
		r.noNotice = r.noNotice || strings.Contains(policy, strings.TrimRight(t.noNoticeLine, "。."))
		r.noSheet = r.noSheet || strings.Contains(policy, strings.TrimRight(t.noSheetLine, "。."))
		r.humanCheck = r.humanCheck || strings.Contains(policy, strings.TrimRight(t.humanLine, "。."))
	}
	if m := toldForm().FindStringSubmatch(policy); m != nil {
		r.recipients = nil
		for _, id := range idForm().FindAllStringSubmatch(m[0], -1) {
			r.tell(id[1] + id[2])
		}
	}
	r.slot.follow(policy, r.now)
	return own
}

// toldForm finds the words in which a policy says who is told.
var (
	toldForm = form(`(?:完了したら、|When done, tell )(?:(?:<@[UW][A-Z0-9]+>|[\w.+-]+@[\w.-]+\w)(?:、|, )?)+`)
	idForm   = form(`<@([UW][A-Z0-9]+)>|([\w.+-]+@[\w.-]+\w)`)
)

// line takes in one line of a policy. It reports whether it is one that only the demo writes.
func (r *reading) line(t words, line string) bool {
	if said, ok := within(line, t.period); ok {
		if p := scan(said).when(r.now); len(p.months) > 0 {
			r.period.months, r.assumed = p.months, false
		}
		return true
	}
	if said, ok := within(line, t.scopeOf); ok {
		r.departments = strings.Split(said, t.and)
		return true
	}
	if line == t.scope {
		r.departments = nil
		return true
	}
	return false
}

// within finds what stands in place of a form's %s.
func within(line, form string) (string, bool) {
	before, after, _ := strings.Cut(form, "%s")
	said, ok := strings.CutPrefix(line, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(said, after)
}
