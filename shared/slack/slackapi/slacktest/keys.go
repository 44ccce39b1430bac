package slacktest

import "context"

// Keys are secrets of Slack's that never change: what it signs with, and a bot's token with the address of its Web API.
type Keys struct{ Secret, App, Token, Address string }

// SigningSecret is the secret.
func (k Keys) SigningSecret(context.Context) (string, error) { return k.Secret, nil }

// AppID is the app.
func (k Keys) AppID() string { return k.App }

// Bot is the bot's token, and where to call with it.
func (k Keys) Bot(context.Context) (token, address string, err error) { return k.Token, k.Address, nil }

// Refused reports that there is no other.
func (Keys) Refused(context.Context) bool { return false }
