package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
	"ringi/shared/tool"
)

const whole = `{"department":null,"status":"all"}`

// listing is a conversation that U1 began in a thread and in which an agent may list employees for these people.
func listing(t *testing.T, server *storetest.Server, before []slackapi.Said, people ...string) *world {
	w, _ := called(t, server, before, nil, 0)
	s, _ := expect.Value(tool.Builtin())(t).Lookup("list_employees")
	settings := tenancy.DefaultSettings()
	settings.Locale = "en"
	settings.ListedReads = []agent.ListedRead{{Agent: "codex", Tool: s.Name, Version: s.Version(), People: people}}
	w.Store, w.Catalog = joined{settled{w.rows, settings}}, tool.Builtin
	expect.Value(w.handle())(t)
	return w
}

// A guest in a channel's thread neither drives a listed read nor gives it words, before the conversation or within it.
func TestAListedReadNeedsAYesOnceSomebodyElseSpoke(t *testing.T) {
	server := storetest.Start(t)
	sales := `{"department":"営業部","status":"all"}`
	for name, tt := range map[string]struct {
		before    []slackapi.Said // in the thread
		guest     string          // says this
		arguments string
		people    []string
		auto      bool
	}{
		"nobody else":                    {nil, "", whole, []string{"U1"}, true},
		"a guest in the thread":          {[]slackapi.Said{{User: "U9", Text: "look everybody up", TS: "1775034001.000100"}}, "", whole, []string{"U1"}, false},
		"a listed person in the thread":  {[]slackapi.Said{{User: "U2", Text: "look everybody up", TS: "1775034001.000100"}}, "", whole, []string{"U1", "U2"}, true},
		"a guest's turn before":          {nil, "look up 「営業部」", whole, []string{"U1"}, false},
		"words of a guest":               {nil, "look up 「営業部」", sales, []string{"U1"}, false},
		"words of another listed person": {nil, "look up 「営業部」", sales, []string{"U1", "U9"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := listing(t, server, tt.before, tt.people...)
			if tt.guest != "" {
				w.tell("1775034010.000100", "U9", tt.guest)
				w.turn()
			}
			w.vendor.says.Calls = []model.Call{wish("list_employees", tt.arguments)}
			w.tell("1775034020.000100", "U1", "go on")
			w.turn()
			x := w.load().Current()
			expect.Must(t, x != nil, "nothing was proposed")
			expect.Is(t, x.ApprovedBy == conversation.ApprovedByAuto, tt.auto)
		})
	}
}

// A yes to what was proposed meanwhile ends the doubt about who spoke, not about whose words an argument is. What was
// said after the yes stays in doubt, although the system speaks of the action again.
func TestAYesEndsTheDoubtAboutWhoSpoke(t *testing.T) {
	var all []conversation.Message
	say := func(m conversation.Message) { m.CreatedAt = at(len(all)); all = append(all, m) }
	user, system := conversation.FromUser, conversation.FromSystem
	say(conversation.Message{Sender: user, User: "U9", Content: "guest"})
	say(conversation.Message{Sender: user, User: "U1", Content: "mine"})
	say(conversation.Message{Sender: user, User: "U8", Content: "deleted"})
	say(conversation.Message{Sender: system, ActionID: "a"})
	say(conversation.Message{Sender: system, ActionID: "b"})
	say(conversation.Message{Sender: user, User: "U1", Content: "next"})
	say(conversation.Message{Sender: user, User: "U7", Content: "another guest"})
	say(conversation.Message{Sender: system, ActionID: "a", Content: "its late files were taken"})
	shown := make([]turn.Message, len(all))
	shown[2].Deleted = true
	by := func(approved conversation.ApprovedBy) map[string]*conversation.Action {
		return map[string]*conversation.Action{"b": {ApprovedBy: conversation.ApprovedByAuto},
			"a": {ApprovedBy: approved, Gate: aggregate.Gate{Verdict: aggregate.Verdict{ApprovedAt: new(at(2))}}}}
	}
	var h answering
	h.hear(all, shown, by(conversation.ApprovedByUser))
	expect.Same(t, []string{"U1", "U7"}, h.speakers())
	expect.Same(t, []string{"mine", "next"}, h.wordsOf([]string{"U1"}))
	expect.Same(t, []string{"guest", "mine", "next", "another guest"}, h.wordsOf(nil))
	h.hear(all, shown, by(conversation.ApprovedByAuto))
	expect.Same(t, []string{"U9", "U1", "U8", "U7"}, h.speakers())
}

// A person's own proposal and the reason of a rejection are words that the agent is told, too.
func TestWhoProposesOrRejectsHasSpoken(t *testing.T) {
	own := conversation.Action{CreatedAt: at(1), RequestedBy: conversation.RequestedByUser, Askers: []string{"U9"}}
	approved, rejected := own, own
	approved.ApprovedBy, approved.Gate.ApprovedAt = conversation.ApprovedByUser, new(at(2))
	rejected.Gate.RejectedBy = "U8"
	for want, x := range map[string]conversation.Action{"U9": own, "": approved, "U9 U8": rejected} {
		all := []conversation.Message{{Sender: conversation.FromSystem, ActionID: "a", CreatedAt: at(1)},
			{Sender: conversation.FromSystem, ActionID: "a", CreatedAt: at(3)}}
		var h answering
		h.hear(all, make([]turn.Message, len(all)), map[string]*conversation.Action{"a": &x})
		expect.Is(t, strings.Join(h.speakers(), " "), want)
	}
	var h answering // what they typed became no proposal, and the reason names it
	h.hear([]conversation.Message{{Sender: conversation.FromSystem, For: "U9"}}, make([]turn.Message, 1), nil)
	expect.Same(t, []string{"U9"}, h.speakers())
}

// Words that are folded away are in the summary, which the agent is told.
func TestAListedReadNeedsAYesOnceAGuestsWordsAreFoldedAway(t *testing.T) {
	server := storetest.Start(t)
	for guest, auto := range map[string]bool{"U9": false, "U1": true} {
		w := listing(t, server, nil, "U1")
		w.tell("1775034010.000100", guest, strings.Repeat("look everybody up ", 5_000))
		w.turn()
		for i := range 3 {
			w.tell(fmt.Sprintf("%d.000100", 1775034020+i), "U1", strings.Repeat("x", 90_000))
			w.turn()
		}
		from, seen := w.load().Conversation.CollapsedThrough, conversation.MessageKey(time.Unix(1775034011, 0), "")
		expect.Must(t, from > seen, "folded through %q", from)
		w.vendor.says.Calls = []model.Call{wish("list_employees", whole)}
		w.tell("1775034090.000100", "U1", "go on")
		w.turn()
		x := w.load().Current()
		expect.Must(t, x != nil, "nothing was proposed")
		expect.Is(t, x.ApprovedBy == conversation.ApprovedByAuto, auto, guest)
	}
}

func at(second int) time.Time { return time.Unix(1775034000+int64(second), 0).UTC() }
