package conversation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// inThread returns a conversation that somebody began within a thread.
func inThread(t *testing.T) *table {
	t.Helper()
	in := inbound("claude: look", "1775034005.000100")
	c, err := Begin(in, Opening{AgentID: "claude", Locale: "en"}, start)
	expect.NoError(t, err)
	tb := &table{t: t, rows: map[string]aggregate.Row{}, lists: map[string]aggregate.Row{}, now: start}
	tb.head = *c.Head.(*Head)
	tb.apply(c, Head{})
	return tb
}

func TestWhatWasSaidInAThreadIsGivenOnce(t *testing.T) {
	before := []Earlier{{User: suzuki, At: start.Add(-time.Hour), Text: "the build is <red>"}}
	for name, tt := range map[string]struct {
		said []Earlier
		of   aggregate.Thread
		says string
	}{
		"something": {before, aggregate.Thread{Read: 1}, "shown earlier messages from this thread (1)"}, "nothing": {
			nil, aggregate.Thread{}, ""},
		"a part": {before, aggregate.Thread{Read: 1, Cut: 1, Earlier: true},
			"page. Long ones whose end was not read: 1. There are earlier messages, which were not read."},
		"unread": {nil, aggregate.Thread{Failed: true}, "couldn’t be read"},
	} {
		tb := inThread(t)
		expect.Is(t, tb.load().Conversation.ThreadBefore, "1775034005.000100")
		had := len(tb.lists)
		give := func(a *Aggregate) (aggregate.Change, error) { return a.GiveThread(a.Head.Run, tt.said, tt.of, tb.now) }
		tb.must(give(tb.load()))
		expect.Fails(t, tb.do(give(tb.load())), aggregate.ErrNotDue, name)
		a := tb.load()
		expect.That(t, a.Conversation.ThreadBefore == "" && len(a.Inbox) == 1, "%s: %+v", name, a.Conversation)
		if tt.says == "" {
			expect.That(t, len(tb.lists) == had && len(a.Cards) == 0, "%s: %+v", name, a.Cards)
			continue
		}
		var m *Message
		for _, l := range tb.lists {
			if said, is := l.(*Message); is && said.Sender == FromSystem {
				m = said
			}
		}
		expect.Must(t, m != nil && len(m.Thread) == len(tt.said) && len(a.Cards) == 1 && m.DeleteAfter > 0,
			"%s: %+v", name, m)
		expect.Has(t, m.Content, tt.says)
	}
	expect.Is(t, opened(t).load().Conversation.ThreadBefore, "", "a message that begins its thread")
}

// A conversation that begins without a word is called by what its message has.
func TestAConversationWithoutWordsIsCalledByWhatItHas(t *testing.T) {
	in := inbound(" ", "1775034005.000100")
	in.Forwarded = []aggregate.Quoted{{Name: "Hanako"}}
	in.Attachments = []Attachment{{Name: "a.csv"}, {Name: "b.csv"}, {Name: "c.csv"}, {Name: "d.csv"}}
	c, err := Begin(in, Opening{AgentID: "claude", Locale: "en"}, start)
	expect.NoError(t, err)
	expect.Is(t, c.Written((&Conversation{}).Key()).(*Conversation).Title,
		"Forwarded message of Hanako, 📎 a.csv, 📎 b.csv, 📎 c.csv, …")
}

// The order in which an agent was shown messages stays, whatever came while it answered or was brought late.
func TestTheOrderOfAnAnsweredTurnStays(t *testing.T) {
	at := func(second int, from Sender, name string) Message {
		return Message{MessageID: name, Sender: from, Content: name,
			CreatedAt: start.Add(time.Duration(second) * time.Second)}
	}
	user := func(second int, name string) Message { return at(second, FromUser, name) }
	system := func(second int, name string) Message { return at(second, FromSystem, name) }
	answer := func(second int, name string, shown Message, of ...Message) Message {
		m := at(second, FromAgent, name)
		m.Shown = shown.Key()
		for _, x := range of {
			m.Answers = append(m.Answers, x.Key())
		}
		return m
	}
	names := func(now []Message, before ...Message) string {
		var out []string
		for _, m := range InOrder(before, now) {
			out = append(out, m.Content)
		}
		return strings.Join(out, " ")
	}
	type these = []Message
	m1, source, files := user(1, "m1"), system(2, "source"), system(3, "files")
	expect.Is(t, names(these{m1}, source, files), "source files m1", "the first turn")
	m2, output := user(4, "m2"), system(5, "output") // both came while the first answer was made
	a1 := answer(6, "a1", files, m1)
	m0 := user(0, "m0") // Slack brought it late
	expect.Is(t, names(these{m0, m2}, output, m1, source, files, a1), "source files m1 a1 output m0 m2", "the second turn")
	a2 := answer(7, "a2", output, m0, m2)
	refusal := system(9, "refusal")
	m3 := user(8, "m3")
	refusal.Answers = []string{m3.Key()}
	m4 := user(10, "m4")
	expect.Is(t, names(these{m4}, a2, refusal, m3, m0, m2, output, m1, source, files, a1),
		"source files m1 a1 output m0 m2 a2 m3 refusal m4", "the fourth turn")

	far := user(60, "far") // Slack's clock is ahead of ours
	a3, a4 := answer(11, "a3", far, m4, far), answer(12, "a4", far, user(61, "farther"))
	expect.Is(t, names(these{user(13, "m5")}, user(61, "farther"), a4, far, m4, a3), "m4 far a3 farther a4 m5",
		"after a skewed clock")

	expect.Is(t, names(nil), "", "of nothing")
}

func TestARequestThatAPersonMakesIsInTheHistory(t *testing.T) {
	a := offers(t, "buy it")
	c, err := a.MakeRequest(a.OpenOffer().ID, person(sato), policy, start.Add(time.Minute))
	expect.NoError(t, err)
	var said *Message
	for _, l := range c.Beside {
		said, _ = l.Row.(*Message)
	}
	expect.Must(t, said != nil && said.TaskID != "" && strings.Contains(said.Content, "became task "+said.TaskID), "%+v",
		said)
}

// offers returns a conversation whose agent wants to make a request after it has read files.
func offers(t *testing.T, text string) *Aggregate {
	t.Helper()
	a := opened(t).load()
	return after(t, a)(a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "read", Request: text}, start.Add(time.Second)))
}

func after(t *testing.T, a *Aggregate) func(aggregate.Change, error) *Aggregate {
	return func(c aggregate.Change, err error) *Aggregate {
		t.Helper()
		expect.NoError(t, err)
		return a.After(c).(*Aggregate)
	}
}

func TestARequestAfterReadingIsMadeByAPersonOnce(t *testing.T) {
	now := start.Add(time.Minute)
	a := offers(t, "buy it")
	o := a.OpenOffer()
	expect.Must(t, o != nil && o.Text == "buy it" && o.TaskID == "" && len(a.Effects(now).Make) == 0, "%+v", o)
	expect.That(t, slices.ContainsFunc(a.Offers(), func(x aggregate.Offer) bool {
		return x.Act == ActMakeRequest && x.ID == o.ID
	}), "%+v", a.Offers())
	for name, by := range map[string]aggregate.Actor{
		"a guest":           {Type: aggregate.ActorUser, ID: sato, Team: team, Guest: true},
		"a stranger":        {Type: aggregate.ActorUser, ID: sato, Team: "T2"},
		"nobody's business": {Type: aggregate.ActorUser, ID: "U_TANAKA", Team: team},
	} {
		_, err := a.MakeRequest(o.ID, by, policy, now)
		_, refused := errors.AsType[aggregate.ErrNotAllowed](err)
		expect.That(t, refused, "%s: %v", name, err)
	}
	expect.Fails(t, expect.Err(a.MakeRequest("another", person(sato), policy, now)), aggregate.ErrNotFound)

	c, err := a.MakeRequest(o.ID, person(suzuki), policy, now)
	made := after(t, a)(c, err)
	expect.That(t, len(c.Audit) == 1 && c.Audit[0].Action == AuditRequestMade && c.Audit[0].ActorID == suzuki,
		"%+v", c.Audit)
	o = made.Offered[0]
	expect.That(t, o.MadeBy == suzuki && o.Text == "buy it" && o.MessageTS == "1775034000.000100" && o.TaskID != "" &&
		made.OpenOffer() == nil, "%+v", o)
	makes := made.Effects(now).Make
	expect.Must(t, len(makes) == 1 && made.DueAt(now) != nil, "tasks that the relay makes: %d", len(makes))
	task := (&task.Aggregate{}).After(makes[0].Begin).(*task.Aggregate)
	expect.That(t, task.Head.TaskID == o.TaskID && task.Spoken() && task.Request.User == suzuki, "%+v", task.Request)
	done := after(t, made)(makes[0].Made(made))
	expect.Is(t, len(done.Effects(now).Make), 0, "tasks that are made again")
	expect.Fails(t, expect.Err(makes[0].Made(done)), aggregate.ErrNotDue)

	again, err := made.MakeRequest(o.ID, person(suzuki), policy, now)
	expect.That(t, err == nil && again.Empty(), "%+v, %v", again, err)
	_, err = made.MakeRequest(o.ID, person(sato), policy, now)
	was, decided := errors.AsType[aggregate.ErrDecided](err)
	expect.That(t, decided && was.By == suzuki, "%v", err)
}

func TestANewerRequestTakesTheOldOnesPlace(t *testing.T) {
	a := offers(t, "first")
	first := a.OpenOffer()
	a = after(t, a)(a.MakeRequest(first.ID, person(sato), policy, start.Add(time.Minute)))
	for i, text := range []string{"second", "third"} {
		in, err := Tell(inbound("again", "1775034001.00010"+string(rune('0'+i))), Opening{},
			a.Head.ChangedAt.Add(time.Second))
		a = after(t, a)(in, err)
		if a.Head.Resting {
			a = after(t, a)(a.StartRun(a.Head.ChangedAt.Add(time.Second)))
		}
		a = after(t, a)(a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "x", Request: text},
			a.Head.ChangedAt.Add(time.Second)))
	}
	o := a.OpenOffer()
	expect.That(t, o.Text == "third" && o.Number == 3 && len(a.Offered) == 2 && a.Offered[0].MadeAt != nil &&
		o.ID != first.ID, "%+v", a.Offered)
}

func TestAClosedConversationMakesNoRequest(t *testing.T) {
	a := offers(t, "buy it")
	id := a.OpenOffer().ID
	a = after(t, a)(a.End(person(sato), policy, start.Add(time.Minute)))
	_, err := a.MakeRequest(id, person(sato), policy, start.Add(time.Hour))
	_, decided := errors.AsType[aggregate.ErrDecided](err)
	expect.That(t, decided && a.OpenOffer() == nil, "%v", err)
}

// Who reads for an answer that is stopped loses what it read, and a try of a later answer doesn't take it over.
func TestWhatWasReadGoesWithItsAnswer(t *testing.T) {
	a := opened(t).load()
	r := Reading{Of: a.Inbox[0].Message, Read: []Read{{Tool: "read_file", Path: "a"}}}
	used := usage
	used.ID = "1"
	a = after(t, a)(a.ReadOn(a.Head.Run, a.Waiting(), r, Answer{Usage: used}, start.Add(time.Second)))
	expect.That(t, a.ReadFor(a.Waiting()) != nil && a.Conversation.Usage.Cost == usage.Cost && len(a.Inbox) == 1,
		"%+v", a.Conversation)
	seen := a.Waiting()
	_, err := a.ReadOn(a.Head.Run+1, seen, r, Answer{}, start.Add(time.Minute))
	expect.Fails(t, err, aggregate.ErrSuperseded)
	a = after(t, a)(a.Stop(person(sato), policy, start.Add(time.Minute)))
	expect.That(t, a.Conversation.Reading == nil && a.ReadFor(seen) == nil, "%+v", a.Conversation.Reading)
	_, err = a.ReadOn(a.Head.Run, seen, r, Answer{Usage: used}, start.Add(time.Hour))
	expect.That(t, errors.Is(err, aggregate.ErrSuperseded) || errors.Is(err, aggregate.ErrMoved), "%v", err)
}

// What an agent wants to make of an action's result is offered to whoever wrote last: nothing vanishes because nobody
// has written since. A message becomes one task, so a second request of the same message has to be asked for.
func TestARequestAfterAnActionIsOfferedToWhoWroteLast(t *testing.T) {
	tb, x := executing(t, ShellCommand)
	expect.NoError(t, tb.do(tb.load().Finish(x.ActionID, "i1", Result{Status: ActionSucceeded}, tb.now)))
	a := tb.load()
	expect.Must(t, len(a.Waiting()) == 1 && newestOf(a.Waiting()) == nil, "a person has written")
	a = after(t, a)(a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "I ask for it", Request: "buy it"}, tb.now))
	o := a.OpenOffer()
	expect.Must(t, o != nil && o.Text == "buy it" && o.User == sato && o.MessageTS == "1775034000.000100", "%+v", o)

	a = after(t, a)(a.MakeRequest(o.ID, person(sato), policy, tb.now))
	a.Head.Resting = false
	c, err := a.Answered(a.Head.Run, nil, Answer{Text: "and more", Request: "buy two"}, tb.now)
	a = after(t, a)(c, err)
	expect.That(t, a.OpenOffer() == nil, "%+v", a.OpenOffer())
	said := ""
	for _, b := range c.Beside {
		if m, is := b.Row.(*Message); is && m.Sender == FromSystem {
			said = m.Content
		}
	}
	expect.Has(t, said, a.Offered[0].TaskID)
}

// A form that is sent twice makes one proposal; another one waits until that is over; the agent is told what it is.
func TestAPersonsProposalIsMadeOnce(t *testing.T) {
	tb := opened(t)
	own := expect.Value(Own("make", tenancy.Agent{Capabilities: tenancy.Capabilities}, On{}, "en"))(t)
	own.Terms = terms(tb.now)
	by := person("U7")
	tb.must(tb.load().Propose(own, by, policy, tb.now))
	x := tb.load().Current()
	expect.Must(t, x != nil && x.RequestedBy == RequestedByUser && fmt.Sprint(x.Askers) == "[U7]" &&
		x.Status == ActionPending, "%+v", x)
	c, err := tb.load().Propose(own, by, policy, tb.now)
	expect.That(t, err == nil && c.Empty(), "twice: %+v, %v", c, err)
	for _, other := range []struct {
		by  aggregate.Actor
		own Proposal
	}{{person("U8"), own}, {by, Proposal{Type: own.Type, Payload: aggregate.Blob{JSON: "{}"}, Terms: own.Terms}}} {
		_, err := tb.load().Propose(other.own, other.by, policy, tb.now)
		expect.That(t, errors.Is(err, ErrPending) && errors.Is(err, aggregate.ErrInFlight), "%v", err)
	}
	self := policy
	self.AllowSelf = false
	_, err = tb.load().Approve(x.ActionID, by, self, tb.now)
	expect.That(t, errors.As(err, new(aggregate.ErrNotAllowed)), "their own is approved: %v", err)
}

func TestWhatAPersonTypesIsChecked(t *testing.T) {
	all := tenancy.Agent{Capabilities: tenancy.Capabilities}
	for name, c := range map[string]struct {
		command string
		def     tenancy.Agent
		want    string
	}{
		"a command":         {"make\ngo test ./...", all, ""},
		"as long as may be": {strings.Repeat("あ", MaxScript), all, ""},
		"too long":          {strings.Repeat("あ", MaxScript+1), all, "Use up to 16000 characters."},
		"nothing":           {" \n", all, "This is required."},
		"no text":           {"echo \x00", all, "This has characters that can’t be read as text."},
		"an agent that may not": {"make", tenancy.Agent{Capabilities: []tenancy.Capability{tenancy.CanCode}},
			"This conversation’s agent isn’t allowed to do that."},
	} {
		p, err := Own(c.command, c.def, On{Base: "v1"}, "en")
		if c.want != "" {
			expect.Is(t, fmt.Sprint(err), OwnCommand+" Command: "+c.want, name)
			continue
		}
		kept, problems := ReadKept(ShellCommand, []byte(p.Payload.JSON))
		expect.That(t, err == nil && problems == nil && kept.Script == c.command && *kept.Base == "v1" && p.Base == "v1",
			"%s: %+v, %v", name, p, err)
	}
}
