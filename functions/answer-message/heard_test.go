package main

import (
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
	"ringi/shared/tool"
)

// A guest in a channel's thread neither drives a listed read nor gives it words, before the conversation or within it.
func TestAListedReadNeedsAYesOnceSomebodyElseSpoke(t *testing.T) {
	server := storetest.Start(t)
	s, _ := expect.Value(tool.Builtin())(t).Lookup("list_employees")
	whole, sales := `{"department":null,"status":"all"}`, `{"department":"営業部","status":"all"}`
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
			w, _ := called(t, server, tt.before, nil)
			w.Store, w.Catalog = joined{w.Store}, tool.Builtin
			settings := tenancy.DefaultSettings()
			settings.Locale, settings.ListedReads = "en", []agent.ListedRead{{Agent: "codex", Tool: s.Name, Version: s.Version(), People: tt.people}}
			w.Store = joined{settled{w.rows, settings}}
			expect.Value(w.handle())(t)
			at := "1775034010.000100"
			if tt.guest != "" {
				w.tell(at, "U9", tt.guest)
				w.turn()
			}
			w.vendor.says.Calls = []model.Call{wish(s.Name, tt.arguments)}
			w.tell("1775034020.000100", "U1", "go on")
			w.turn()
			x := w.load().Current()
			expect.Must(t, x != nil, "nothing was proposed")
			expect.Is(t, x.ApprovedBy == conversation.ApprovedByAuto, tt.auto)
		})
	}
}

// A yes to what was proposed meanwhile ends the doubt about who spoke, not about whose words an argument is.
func TestAYesEndsTheDoubtAboutWhoSpoke(t *testing.T) {
	all := []conversation.Message{{Sender: conversation.FromUser, User: "U9", Content: "guest"}, {Sender: conversation.FromUser, User: "U1", Content: "mine"},
		{Sender: conversation.FromUser, User: "U8", Content: "deleted"}, {Sender: conversation.FromSystem, ActionID: "a"}, {Sender: conversation.FromSystem, ActionID: "b"},
		{Sender: conversation.FromUser, User: "U1", Content: "next"}}
	shown := make([]turn.Message, len(all))
	shown[2].Deleted = true
	by := func(approved conversation.ApprovedBy) map[string]*conversation.Action {
		return map[string]*conversation.Action{"a": {ApprovedBy: approved}, "b": {ApprovedBy: conversation.ApprovedByAuto}}
	}
	var h answering
	h.hear(all, shown, by(conversation.ApprovedByUser))
	expect.Same(t, []string{"U1"}, h.spoke)
	expect.Same(t, []string{"mine", "next"}, h.wordsOf([]string{"U1"}))
	expect.Same(t, []string{"guest", "mine", "next"}, h.wordsOf(nil))
	h.hear(all, shown, by(conversation.ApprovedByAuto))
	expect.Same(t, []string{"U9", "U1", "U1"}, h.spoke)
}
