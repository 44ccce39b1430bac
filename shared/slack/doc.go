// Package slack is the area of Slack as a view and a pen: requests that come in, cards that are drawn, people that are
// looked up, and whose app a workspace has.
//
// It imports store and what stands below, but no card is drawn by reading. Begin with slackapi/inbound and card.
package slack
