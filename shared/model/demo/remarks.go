package demo

import (
	"cmp"
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
	said := &meant{words: w.words}
	rest, _ := said.quotations(reason)
	for _, part := range sentences(lex(normal(rest), true)) {
		n := &meant{words: w.words, now: w.now, This: w.This, Topic: w.Topic, said: said.said, Is: map[string]bool{}}
		text := joined(part)
		for i, s := range n.said {
			text = strings.ReplaceAll(text, string(firstQuotation+rune(i)), w.words.quote(s))
		}
		out = append(out, fate{text, w.merge(n, part, steps)})
	}
	if out == nil && strings.TrimSpace(reason) != "" {
		return []fate{{reason, "unclear"}}
	}
	return out
}

// merge reads a sentence as a request of its own, n, and changes the request by it if all of it was understood:
// “instead” and “only” replace a month or department, “also” adds who is told, and no other meaning is guessed. Not
// even a reason goes beyond a stamped policy.
func (w *meant) merge(n *meant, all []token, steps bool) (became string) {
	n.take(all)
	told, scoped := len(n.people) > 0, !n.Month.IsZero() || n.Part != ""
	sets := has(all, "set") || slices.ContainsFunc(all, func(t token) bool { return t.named["only"] != "" })
	on := map[bool]string{false: "remark", true: "steps"}[steps]
	for i := range all {
		t := &all[i]
		t.used = t.used && uses(t.tag, on) || t.is("add") && !scoped || t.is("set") && (scoped || told)
	}
	strange, _ := strange(all)
	asks := has(all, "nodm", "nosheet", "neither", "dm", "sheet", "check", "validate", "brief", "tab")
	switch {
	case len(strange) > 0, n.no != "", scoped && !sets, w.Is["nodm"] && told && !has(all, "dm"),
		!asks && !scoped && !told, steps && (w.Is["nodm"] && has(all, "dm") || w.Is["nosheet"] && has(all, "sheet")):
		return "unclear"
	}
	if adds := n.copied || has(all, "add"); told {
		w.copied = adds && (w.copied || len(w.people) == 0)
		w.people = map[bool][]string{true: w.people}[adds]
		for _, id := range n.people {
			w.people = add(w.people, id)
		}
	}
	w.Is["nodm"], w.Is["nosheet"] = w.Is["nodm"] && !has(all, "dm"), w.Is["nosheet"] && !has(all, "sheet", "tab")
	maps.Copy(w.Is, n.Is)
	w.Is["assumed"] = w.Is["assumed"] && n.Month.IsZero()
	w.Month, w.Part, w.TabSaid = cmp.Or(n.Month, w.Month), cmp.Or(n.Part, w.Part), cmp.Or(n.TabSaid, w.TabSaid)
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
