package card

import (
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// version is the part that prompts, processes and step gates share.
type version struct {
	routed  // its gate has no status if the row is missing
	kind    aggregate.CardType
	key     string
	id      string
	version int
	words   gateWords
	body    body
	sum     explain.Sum           // of steps or a call
	made    bool                  // there is content
	order   int                   // of a check's step
	next    *aggregate.GateStatus // of the version that follows

	note     []slack.Block // how the version was made
	last     bool          // a rejection ends the task
	replaced string        // who picked the next version in place of this one, and which
}

// told reports whether it is known what steps or a call do.
func (v *version) told() bool { return v.sum.Lead.Order > 0 || len(v.sum.Reads) > 0 }

// versionOf finds a gate by its key or its id. It draws the gate's content in up to most sections.
func (d drawing) versionOf(kind aggregate.CardType, meant func(key, id string) bool, most int) (v version, ok bool) {
	v.kind, v.routed = kind, routed{drawing: d}
	v.Gate = &aggregate.Gate{}
	is := func(key, id string, n int, g *aggregate.Gate) bool {
		if !meant(key, id) {
			return false
		}
		v.key, v.id, v.version, ok = key, id, n, true
		v.routed = d.route(g, g.Status == aggregate.PendingApproval && d.a.Head.Ended == nil, d.a.Origin())
		v.copies, v.step = d.a.CopiesOf(key), kind == task.CardStep
		rests, _ := v.resting()
		d.settled = rests != "" || d.a.Head.Ended != nil ||
			g.Status != aggregate.PendingApproval && g.Status != aggregate.Generating
		d.gate = g.Status
		v.drawing = d
		return true
	}
	switch kind {
	case task.CardPrompt:
		v.words = d.w.Prompt
		for i, p := range d.a.Prompts {
			if is(p.Key(), p.ID, p.Version, &p.Gate) {
				d.policy(&v, i, most)
			}
		}
	case task.CardProcess:
		v.words = d.w.Process
		for i, p := range d.a.Processes {
			if is(p.Key(), p.ID, p.Version, &p.Gate) {
				d.plan(&v, i, most)
			}
		}
	case task.CardStep:
		v.words = d.w.Step
		for _, g := range d.a.Gates {
			if is(g.Key(), g.ID, g.ProcessVersion, &g.Gate) {
				step, line := d.gated(g)
				v.body, v.sum = d.call(step, g.Arguments, most)
				v.body = d.sections(pages(line, maxSection), most).with(v.body)
				v.made, v.order, v.note = true, g.Order, d.checksAgain(step, g)
			}
		}
	}
	v.unreadable = v.sum.Unreadable() != ""
	if seen := v.Gate.Seen; seen != nil && v.told() {
		v.said = string(v.sum.Amount.Value) == seen.Amount && v.sum.Amount.Known()
	}
	return v, ok
}

func (d drawing) policy(v *version, i, most int) {
	p := d.a.Prompts[i]
	v.body, v.last, v.leads = d.prose(p.Content, most), d.a.Last(p), d.others(p)
	v.note = append(d.contested(p), d.edited(p.EditedBy, p.Version)...)
	if v.made = p.Content != ""; v.made {
		v.body = v.body.with(d.attached(p))
	}
	if v.made && !d.settled && !p.Gate.Automatic() {
		v.body.blocks = append(v.body.blocks, contextLine(d.w.OnlyPlans))
	}
	if p.Contest != nil && !p.Contest.Over() {
		v.words.Generating = d.competing(p.Contest)
	}
	at := func(i int) *aggregate.Gate { return &d.a.Prompts[i].Gate }
	why := d.because(i, at)
	if why != "" && v.made && p.Author == "" {
		same := p.Content == d.a.Prompts[i-1].Content
		since := d.sinceWith(p.Version-1, same, why)
		whole := contextLine(fill(askWordsOf.In(d.w.Locale).WhatPrompt, "version", p.Version))
		with := func(more string) body { return body{blocks: append(sectioned(since+more), whole)}.with(v.body) }
		out := with("")
		if !d.settled {
			all := with(d.changed(d.a.Prompts[i-1].Content, p.Content, maxSection/2))
			if !all.bounded().cut {
				out = all
			}
		}
		v.body = out
	}
	if i+1 < len(d.a.Prompts) {
		next := d.a.Prompts[i+1]
		v.next, v.replaced = &next.Status, d.picked(next)
	}
}

func (d drawing) plan(v *version, i, most int) {
	p := d.a.Processes[i]
	since := d.since(i)
	if since == "" {
		v.note = d.edited(d.a.EditorOf(p), p.Version)
	}
	if d.a.MatterOf(p) != nil {
		v.words.Header = d.w.FormHeader
	}
	v.sum, v.last = explain.SumUp(d.w.Locale, p.Steps), d.a.Last(p)
	v.body = d.processBody(p, v.sum, most)
	if plan := *p; since != "" { // answers stand below the reason
		if plan.Remarks = ""; strings.Contains(since, "\n> ") { // and apart from the changes
			since += "\n" + d.w.Remarks
		}
		first := d.answers(since, p.Remarks, most).with(d.processBody(&plan, v.sum, most))
		if !first.bounded().cut || most == everything || v.body.bounded().cut { // else nobody could approve
			v.body = first
		}
	}
	v.made, v.Rounds, v.Number = len(p.Steps) > 0, explain.RoundsOf(d.a.Processes[:i+1]), d.a.NumberOf(p.Version)
	v.Further = d.a.Further(p)
	if i+1 < len(d.a.Processes) {
		v.next = &d.a.Processes[i+1].Status
	}
}

// The most lines that are quoted of a difference, characters of one, and of those that say where in a line it is.
const maxChanged, longLine, around = 10, 500, 30

// apart leaves out most of what two long lines have in common at their beginnings and ends.
func apart(was, is string) (string, string) {
	x, y := []rune(was), []rune(is)
	if max(len(x), len(y)) <= longLine {
		return was, is
	}
	first, last := files.Alike(x, y)
	part := func(line []rune) string {
		from, to, text := max(0, first-around), min(len(line), len(line)-last+around), ""
		if from > 0 {
			text = "…"
		}
		text += string(line[from:to])
		if to < len(line) {
			text += "…"
		}
		return language.Clip(text, longLine/2)
	}
	return part(x), part(y)
}

// changed quotes in so many units the first lines in which a text differs from the one before, each with what it
// became, and counts the others. Their marks are such as texts of others don't have: a policy could begin with a
// quotation.
func (d drawing) changed(was, is string, room int) string {
	var quoted []string
	quote := func(was, is string) {
		out := ""
		was, is = apart(was, is)
		for i, line := range []string{was, is} {
			if strings.TrimSpace(line) != "" {
				out += "\n> " + []string{"➖", "➕"}[i] + " " + people(unformatted(line, len(line)))
			}
		}
		if out != "" {
			quoted = append(quoted, out)
		}
	}
	x, y := strings.Split(was, "\n"), strings.Split(is, "\n")
	for _, s := range files.Compare(x, y) {
		was, is := x[s.X0:s.X1], y[s.Y0:s.Y1]
		for len(was) > 0 && len(was) == len(is) { // each beside what it became
			quote(was[0], is[0])
			was, is = was[1:], is[1:]
		}
		for _, line := range was {
			quote(line, "")
		}
		for _, line := range is {
			quote("", line)
		}
	}
	n := min(len(quoted), maxChanged)
	for n > 0 && units(strings.Join(quoted[:n], "")) > room {
		n--
	}
	if n < len(quoted) {
		quoted[n] = "\n> " + fill(d.w.EnclosedMore, "n", len(quoted)-n)
		n++
	}
	return strings.Join(quoted[:n], "")
}

func (d drawing) asks(kind aggregate.CardType, key string) face {
	v, _ := d.versionOf(kind, func(other, _ string) bool { return key == other }, maxPages)
	v.key = key // a missing row has no key
	closed := v.Gate.Status == aggregate.Cancelled || v.Gate.Status == aggregate.Generating
	doneBefore := func(s *task.StepResult) bool {
		return s.Reused && task.GateKey(s.ProcessVersion, s.Attempt, s.Order) == key
	}
	if kind == task.CardStep && closed && slices.ContainsFunc(d.a.Steps, doneBefore) {
		return v.showing(grey, d.w.IsCancelled).with(divider(), contextLine(d.w.StepDoneBefore))
	}
	return v.gate()
}

func (v version) gate() face {
	w, over := v.w, v.a.Head.Ended != nil
	v.body = v.body.bounded()
	if line, colour := v.resting(); line != "" {
		return face{line, colour, nil}
	}
	switch v.Gate.Status {
	case aggregate.PendingApproval:
		switch {
		case over:
			return v.over(grey, w.IsCancelled, v.ended())
		case v.a.Head.Parked != nil: // the run failed before it approved this gate as the system
			return v.parked(v.showing(red, "").with(divider()), "").with(v.numbered())
		case v.Gate.Automatic():
			return v.showing(yellow, "").with(divider(), contextLine(w.WillAuto))
		}
		return v.pending()
	case aggregate.Approved:
		return v.approved()
	case aggregate.Rejected:
		if v.a.GivenBack(v.id) {
			return v.returned()
		}
		return v.rejected()
	case aggregate.Expired:
		return v.over(grey, w.IsExpired, v.ended())
	case aggregate.Cancelled:
		return v.over(grey, w.IsCancelled, v.ended())
	}
	return v.unasked(over)
}

func (v version) unasked(over bool) face {
	w := v.w
	switch looked := v.a.Unopened(); {
	case over && v.kind == task.CardStep:
		return v.over(grey, w.IsCancelled, v.ended())
	case over && byRules(v.a.Head.Ended):
		f := v.titled(grey, w.IsUnrouted)
		if v.a.Matter() != nil {
			f = v.showing(grey, w.IsUnrouted)
		}
		at := fill(conversationWordsOf.In(w.Locale).Ended, "when", when(v.a.Head.Ended.At))
		return f.with(section(v.byRules()), contextLine(at))
	case over:
		return v.titled(grey, w.IsCancelled).with(section(w.TaskCancelled), contextLine(v.ended()))
	case v.kind == task.CardStep && (looked == nil || looked.Key() != v.key): // of an attempt that is over
		return v.showing(grey, w.IsCancelled)
	case v.made && v.a.Head.Parked == nil:
		f := v.showing(yellow, "").with(divider(), v.looking())
		return f.with(v.waitNote()...).with(v.numbered())
	case v.a.Head.Parked != nil && v.a.Newest(v.kind, v.key):
		return v.parked(v.titled(red, v.notMade(w.IsHeld, w.IsGenFailed)), "").with(v.numbered())
	}
	f := v.titled(yellow, "").with(section(v.words.Generating)).with(v.waitNote()...)
	if v.kind == task.CardPrompt {
		f.text = w.Prompt.Generating
	}
	return f
}

func (v version) approved() face {
	w, text := v.w, v.w.ApprovedBy
	if v.Gate.ApprovedBy == "" {
		text = w.AutoApproved
	}
	lines := []string{fill(text, "who", w.mention(v.Gate.ApprovedBy), "when", whenSet(v.Gate.ApprovedAt))}
	title, colour, check := w.IsApproved, green, v.kind == task.CardStep
	if v.a.Matter() != nil && v.Number != "" {
		v.words.Header, title, v.Number = fill(w.FormDecided, "number", v.Number), "", "" // which the path need not say
	}
	// an execution's own card says how it ended, and stands above the checks of its steps
	switch e := v.a.Head.Ended; {
	case e == nil || v.a.Execution() != nil && !check:
	case e.As == task.TaskCompleted && check:
		title = w.IsApprovedDone
	case e.Reason == task.ReasonDenied:
		title, colour, lines = w.IsApprovedDenied, grey, append(lines, v.rejection()...)
	case e.As == task.TaskCancelled:
		title, colour = w.IsApprovedCancelled, grey
	case e.As == task.TaskRefused && !check: // a check was of a step that is done
		title, colour = w.IsApprovedRefused, grey
	}
	return v.withEnd(v.over(colour, title, lines...), v.kind, v.key)
}

func (v version) titled(colour, ending string) face {
	title := v.words.Header + ending
	return face{title, colour, nil}.with(header(title)).with(v.note...)
}

func (v version) showing(colour, ending string) face {
	return v.titled(colour, ending).with(v.body.blocks...)
}

// over draws what waits no more: its content, and below it the path and how it ended.
func (v version) over(colour, ending string, lines ...string) face {
	return v.showing(colour, ending).with(divider(), contextLine(append(v.passed(), lines...)...))
}

func (v version) numbered() slack.Block {
	return contextLine(fill(v.w.TaskVersion, "task", or(code(v.taskID(), maxID), "?"), "version", v.version))
}

// pending draws a gate that waits for people, with buttons unless this release can't read its route.
func (v version) pending() face {
	w := v.w
	if v.Refused != nil {
		return v.showing(grey, "").with(divider()).with(v.waits()...).with(v.numbered())
	}
	please := w.PleaseApprove
	_, nobody := v.left()
	switch {
	case v.unreadable:
		please = w.PleaseReject
	case nobody:
		please = w.NobodyLeft
	}
	x, _ := explain.AskOf(v.a, v.id)
	if p, q := v.a.Process(), v.a.Request; v.kind == task.CardProcess && p != nil && q != nil && q.ChannelType != "im" {
		v.ending = w.TellsThread
		switch {
		case v.a.Matter() != nil:
			v.ending = w.TellsDM
		case !slices.Contains(task.Recipients(p.Steps, ""), v.a.Head.Requester):
			v.ending = w.TellsAsker
		}
	}
	asks := v.asking(x, v.id, &v.body, v.unreadable || nobody, nil)
	if v.last {
		v.body.blocks = append(v.body.blocks, contextLine(w.RejectionEnds))
	}
	f := v.showing(blue, "").with(asks...).with(v.numbered())
	switch matter := v.matter(&v, w.Quoted); {
	case v.kind == task.CardPrompt:
		f.text = w.PleaseReview + ": " + matter
	case v.kind == task.CardStep && v.told():
		f.text = matter
	case v.told():
		f.text = fill(please, "what", matter)
	default:
		f.text += ": " + matter
	}
	return f
}

// asking draws whose turn it is, with notes, and the buttons of who is asked. People can't approve what its card shows
// only in part: then b says so, and the button opens the dialog with all of it. unable: nobody can approve it.
func (r routed) asking(x explain.Ask, id string, b *body, unable bool, notes []string) []slack.Block {
	value, block := id, shownID(r.a.Head.TaskID, r.State.Present, x.Hash)
	switch { // by the specification the value of a task's button is the gate's id
	case r.outside != nil:
		value, block = id+"/"+x.Hash, blockID(id, r.State.Present)
	case r.t.Aggregate != nil:
		value, block = id+"/"+x.Hash, r.taskID()
	}
	yes := button(r.w.Approve, "approve_"+string(x.Kind), value, slack.StylePrimary)
	buttons := []slack.BlockElement{button(r.w.Reject, "reject_"+string(x.Kind), value, slack.StyleDanger)}
	if b.cut && !unable {
		yes = button(r.w.Review, ReviewAction+string(x.Kind), id, slack.StylePrimary)
		b.blocks = append(b.blocks, contextLine(r.w.NotWhole))
	}
	if !unable {
		buttons = append([]slack.BlockElement{yes}, buttons...)
	}
	if x.More() {
		more := "⋯ " + r.w.MoreTitle
		if !x.Denies {
			more = explain.Cancels(r.w.Locale, x.Kind).Yes
		}
		buttons = append(buttons, button(more, MoreAction+string(x.Kind), value, ""))
	}
	buttons = append(buttons, r.leads...)
	return append(append([]slack.Block{divider()}, r.waits(notes...)...), slack.NewActionBlock(block, buttons...))
}

// matter says in a line what a version is about: what its steps do, or else the request's name in a form.
func (d drawing) matter(v *version, form string) string {
	switch planned := d.a.Process(); {
	case v.kind == task.CardStep && v.told():
		return checkOf(d.w, v.order, v.sum)
	case v.kind == task.CardStep && planned != nil: // its arguments are read elsewhere
		if i := slices.IndexFunc(planned.Steps, func(s task.Step) bool { return s.Order == v.order }); i >= 0 {
			return d.short(explain.SumUp(d.w.Locale, planned.Steps[i:i+1]))
		}
	case v.told() && v.sum.Told() && (v.sum.Final || v.kind != task.CardProcess):
		return d.short(v.sum)
	}
	title := titleOf(until(d.a, v.key), askWordsOf.In(d.w.Locale), form)
	if v.told() && (v.sum.Final || v.kind != task.CardProcess) {
		title += " — " + d.short(v.sum)
	}
	return title
}

// checkOf names the check before a step's call by what the call does.
func checkOf(w *words, order int, s explain.Sum) string {
	return fill(w.CheckOf, "step", order, "what", drawing{w: w}.short(s))
}

func (v version) rejected() face {
	w, e := v.w, v.a.Head.Ended
	denied, by := v.kind != task.CardStep && v.Ended().Does().Final, v.once(v.rejectedBy(v.Gate.Verdict))
	draw := func(ending string, lines ...string) face {
		return v.over(red, ending, append([]string{by}, lines...)...)
	}
	next := func(text string) string { return fill(text, "version", v.version+1) }
	newest := v.a.Newest(v.kind, v.key)
	switch {
	case denied && e == nil: // the gate was read after the head
		return draw(w.IsDenied)
	case denied:
		f := draw(w.IsDenied, v.ended())
		f.colour = grey
		return f
	case v.beneath && v.replaced == "": // a direct message isn't changed again
		return draw(w.IsRejected)
	case v.replaced != "":
		by = v.replaced
		return draw(contestWords.In(w.Locale).Replaced, next(w.NextVersion))
	case v.next != nil && *v.next != aggregate.Generating:
		return draw(w.IsRegenerated, next(w.NextVersion))
	case e != nil && v.next == nil:
		last, most := v.ended(), e.Reason == task.ReasonMaxVersions
		if most {
			last = fill(w.LastVersion, "max", v.Gate.Terms.MaxVersions, "when", when(e.At))
		}
		if most && v.kind == task.CardPrompt { // by the specification
			return v.titled(red, w.IsCancelled).with(section(w.TaskCancelled), contextLine(by, last))
		}
		f := draw(w.IsRejected, last)
		if newest && !most {
			f.colour = grey
		}
		return f
	case e != nil || v.kind == task.CardStep:
		return draw(w.IsRejected)
	case v.a.Head.Parked != nil && (v.next != nil || newest):
		f := draw(v.notMade(w.IsRegenerationHeld, w.IsRegenerationFailed))
		if v.next == nil {
			f = v.parked(f, "")
		}
		return f
	}
	return draw(w.IsRegenerating, next(w.NextGenerating))
}
