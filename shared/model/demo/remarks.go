package demo

import (
	"slices"
	"strings"

	"ringi/shared/words/legible"
)

// fate is what became of a part of a remark: applied, unclear or needed, which are words, too.
type fate struct{ reason, form string }

// heed follows the reasons of rejections, each sentence by itself: what is understood of a reason is followed, and what
// is not is named. Steps are planned after the policy is stamped, so only what leaves steps out or asks for a check
// counts there.
func (w *wish) heed(in input, steps bool) {
	for _, v := range in.Earlier {
		whole, lines := strings.Join(strings.Fields(v.Reason), " "), w.lines()
		if whole == "" {
			continue
		}
		if steps && len(v.Steps) == 0 { // of older versions only the reason is known, so the steps are planned again
			v.Steps, _ = plan(in, w)
		}
		if steps {
			lines = kindsOf(v.Steps)
		}
		fates := w.remark(v.Reason, lines, steps)
		if !slices.ContainsFunc(fates, func(f fate) bool { return f.form != fates[0].form }) {
			fates = []fate{{whole, fates[0].form}}
		}
		for _, f := range fates {
			if f.form != "applied" {
				f.reason = oneLine(f.reason)
			}
			w.fates = append(w.fates, f)
		}
	}
}

// follow takes the reasons that an approved policy says it followed, because people stamped what came of them.
func (w *wish) follow(policy string) {
	before, after, _ := strings.Cut("\n• "+w.say("applied", w.words.Say["quote"])+"\n", "%s")
	listed := policy[max(0, strings.LastIndex(policy, w.words.Say["earlier"])):]
	for line := range strings.SplitSeq(listed, "\n") {
		reason, ok := strings.CutPrefix("\n"+line+"\n", before)
		if reason, done := strings.CutSuffix(reason, after); ok && done {
			w.remark(reason, w.lines(), false)
		}
	}
}

// remark follows the sentences of a reason. One that is not understood is split at its commas. lines are the kinds of
// the numbered lines that people saw.
func (w *wish) remark(reason string, lines []string, steps bool) (out []fate) {
	rest, said, _ := quotations(reason)
	one := func(w *wish, part []token) fate {
		form, text := w.merge(slices.Clone(part), said, lines, steps), joined(part)
		for i, s := range said {
			text = strings.ReplaceAll(text, string(firstQuotation+rune(i)), w.quoted(s))
		}
		return fate{text, form}
	}
	for _, part := range split(lex(normal(rest), true), "s") {
		some, n, pieces := []fate{one(w, part)}, w.copy(), split(part, "j")
		if some[0].form == "unclear" && len(pieces) > 1 {
			var each []fate
			for _, p := range pieces {
				each = append(each, one(n, p))
			}
			if slices.ContainsFunc(each, func(f fate) bool { return f.form == "applied" }) {
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

// flags are the tags of a remark that change something else than a request's scope.
var flags = []string{"nodm", "nosheet", "neither", "dm", "sheet", "check", "validate", "brief", "tab"}

// merge reads a sentence as a wish of its own, and changes the request by it if all of it was understood. Not even a
// reason goes beyond a stamped policy.
func (w *wish) merge(all []token, said, lines []string, steps bool) (became string) {
	asks := func(tags ...string) bool {
		return slices.ContainsFunc(all, func(t token) bool { return t.is(tags...) })
	}
	n, to := &wish{words: w.words, now: w.now, topic: w.topic, slot: slot{day: w.now}, is: map[string]bool{}}, w.copy()
	n.take(all, said)
	scoped := len(n.months)+len(n.departments)+len(n.people) > 0
	out, known, against := to.leave(all, lines)
	adds := slices.ContainsFunc(all, func(t token) bool {
		return t.is("add", "too") || t.text == "も" || t.is("dest") && strings.Contains(t.text, "も")
	})
	for i := range all {
		t := &all[i]
		t.used = t.used || t.is("add") || scoped && t.is("set", "only", "too", "send")
	}
	switch {
	case against:
		return "needed"
	case !known, len(strange(all)) > 0, n.no != "" || len(n.quotes) > 0, pairs(all) != "",
		!scoped && !out && !asks(flags...),
		steps && (scoped || asks("brief", "tab") || asks("dm") && w.is["nodm"] || asks("sheet") && w.is["nosheet"]),
		scoped && (adds == asks("set", "only") && len(n.people) == 0 || !to.change(n, adds)):
		return "unclear"
	}
	to.is["nodm"], to.is["nosheet"] = to.is["nodm"] && !asks("dm"), to.is["nosheet"] && !asks("sheet", "tab")
	for flag, set := range n.is {
		to.is[flag] = to.is[flag] || set
	}
	if n.tab != "" {
		to.tab = n.tab
	}
	to.is["assumed"] = to.is["assumed"] && len(n.months) == 0
	*w = *to
	return "applied"
}

// change extends a request's scope or replaces a part of it. It reports false if it is about something that the scope
// does not have: a request without departments is about everybody already.
func (w *wish) change(n *wish, adds bool) bool {
	if w.is["nodm"] && len(n.people) > 0 || adds && len(n.departments) > 0 && len(w.departments) == 0 {
		return false
	}
	w.copied = w.copied && (adds || len(n.people) == 0) || adds && len(n.people) > 0 && len(w.people) == 0
	w.months = slices.Sorted(slices.Values(changed(w.months, n.months, adds)))
	w.departments, w.people = changed(w.departments, n.departments, adds), changed(w.people, n.people, adds)
	return true
}

func changed[T comparable](had, wanted []T, adds bool) []T {
	if !adds && len(wanted) > 0 {
		return wanted
	}
	for _, x := range wanted {
		had = add(had, x)
	}
	return had
}

// leave leaves out the lines that a remark names by their numbers. known is false if there is no such line, or if it is
// one of several of its kind; against, if others need what is left out. A validation is always before the calculation.
func (w *wish) leave(all []token, lines []string) (out, known, against bool) {
	var kinds []string
	for i := range all {
		t := &all[i]
		if t.is("beside") {
			at := number(t.named["n"]) + min(1, len(t.named["after"]))
			t.used = at == 1+slices.Index(lines, "calculate") &&
				slices.ContainsFunc(all, func(t token) bool { return t.is("validate") })
		}
		for _, n := range numberForm.Get().FindAllString(t.text, -1) {
			if t.is("out") {
				kinds = append(kinds, append([]string{"none"}, append(lines, "none")...)[min(number(n), len(lines)+1)])
			}
		}
		t.used = t.used || t.is("out")
	}
	count := func(list []string, kind string) int { return strings.Count(strings.Join(list, " ")+" ", kind+" ") }
	for _, kind := range kinds {
		switch kind {
		case "sheet", "dm":
			w.is["no"+kind] = true
		case "validate", "check":
			w.is[kind] = false
		case "none":
			return false, false, false
		default:
			against = true
			continue
		}
		if count(kinds, kind) < count(lines, kind) {
			return false, false, false
		}
	}
	return len(kinds) > 0, true, against
}

// remarks are up to three lines: reasons of rejections that the plan follows, reasons that were not understood, and
// reasons against steps that other steps need. They have space for fifty reasons.
func (w *wish) remarks() string {
	said, lines := map[string][]string{}, []string{}
	for _, f := range w.fates {
		said[f.form] = add(said[f.form], w.words.quote(legible.Clip(f.reason, 1600/len(w.fates)-2)))
	}
	for _, form := range []string{"applied", "unclear", "needed"} {
		if len(said[form]) > 0 {
			lines = append(lines, w.say(form, strings.Join(said[form], "")))
		}
	}
	return strings.Join(lines, "\n")
}

// became says what became of the reasons up to the newest that was followed. open are those after it.
func (w *wish) became() (followed []string, open map[string][]string) {
	open = map[string][]string{}
	for n, f := range w.fates {
		open[f.form] = add(open[f.form], f.reason)
		if f.form == "applied" {
			followed, open = nil, map[string][]string{}
			for _, f := range w.fates[:n+1] {
				followed = append(followed, w.say(f.form, w.words.quote(f.reason)))
			}
		}
	}
	return followed, open
}

// Examples are reasons that would be followed by this policy.
func (w *wish) Examples() (known []string) {
	for reason := range strings.SplitSeq(w.words.Say["feedback"], "|") {
		if w.copy().merge(lex(normal(reason), true), nil, w.lines(), false) == "applied" {
			known = append(known, reason)
		}
	}
	return known
}
