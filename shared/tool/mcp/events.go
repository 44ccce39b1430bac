package mcp

import (
	"bytes"
	"mime"
)

// events are the messages in a body: itself, or the data of each of its events.
func events(contentType string, body []byte) [][]byte {
	if kind, _, _ := mime.ParseMediaType(contentType); kind != "text/event-stream" {
		return [][]byte{body}
	}
	var all [][]byte
	var data []byte
	for line := range bytes.Lines(body) {
		line = bytes.TrimRight(line, "\r\n")
		if more, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(more, []byte(" "))...), '\n')
		}
		if len(line) == 0 && data != nil {
			all, data = append(all, data), nil
		}
	}
	if data != nil {
		all = append(all, data)
	}
	return all
}
