package task

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

// steps returns the steps that the item asks about, or the agent's call as one; nil if it doesn't ask about any. The
// earlier ones are those whose results they may refer to.
func (x askedItem) steps() (steps, earlier []task.Step) {
	switch row := x.Row.(type) {
	case *task.Process:
		return row.Steps, nil
	case *task.StepGate:
		if x.plan == nil {
			return nil, nil
		}
		if i := x.plan.StepOf(row); i >= 0 {
			s := x.plan.Steps[i]
			if row.Arguments.JSON == "" {
				return []task.Step{s}, x.plan.Steps[:i]
			}
			s.ToolInput = row.Arguments.JSON // no value of it refers to a step
			return []task.Step{s}, nil
		}
	case *call.Call:
		return subject.StepsOf(row), nil
	case *conversation.Action:
		if p := x.payload; p != nil && p.Tool != "" && p.Push == nil { // that of a pull request has words of its own
			return []task.Step{card.CalledStep(*p)}, nil
		}
	}
	return nil, nil
}

// payloadOf returns what an item's action would do, nil if that can't be read, or must be opened and open is false.
func (c *Pages) payloadOf(ctx context.Context, x store.WaitingItem, open bool) *conversation.Payload {
	row, is := x.Row.(*conversation.Action)
	if !is || row.Payload.S3Key != "" && !open {
		return nil
	}
	return subject.PayloadOf(ctx, c.Site, x.Ref, row)
}

// effect returns what approving the item does.
func (x askedItem) effect(locale string) explain.Sum {
	steps, earlier := x.steps()
	if len(steps) != 1 {
		return explain.SumUp(locale, steps)
	}
	var shown map[string]any
	if row, is := x.Row.(*task.StepGate); is {
		shown, _, _ = explain.Masked(x.plan.Steps[x.plan.StepOf(row)], row.Arguments, locale)
	}
	one := []explain.Effect{explain.EffectOf(locale, steps[0], shown, earlier)}
	if steps[0].Access == aggregate.Read {
		return explain.SumOf(locale, nil, one)
	}
	return explain.SumOf(locale, one, nil)
}

// rowReader draws what waits for a viewer.
type rowReader struct {
	*Pages
	subject.Reader
	v        *web.Viewer
	words    web.Texts
	settings tenancy.Settings
	reach    people.Reach
	surface  explain.Surface
}

// read adds what people read: what happens, names, who may decide and until when.
func (c *Pages) read(r *http.Request, v *web.Viewer, all []askedItem, reach people.Reach,
	s tenancy.Settings) (out []waitingRow) {
	ids, sums := append([]string{v.User}, s.Approvers.Users...), make([]explain.Sum, len(all))
	for i := range all {
		x := &all[i]
		if x.payload == nil {
			x.payload = c.payloadOf(r.Context(), x.WaitingItem, true)
		}
		ids = append(append(append(ids, x.origin.User), x.askers()...), task.Mentioned(x.text)...)
		if g := x.ruled(); g != nil {
			ids = append(ids, subject.NamedOf(g)...) // whom the viewer stands in for among them
		}
		sums[i] = x.effect(v.Locale)
		ids = append(ids, sums[i].People()...)
	}
	channels := reach.Channels()
	by := subject.Reader{Locale: v.Locale, Person: c.Called(r.Context(), v, ids...),
		ChannelOf: func(id string) string { return web.ChannelName(channels, id) }}
	d := rowReader{c, by, v, v.Texts("approvals"), s, reach, subject.SurfaceOf(v, by.Person, by.ChannelOf)}
	for i, x := range all {
		out = append(out, d.row(x, sums[i]))
	}
	return out
}

func (d *rowReader) row(x askedItem, sum explain.Sum) waitingRow {
	is := waitingRow{Path: x.path(), Kind: d.words.In("kinds", x.Kind), Title: d.title(x), Name: d.Person(x.origin.User),
		Person: x.origin.User, Channel: web.Channel(d.v, x.origin, d.reach.Channels()), Since: x.CreatedAt, Until: x.until(),
		Mine: x.turn(d.reach), rank: x.rank}
	is.Soon = d.soon(is.Until)
	if x.rank.Pressing() {
		is.Priority = card.Priority(d.Locale, x.rank)
	}
	if x.standsFor != "" {
		is.For = d.words.Say("stands_for", "name", d.Person(x.standsFor))
	}
	g := x.ruled()
	if g == nil {
		is.Who = d.surface.Deciders(d.settings, x.origin, x.askers()...)
	} else {
		d.Channel = is.Channel
		is.Stages, is.Who = d.Chips(g), d.Waits(g)
	}
	d.tells(&is, x, sum)
	return is
}

// title is what the request of an item is called.
func (d *rowReader) title(x askedItem) string {
	version := x.Version
	if p, is := x.Row.(*task.Prompt); is && p.Author != "" {
		version = 1 // no reason led to it
	}
	return card.Titled(cmp.Or(card.OneLine(x.title), d.v.Untitled()), version)
}

// tells fills in what happens.
func (d *rowReader) tells(is *waitingRow, x askedItem, sum explain.Sum) {
	switch row := x.Row.(type) {
	case *conversation.Action:
		d.action(is, x, row, sum)
		return
	case *call.Call:
		is.Title, is.Says = "", line(d.words.Say("unread"))
		is.Said, is.SaidBy = card.OneLine(row.Reason), card.OneLine(row.KeyName)
		if steps, _ := x.steps(); steps != nil {
			d.does(is, sum)
			if apart := d.Apart(sum.First()); apart != nil {
				is.Then = append(is.Then, apart)
			}
			is.Then = append(is.Then, quoted(is.SaidBy))
		}
		return
	case *task.StepGate:
		is.Then = append(is.Then, line(d.words.Say("step", "n", row.Order)))
		if row.Arguments.JSON == "" {
			is.Then = append(is.Then, line(d.words.Say("planned")))
		}
	}
	if steps, _ := x.steps(); steps != nil {
		d.does(is, sum)
		return
	}
	asked := is.Title
	if is.Says, is.Title = quoted(is.Title), ""; x.Kind == task.CardPrompt {
		asked = card.OneLine(web.Mentions(legible.Beginning(x.text, mostText), d.Person))
	}
	if asked != is.Says[0].Text && asked != "" {
		is.Then = append(is.Then, quoted(asked))
	}
	if about := d.words.In("kinds_about", x.Kind); about != "" {
		is.Then = append(is.Then, line(about))
	}
}

// line is a text of Ringi's own; quoted is one that it didn't write.
func line(text string) []subject.Piece   { return []subject.Piece{{Text: text}} }
func quoted(text string) []subject.Piece { return []subject.Piece{{Text: text, Planned: true}} }

// does says what steps do: the write that people are told first, why it is final, and the others.
func (d *rowReader) does(is *waitingRow, sum explain.Sum) {
	by := func(e explain.Effect) []subject.Piece {
		return d.Briefly(e.Sentence)
	}
	lead, others := sum.First(), sum.Then
	if !sum.Final && len(sum.Reads) > 0 {
		others = sum.Reads[1:]
	}
	is.Kind, is.moves = d.words.In("acts", cmp.Or(string(lead.Act), otherAct)), sum.Amount
	is.Says = by(lead)
	if rest, cut := strings.CutPrefix(is.Says[0].Text, is.Kind); cut && !goesOn(rest) {
		is.Says[0].Text = rest // it stands before
	}
	if sum.Told() {
		is.Title = "" // a model gave it before anybody corrected it
	}
	if is.moves != rules.Nothing() {
		is.Amount = explain.Money(d.Locale, is.moves)
	}
	if final := lead.FinalBriefly(d.Locale); final != "" {
		is.Then = append([][]subject.Piece{line("⚠️ " + final)}, is.Then...)
	}
	if text := d.text(lead); text != nil {
		is.Then = append(is.Then, text)
	}
	more, same := 0, 1
	for _, e := range others {
		says := by(e)
		if reflect.DeepEqual(e.Sentence, lead.Sentence) { // another text to the same people
			says, same = d.text(e), same+1
		}
		if len(is.Then) > mostThen || says == nil {
			more += len(e.Orders)
		} else {
			is.Then = append(is.Then, says)
		}
	}
	if same > 1 {
		is.Says = append(is.Says, subject.Piece{Text: " × " + strconv.Itoa(same)})
	}
	if more > 0 {
		is.Then = append(is.Then, line(d.words.Say("hidden", "n", more)))
	}
}

// goesOn reports whether a text goes on with the word before it.
func goesOn(rest string) bool {
	first, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLetter(first)
}

// text is how the text of a message begins, by which requests to the same people are told apart; nil if there is none.
func (d *rowReader) text(e explain.Effect) []subject.Piece {
	said := card.OneLine(web.Mentions(explain.Plain(e.Words), d.Person))
	if said == "" {
		return nil
	}
	return quoted(d.words.Say("text", "text", legible.Beginning(said, mostAbout)))
}

// action says what an agent's action would do, from its payload alone.
func (d *rowReader) action(is *waitingRow, x askedItem, row *conversation.Action, sum explain.Sum) {
	is.Title, is.Kind = "", d.words.In("acts", row.ActionType)
	if row.Pushed != nil {
		is.Kind = card.ActionCalled(row, d.Locale)
	}
	is.Said, is.SaidBy = card.OneLine(row.Summary), card.OneLine(x.agent)
	switch steps, _ := x.steps(); {
	case x.payload == nil:
		is.Says = line(d.words.Say("unread"))
	case steps != nil:
		d.does(is, sum)
		kind := card.CallKind(x.payload.Access, d.Locale)
		is.Then = append(is.Then, quoted(legible.OneLine(x.payload.Tool)), line(kind))
		is.Then = append(is.Then, web.Each(files(*x.payload, d.words), quoted)...)
	default:
		is.Says = quoted(strings.Join(doingOf(*x.payload, d.words), " · "))
	}
}

// otherAct is asked for in place of what nobody said, and unplanned where there are no steps yet.
const (
	otherAct  = "other"
	unplanned = "unplanned"
)

// acts are the values of the filter by what is done.
var acts = append(web.Each(rules.Acts, func(act rules.Act) string { return string(act) }),
	string(rules.ActDecide), string(rules.ActSheet), otherAct, string(rules.ActRead), unplanned)

// does reports whether the item's steps do this, or that there are none yet.
func (x askedItem) does(what string) bool {
	steps, _ := x.steps()
	if steps == nil {
		return what == map[bool]string{true: otherAct, false: unplanned}[x.Kind == conversation.CardAction]
	}
	writes := false
	for _, s := range steps {
		if s.Access != aggregate.Read {
			writes = true
			if cmp.Or(string(s.Act()), otherAct) == what {
				return true
			}
		}
	}
	return !writes && what == string(rules.ActRead)
}
