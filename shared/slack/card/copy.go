package card

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// Copy draws a copy of a card for a person's direct messages: the same card with the same buttons, below a line that
// names the task and links to the original card. For task.CardOutcome it says how the task ended. link may be empty.
func Copy(a *task.Aggregate, c *aggregate.Card, s tenancy.Settings, link string, now time.Time) Message {
	if key, back := strings.CutPrefix(c.Subject, ReturnedCopy); back {
		return returnedTo(a, key, s, link, Around{}, now)
	}
	switch c.CardType {
	case task.CardOutcome:
		return outcomeOf(a, s, link, now)
	case aggregate.CardDecided:
		return drawing{a: a, settings: s, w: wordsOf.In(s.Locale), now: now}.decided(c, link)
	}
	w, own := askWordsOf.In(s.Locale), wordsOf.In(s.Locale)
	who := own.mention(a.Head.Requester)
	from := fill(w.CopyFrom, "title", nameOf(until(a, c.Subject), w, own.Quoted), "who", who) + linkAs(link, w.Original)
	m, g := under(contextLine(from), Render(a, c, s, Around{}, now)), a.GateAt(c.Subject)
	if g != nil && a.Head.Ended == nil && g.Status == aggregate.PendingApproval &&
		(!g.Ruled() || Owes(circulation.Walk(g.Circulating()), c)) {
		m.Text = fill(w.CopyText, "text", m.Text, "who", who)
		if by := dueOf(g); by != nil {
			m.Text += fill(w.WaitsUntil, "when", when(*by))
		}
	}
	return m
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
	return d.routeOf(&v).decided(c, d.matter(&v, d.w.Quoted), d.a.Head.Requester, link)
}

// decided draws the message by which a channel or a group is told of a decision: about what, its number, and who made
// it.
func (r routed) decided(c *aggregate.Card, title, asker, link string) Message {
	asks, text := askWordsOf.In(r.w.Locale), fill(r.texts.Decided, "title", title)
	from := fill(asks.HomeFrom, "who", r.w.mention(asker))
	if c.TellsGroup() {
		from = "<!subteam^" + c.User + "> " + from
	}
	return face{text, green, nil}.with(section("*"+text+"*"+opens(link, asks)),
		contextLine(append(r.passed(), from)...)).message()
}

// ConversationCopy is Copy for an action of a conversation.
func ConversationCopy(t Conversation, c *aggregate.Card, s tenancy.Settings, link string, now time.Time) Message {
	w := askWordsOf.In(t.locale(s))
	return under(contextLine(conversationFrom(t.Aggregate, w)+linkAs(link, w.Original)), RenderConversation(t, c, s, now))
}

func conversationFrom(a *conversation.Aggregate, w *askWords) string {
	return fill(w.ConversationFrom, "title", conversationTitle(a.Conversation, w),
		"who", wordsOf.In(w.Locale).mention(a.Conversation.Opener), "agent", inline(a.Conversation.AgentID, maxTool))
}

func conversationTitle(s *conversation.Conversation, w *askWords) string {
	return or(inline(s.Title, maxListTitle), wordsOf.In(w.Locale).Untitled)
}

func under(from slack.Block, m Message) Message {
	if m.Attachments = slices.Clone(m.Attachments); len(m.Attachments) > 0 {
		blocks := &m.Attachments[0].Blocks
		blocks.BlockSet = append([]slack.Block{from}, blocks.BlockSet...)
	}
	return m
}

func outcomeOf(a *task.Aggregate, s tenancy.Settings, link string, now time.Time) Message {
	d := drawing{a: a, settings: s, w: wordsOf.In(s.Locale), now: now}
	w := askWordsOf.In(s.Locale)
	text := fill(w.OutcomeText, "state", w.state(a), "title", titleOf(a, w, "{text}"))
	colour, rest := grey, []slack.Block(nil)
	var r attempt
	if e := a.Execution(); e != nil {
		r = d.attempt(e)
	}
	switch e := a.Head.Ended; {
	case e.As == task.TaskCompleted:
		colour = green
		if r.Execution == nil || ToldRequester(a) {
			break
		}
		summary := d.summary(r, maxReason)
		if summary != "" {
			rest = sectioned(fill(d.w.Summary, "text", summary))
		}
		rest = append(rest, d.links(r, summary)...)
	default:
		if e.As == task.TaskFailed {
			colour = red
		}
		if r.Execution != nil {
			rest = d.kept(r)
		}
		rest = append(rest, contextLine(append(d.rejection(), d.ended())...))
	}
	rest = append(rest, contextOf(d.inPlaces())...)
	return face{text, colour, sectioned("*" + text + "*" + opens(link, w))}.with(rest...).message()
}

// inPlaces draws the route of the newest steps, and of what was rejected last, if somebody decided there in another's
// place.
func (d drawing) inPlaces() (lines []string) {
	steps, last := d.a.Process(), d.a.RejectedLast()
	for _, g := range d.a.AllGates() {
		if r := d.route(g, false); (steps != nil && g == &steps.Gate || last == &g.Verdict) && r.inPlace() {
			lines = append(lines, r.path())
		}
	}
	return lines
}

// inPlace reports whether somebody acted in another's place.
func (r routed) inPlace() bool {
	acts := r.st.Stamps()
	if r.st.Ended() != "" {
		acts = append(acts, r.st.Last)
	}
	return slices.ContainsFunc(acts, func(act *circulation.Act) bool { return act.Hand.User != act.Principal.User })
}

// ToldRequester reports whether a step of a completed request sent the requester a direct message, which says what they
// need.
func ToldRequester(a *task.Aggregate) bool {
	if a.Head.Ended == nil || a.Head.Ended.As != task.TaskCompleted || a.Execution() == nil {
		return false
	}
	r := drawing{a: a}.attempt(a.Execution())
	return slices.ContainsFunc(r.steps, func(s task.Step) bool {
		var to struct{ Recipient string }
		return s.Tool == MessageTool && r.status(s) == task.StepCompleted &&
			json.Unmarshal([]byte(s.ToolInput), &to) == nil && to.Recipient == a.Head.Requester
	})
}

// inDialog draws the whole route for a page's foot: where each stage stands.
func (r routed) inDialog() (out []slack.Block) {
	if len(r.st.Stages) == 0 {
		return nil
	}
	lines := []string{fill(r.texts.Rule, "rule", r.ruleName(r.gate))}
	for _, s := range r.stages() {
		lines = append(lines, cut(s, maxPath))
	}
	const most = 10 // elements of a context (https://docs.slack.dev/reference/block-kit/blocks/context-block)
	for some := range slices.Chunk(lines, most) {
		out = append(out, contextLine(some...))
	}
	return out
}
