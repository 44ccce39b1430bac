// Package outgoing has the types of messages. Package card makes them and slackapi sends them, so that neither imports
// the other.
package outgoing

import "github.com/slack-go/slack"

// Message is a card's message: a text for notifications, and one attachment whose bar shows the state by its colour. A
// plain reply has no attachment.
type Message struct {
	Text string `json:"text"`
	// Markdown is shown in place of the text, which notifications have, in a block of its own.
	Markdown    string             `json:"markdown,omitempty"`
	Attachments []slack.Attachment `json:"attachments"`
}

// Suggestion is a request that Slack offers as a button in the app's messages.
type Suggestion struct {
	Title   string // on the button
	Message string // the message that a click sends
}
