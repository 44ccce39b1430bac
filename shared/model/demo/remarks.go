package demo

import (
	"maps"
	"slices"
	"strings"

	"ringi/shared/words/legible"
)

// fate is what became of a sentence of a remark: applied or unclear, which are words, too.
type fate struct{ reason, form string }

// heed follows the reasons of rejections, each sentence by itself: what is understood of a reason is followed, and what
// is not is named. Steps are planned after the policy is stamped, so only what leaves steps out or asks for a check
// counts there.
func (w *meant) heed(steps bool) {
	for _, v := range w.in.Earlier {
		fates := w.remark(v.Reason, steps)
		if !slices.ContainsFunc(fates, func(f fate) bool { return f.form != fates[0].form }) && fates != nil {
			fates = []fate{{strings.Join(strings.Fields(v.Reason), " "), fates[0].form}}
		}
		for _, f := range fates {
			if steps || f.form != "applied" { // a policy is planned by what it says that it followed
				f.reason = legible.Clip(oneLine(f.reason), 1600/len(w.in.Earlier))
			}
			if w.fates = append(w.fates, f); f.form == "applied" {
				w.followed = len(w.fates)
			}
		}
	}
}

// follow takes the reasons that an approved policy says it followed, because people stamped what came of them.
func (w *meant) follow(policy string) {
	before, after, _ := strings.Cut("• "+w.Say("applied", w.words.Say["quote"]), "%s")
	listed := policy[max(0, strings.LastIndex(policy, w.Say("earlier"))):]
	for line := range strings.SplitSeq(listed, "\n") {
		reason, ok := strings.CutPrefix(line, before)
		if reason, done := strings.CutSuffix(reason, after); ok && done {
			w.remark(reason, false)
		}
	}
}

// remark follows the sentences of a reason to a version of the policy or the steps.
func (w *meant) remark(reason string, steps bool) (out []fate) {
	var part []token
	for _, t := range append(lex(normal(reason), true), token{tag: "s"}) {
		if !t.is("s") {
			part = append(part, t)
			continue
		}
		if slices.ContainsFunc(part, func(t token) bool { return !t.quiet() }) {
			out = append(out, fate{joined(part), w.merge(part, steps)})
		}
		part = nil
	}
	if out == nil && strings.TrimSpace(reason) != "" {
		return []fate{{reason, "unclear"}}
	}
	return out
}

// merge reads a sentence as a part of the request, and changes the request by it if all of it was understood: “instead”
// and “only” replace a month or department, “to” replaces who is told, and no other meaning is guessed. Not even a reason
// goes beyond a stamped policy.
func (w *meant) merge(all []token, steps bool) (became string) {
	n, told, scoped := *w, has(all, "to"), has(all, "month", "dept")
	n.no, n.Is = "", maps.Clone(w.Is)
	if told {
		n.people = nil
	}
	n.Is["nodm"], n.Is["nosheet"] = w.Is["nodm"] && !has(all, "dm"), w.Is["nosheet"] && !has(all, "sheet", "tab")
	n.take(all)
	on := map[bool]string{false: "remark", true: "steps"}[steps]
	for i := range all {
		t := &all[i]
		t.used = t.used && uses(t.tag, on) || t.is("add") && !scoped && !told || t.is("set") && (scoped || told)
	}
	strange, _ := strange(all)
	sets := slices.ContainsFunc(all, func(t token) bool { return t.is("set") || t.named["only"] != "" })
	switch {
	case len(strange) > 0, n.no != "", scoped && !sets,
		!scoped && !told && !has(all, "nodm", "nosheet", "dm", "sheet", "check", "validate", "brief", "tab"),
		steps && (w.Is["nodm"] && has(all, "dm") || w.Is["nosheet"] && has(all, "sheet")):
		return "unclear"
	}
	n.no, n.Is["assumed"] = w.no, w.Is["assumed"] && !has(all, "month")
	*w = n
	return "applied"
}

// of are the reasons of which the same became, each once.
func of(fates []fate, form string) (reasons []string) {
	for _, f := range fates {
		if f.form == form {
			reasons = add(reasons, f.reason)
		}
	}
	return reasons
}

// remarks are up to two lines: reasons of rejections that the plan follows, and those that were not understood. They
// have space for fifty reasons.
func (w *meant) remarks() string {
	var lines []string
	for _, form := range []string{"applied", "unclear"} {
		if reasons := of(w.fates, form); len(reasons) > 0 {
			lines = append(lines, w.Say(form, w.Quoted(reasons)))
		}
	}
	return strings.Join(lines, "\n")
}

// Followed says what became of the reasons up to the newest that was followed.
func (w *meant) Followed() (lines []string) {
	for _, f := range w.fates[:w.followed] {
		lines = append(lines, w.Say(f.form, w.words.quote(f.reason)))
	}
	return lines
}

// Open are the newest reasons after these: none was understood.
func (w *meant) Open() []string {
	reasons := of(w.fates[w.followed:], "unclear")
	return reasons[max(0, len(reasons)-maxUnread):]
}
