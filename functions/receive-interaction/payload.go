package main

import (
	"cmp"
	"encoding/json"
	"net/url"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
)

const (
	kindActions    = "block_actions"
	kindShortcut   = "message_action"
	kindGlobal     = "shortcut"
	kindSubmission = "view_submission"
	kindCommand    = "/ringi"
)

// payload has the members of an interaction that Ringi reads. Slack signed all of it, but the ids in block_id, value
// and private_metadata may come from another app, so they must match a row.
type payload struct {
	Type       string    `json:"type"`
	AppID      string    `json:"api_app_id"`
	OrgInstall bool      `json:"is_enterprise_install"` // the app is installed for a whole organization
	CallbackID string    `json:"callback_id"`
	TriggerID  string    `json:"trigger_id"`
	Team       *named    `json:"team"`
	User       named     `json:"user"`
	Channel    named     `json:"channel"`
	Container  container `json:"container"`
	MessageTS  string    `json:"message_ts"`
	Message    message   `json:"message"`
	Actions    []action  `json:"actions"`
	View       view      `json:"view"`

	typed   string // after the command
	console string // its address: that at which Slack reached Ringi
}

// named is a workspace, person or channel.
type named struct {
	ID string `json:"id"`
}

type container struct {
	ChannelID string `json:"channel_id"`
	ThreadTS  string `json:"thread_ts"`
}

type message struct {
	slackapi.Message
	AppID    string `json:"app_id"` // of the app that posted it
	TS       string `json:"ts"`
	ThreadTS string `json:"thread_ts"`
	Metadata struct {
		EventType    string          `json:"event_type"`
		EventPayload json.RawMessage `json:"event_payload"`
	} `json:"metadata"`
}

// shown returns what people see of the message, as a dialog shows it.
func (m message) shown() string { return card.Readable(m.Content().Whole()) }

type action struct {
	ActionID string `json:"action_id"`
	BlockID  string `json:"block_id"`
	Value    string `json:"value"`
}

type view struct {
	ID              string `json:"id"`
	CallbackID      string `json:"callback_id"`
	PrivateMetadata string `json:"private_metadata"`
	State           struct {
		Values map[string]map[string]struct {
			Value        string   `json:"value"` // null when nothing was entered
			Conversation string   `json:"selected_conversation"`
			Files        []file   `json:"files"`
			Selected     option   `json:"selected_option"`
			Several      []option `json:"selected_options"`
		} `json:"values"`
	} `json:"state"`
}

// option is one of a list that a person chose.
type option struct {
	Value string `json:"value"`
}

// file is a file that a person gave to a dialog.
type file struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	MIMEType string `json:"mimetype"`
	Size     int64  `json:"size"`
}

// shared lists the dialog's files as those of whoever filled it in.
func (p payload) shared() (files []aggregate.SharedFile, err error) {
	for _, f := range p.View.State.Values[card.MatterFiles][card.MatterInput].Files {
		if err := slackapi.CheckID("payload.view.files.id", f.ID); err != nil {
			return nil, err
		}
		files = append(files, aggregate.SharedFile{ID: f.ID, Name: slackapi.FileName(f.Name),
			Type: slackapi.FileName(f.MIMEType), Bytes: max(0, f.Size), User: p.User.ID})
	}
	return files, nil
}

// several returns the values that a person chose in a block of the dialog.
func (p payload) several() (values []string) {
	for _, o := range p.View.State.Values[card.MatterKept][card.MatterInput].Several {
		values = append(values, o.Value)
	}
	return values
}

// read decodes the form that Slack posts. ok is false for ssl_check, by which Slack only tests the certificate.
func read(body []byte) (p payload, ok bool, err error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return payload{}, false, slackapi.Bad("body is not a form")
	}
	if form.Get("ssl_check") != "" && !form.Has("payload") {
		return payload{}, false, nil
	}
	switch {
	case form.Has("payload"):
	case form.Get("command") == kindCommand:
		return readCommand(form)
	default:
		return payload{}, false, slackapi.Bad("payload is required")
	}
	// Unhandled types may have other shapes, so the type is decoded first.
	var kind struct {
		Type       string `json:"type"`
		AppID      string `json:"api_app_id"`
		OrgInstall bool   `json:"is_enterprise_install"`
	}
	if err := slackapi.Decode([]byte(form.Get("payload")), &kind, "payload"); err != nil {
		return payload{}, false, err
	}
	switch {
	case kind.Type == "":
		return payload{}, false, slackapi.Bad("payload.type is required")
	case kind.OrgInstall: // then the team may be missing
		return payload{Type: kind.Type, AppID: kind.AppID, OrgInstall: true}, true, nil
	}
	switch kind.Type {
	case kindActions, kindShortcut, kindGlobal, kindSubmission:
	default:
		return payload{Type: kind.Type, AppID: kind.AppID}, true, nil
	}
	if err := slackapi.Decode([]byte(form.Get("payload")), &p, "payload"); err != nil {
		return payload{}, false, err
	}
	if p.Team == nil {
		p.Team = &named{}
	}
	if err := slackapi.CheckID("payload.team.id", p.Team.ID); err != nil {
		return payload{}, false, err
	}
	return p, true, slackapi.CheckID("payload.user.id", p.User.ID)
}

// readCommand reads the form of a slash command.
func readCommand(form url.Values) (payload, bool, error) {
	p := payload{Type: kindCommand, AppID: form.Get("api_app_id"), OrgInstall: form.Get("is_enterprise_install") == "true",
		TriggerID: form.Get("trigger_id"), User: named{form.Get("user_id")},
		typed: slackapi.Message{Text: form.Get("text")}.Content().Text}
	if p.OrgInstall { // then the team may be missing
		return p, true, nil
	}
	p.Team = &named{form.Get("team_id")}
	return p, true, slackapi.CheckIDs("team_id", p.Team.ID, "user_id", p.User.ID, "trigger_id", p.TriggerID)
}

// aboutOf decodes the private_metadata of the payload's dialog. of names it in errors.
func aboutOf[R any](p payload, of string) (r R, err error) {
	if json.Unmarshal([]byte(p.View.PrivateMetadata), &r) != nil {
		return r, slackapi.Bad("payload.view.private_metadata must be the JSON object of a %s", of)
	}
	return r, nil
}

// channel returns where the person clicked, or "" for a modal.
func (p payload) channel() string {
	return cmp.Or(p.Container.ChannelID, p.Channel.ID)
}

// thread returns the card's thread, or "" if it is in none.
func (p payload) thread() string {
	return cmp.Or(p.Message.ThreadTS, p.Container.ThreadTS)
}

// tasks returns the ids of tasks and calls that a shortcut may mean, the likeliest first: from a card's metadata or its
// buttons' block_id, else the id that a request with the message's timestamp would have.
func (p payload) tasks() []string {
	var ids []string
	add := func(id string) {
		if aggregate.ValidID(id) || call.ValidID(id) {
			ids = append(ids, id)
		}
	}
	var about struct {
		Task string `json:"task"`
	}
	if p.Message.Metadata.EventType == slackapi.EventType &&
		json.Unmarshal(p.Message.Metadata.EventPayload, &about) == nil {
		add(about.Task)
	}
	for _, block := range p.Message.BlockIDs() {
		id, _, _, _ := card.Subject(block)
		add(id)
	}
	for _, ts := range []string{p.Message.TS, p.MessageTS, p.Message.ThreadTS} {
		if id, err := task.ID(p.Team.ID, p.channel(), ts); err == nil {
			add(id)
		}
	}
	return ids
}
