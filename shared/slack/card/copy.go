package card

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// Copy draws what one person gets of a card in their direct messages: while they are asked, the same with the same
// buttons, below a line that says who asked and leads to the card; once that is over for them, that line, how it stands
// and who decided. Of other types of c it says how something ended or was decided. link may be empty. It returns false
// for what stays unchanged: the end of a task that goes on, an action that is no longer in the conversation.
func Copy(of aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, around Around, link string,
	now time.Time) (Message, bool) {
	switch a := of.(type) {
	case *task.Aggregate:
		w := askWordsOf.In(s.Locale)
		d := drawing{a: a, settings: s, w: wordsOf.In(s.Locale), now: now, Around: around}
		switch key, back := strings.CutPrefix(c.Subject, ReturnedCopy); {
		case back:
			return d.returnedTo(key, link), true
		case strings.HasPrefix(c.Subject, LeftCopy):
			key = strings.TrimPrefix(key, LeftCopy)
			v, _ := d.versionOf(task.CardOf(key), func(other, _ string) bool { return other == key }, 1)
			line, _ := v.left()
			text := fill(d.w.NobodyLeft, "what", nameOf(a, w, d.w.Quoted))
			return face{text, yellow, sectioned("*" + text + "*" + opens(link, w) + line)}.message(), line != ""
		case strings.HasPrefix(c.Subject, ParkedCopy):
			waits := a.Head.Ended == nil && a.Head.Parked != nil && c.Subject == ParkedCopy+strconv.Itoa(a.Head.Run)
			return d.parkedTo(link, waits), waits || c.State != aggregate.CardNone
		case c.CardType == task.CardOutcome && a.Head.Ended == nil:
			return Message{}, false
		case c.CardType == task.CardOutcome && a.Head.Ended.Reason == task.ReasonAskerLeft: // to who may not see the rest
			return face{d.ended(), grey, sectioned(d.ended() + opens(link, w))}.message(), true
		case c.CardType == task.CardOutcome:
			return d.outcomeOf(link), true
		case c.CardType == aggregate.CardDecided:
			return d.decided(c, link), true
		}
		who := d.w.mention(a.Head.Requester)
		from := fill(w.CopyFrom, "title", nameOf(until(a, c.Subject), w, d.w.Quoted), "who", who)
		g := a.GateAt(c.Subject)
		m := d.face(c).copied(g, from, link, w)
		if slices.ContainsFunc(m.Attachments[0].Blocks.BlockSet, acts) {
			m.Text = fill(w.CopyText, "text", m.Text, "who", who) + w.until(g.Terms.DecideBy)
		}
		return m, true
	case Conversation:
		if aggregate.Find(a.Actions, c.Subject) == nil {
			return Message{}, false
		}
		w := askWordsOf.In(a.locale(s))
		title := fill(wordsOf.In(w.Locale).Quoted, "text", conversationTitle(a.Aggregate.Conversation, w))
		from := fill(w.ConversationFrom, "title", title, "who",
			wordsOf.In(w.Locale).mention(a.Aggregate.Conversation.Opener), "agent",
			inline(a.Aggregate.Conversation.AgentID, maxTool))
		return drawingOf(a, s, now).talkFace(c).copied(a.GateAt(c.Subject), from, link, w), true
	case *call.Aggregate:
		return drawCall(a, around, s, s.Locale, now).callCopy(c, link, askWordsOf.In(s.Locale)), true
	}
	return Message{}, false
}

// copied is a card in direct messages, below the line that says who asked. If the gate waits no more or its person
// isn't asked any more, it is that line, how it stands and who decided.
func (f face) copied(g *aggregate.Gate, from, link string, w *askWords) Message {
	if g != nil && g.Status == aggregate.PendingApproval && slices.ContainsFunc(f.blocks, acts) {
		return face{f.text, f.colour, nil}.with(contextLine(from + opens(link, w))).with(f.blocks...).message()
	}
	short := face{f.text, f.colour, nil}.with(section(from + "\n" + f.text + opens(link, w)))
	foot := 1 + slices.IndexFunc(f.blocks, func(b slack.Block) bool { return b.BlockType() == slack.MBTDivider })
	if foot == 0 {
		foot = max(0, len(f.blocks)-1)
	}
	for _, b := range f.blocks[foot:] {
		if b.BlockType() == slack.MBTContext {
			short = short.with(b)
		}
	}
	return short.message()
}

func acts(b slack.Block) bool { return b.BlockType() == slack.MBTAction }

// callCopy is Copy for a call.
func (d drawing) callCopy(c *aggregate.Card, link string, w *askWords) Message {
	switch {
	case d.outside.Call == nil:
	case c.CardType == aggregate.CardDecided:
		return d.routeOfCall().decided(c, d.does(), d.outside.Call.Answers, link)
	case c.CardType == task.CardOutcome: // to who answers for the key
		text := fill(d.calls.Cancelled, "what", d.does())
		if d.outside.Call.TurnedDown() {
			text = fill(d.calls.Refused, "what", d.does())
		}
		_, by := d.became(d.outside.Call.Action())
		return face{text, grey, nil}.with(section("*"+text+"*"+opens(link, w)), contextLine(by, d.asksFor())).message()
	}
	f, g := d.callFace(c), d.outside.GateAt(c.Subject)
	switch { // the line that stays says what it was
	case g != nil && f.blocks == nil: // the route may go on
		f.text = d.does() + "\n" + f.text
	case g != nil && g.Status != aggregate.PendingApproval:
		f.text += ": " + d.does()
	}
	return f.copied(g, d.asksFor(), link, w)
}

// until returns a task as it was while the version in the row with this key was the newest.
func until(a *task.Aggregate, key string) *task.Aggregate {
	then := *a
	for i, p := range a.Processes {
		if p.Key() == key {
			then.Processes, then.Head.Glance.Version = a.Processes[:i+1], a.CalledAt(p.ID)
			if m := a.MatterOf(p); m != nil {
				called := *a.Task
				called.Title, then.Task = m.Title, &called
			}
		}
	}
	for i, p := range a.Prompts {
		if p.Key() == key {
			then.Prompts, then.Processes, then.Head.Glance.Version = a.Prompts[:i+1], nil, p.Version
		}
	}
	return &then
}

// decided draws the message about the decision at a task's gate.
func (d drawing) decided(c *aggregate.Card, link string) Message {
	key := c.About()
	v, _ := d.versionOf(task.CardOf(key), func(other, _ string) bool { return other == key }, 1)
	return v.routed.decided(c, d.matter(&v, d.w.Quoted), d.a.Head.Requester, link)
}

// decided draws the message by which a channel or a group is told of a decision: about what, its number, and who made
// it.
func (r routed) decided(c *aggregate.Card, title, asker, link string) Message {
	asks, text := askWordsOf.In(r.w.Locale), fill(r.Words.Decided, "title", title)
	from := fill(asks.HomeFrom, "who", r.w.mention(asker))
	if c.TellsGroup() {
		from = "<!subteam^" + c.User + "> " + from
	}
	return face{text, green, nil}.with(section("*"+text+"*"+opens(link, asks)),
		contextLine(append(r.passed(), from)...)).message()
}

func conversationTitle(s *conversation.Conversation, w *askWords) string {
	return or(people(inline(s.Title, maxListTitle)), wordsOf.In(w.Locale).Untitled)
}

// parkedTo is the message by which whoever asked learns that a generation failed, with the button to try again.
func (d drawing) parkedTo(link string, waits bool) Message {
	w := askWordsOf.In(d.w.Locale)
	title := nameOf(d.a, w, "{text}")
	if !waits {
		text := fill(returnedWordsOf.In(d.w.Locale).CopyRetried, "title", title)
		return face{text, grey, sectioned(text + opens(link, w))}.message()
	}
	text := fill(w.OutcomeText, "state", w.state(d.a), "title", title)
	return d.parked(face{text, yellow, sectioned("*" + text + "*" + opens(link, w))}, "").message()
}

func (d drawing) outcomeOf(link string) Message {
	a, w, name := d.a, askWordsOf.In(d.w.Locale), nameOf
	if a.Head.Glance.Version > 1 { // what was corrected since isn't in the title
		name = titleOf
	}
	text := fill(w.OutcomeText, "state", w.state(a), "title", name(a, w, "{text}"))
	colour, rest := grey, []slack.Block(nil)
	var r attempt
	if e := a.Execution(); e != nil {
		r = d.attempt(e)
	}
	switch e := a.Head.Ended; {
	case e.As == task.TaskCompleted:
		colour = green
		if r.Execution == nil {
			break
		}
		rest = d.links(r)
		if summary := paragraph(r.Summary, maxReason); summary != "" {
			rest = append(rest, section(fill(d.w.Summary, "text", summary)))
		}
	default:
		last := d.ended()
		if r.Execution != nil {
			rest = d.kept(r)
		}
		if e.As == task.TaskFailed { // as the first line says
			colour, last = red, fill(d.w.Failed, "when", when(e.At))
			if r.Execution != nil {
				rest = append(rest, section(d.failure(r, "{text}")))
			}
		}
		rest = append(rest, contextLine(append(d.rejection(), last)...))
	}
	return face{text, colour, sectioned("*" + text + "*" + opens(link, w))}.with(rest...).message()
}

// ToldRequester reports whether a step of a completed request sent the requester a direct message, which says what they
// need.
func ToldRequester(a *task.Aggregate) bool {
	if a.Head.Ended == nil || a.Head.Ended.As != task.TaskCompleted || a.Execution() == nil {
		return false
	}
	r := drawing{a: a}.attempt(a.Execution())
	done := slices.DeleteFunc(slices.Clone(r.steps), func(s task.Step) bool { return r.status(s) != task.StepCompleted })
	return slices.Contains(task.Recipients(done, ""), a.Head.Requester)
}
