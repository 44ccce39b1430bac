package card

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// HomeCallback names the Home tab in the payload of a click there, NewRequest its button for a request.
const HomeCallback, NewRequest = "ringi_home", "new_request"

// Summary has everything that the Home tab shows to one person.
type Summary struct {
	Waiting       []Waits // waits for this person's decision; the oldest first
	Looked        int     // if positive: only this many of the workspace's oldest waiting items were read
	Returned      []Mine  // the person's own requests that were given back to them: it is their turn
	Mine          []Mine  // their others, the newest first
	Conversations []OpenConversation
	Calls         []Waits // open ones of outside agents, for whose keys the person answers
	// MoreMine, MoreConversations and MoreCalls are not listed.
	MoreMine, MoreConversations, MoreCalls More

	Console string // the console's address; empty: no links
}

// leadsTo returns a button that leads elsewhere. A click on it does nothing else.
func leadsTo(action, text, url string) slack.BlockElement {
	b := slack.NewButtonBlockElement(action, "", emojiLabel(text))
	b.URL = url
	return b
}

// leads returns the buttons for a request, a decision, the console and, if the workspace has rules, naming who stands
// in.
func (w *askWords) leads(in Summary, s tenancy.Settings) slack.Block {
	buttons := []slack.BlockElement{button(w.HomeNew, NewRequest, "", slack.StylePrimary),
		button(w.HomeMatter, NewMatter, "", "")}
	if s.RulesRev > 0 && in.Console != "" {
		buttons = append(buttons, leadsTo("name_stand_in", w.HomeStandIn, in.Console+"/stand-ins"))
	}
	if in.Console != "" {
		buttons = append(buttons, leadsTo("open_console", w.HomeConsole, in.Console))
	}
	return slack.NewActionBlock("", buttons...)
}

// Waits is an open question with its task or conversation. Link leads to its card, and may be empty.
type Waits struct {
	Of       aggregate.Aggregate
	Question aggregate.Question
	Link     string
	Named    bool   // the present stage of its route names the person, or whom they stand in for
	For      string // whom they stand in for
	User     string // whom it waits for
}

// More is how many are left out, beside others that were not even read.
type More struct {
	N      int
	Unread bool
}

// more counts what is left out; nil: nothing is.
func (w *askWords) more(m More) []string {
	switch {
	case m.Unread:
		return []string{fill(w.HomeHiddenMore, "n", max(1, m.N))}
	case m.N > 0:
		return []string{fill(wordsOf.In(w.Locale).EnclosedMore, "n", m.N)}
	}
	return nil
}

// Mine is one of the person's own requests.
type Mine struct {
	Task *task.Aggregate
	Link string
}

// Slack limits a Home tab to 100 blocks and 250,000 bytes of JSON
// (https://docs.slack.dev/reference/views/home-tab-views). Some blocks are reserved for rows without buttons.
const (
	maxHomeBlocks  = 100
	maxHomeCards   = 70    // blocks for complete cards
	maxHomeText    = 60000 // characters of the complete cards
	maxHomeRows    = 30    // waiting items
	maxHomePolicy  = 3     // lines of a policy; a longer one is read on its card
	maxHomeEffects = 8     // lines of what steps do
	maxHomeLine    = 100   // characters that are counted as a line
)

// HomeView draws a person's Home tab: what waits for them, what is due first at the top, and their own requests. Each
// waiting item says what it does, with buttons if that is all of it. Those that have no room have a line.
func HomeView(in Summary, s tenancy.Settings, locale string, now time.Time) slack.HomeTabViewRequest {
	w, own := askWordsOf.In(locale), s
	own.Locale = locale
	blocks := []slack.Block{header(w.waitingTitle(in))}
	if len(in.Waiting)+len(in.Returned) == 0 {
		blocks = append(blocks, section(w.nothing(in)))
	}
	for i, x := range in.Returned {
		if i > 0 {
			blocks = append(blocks, divider())
		}
		key := x.Task.Returned().Key()
		m := returnedTo(x.Task, key, own, x.Link, Around{Console: in.Console}, now)
		blocks = append(blocks, m.Attachments[0].Blocks.BlockSet...)
	}
	room, left := maxHomeCards+1-len(blocks), maxHomeText
	var lines []string
	shown := 0
	for i, x := range byDue(in.Waiting) {
		drawn, n := onHome(x, own, now), 0
		if i+len(in.Returned) > 0 {
			drawn = append([]slack.Block{divider()}, drawn...)
		}
		for _, b := range drawn {
			n += characters(b)
		}
		if _, listed := x.Of.(*call.Aggregate); listed || i >= maxHomeRows || len(drawn) > room || n > left {
			lines = append(lines, "• "+waitsLine(x, w)+decides(x, own, w)+opens(x.Link, w))
			continue
		}
		blocks, room, left, shown = append(blocks, drawn...), room-len(drawn), left-n, shown+1
	}
	most := min(len(lines), maxHomeRows-shown)
	blocks = append(blocks, rows(lines[:most])...)
	if hidden := len(lines) - most; hidden > 0 {
		blocks = append(blocks, contextLine(w.more(More{hidden, in.Looked > 0})...))
	}
	if in.Looked > 0 && len(in.Waiting) > 0 {
		blocks = append(blocks, contextLine(fill(w.HomeMore, "n", in.Looked)))
	}
	blocks = append(blocks, divider(), header(w.HomeMine))
	if len(in.Mine) == 0 {
		blocks = append(blocks, section(w.HomeNoneMine))
	}
	for _, x := range in.Mine {
		title, next := mineLine(x, w, func(of Waits) string { return decides(of, own, w) })
		blocks = append(blocks, section(title+"\n"+next))
	}
	blocks = append(blocks, contextOf(w.more(in.MoreMine))...)
	if len(in.Calls) > 0 {
		blocks = append(blocks, divider(), header(w.HomeCalls))
		blocks = append(append(blocks, rows(w.callLines(in.Calls))...), contextOf(w.more(in.MoreCalls))...)
	}
	if len(in.Conversations) > 0 {
		blocks = append(blocks, divider(), header(w.HomeConversations))
		blocks = append(blocks, rows(w.conversationLines(in.Conversations))...)
	}
	blocks = append(blocks, contextOf(w.more(in.MoreConversations))...)
	blocks = append(blocks, divider(), contextLine(w.HomeHow), w.leads(in, s))
	return slack.HomeTabViewRequest{Type: slack.VTHomeTab, CallbackID: HomeCallback,
		Blocks: slack.Blocks{BlockSet: blocks[:min(len(blocks), maxHomeBlocks)]}}
}

// onHome draws a waiting item: what it does, who asked for it, who may decide until when, and its buttons, unless it is
// decided on its card, since the tab can't show it whole.
func onHome(x Waits, s tenancy.Settings, now time.Time) []slack.Block {
	if texts, is := x.Of.(*conversation.Aggregate); is {
		return conversationOnHome(x, texts, s, now)
	}
	a, is := x.Of.(*task.Aggregate)
	if !is {
		return nil
	}
	w, q := askWordsOf.In(s.Locale), x.Question
	d := drawing{a: a, settings: s, w: wordsOf.In(s.Locale), now: now, narrow: true}
	v, _ := d.versionOf(q.Kind, func(_, id string) bool { return q.ID == id }, maxPages-1)
	r, stage := d.routeOf(&v), strings.TrimPrefix(x.until(w), " · ")
	if s := r.st.CurrentStage(); s != nil {
		stage = r.owes(s) + x.until(w)
	}
	b, first, notes := d.bodyOnHome(&v), d.about(&v), []string{
		fill(w.HomeFrom, "who", d.w.mention(a.Head.Requester)) + x.facts(w) + "\n" + stage}
	if v.kind == task.CardProcess && v.made && !b.cut {
		tools := d.tools(v.steps)
		notes[0], b.cut = notes[0]+"\n"+tools, units(tools) > maxQuoted
	}
	if v.last {
		notes = append(notes, d.w.RejectionEnds)
	}
	var buttons []slack.BlockElement
	switch waits := v.gate.Status == aggregate.PendingApproval && a.Head.Ended == nil && a.Head.Parked == nil &&
		v.sum.Unreadable() == "" && !v.gate.Automatic(); {
	case r.st.Refused != nil:
		notes = append(notes, r.texts.Unknown)
	case b.cut || b.bounded().cut:
		b.blocks, notes[0] = append([]slack.Block{first}, sinceOf(&v)...), notes[0]+" · "+w.HomeLong
	case waits:
		yes, no := d.decision("approve_"+string(q.Kind), "reject_"+string(q.Kind), v.id)
		buttons = append([]slack.BlockElement{yes}, r.rejects(v, no)...)
	}
	blocks := slices.Concat(v.note, b.blocks, []slack.Block{contextLine(notes...)})
	if addressed(x.Link) {
		buttons = append(buttons, leadsTo("open_card", w.OpenCard, x.Link))
	}
	if len(buttons) > 0 {
		id := shownID(a.Head.TaskID, r.st.Present, a.AskedHash(v.id))
		blocks = append(blocks, slack.NewActionBlock(id, buttons...))
	}
	return blocks
}

// bodyOnHome draws what a version is about. What takes more lines than a tab has room for is read on its card.
func (d drawing) bodyOnHome(v *version) body {
	b, most, first := v.body, maxHomeEffects, []slack.Block{d.about(v)}
	switch {
	case v.kind == task.CardPrompt:
		most = maxHomePolicy
	case v.kind == task.CardProcess && v.made:
		b, first = d.effects(v.sum, v.since, maxPages-1).with(d.attached(d.a.Process())), nil
	}
	lines := func(blocks []slack.Block) (n int) {
		for _, block := range blocks {
			n += max(blockHeight(block), characters(block)/maxHomeLine)
		}
		return n
	}
	return body{append(first, b.blocks...), b.cut || lines(b.blocks)-lines(sinceOf(v)) > most}
}

// sinceOf says what changed since the version before, if there was one.
func sinceOf(v *version) []slack.Block {
	if v.since == "" {
		return nil
	}
	return []slack.Block{section(v.since)}
}

// byDue returns first what names the person; all in the order in which it is due, what has no end last.
func byDue(all []Waits) []Waits {
	all = slices.Clone(all)
	for i := range all {
		all[i].Question.DecideBy = all[i].due()
	}
	sort.SliceStable(all, func(i, j int) bool {
		x, y := &all[i], &all[j]
		at, other := x.Question.DecideBy, y.Question.DecideBy
		switch {
		case x.Named != y.Named:
			return x.Named
		case at == nil || other == nil:
			return at != nil && other == nil
		}
		return at.Before(*other)
	})
	return all
}

// waitingTitle heads the waiting items. If not all were read, it says that there may be more.
func (w *askWords) waitingTitle(in Summary) string {
	n := len(in.Waiting) + len(in.Returned)
	switch {
	case in.Looked == 0:
		return fill(w.HomeWaiting, "n", n)
	case n == 0:
		return w.HomeWaitingSome
	}
	return fill(w.HomeWaitingMore, "n", n)
}

// nothing says that nothing waits for the person, or that nothing was found among the items that were read.
func (w *askWords) nothing(in Summary) string {
	if in.Looked > 0 {
		return fill(w.HomeNoneOf, "n", in.Looked)
	}
	return w.HomeNothing
}

func rows(lines []string) (out []slack.Block) {
	for five := range slices.Chunk(lines, 5) {
		out = append(out, section(cut(strings.Join(five, "\n"), maxSection)))
	}
	return out
}

// OpenConversation is an open conversation that the person began.
type OpenConversation struct {
	Conversation conversation.Conversation
	Link         string
}

// conversationOnHome is onHome for an agent's action. Of one that a card can't show whole, a button opens the rest.
func conversationOnHome(x Waits, of *conversation.Aggregate, s tenancy.Settings, now time.Time) []slack.Block {
	in := *of.Conversation
	in.Locale = s.Locale // the tab is in its reader's language
	a := *of
	a.Conversation = &in
	w := askWordsOf.In(s.Locale)
	blocks := []slack.Block{contextLine(conversationFrom(&a, w) + x.as(w) + opens(x.Link, w))}
	waits := a.Action(x.Question.ID)
	if waits == nil {
		return blocks
	}
	d := drawingOf(Conversation{Aggregate: &a}, s, s.Locale, now)
	r := d.routeOf(waits)
	switch {
	case r.st.Refused != nil:
		return append(blocks, r.waits()...)
	case d.body(waits, maxPages).bounded().cut:
		return append(blocks, d.inShort(waits, r).blocks...)
	}
	return append(blocks, d.pendingAction(waits, r).blocks...)
}

// inShort shows a waiting action without its payload, and so without a button to approve it.
func (d conversationDrawing) inShort(x *conversation.Action, r routed) face {
	review := button(d.w.Review, OpenActionReview, x.ActionID, slack.StylePrimary)
	_, reject := d.decision("", RejectAction, x.ActionID+"/"+d.t.AskedHash(x.ActionID))
	return face{}.with(section(strong(d.title(d.texts.Asks, x)))).with(d.about(x)...).with(
		slack.NewActionBlock(blockID(d.t.Head.SessionID, r.st.Present), review, reject,
			button(d.texts.Cancel, CancelAction, x.ActionID, "")))
}

func (w *askWords) conversationLines(conversations []OpenConversation) []string {
	lines := make([]string, len(conversations))
	for i, x := range conversations {
		lines[i] = "• " + fill(w.ConversationLine, "title", conversationTitle(&x.Conversation, w),
			"agent", inline(x.Conversation.AgentID, maxTool), "state", w.conversationState(&x.Conversation)) + opens(x.Link, w)
	}
	return lines
}

func (w *askWords) conversationState(s *conversation.Conversation) string {
	switch {
	case s.PendingActionID != "":
		return w.States[task.StatusWaits]
	case s.Status == conversation.Executing:
		return w.States[task.StatusRunning]
	case s.Status == conversation.Failing:
		return w.StateBroken
	}
	return w.StateOpen
}
