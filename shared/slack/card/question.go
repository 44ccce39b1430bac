package card

import (
	"cmp"
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

// The ids of the form for an act along a route that needs words, and of its fields beside the reason's. The action_id
// of the button that opens it is the act and the card's type: ask_process.
const (
	RouteActCallback = "route_act_modal"
	AddedBlock       = "added_block"
	AddedInput       = "added_input"
	RaisedBlock      = "raised_block"
	RaisedInput      = "raised_input"
	AddedPostBlock   = "added_post_block"
	AddedPostInput   = "added_post_input"
	AddedAsBlock     = "added_as_block"
	AddedAsInput     = "added_as_input"
)

// RouteActs are the acts for which that form asks.
var RouteActs = []circulation.Kind{circulation.Ask, circulation.Answer, circulation.Add, circulation.Dissent,
	Minutes}

const (
	// MaxPost is how many characters name a post.
	MaxPost = 200

	maxOnCard = 180  // characters of a question or answer on a card
	maxInCopy = 500  // likewise, on a copy
	maxDirect = 2500 // likewise, in a message of its own or a form
)

// routeActWords are what the form says.
type routeActWords struct{ Title, Send, Lead, Label, Empty string }

// RouteAct is the private_metadata of that form, and what it came back with. Its ids are not to be trusted; see modal.
type RouteAct struct {
	Review
	Kind     circulation.Kind `json:"act"`
	Question int              `json:"question,omitempty"` // number of the one that is answered
	Today    string           `json:"-"`                  // of the form's first day

	Text, To string               `json:"-"`
	Post     string               `json:"-"`
	Raised   string               `json:"-"` // account of whom the rule offers, or notRaised
	Role     circulation.As       `json:"-"`
	As       string               `json:"-"` // account of whom the person stands in for, if the form asked
	Meeting  *circulation.Meeting `json:"-"`
}

// ReadRouteAct reads the form; value returns what a field holds. ok is false for one that another release drew.
func ReadRouteAct(about string, value func(block, input string) string) (x RouteAct, ok bool) {
	ok = json.Unmarshal([]byte(about), &x) == nil && slices.Contains(RouteActs, x.Kind) && x.Stage >= 0
	x.Text, x.To = value(ReasonBlock, ReasonInput), value(AddedBlock, AddedInput)
	x.Post = strings.TrimSpace(value(AddedPostBlock, AddedPostInput))
	if x.Raised = value(RaisedBlock, RaisedInput); x.Raised != "" && x.Raised != notRaised {
		if x.To+x.Post != "" {
			x.Post = cmp.Or(x.Post, x.Raised) // both, which is refused
		}
		x.To = cmp.Or(x.To, x.Raised)
	}
	x.Role = circulation.As(value(AddedAsBlock, AddedAsInput))
	if x.Kind == Minutes {
		x.Meeting = ReadMeeting(func(field string) string { return value(field, field) })
	}
	return x, ok
}

func (d *taskDialogs) RouteAct(x RouteAct, locale string) slack.ModalViewRequest {
	draw := drawing{a: d.a, w: wordsOf.In(locale)}
	v, _ := draw.versionOf(x.Type, func(_, id string) bool { return id == x.ID }, 1)
	return draw.routeAct(draw.about(&v), &v.gate, x)
}

// RouteAct asks for the words of an act on an action under a rule.
func (t Conversation) RouteAct(x RouteAct, locale string) slack.ModalViewRequest {
	d := drawingOf(t, tenancy.Settings{}, locale, time.Time{})
	is := t.Action(x.ID)
	return d.routeAct(header(d.title(d.texts.Header, is)), &is.Gate, x)
}

func (d drawing) routeAct(about slack.Block, g *aggregate.Gate, x RouteAct) slack.ModalViewRequest {
	w, r := routeWordsOf.In(d.w.Locale), d.route(g, true)
	form := w.Forms[x.Kind]
	lead := []slack.Block{about, section(form.Lead)}
	if q := r.st.Open(); x.Kind == circulation.Answer && q != nil {
		x.Question = len(r.st.Questions)
		lead[1] = section(cut(r.saying(w.Question, q.Asked, maxDirect), maxSection))
	}
	if s := r.st.CurrentStage(); x.Kind == circulation.Dissent && s != nil {
		lead[1] = section(form.Lead + r.texts.dissentThen(s))
	}
	reason := reasonField(form.Label, form.Empty, circulation.MaxText)
	fields := []slack.Block{reason}
	if x.Kind == circulation.Add {
		who := slack.NewOptionsSelectBlockElement(slack.OptTypeUser, label(w.Added), AddedInput)
		as := slack.NewRadioButtonsBlockElement(AddedAsInput)
		for _, role := range []circulation.As{circulation.AsConsult, circulation.AsApprove} {
			as.Options = append(as.Options, slack.NewOptionBlockObject(string(role), label(w.Roles[role]),
				label(w.RolesAbout[role])))
		}
		as.InitialOption = as.Options[0]
		person, role := slack.NewInputBlock(AddedBlock, label(w.Added), nil, who), slack.NewInputBlock(AddedAsBlock,
			label(w.AddedAs), nil, as)
		fields = []slack.Block{person, role, reason}
		if offers := r.offers(); len(offers) > 1 {
			as.InitialOption, person.Optional = as.Options[1], true
			offered := slack.NewRadioButtonsBlockElement(RaisedInput, offers...)
			offered.InitialOption = offers[len(offers)-1]
			fields = append([]slack.Block{slack.NewInputBlock(RaisedBlock, label(w.RaiseTo), label(w.RaiseToHint), offered)},
				fields...)
		}
	}
	if x.Kind == Minutes {
		fields = minutesFields(d.w.Locale, x.Today, reason)
	}
	x.ID, x.TaskID, x.Hash = ident(x.ID), ident(x.TaskID), ident(x.Hash)
	return modal(RouteActCallback, form.Title, form.Send, d.w.ModalClose, metadata(x),
		append(lead, fields...)...)
}

// Unsent says in a dialog why what somebody typed wasn't saved, and shows it, so that they can copy it.
func Unsent(text, typed, locale string) *slack.ModalViewRequest {
	view := Told(text, locale)
	if typed = inline(typed, maxDirect); typed != "" {
		view.Blocks.BlockSet = append(view.Blocks.BlockSet, section(fill(wordsOf.In(locale).Quoted, "text", typed)))
	}
	return view
}

// consults reports whether the stage that is asked only consents or objects.
func (r routed) consults() bool {
	s := r.st.CurrentStage()
	return s != nil && s.As == circulation.AsConsult
}

// DissentThen says what an objection at a stage leads to.
func DissentThen(locale string, s *circulation.StageState) string {
	return routeWordsOf.In(locale).dissentThen(s)
}

func (w *routeWords) dissentThen(s *circulation.StageState) string {
	follows := s.Dissent
	if follows != circulation.ObjectionRaised {
		follows = circulation.ObjectionNoted
	}
	return w.DissentThen[follows]
}

// decision returns the buttons by which whoever is asked says yes and no. yes and no are their action ids.
func (r routed) decision(kind aggregate.CardType, yes, no, value string) (y, n slack.BlockElement) {
	if r.consults() {
		return button(r.texts.Consent, yes, value, slack.StylePrimary),
			button(r.texts.Object, string(circulation.Dissent)+"_"+string(kind), value, "")
	}
	if _, must := r.records(); must && yes != "" {
		return r.minute(kind, value, slack.StylePrimary), button(r.w.Reject, no, value, slack.StyleDanger)
	}
	return button(r.w.Approve, yes, value, slack.StylePrimary), button(r.w.Reject, no, value, slack.StyleDanger)
}

// minute is the button by which somebody stamps with minutes.
func (r routed) minute(kind aggregate.CardType, value string, style slack.Style) slack.BlockElement {
	return button(r.texts.Buttons[Minutes], string(Minutes)+"_"+string(kind), value, style)
}

// beside returns the buttons for what else may be done at the stage that is asked: recording minutes, answering the
// question that waits or asking one, and adding somebody. Where all who are asked have left, only the answer remains.
func (r routed) beside(kind aggregate.CardType, value string) (out []slack.BlockElement) {
	s := r.st.CurrentStage()
	if s == nil || s.Mode == circulation.ModeSettings {
		return nil
	}
	does := func(act circulation.Kind) {
		out = append(out, button(r.texts.Buttons[act], string(act)+"_"+string(kind), value, ""))
	}
	_, nobody := r.left()
	if may, must := r.records(); may && !must && !nobody {
		out = append(out, r.minute(kind, value, ""))
	}
	switch open := r.st.Open() != nil; {
	case open && r.copy == nil:
		does(circulation.Answer)
	case nobody: // who could ask or add has left
	case !open && len(r.st.Questions) < circulation.MaxQuestions:
		does(circulation.Ask)
	}
	if s.Mode == circulation.ModePeople && !nobody {
		does(circulation.Add)
	}
	return out
}

// saying fills a text about an act with who, when and at most so many characters of what they wrote, which stands
// between quotation marks.
func (r routed) saying(text string, act *circulation.Act, most int) string {
	said := inline(act.Text, most)
	text = fill(text, "who", r.hand(act), "when", when(act.At), "text", said)
	if said == inline(act.Text, most+len(act.Text)*len("&amp;")) {
		return text
	}
	if page := Page(r.Console, r.of); page != "" {
		return text + " <" + page + "|" + r.texts.Whole + ">"
	}
	return text + " " + r.texts.WholeAt
}

// parts stands between what is asked and who is, or how it ended: the newest question with its answer, or a line.
func (r routed) parts() slack.Block {
	if asked := r.question(); asked != "" {
		return section(asked)
	}
	return divider()
}

func (r routed) question() string {
	n, most := len(r.st.Questions), maxOnCard
	if n == 0 {
		return ""
	}
	if r.copy != nil {
		most = maxInCopy
	}
	q := r.st.Questions[n-1]
	lines := []string{r.saying(r.texts.Question, q.Asked, most)}
	switch {
	case q.Answered != nil:
		lines = append(lines, r.saying(r.texts.Answered, q.Answered, most))
	case r.open:
		lines[0] += " " + fill(r.texts.Unanswered, "who", r.w.mention(r.answerer()))
		if n == 1 { // only the first stops the clock
			lines[0] += r.texts.StopsClock
		}
	}
	if n > 1 {
		lines = append(lines, fill(r.texts.MoreAsked, "n", n-1))
	}
	return strings.Join(lines, "\n")
}

// answerer returns who is asked to answer questions: of several the first.
func (r routed) answerer() string {
	switch {
	case len(r.gate.Askers) > 0:
		return r.gate.Questioned()[0].User
	case r.a != nil:
		return r.a.Head.Requester
	}
	return r.drawing.asker
}

// called is what a stage is called. One that people added has no name of its own.
func (r routed) called(s *circulation.StageState) string {
	switch {
	case s.By == nil:
		return or(inline(s.Name, maxStage), r.w.None)
	case s.By.Kind == circulation.Dissent:
		return r.texts.Raised
	}
	return r.texts.AddedStage[s.By.As]
}

// people names the first of an added stage's people, and counts the others.
func (r routed) people(s *circulation.StageState) string {
	if s.LeftOut != "" {
		return r.w.mention(s.By.To.User)
	}
	return r.texts.others(r.w.mention(s.People[0].User), len(s.People)-1)
}

func objects(act *circulation.Act) bool { return act.Kind == circulation.Dissent }

// happened says who was added in the rounds before, who last in this one, by whom and why, what was objected, the
// latest first, and what meetings resolved.
func (r routed) happened() []string {
	added, before := "", []string{}
	for i := range r.st.Stages {
		switch by := r.st.Stages[i].By; {
		case by == nil || by.Kind != circulation.Add:
		case r.st.Stages[i].Carried != nil:
			before = append(before, fill(r.texts.AddedBefore, "who", r.w.mention(by.Hand.User), "to", r.w.mention(by.To.User),
				"as", r.texts.AddedStage[by.As], "round", r.st.Stages[i].Carried.Round))
		default:
			added = fill(r.texts.AddedLine, "who", r.hand(by), "to", r.w.mention(by.To.User),
				"as", r.texts.Roles[by.As], "text", inline(by.Text, maxOnCard/2))
		}
	}
	lines := []string{added}
	if len(before) > 0 {
		lines = append(lines, fill(r.texts.CarriedLine, "who", strings.Join(before, r.texts.And)))
	}
	for _, act := range slices.Backward(r.st.Dissents()) {
		lines = append(lines, r.saying(r.texts.Objection, act, maxOnCard/2))
	}
	return append(lines, r.minutes(), r.readings())
}

// questioned draws the message that brings a question to whose request it is, or its answer to who asked. title names
// the request, at is what the button names: its block and its value, and to is who reads it.
func (r routed) questioned(kind aggregate.CardType, n int, title, link string, at [2]string, to string) Message {
	w, asks := r.texts, askWordsOf.In(r.w.Locale)
	if n < 1 || n > len(r.st.Questions) {
		return face{text: w.AnsweredNo, colour: grey}.with(section(w.AnsweredNo + opens(link, asks))).message()
	}
	q, text, colour := r.st.Questions[n-1], w.QuestionFor, blue
	switch {
	case q.Answered != nil && q.Asked.Hand.User == to:
		text, colour = w.AnswerFor, green
	case q.Answered != nil:
		text, colour = w.QuestionDone, green
	case !r.open:
		text, colour = w.QuestionOver, grey
	}
	text = fill(text, "title", title)
	f := face{text, colour, nil}.with(section("*"+text+"*"+opens(link, asks)),
		section(cut(r.saying(w.Question, q.Asked, maxDirect), maxSection)))
	switch {
	case q.Answered != nil:
		return f.with(section(cut(r.saying(w.Answered, q.Answered, maxDirect), maxSection))).message()
	case !r.open:
		return f.with(contextLine(w.AnsweredNo)).message()
	}
	return f.with(slack.NewActionBlock(at[0], button(w.Buttons[circulation.Answer],
		string(circulation.Answer)+"_"+string(kind), at[1], slack.StylePrimary)), contextLine(w.AnswerAbout)).message()
}

// decided draws the message by which somebody is told of a decision: about what, its number, and who made it.
func (r routed) decided(title, asker, link string) Message {
	asks, text := askWordsOf.In(r.w.Locale), fill(r.texts.Decided, "title", title)
	from := fill(asks.HomeFrom, "who", r.w.mention(asker))
	return face{text, green, nil}.with(section("*"+text+"*"+opens(link, asks)),
		contextLine(append(r.passed(), from)...)).message()
}

// decided draws the copy about the decision at a task's gate.
func (d drawing) decided(key, link string) Message {
	v, _ := d.versionOf(task.CardOf(key), func(other, _ string) bool { return other == key }, 1)
	return d.routeOf(&v).decided(d.matter(&v, d.w.Quoted), d.a.Head.Requester, link)
}

// question draws the copy of a question of a task's gate.
func (d drawing) question(key string, n int, link, to string) Message {
	kind := task.CardOf(key)
	v, _ := d.versionOf(kind, func(other, _ string) bool { return other == key }, 1)
	r := d.routeOf(&v)
	return r.questioned(kind, n, d.matter(&v, d.w.Quoted), link,
		[2]string{shownID(d.a.Head.TaskID, r.st.Present, d.a.AskedHash(v.id)), v.id}, to)
}

// question draws the copy of a question about an action.
func (d conversationDrawing) question(x *conversation.Action, n int, link, to string) Message {
	r := d.routeOf(x)
	title := d.title(d.texts.Header, x)
	return r.questioned(conversation.CardAction, n, title, link, [2]string{blockID(d.t.Head.SessionID, r.st.Present),
		x.ActionID + "/" + d.t.AskedHash(x.ActionID)}, to)
}
