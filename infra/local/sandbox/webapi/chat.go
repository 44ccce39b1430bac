package webapi

import (
	"regexp"
	"unicode/utf8"

	"ringi/shared/words/legible"
)

// named matches the words that call everybody, where the caller asks Slack to find names.
var named = regexp.MustCompile(`@(here|channel|everyone)\b`)

func (c content) draft(p params) Draft {
	d := Draft{
		Channel: p.str("channel"), User: Bot, ThreadTS: p.str("thread_ts"),
		Text: legible.First(c.text, maxText), Blocks: c.blocks, Attachments: c.attachments, Metadata: c.metadata,
	}
	if p.has("mrkdwn") {
		d.Mrkdwn = new(p.flag("mrkdwn"))
	}
	if p.flag("link_names") || p.str("parse") == "full" {
		d.Text = named.ReplaceAllString(d.Text, "<!$1>")
	}
	if kind, _ := d.Metadata["event_type"].(string); kind == "" {
		d.Metadata = nil
	}
	return d
}

func postMessage(a *API, p params) (reply, error) {
	c, err := readSomeContent(p)
	if err != nil {
		return nil, err
	}
	m, err := a.ws.Post(c.draft(p))
	return reply{"channel": m.Channel, "ts": m.TS, "message": m}, err
}

func updateMessage(a *API, p params) (reply, error) {
	c, err := readContent(p)
	if err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(c.text) > maxUpdateText {
		return nil, refuse("msg_too_long")
	}
	patch := Patch{Blocks: c.blocks, Attachments: c.attachments, Metadata: c.metadata}
	if c.text != "" {
		patch.Text = &c.text
	}
	if patch.Text == nil && c.blocks == nil && c.attachments == nil {
		return nil, refuse("no_text")
	}
	m, err := a.ws.Update(p.str("channel"), p.str("ts"), Bot, patch)
	return reply{"channel": m.Channel, "ts": m.TS, "text": m.Text, "message": m}, err
}

func deleteMessage(a *API, p params) (reply, error) {
	return reply{"channel": p.str("channel"), "ts": p.str("ts")}, a.ws.Delete(p.str("channel"), p.str("ts"), Bot)
}

func postEphemeral(a *API, p params) (reply, error) {
	c, err := readSomeContent(p)
	if err != nil {
		return nil, err
	}
	d := c.draft(p)
	d.Metadata = nil
	m, err := a.ws.PostEphemeral(p.str("user"), d)
	return reply{"message_ts": m.TS}, err
}

func getPermalink(a *API, p params) (reply, error) {
	c, err := a.ws.Channel(p.str("channel"))
	if err != nil {
		return nil, err
	}
	m, err := a.ws.Message(c.ID, p.str("message_ts"), "")
	if err != nil {
		return nil, err
	}
	return reply{"channel": c.ID, "permalink": m.Link(a.opts.Self())}, nil
}
