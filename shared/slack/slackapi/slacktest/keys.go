package slacktest

import "context"

// Keys are constant secrets of Slack's: the signing secret, and a bot's token with the address of its Web API.
type Keys struct{ Secret, App, Token, Address string }

// SigningSecret returns the signing secret.
func (k Keys) SigningSecret(context.Context) (string, error) { return k.Secret, nil }

// AppID returns the app's id.
func (k Keys) AppID() string { return k.App }

// Bot returns the bot's token and the Web API's address.
func (k Keys) Bot(context.Context) (token, address string, err error) { return k.Token, k.Address, nil }

// Refused reports that there is no newer token.
func (Keys) Refused(context.Context) bool { return false }
