package main

import (
	"cmp"
	"context"
	"log/slog"
	"net/url"
	"strings"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	outside "ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/words/language"
)

// command is the form that Slack sends for /ringi (https://docs.slack.dev/interactivity/implementing-slash-commands).
type command struct {
	team, user, channel, name, text, trigger, app string
	host                                          string // of the console; empty: unknown
	organization                                  bool   // the app is installed for a whole organization
}

// readCommand reads the form of a slash command. ok is false for any other form.
func readCommand(body []byte) (c command, ok bool, err error) {
	form, err := url.ParseQuery(string(body))
	if err != nil || !form.Has("command") || form.Has("payload") {
		return command{}, false, nil // read reports what is wrong with it
	}
	c = command{
		team: form.Get("team_id"), user: form.Get("user_id"), channel: form.Get("channel_id"), name: form.Get("command"),
		text: strings.TrimSpace(form.Get("text")), trigger: form.Get("trigger_id"), app: form.Get("api_app_id"),
		organization: form.Get("is_enterprise_install") == "true",
	}
	if c.organization {
		return c, true, nil
	}
	return c, true, inbound.CheckIDs("team_id", c.team, "user_id", c.user, "channel_id", c.channel, "trigger_id",
		c.trigger)
}

// ephemeral answers a command with a text that only this person sees.
func ephemeral(text string) inbound.Response {
	return inbound.JSON(200, map[string]string{"response_type": "ephemeral", "text": text})
}

// japanese maps the Japanese names of subcommands to the English ones.
var japanese = map[string]string{"ヘルプ": "help", "使い方": "help", "一覧": "list"}

// command answers /ringi with one of the subcommands list, cancel and help, or with what has a number. Any other text
// is a request.
func (h *Handler) command(ctx context.Context, c command) (inbound.Response, error) {
	if err := h.Edge.FromOurs(c.app); err != nil {
		return inbound.Response{}, err
	}
	if c.organization {
		boot.Count(boot.EventForeign, 1)
		slog.WarnContext(ctx, "installed for an organization")
		return ephemeral(inEach(card.NoteOrgInstall)), nil
	}
	ctx = slackapi.For(ctx, aggregate.TenantID(c.team))
	if h.foreign(ctx, c.team) {
		boot.Count(boot.EventForeign, 1)
		return ephemeral(inEach(card.NoteForeign)), nil
	}
	person, workspace := h.locale(ctx, c.team, c.user)
	if number, is := task.ParseNumber(c.text); is {
		return h.numbered(ctx, c, number, person), nil
	}
	if inbound.SaysSomething(c.text) && !inbound.SaysSomething(inbound.Message{Text: c.text}.Given()) {
		return ephemeral(card.NoteShown.Told(person, "")), nil
	}
	word, rest, _ := strings.Cut(c.text, " ")
	word = cmp.Or(japanese[word], strings.ToLower(word))
	switch {
	case c.text == "" || (word == "help" || word == "cancel") && rest == "": // help describes the argument of cancel
		return ephemeral(card.NoteHelp.Told(person, "")), nil
	case word == "list" && rest == "":
		return h.list(ctx, c, person), nil
	case word == "cancel" && aggregate.ValidID(taskID(rest)):
		return h.cancelByID(ctx, c, taskID(rest)), nil
	case word == "cancel" && len(strings.Fields(rest)) < 2: // the argument is no id
		return ephemeral(card.NoteNoSuchTask.Told(person, "")), nil
	case c.name != "/ringi", subcommand(word) && (rest == "" || aggregate.ValidID(taskID(rest))):
		// An unknown subcommand with an id, such as "approve": a request has more words.
		return ephemeral(card.NoteUnknown.Told(person, "") + "\n" + card.NoteHelp.Told(person, "")), nil
	}
	out := h.request(ctx, decide.Wanted{Team: c.team, User: c.user, Text: c.text, Channel: c.channel, Elsewhere: true,
		Once: "command " + c.trigger}, workspace)
	return ephemeral(out.Note.Told(person, h.Slack.Link(ctx, out.Channel, out.TS, ""))), nil
}

// inEach returns a note in every language, in case the person's language can't be read.
func inEach(n card.AskNote) string {
	var told []string
	for _, locale := range language.All {
		told = append(told, n.Told(locale, ""))
	}
	return strings.Join(told, "\n")
}

// taskID removes the marks that a person copied with a task's id.
func taskID(typed string) string { return strings.Trim(strings.TrimSpace(typed), "`") }

// subcommand reports whether a single word looks like a subcommand rather than a request.
func subcommand(word string) bool {
	return strings.Trim(word, "abcdefghijklmnopqrstuvwxyz-?") == ""
}

// list shows a person the items that wait for their decision, and their own requests.
func (h *Handler) list(ctx context.Context, c command, locale string) inbound.Response {
	tenant := aggregate.TenantID(c.team)
	s, err := h.Store.Settings(ctx, tenant)
	if err == nil {
		var box decide.Inbox
		reader := decide.InboxReader{Rows: h.Rows, Store: h.Store, Sessions: h.Conversations, Calls: h.Calls,
			Slack: h.Slack, Now: h.Now}
		if box, err = reader.Read(ctx, tenant, c.team, c.user, s); err == nil {
			console := ""
			if c.host != "" {
				console = "https://" + c.host + "/console"
			}
			return ephemeral(card.List(locale, box.Summary(ctx, h.Slack, console)))
		}
	}
	slog.WarnContext(ctx, "no list", "user", c.user, "err", err)
	return ephemeral(card.NoteFailed.Told(locale, ""))
}

// cancelByID cancels a task as the message shortcut does, with the same check of permission.
func (h *Handler) cancelByID(ctx context.Context, c command, id string) inbound.Response {
	of := click{team: c.team, Click: decide.Click{
		Ref: task.RefOf(aggregate.TenantID(c.team), id), ID: id,
		Want: people.Want{User: c.user, Team: c.team, Channel: c.channel, Withdraws: true},
	}}
	v := h.decide(ctx, of, decide.End().Act)
	person := v.Settings.Locale
	switch {
	case v.Err == nil && v.Empty && v.ended() != nil:
		return ephemeral(card.Surface(person).CancelledBefore(v.ended().By, v.ended().At))
	case v.Err == nil:
		return ephemeral(card.NoteCancelled.Told(person, ""))
	}
	v.Log(ctx, slog.With("task_id", id, "user", c.user))
	if v.Subject == nil && explain.ClassOf(v.Err).Refusal() {
		return ephemeral(card.NoteNoSuchTask.Told(person, ""))
	}
	return ephemeral(v.text())
}

// numbered shows what has a number, a decision, a request, or one of each, to whoever may read it. Nobody else learns
// whether there is any.
func (h *Handler) numbered(ctx context.Context, c command, number task.Numbered, locale string) inbound.Response {
	tenant := aggregate.TenantID(c.team)
	decisions, err := h.Store.Numbered(ctx, tenant, number)
	var requests []task.Requested
	if err == nil && number.Series == "" {
		requests, err = h.Store.RequestNumbers(ctx, tenant, number.Year, number.Key(), 1)
	}
	if err != nil {
		slog.WarnContext(ctx, "no number", "user", c.user, "err", err)
		return ephemeral(card.NoteFailed.Told(locale, ""))
	}
	var said []string
	say := func(of card.NumberOf, ref aggregate.Ref, id string) {
		if title, link, reads := h.found(ctx, c, ref, id); reads {
			said = append(said, card.Numbered(locale, of, number.String(), title, link))
		}
	}
	for _, x := range decisions {
		of := map[bool]card.NumberOf{false: card.NumberOfDecision, true: card.NumberOfDocument}[x.Series != ""]
		switch {
		case outside.ValidID(x.SessionID):
			say(of, outside.RefOf(tenant, x.SessionID), x.ActionID)
		case x.SessionID != "":
			say(of, conversation.RefOf(tenant, x.SessionID), x.ActionID)
		default:
			say(of, task.RefOf(tenant, x.TaskID), x.ProcessID)
		}
	}
	if len(requests) > 0 && requests[0].N == number.N {
		say(card.NumberOfRequest, task.RefOf(tenant, requests[0].TaskID), requests[0].TaskID)
	}
	if len(said) == 0 {
		return ephemeral(card.NoteNoNumber.Told(locale, ""))
	}
	return ephemeral(strings.Join(said, "\n"))
}

// found returns what a request, or an agent's action, is called and where it is, if somebody may read it. id is that of
// the gate by whose route they may, or the request's own: then the newest about its steps is meant.
func (h *Handler) found(ctx context.Context, c command, ref aggregate.Ref, id string) (title, link string, reads bool) {
	of := click{team: c.team, Click: decide.Click{Ref: ref, ID: id,
		Want: people.Want{User: c.user, Team: c.team, Channel: c.channel}}}
	v, _, err := h.reading(ctx, of)
	if a, is := v.Subject.(*task.Aggregate); err != nil && id == ref.ID && is && a.Process() != nil {
		of.ID = a.Process().ID
		v, _, err = h.reading(ctx, of)
	}
	if err != nil {
		return "", "", false
	}
	switch a := v.Subject.(type) {
	case *task.Aggregate:
		if a.Request == nil {
			return "", "", false
		}
		title = a.Request.Text
		if a.Task != nil {
			title = a.Task.Title
		}
		return title, h.Slack.Link(ctx, a.Request.Channel, a.Request.MessageTS, a.Request.ThreadTS), true
	case *conversation.Aggregate:
		if a.Conversation == nil {
			return "", "", false
		}
		title = a.Conversation.Title
		if x := a.Action(id); x != nil {
			title = cmp.Or(x.Summary, title)
		}
		return title, h.Slack.Link(ctx, a.Conversation.Channel, a.Conversation.ThreadTS, ""), true
	case *outside.Aggregate:
		at, _ := a.Beginning()
		return cmp.Or(a.Call.KeyName, a.Call.Tool), h.Slack.Link(ctx, a.Call.Channel, at, ""), true
	}
	return "", "", false
}
