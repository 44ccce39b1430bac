package card

import (
	"slices"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// version is the part that prompts, processes and step gates share.
type version struct {
	kind    aggregate.CardType
	key     string
	id      string
	version int
	gate    aggregate.Gate // its status is empty if the row is missing
	words   gateWords
	body    body
	sum     explain.Sum // of steps or a call
	since   string      // what changed since the version before
	made    bool        // there is content
	order   int         // of a check's step
	explain.Rounds
	next *aggregate.GateStatus // of the version that follows

	note     []slack.Block // how the version was made
	last     bool          // a rejection ends the task
	others   int           // number of drafts that people may pick instead
	replaced string        // who picked the next version in place of this one, and which
}

// told reports whether it is known what steps or a call do.
func (v *version) told() bool { return v.sum.Lead.Order > 0 || len(v.sum.Reads) > 0 }

// versionOf finds a gate by its key or its id. It draws the gate's content in up to most sections.
func (d drawing) versionOf(kind aggregate.CardType, meant func(key, id string) bool, most int) (v version, ok bool) {
	v.kind = kind
	is := func(key, id string, n int, g aggregate.Gate) bool {
		if !meant(key, id) {
			return false
		}
		v.key, v.id, v.version, v.gate, ok = key, id, n, g, true
		rests, _ := d.routeOf(&v).resting()
		d.settled = rests != "" || d.a.Head.Ended != nil ||
			g.Status != aggregate.PendingApproval && g.Status != aggregate.Generating
		return true
	}
	switch kind {
	case task.CardPrompt:
		v.words = d.w.Prompt
		for i, p := range d.a.Prompts {
			if is(p.Key(), p.ID, p.Version, p.Gate) {
				d.policy(&v, i, most)
			}
		}
	case task.CardProcess:
		v.words = d.w.Process
		for i, p := range d.a.Processes {
			if !is(p.Key(), p.ID, p.Version, p.Gate) {
				continue
			}
			if i > 0 {
				v.since = d.since(i)
			}
			v.note = d.edited(d.a.EditorOf(p), p.Version)
			if d.a.MatterOf(p) != nil {
				v.words, v.note = gateWords{Header: d.w.FormHeader}, append(d.askedBy(), v.note...)
			}
			v.sum = explain.SumUp(d.w.Locale, p.Steps)
			v.body, v.last = d.processBody(p, v.sum, v.since, most), d.a.Last(p)
			v.made, v.Rounds = len(p.Steps) > 0, explain.RoundsOf(d.a.Processes[:i+1])
			v.Further = d.a.Further(p)
			if i+1 < len(d.a.Processes) {
				next := d.a.Processes[i+1]
				v.next = &next.Status
				if *v.next != aggregate.Generating { // whether it counts is known
					v.Further = d.a.Further(next) + 1
				}
			}
		}
	case task.CardStep:
		v.words = d.w.Step
		for _, g := range d.a.Gates {
			if is(g.Key(), g.ID, g.ProcessVersion, g.Gate) {
				step, line := d.gated(g)
				v.body, v.sum = d.call(step, g.Arguments, most)
				v.body = d.sections(pages(line, maxSection), most).with(v.body)
				v.body.blocks = append(v.body.blocks, d.checksAgain(step, g)...)
				v.made, v.order, v.note = true, g.Order, d.otherRule(g)
			}
		}
	}
	return v, ok
}

func (d drawing) policy(v *version, i, most int) {
	p := d.a.Prompts[i]
	v.body, v.others, v.last = d.prose(p.Content, most), len(p.Others()), d.a.Last(p)
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
		v.since = d.sinceWith(p.Version-1, same, "", why)
		v.body.blocks = append([]slack.Block{section(v.since)}, v.body.blocks...)
	}
	if i+1 < len(d.a.Prompts) {
		next := d.a.Prompts[i+1]
		v.next, v.replaced = &next.Status, d.picked(next)
	}
}

func (d drawing) asks(kind aggregate.CardType, key string) face {
	v, _ := d.versionOf(kind, func(other, _ string) bool { return key == other }, maxPages)
	v.key = key // a missing row has no key
	closed := v.gate.Status == aggregate.Cancelled || v.gate.Status == aggregate.Generating
	doneBefore := func(s *task.StepResult) bool {
		return s.Reused && task.GateKey(s.ProcessVersion, s.Attempt, s.Order) == key
	}
	if kind == task.CardStep && closed && slices.ContainsFunc(d.a.Steps, doneBefore) {
		return d.showing(v, grey, d.w.IsCancelled).with(divider(), contextLine(d.w.StepDoneBefore))
	}
	return d.gate(v)
}

func (d drawing) gate(v version) face {
	w, over := d.w, d.a.Head.Ended != nil
	v.body = v.body.bounded()
	r := d.routeOf(&v)
	if line, colour := r.resting(); line != "" {
		return face{line, colour, nil}
	}
	switch v.gate.Status {
	case aggregate.PendingApproval:
		switch {
		case over:
			return d.closed(v, w.IsCancelled)
		case d.a.Head.Parked != nil: // the run failed before it approved this gate as the system
			return d.parked(d.showing(v, red, "").with(divider()), "").with(d.version(v.version))
		case v.gate.Automatic():
			return d.showing(v, yellow, "").with(divider(), contextLine(w.WillAuto))
		}
		return d.pending(v, r)
	case aggregate.Approved:
		return d.approved(v, r)
	case aggregate.Rejected:
		if d.a.GivenBack(v.id) {
			return d.returned(v)
		}
		return d.rejected(v)
	case aggregate.Expired:
		return d.closed(v, w.IsExpired)
	case aggregate.Cancelled:
		return d.closed(v, w.IsCancelled)
	}
	return d.unasked(v, over)
}

func (d drawing) unasked(v version, over bool) face {
	w := d.w
	switch looked := d.a.Unopened(); {
	case over && v.kind == task.CardStep:
		return d.closed(v, w.IsCancelled)
	case over && byRules(d.a.Head.Ended):
		f := d.titled(v, grey, w.IsUnrouted)
		if d.a.Matter() != nil {
			f = d.showing(v, grey, w.IsUnrouted)
		}
		return f.with(section(d.byRules()), contextLine("⏹️ "+when(d.a.Head.Ended.At)))
	case over:
		return d.titled(v, grey, w.IsCancelled).with(section(w.TaskCancelled), contextLine(d.ended()))
	case v.kind == task.CardStep && (looked == nil || looked.Key() != v.key): // of an attempt that is over
		return d.showing(v, grey, w.IsCancelled)
	case v.made && d.a.Head.Parked == nil:
		f := d.showing(v, yellow, "").with(divider(), d.looking())
		return f.with(d.waitNote()...).with(d.version(v.version))
	case d.a.Head.Parked != nil && d.a.Newest(v.kind, v.key):
		f := d.titled(v, red, d.notMade(w.IsHeld, w.IsGenFailed))
		return d.parked(f, "").with(d.version(v.version))
	}
	f := d.titled(v, yellow, "").with(section(v.words.Generating)).with(d.waitNote()...)
	if v.kind == task.CardPrompt {
		f.text = w.Prompt.Generating
	}
	return f
}

func (d drawing) approved(v version, r routed) face {
	w, text := d.w, d.w.ApprovedBy
	if v.gate.ApprovedBy == "" {
		text = w.AutoApproved
	}
	by := fill(text, "who", w.mention(v.gate.ApprovedBy), "when", whenSet(v.gate.ApprovedAt))
	title, colour, check := w.IsApproved, green, v.kind == task.CardStep
	if d.a.Matter() != nil && r.Number != "" {
		v.words.Header, title = fill(w.FormDecided, "number", r.Number), ""
	}
	// an execution's own card says how it ended, and stands above the checks of its steps
	switch e := d.a.Head.Ended; {
	case e == nil || d.a.Execution() != nil && !check:
	case e.As == task.TaskCompleted && check:
		title = w.IsApprovedDone
	case e.Reason == task.ReasonDenied:
		title, colour = w.IsApprovedDenied, grey
	case e.As == task.TaskCancelled, e.As == task.TaskRefused:
		title, colour = w.IsApprovedCancelled, grey
	}
	lines := append(r.passed(), by)
	if title == w.IsApprovedDenied {
		lines = append(lines, d.rejection()...)
	}
	f := d.showing(v, colour, title).with(divider(), contextLine(lines...))
	return d.withEnd(f, v.kind, v.key)
}

func (d drawing) titled(v version, colour, ending string) face {
	title := v.words.Header + ending
	return face{title, colour, nil}.with(header(title)).with(v.note...)
}

func (d drawing) showing(v version, colour, ending string) face {
	return d.titled(v, colour, ending).with(v.body.blocks...)
}

// pending draws a gate that waits for people, with buttons unless this release can't read its route.
func (d drawing) pending(v version, r routed) face {
	w := d.w
	if r.Refused != nil {
		return d.showing(v, grey, "").with(divider()).with(r.waits()...).with(d.version(v.version))
	}
	please := w.PleaseApprove
	_, nobody := r.left()
	switch {
	case r.unreadable:
		please = w.PleaseReject
	case nobody:
		please = w.NobodyLeft
	}
	buttons := d.buttons(v.kind, v.id, v.id, &v.body, r.unreadable || nobody)
	if v.others > 0 {
		text := fill(contestWords.In(w.Locale).Others, "n", v.others)
		buttons = append(buttons, button(text, OthersAction, v.id, ""))
	}
	if v.last {
		v.body.blocks = append(v.body.blocks, contextLine(w.RejectionEnds))
	}
	if x, _ := explain.AskOf(d.a, v.id); x.More() {
		buttons = append(buttons, button(more, MoreAction+string(v.kind), v.id, ""))
	}
	f := d.showing(v, blue, "").with(divider()).with(r.waits()...).
		with(slack.NewActionBlock(shownID(d.a.Head.TaskID, r.State.Present, d.a.Asked(v.id).Hash), buttons...)).
		with(d.version(v.version))
	switch matter := d.matter(&v, w.Quoted); {
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

// more is the button for what else people may do: never a fourth one beside it.
const more = "⋯"

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

// closed draws a gate that ended without a decision. It keeps the content and says how the task ended.
func (d drawing) closed(v version, ending string) face {
	r := d.routeOf(&v)
	return d.showing(v, grey, ending).with(divider(), contextLine(append(r.passed(), d.ended())...))
}

func (d drawing) rejected(v version) face {
	w, e, r := d.w, d.a.Head.Ended, d.routeOf(&v)
	denied, by := v.kind != task.CardStep && r.Ended().Does().Final, d.rejectedBy(v.gate.Verdict)
	draw := func(ending string, lines ...string) face {
		return d.showing(v, red, ending).with(divider(), contextLine(append(append(r.passed(), by), lines...)...))
	}
	next := func(text string) []string {
		return append([]string{fill(text, "version", v.version+1)}, r.sendBacks(v.Further-1)...)
	}
	switch {
	case denied && e == nil: // the gate was read after the head
		return draw(w.IsDenied)
	case denied:
		f := draw(w.IsDenied, d.ended())
		f.colour = grey
		return f
	case v.replaced != "":
		by = v.replaced
		return draw(contestWords.In(d.w.Locale).Replaced, fill(w.NextVersion, "version", v.version+1))
	case v.next != nil && *v.next != aggregate.Generating:
		return draw(w.IsRegenerated, next(w.NextVersion)...)
	case e != nil && v.next == nil:
		last := d.ended()
		if e.Reason == task.ReasonMaxVersions {
			last = fill(w.LastVersion, "max", v.gate.Terms.MaxVersions, "when", when(e.At))
		}
		if e.Reason == task.ReasonMaxVersions && v.kind == task.CardPrompt { // by the specification
			return d.titled(v, red, w.IsCancelled).with(section(w.TaskCancelled), contextLine(by, last))
		}
		f := draw(w.IsRejected, last)
		if d.a.Newest(v.kind, v.key) && e.Reason != task.ReasonMaxVersions {
			f.colour = grey
		}
		return f
	case e != nil || v.kind == task.CardStep:
		return draw(w.IsRejected)
	case d.a.Head.Parked != nil && v.next == nil && d.a.Newest(v.kind, v.key):
		return d.parked(draw(d.notMade(w.IsRegenerationHeld, w.IsRegenerationFailed)), "")
	case d.a.Head.Parked != nil && v.next != nil:
		return draw(d.notMade(w.IsRegenerationHeld, w.IsRegenerationFailed))
	}
	return draw(w.IsRegenerating, next(w.NextGenerating)...)
}
