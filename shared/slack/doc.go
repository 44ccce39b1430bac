// Package slack is the area that talks with Slack: it decodes Slack's requests, draws cards, looks people up, and knows
// which workspaces have installed the app.
//
// It imports store and the areas below store, but drawing a card reads nothing. Begin with slackapi/inbound and card.
package slack
