// Package outgoing has the types of what is shown in Slack: cards are drawn as them, and
// slackapi sends them, so that neither needs the other.
package outgoing

import "github.com/slack-go/slack"

// Message is one card: a text for notifications, and one attachment whose bar has the
// state's colour. A plain reply has no attachment.
type Message struct {
	Text        string             `json:"text"`
	Attachments []slack.Attachment `json:"attachments"`
	// Plain shows the same without a table block, for when Slack refuses that; nil where there is none.
	Plain *Message `json:"-"`
}

// Suggestion is a request that Slack offers as a button in the app's messages.
type Suggestion struct {
	Title   string // on the button
	Message string // what the person then says
}
