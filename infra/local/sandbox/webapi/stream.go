package webapi

import (
	"unicode/utf8"
)

// maxMarkdown is the maximum length of the text in one streaming call.
const maxMarkdown = 12000

// streamed returns the Markdown of a streaming call. It refuses chunks, which the product does not use.
func streamed(p params) (string, error) {
	if p.has("chunks") {
		return "", refuse("invalid_chunks")
	}
	text := p.str("markdown_text")
	if utf8.RuneCountInString(text) > maxMarkdown {
		return "", refuse("msg_too_long")
	}
	return text, nil
}

func startStream(a *API, p params) (reply, error) {
	for _, field := range []string{"channel", "thread_ts"} {
		if p.str(field) == "" {
			return nil, missing(field)
		}
	}
	for _, field := range []string{"recipient_team_id", "recipient_user_id"} {
		if p.str(field) == "" {
			return nil, refuse("missing_" + field)
		}
	}
	text, err := streamed(p)
	if err != nil {
		return nil, err
	}
	m, err := a.ws.Post(Draft{Channel: p.str("channel"), User: Bot, ThreadTS: p.str("thread_ts"),
		Text: text, Streaming: true})
	return reply{"channel": m.Channel, "ts": m.TS}, err
}

func appendStream(a *API, p params) (reply, error) {
	text, err := streamed(p)
	switch {
	case err != nil:
		return nil, err
	case text == "":
		return nil, refuse("no_text")
	}
	m, err := a.ws.AppendStream(p.str("channel"), p.str("ts"), Bot, text)
	return reply{"channel": m.Channel, "ts": m.TS}, err
}

func stopStream(a *API, p params) (reply, error) {
	text, err := streamed(p)
	if err != nil {
		return nil, err
	}
	patch := Patch{Text: &text}
	if patch.Blocks, err = p.list("blocks", "invalid_blocks"); err != nil {
		return nil, err
	}
	if found := Blocks(patch.Blocks, "/blocks", MaxMessageBlocks); len(found) > 0 {
		return nil, invalid("invalid_blocks", found)
	}
	if patch.Metadata, err = p.object("metadata", "invalid_metadata_format"); err != nil {
		return nil, err
	}
	if err := checkMetadata(patch.Metadata); err != nil {
		return nil, err
	}
	m, err := a.ws.StopStream(p.str("channel"), p.str("ts"), Bot, patch)
	return reply{"channel": m.Channel, "ts": m.TS, "message": m}, err
}
