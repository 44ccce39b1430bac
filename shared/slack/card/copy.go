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
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// Copy draws a copy of a card for a person's direct messages: the same card with the same buttons, below a line that
// names the task and links to the original card. For task.CardOutcome it says how the task ended. link may be empty.
func Copy(a *task.Aggregate, c *aggregate.Card, s tenancy.Settings, link string, now time.Time) Message {
	if key, back := strings.CutPrefix(c.Subject, ReturnedCopy); back {
		return returnedTo(a, key, s, link, Around{}, now)
	}
	switch key, n := aggregate.QuestionOf(c.Subject); {
	case c.CardType == task.CardOutcome:
		return outcomeOf(a, s, link, now)
	case n > 0:
		return drawing{a: a, settings: s, w: wordsOf.In(s.Locale), now: now}.question(key, n, link, c.User)
	case c.CardType == aggregate.CardDecided:
		return drawing{a: a, settings: s, w: wordsOf.In(s.Locale), now: now}.decided(c.About(), link)
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
		if m.Plain != nil {
			m.Plain.Text = m.Text
		}
	}
	return m
}

// until returns a task as it was while the version in the row with this key was the newest.
func until(a *task.Aggregate, key string) *task.Aggregate {
	then := *a
	for i, p := range a.Processes {
		if p.Key() == key {
			then.Processes = a.Processes[:i+1]
		}
	}
	for i, p := range a.Prompts {
		if p.Key() == key {
			then.Prompts, then.Processes, then.Head.Glance.Version = a.Prompts[:i+1], nil, p.Version
		}
	}
	return &then
}

// ConversationCopy is Copy for an action of a conversation.
func ConversationCopy(t Conversation, c *aggregate.Card, s tenancy.Settings, link string, now time.Time) Message {
	w := askWordsOf.In(t.locale(s))
	if key, n := aggregate.QuestionOf(c.Subject); n > 0 {
		return drawingOf(t, s, t.locale(s), now).question(aggregate.Find(t.Actions, key), n, link, c.User)
	}
	if c.CardType == aggregate.CardDecided {
		d, x := drawingOf(t, s, s.Locale, now), aggregate.Find(t.Actions, c.About())
		return d.routeOf(x).decided(d.title(d.texts.Header, x), t.Conversation.Opener, link)
	}
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
	if m.Plain != nil {
		m.Plain = new(under(from, *m.Plain))
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
	if anew := d.asksAnew(); anew != nil {
		rest = append(rest, d.actions(anew...))
	}
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

// inPlace reports whether somebody acted in another's place, or was asked instead of them.
func (r routed) inPlace() bool {
	acts := r.st.Stamps()
	if r.st.Ended() != "" {
		acts = append(acts, r.st.Last)
	}
	return slices.ContainsFunc(acts, func(act *circulation.Act) bool { return act.Hand.User != act.Principal.User }) ||
		slices.ContainsFunc(r.st.Stages, func(s circulation.StageState) bool {
			return s.Filled == rules.FilledInstead && len(s.Stamps) > 0
		})
}

// instead says in whose place somebody is asked at a stage, within a line and in a line; "" in nobody's.
func (w *routeWords) instead(s *circulation.StageState, user string, called func(string) string) (short, line string) {
	at := slices.IndexFunc(s.People, func(p circulation.Person) bool { return p.User == user })
	if at < 0 {
		return "", ""
	}
	of, _, is := circulation.InsteadOf(s.People[at])
	if !is {
		return "", ""
	}
	var names []string
	for _, user := range of.Away {
		names = append(names, fill(w.Absent["away"], "who", called(user)))
	}
	for _, user := range of.OnLeave {
		if user != "" {
			names = append(names, fill(w.Absent["leave"], "who", called(user)))
		}
	}
	why := fill(w.Because["named"], "who", w.others(strings.Join(names[:min(len(names), maxStamps)], w.And),
		len(names)-maxStamps))
	switch {
	case len(names) > 0:
	case len(of.OnLeave) > 0:
		why = w.Because["leave"]
	case of.Vacant:
		why = w.Because["vacant"]
	case of.Elsewhere:
		why = w.Because["elsewhere"]
	default:
		why = w.Because["nobody"]
	}
	if of.Over {
		return fill(w.Above, "why", why), fill(w.AboveLine, "why", why)
	}
	return fill(w.Instead, "why", why), fill(w.InsteadLine, "why", why)
}

// Instead says in whose place somebody is asked at a stage, within a line and in a line; "" in nobody's. called names
// an account.
func Instead(locale string, s *circulation.StageState, user string, called func(string) string) (short, line string) {
	return routeWordsOf.In(locale).instead(s, user, called)
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

// TakeBack begins the action_id of the button by which somebody takes their own stamp back; the card's type follows.
// Its block_id names the stage of that stamp.
const TakeBack = "takeback_"

// TakeBackWords returns the text of that button, the question that it asks before, and what it means. back is the act
// by which what was given at a stage in state st is taken back.
func TakeBackWords(locale string, st *circulation.State, back *circulation.Act) (text, question, about string) {
	w, s := routeWordsOf.In(locale), st.Stages[back.Stage-1]
	if s.As != circulation.AsConsult {
		return w.TakeBack, w.TakeBackTitle, w.TakeBackText
	}
	if slices.ContainsFunc(s.Stamps, func(x *circulation.Act) bool {
		return x.Kind == circulation.Dissent && x.Hand.User == back.Hand.User
	}) {
		return w.TakeBack, w.TakeBackObjects, w.TakeBackObjection
	}
	return w.TakeBack, w.TakeBackConsents, w.TakeBackConsent
}

// takeBack returns the button for somebody's stamp on a gate that waits, and its stage. ok is false if they have none,
// or may not take it back.
func (r routed) takeBack(kind aggregate.CardType, value, user string) (b slack.BlockElement, stage int, ok bool) {
	if !r.open || r.st.Refused != nil {
		return nil, 0, false
	}
	act, ok := circulation.TakesBack(r.gate.Circulating(), r.st, user)
	if !ok {
		return nil, 0, false
	}
	label, title, text := TakeBackWords(r.w.Locale, &r.st, &act)
	return confirmed(button(label, TakeBack+string(kind), value, ""), title, text, r.texts.TakeBackYes,
		r.texts.TakeBackNo), act.Stage, true
}

// onCopy returns that button for a copy's person and stage. id is the task's or conversation's.
func (r routed) onCopy(kind aggregate.CardType, value, id string) []slack.Block {
	b, stage, ok := r.takeBack(kind, value, r.copy.User)
	if !ok || stage != r.copy.Stage {
		return nil
	}
	return []slack.Block{slack.NewActionBlock(blockID(id, stage), b)}
}

// opensRoute returns the button that opens the dialog with the route, if somebody may take a stamp back there: not
// everybody who stamps has a copy.
func (r routed) opensRoute(kind aggregate.CardType, value string) []slack.BlockElement {
	if r.copy != nil || !r.open {
		return nil
	}
	for _, act := range r.st.Stamps() {
		if _, ok := circulation.TakesBack(r.gate.Circulating(), r.st, act.Hand.User); ok {
			return []slack.BlockElement{button(r.texts.OpenRoute, RouteAction+string(kind), value, "")}
		}
	}
	return nil
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

// dialog draws where each stage stands, whose turn it is until when, and whether its reader may take their stamp back.
func (r routed) dialog(about slack.Block, of Review) slack.ModalViewRequest {
	blocks := []slack.Block{about}
	for _, n := range r.st.InOrder() {
		blocks = append(blocks, section(cut(r.stageInFull(n-1), maxSection)))
	}
	if r.gate.Ruled() {
		blocks = append(blocks, contextLine(fill(r.texts.Rule, "rule", r.ruleName(r.gate))))
	}
	b, stage, ok := r.takeBack(of.Type, ident(of.ID)+"/"+of.Hash, of.Reader)
	act, _ := circulation.TakesBack(r.gate.Circulating(), r.st, of.Reader)
	switch {
	case ok:
		blocks = append(blocks, slack.NewActionBlock(blockID(ident(of.TaskID), stage), b))
	case !r.open:
		blocks = append(blocks, contextLine(r.w.ReviewOver))
	case act.Stage > 0:
		refused := circulation.Admit(r.gate.Circulating(), r.st, act)
		blocks = append(blocks, contextLine(Refused(refused, tenancy.Settings{Locale: r.w.Locale}, r.origin)))
	}
	return modal(ReviewCallback, r.texts.RouteTitle, "", r.w.ReviewClose,
		metadata(Review{Type: of.Type, ID: ident(of.ID), TaskID: ident(of.TaskID)}), blocks...)
}

// stageInFull draws a stage with the people whom it asks, or will ask.
func (r routed) stageInFull(i int) string {
	s := &r.st.Stages[i]
	switch {
	case r.open && r.st.Present == i+1 && len(s.Stamps) > 0:
		return r.now(maxPath) + "\n✅ " + r.stamps(i)
	case r.open && r.st.Present == i+1:
		return r.now(maxPath)
	case r.open && s.Owed > 0 && s.LeftOut == "" && s.Mode != circulation.ModeChannel:
		return r.stage(i) + " — " + r.asked(s.People, maxPath)
	}
	return r.stage(i)
}

const maxStamped = 5 // gates on the Home tab that its person stamped

// stamped lists on the Home tab what its person may take back, for those who have no copy. What they are asked about
// again has its card above.
func (w *askWords) stamped(in Summary) (out []slack.Block) {
	for _, x := range in.Stamped {
		g := x.gate()
		of, is := x.Of.(interface{ AskedHash(id string) string })
		again := slices.ContainsFunc(in.Waiting, func(o Waits) bool { return o.Of.Ref() == x.Of.Ref() })
		if again || g == nil || !is || len(out) == 2*maxStamped {
			continue
		}
		r := drawing{w: wordsOf.In(w.Locale)}.route(g, g.Status == aggregate.PendingApproval)
		if b, stage, ok := r.takeBack(x.Question.Kind, x.Question.ID+"/"+of.AskedHash(x.Question.ID), in.User); ok {
			out = append(out, section("• "+waitsLine(x, w)+r.whom(w)+opens(x.Link, w)),
				slack.NewActionBlock(blockID(x.Of.Ref().ID, stage), b))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return append([]slack.Block{divider(), header(routeWordsOf.In(w.Locale).Stamped)}, out...)
}
