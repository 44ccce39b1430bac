package demo

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"ringi/shared/words/legible"
)

// fate is what became of a part of a remark: applied, unclear or needed, which are words, too.
type fate struct{ reason, form string }

// heed follows the reasons of rejections, each sentence by itself: what is understood of a reason is followed, and what
// is not is named. Steps are planned after the policy is stamped, so only what leaves steps out or asks for a check
// counts there.
func (w *meant) heed(steps bool) {
	for _, v := range w.in.Earlier {
		whole := strings.Join(strings.Fields(v.Reason), " ")
		if whole == "" {
			continue
		}
		fates := w.remark(v.Reason, steps)
		if !slices.ContainsFunc(fates, func(f fate) bool { return f.form != fates[0].form }) {
			fates = []fate{{whole, fates[0].form}}
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
	before, after, _ := strings.Cut("• "+w.say("applied", w.Say("quote")), "%s")
	listed := policy[max(0, strings.LastIndex(policy, w.Say("earlier"))):]
	for line := range strings.SplitSeq(listed, "\n") {
		reason, ok := strings.CutPrefix(line, before)
		if reason, done := strings.CutSuffix(reason, after); ok && done {
			w.remark(reason, false)
		}
	}
}

// remark follows the sentences of a reason to a version of the policy or the steps. One that is not understood is split
// at its commas.
func (w *meant) remark(reason string, steps bool) (out []fate) {
	said := &meant{words: w.words}
	rest, _ := said.quotations(reason)
	kinds, _ := w.lines() // those of the numbered lines that people saw
	if steps {
		_, kinds, _ = plan(w)
	}
	one := func(to *meant, part []token) fate {
		n := &meant{words: w.words, now: w.now, This: w.This, Topic: w.Topic, said: said.said, Is: map[string]bool{}}
		text := joined(part)
		for i, s := range n.said {
			text = strings.ReplaceAll(text, string(firstQuotation+rune(i)), w.words.quote(s))
		}
		return fate{text, to.merge(n, slices.Clone(part), kinds, steps)}
	}
	for _, part := range split(lex(normal(rest), true), "s") {
		some, n, pieces := []fate{one(w, part)}, w.copy(), split(part, "j")
		if some[0].form == "unclear" && len(pieces) > 1 {
			var each []fate
			for _, p := range pieces {
				each = append(each, one(n, p))
			}
			if len(of(each, "applied")) > 0 {
				*w, some = *n, each
			}
		}
		out = append(out, some...)
	}
	if out == nil {
		return []fate{{reason, "unclear"}}
	}
	return out
}

// merge reads a sentence as a request of its own, n, and changes the request by it if all of it was understood:
// “instead” and “only” replace a month or department, “also” adds who is told, and no other meaning is guessed. Not
// even a reason goes beyond a stamped policy.
func (w *meant) merge(n *meant, all []token, kinds []string, steps bool) (became string) {
	n.take(all)
	to, told, scoped := w.copy(), len(n.people) > 0, !n.Month.IsZero() || n.Part != ""
	out, known, against := to.leave(all, kinds)
	sets := has(all, "set") || slices.ContainsFunc(all, func(t token) bool { return t.named["only"] != "" })
	for i := range all {
		t := &all[i]
		t.used = t.used || t.is("add") && !scoped || t.is("set") && (scoped || told)
	}
	strange, _ := strange(all)
	asks := has(all, "nodm", "nosheet", "neither", "dm", "sheet", "check", "validate", "brief", "tab")
	switch {
	case against:
		return "needed"
	case !known, len(strange) > 0, n.no != "", n.Quote != "", scoped && !sets, w.Is["nodm"] && told && !has(all, "dm"),
		!asks && !scoped && !told && !out,
		steps && (scoped || told || has(all, "brief", "tab") || w.Is["nodm"] && has(all, "dm") ||
			w.Is["nosheet"] && has(all, "sheet")):
		return "unclear"
	}
	if adds := n.copied || has(all, "add"); told {
		to.copied = adds && (w.copied || len(w.people) == 0)
		to.people = map[bool][]string{true: w.people}[adds]
		for _, id := range n.people {
			to.people = add(to.people, id)
		}
	}
	to.Is["nodm"], to.Is["nosheet"] = to.Is["nodm"] && !has(all, "dm"), to.Is["nosheet"] && !has(all, "sheet", "tab")
	maps.Copy(to.Is, n.Is)
	to.Is["assumed"] = to.Is["assumed"] && n.Month.IsZero()
	to.Month, to.Part, to.TabSaid = cmp.Or(n.Month, to.Month), cmp.Or(n.Part, to.Part), cmp.Or(n.TabSaid, to.TabSaid)
	*w = *to
	return "applied"
}

// leave leaves out the lines that a remark names by their numbers. known is false if there is no such line, or if it is
// one of several of its kind; against, if others need what is left out. A validation is always before the calculation.
func (w *meant) leave(all []token, kinds []string) (out, known, against bool) {
	known = true
	for i := range all {
		if !all[i].is("out") {
			continue
		}
		all[i].used, out = true, true
		for _, n := range form("$number").FindAllString(all[i].text, -1) {
			if number(n) < 1 || number(n) > len(kinds) {
				return false, false, false
			}
			kind := kinds[number(n)-1]
			same := slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k != kind })
			known = known && kind != "none" && (kind == "read" || len(same) == 1)
			switch kind {
			case "sheet", "dm":
				w.Is["no"+kind] = true
			case "validate", "check":
				w.Is[kind] = false
			default:
				against = true
			}
		}
	}
	return out, known, against && known
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

// remarks are up to three lines: reasons of rejections that the plan follows, reasons that were not understood, and
// reasons against steps that other steps need. They have space for fifty reasons.
func (w *meant) remarks() string {
	var lines []string
	for _, form := range []string{"applied", "unclear", "needed"} {
		if reasons := of(w.fates, form); len(reasons) > 0 {
			lines = append(lines, w.say(form, w.Quoted(reasons)))
		}
	}
	return strings.Join(lines, "\n")
}

// Followed says what became of the reasons up to the newest that was followed.
func (w *meant) Followed() (lines []string) {
	for _, f := range w.fates[:w.followed] {
		lines = append(lines, w.say(f.form, w.words.quote(f.reason)))
	}
	return lines
}

// Open are the newest reasons after these of which the same became.
func (w *meant) Open(form string) []string {
	reasons := of(w.fates[w.followed:], form)
	return reasons[max(0, len(reasons)-maxUnread):]
}
