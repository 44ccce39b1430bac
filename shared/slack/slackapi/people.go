package slackapi

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/words/language"
)

// User is Slack's record of a person.
type User struct {
	ID    string
	Team  string
	Name  string // the name that the workspace shows
	Mail  string // the account's address; empty if Slack doesn't give it, without the scope users:read.email
	Bot   bool
	Gone  bool // the account was deactivated
	Guest bool // a restricted account, or a stranger who shares no channel with the app
	// Teams are the workspaces of a person whose organization has several.
	Teams []string
	// Language is the first part of the locale that the person chose in Slack, such as ja.
	Language string
}

// Of reports whether the person belongs to a workspace.
func (u User) Of(team string) bool { return u.Team == team || slices.Contains(u.Teams, team) }

// User looks a person up.
func (c *Client) User(ctx context.Context, id string) (User, error) {
	u, err := c.api.GetUserInfoContext(ctx, id)
	if err := outcome("users.info", err); err != nil {
		return User{}, err
	}
	return userOf(u), nil
}

// UserByMail looks up whose account has an address.
func (c *Client) UserByMail(ctx context.Context, mail string) (User, error) {
	u, err := c.api.GetUserByEmailContext(ctx, mail)
	if err := outcome("users.lookupByEmail", err); err != nil {
		return User{}, err
	}
	return userOf(u), nil
}

func userOf(u *slack.User) User {
	language, _, _ := strings.Cut(u.Locale, "-")
	return User{
		ID: u.ID, Team: u.TeamID, Name: cmp.Or(shown(u.Profile.DisplayName), shown(u.RealName), shown(u.Name)),
		Gone: u.Deleted, Mail: u.Profile.Email,
		Guest: u.IsRestricted || u.IsUltraRestricted || u.IsStranger, Bot: u.IsBot || u.ID == Slackbot,
		Teams: u.Enterprise.Teams, Language: language,
	}
}

// shown cleans a display name, which people choose freely: one line without invisible characters, which could imitate
// another name or reverse the text next to it. It is empty for a name that shows nothing.
func shown(name string) string {
	name = strings.Join(strings.Fields(language.Visible(name)), " ")
	if !language.Legible(name) {
		return ""
	}
	return name
}

// Self describes the bot that a token belongs to.
type Self struct {
	User string
	Bot  string // its id as a bot, B…
	Team string
	Name string // of the workspace
}

// Self returns the bot that the token belongs to. It asks Slack once for each token
// (https://docs.slack.dev/reference/methods/auth.test).
func (c *Client) Self(ctx context.Context) (Self, error) {
	self, err := c.whoami(ctx)
	if err != nil {
		return Self{}, err
	}
	return Self{self.UserID, self.BotID, self.TeamID, shown(self.Team)}, nil
}

// Team returns the workspace that the token belongs to, as Self does.
func (c *Client) Team(ctx context.Context) (string, error) {
	self, err := c.Self(ctx)
	return self.Team, err
}

// pageOfChannels is the largest page of users.conversations.
const pageOfChannels = 999

// Channel is a channel that a person is in.
type Channel struct {
	ID   string
	Name string // without #
}

// Channels lists the channels of these types that a person is in. For types other than public channels, it lists only
// those that the bot is in, too. It fetches each page when it is needed. An error ends the list. Slack has no call for
// a single membership; a person's channels are searched, since they are fewer than a channel's members.
func (c *Client) Channels(ctx context.Context, user string, types ...string) iter.Seq2[Channel, error] {
	params := slack.GetConversationsForUserParameters{UserID: user, Types: types, Limit: pageOfChannels,
		ExcludeArchived: true}
	return paged(func(cursor string) (page []Channel, after string, err error) {
		params.Cursor = cursor
		channels, after, err := c.api.GetConversationsForUserContext(ctx, &params)
		if err := outcome("users.conversations", err); err != nil {
			return nil, after, err
		}
		for _, ch := range channels {
			page = append(page, Channel{ch.ID, shown(ch.Name)})
		}
		return page, after, nil
	})
}

// Members returns the members of a channel, including bots, but no more of them than the number most. more reports
// whether there are others.
func (c *Client) Members(ctx context.Context, channel string, most int) (ids []string, more bool, err error) {
	in := slack.GetUsersInConversationParameters{ChannelID: channel, Limit: most}
	ids, cursor, err := c.api.GetUsersInConversationContext(ctx, &in)
	return ids, cursor != "", outcome("conversations.members", err)
}

// UsergroupMembers lists the members of a user group.
func (c *Client) UsergroupMembers(ctx context.Context, group string) ([]string, error) {
	members, err := c.api.GetUserGroupMembersContext(ctx, group)
	return members, outcome("usergroups.users.list", err)
}

// pageOfUsers is how many people one call asks for. Slack allows 1,000, and may return fewer.
const pageOfUsers = 1000

// Slackbot is Slack's own bot, which users.list returns as a person. In its name Slack itself writes, without a bot_id.
const Slackbot = "USLACKBOT"

// Users lists the people and bots of the workspace, including deactivated accounts. It fetches each page when it is
// needed. An error ends the list.
func (c *Client) Users(ctx context.Context) iter.Seq2[User, error] {
	pages := c.api.GetUsersPaginated(slack.GetUsersOptionLimit(pageOfUsers), slack.GetUsersOptionIncludeLocale(false))
	return paged(func(string) (page []User, after string, err error) {
		next, err := pages.Next(ctx)
		if err := outcome("users.list", err); err != nil {
			return nil, "", err
		}
		pages = next
		for _, u := range next.Users {
			page = append(page, userOf(&u))
		}
		return page, next.Cursor, nil
	})
}

// Group is a user group of the workspace.
type Group struct {
	ID       string
	Name     string
	Handle   string
	Count    int  // number of members
	Disabled bool // nobody can mention it, and it has no members
}

// Usergroups lists the workspace's user groups, including disabled ones.
func (c *Client) Usergroups(ctx context.Context) ([]Group, error) {
	all, err := c.api.GetUserGroupsContext(ctx, slack.GetUserGroupsOptionIncludeCount(true),
		slack.GetUserGroupsOptionIncludeDisabled(true))
	if err := outcome("usergroups.list", err); err != nil {
		return nil, err
	}
	out := make([]Group, len(all))
	for i, g := range all {
		out[i] = Group{ID: g.ID, Name: shown(g.Name), Handle: shown(g.Handle), Count: g.UserCount,
			Disabled: g.DateDelete != 0}
	}
	return out, nil
}

// Label gives the user groups without a label in a message, and in what it forwards, theirs, if Slack says it.
func (c *Client) Label(ctx context.Context, m *Message) { c.labelling(ctx)(m) }

// labelling is Label for several messages.
func (c *Client) labelling(ctx context.Context) func(*Message) {
	labels := sync.OnceValue(func() *strings.Replacer {
		all, _ := c.Usergroups(ctx)
		var pairs []string
		for _, g := range all {
			form := "<!subteam^" + g.ID
			pairs = append(pairs, form+">", form+"|"+g.Handle+">")
		}
		return strings.NewReplacer(pairs...)
	})
	label := func(text string) string {
		if !group.Get().MatchString(text) {
			return text
		}
		return labels().Replace(text)
	}
	return func(m *Message) {
		m.Text = label(m.Text)
		for _, a := range objects(m.Attachments) {
			if said, is := a["text"].(string); is {
				a["text"] = label(said)
			}
		}
	}
}

// Link returns the address at which people open a message in Slack, within its thread unless that is empty. It returns
// "" when the workspace's address is unknown. It asks Slack once for each token.
func (c *Client) Link(ctx context.Context, channel, ts, thread string) string {
	self, err := c.whoami(ctx)
	if err != nil || self.URL == "" || channel == "" || ts == "" {
		return ""
	}
	link := strings.TrimSuffix(self.URL, "/") + "/archives/" + channel + "/p" + strings.ReplaceAll(ts, ".", "")
	if thread != "" && thread != ts {
		link += "?thread_ts=" + thread + "&cid=" + channel
	}
	return link
}

// PublishHome replaces a person's Home tab.
func (c *Client) PublishHome(ctx context.Context, user string, view slack.HomeTabViewRequest) error {
	_, err := c.api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: user, View: view})
	return outcome("views.publish", err)
}

// issuer is the issuer of Slack's ID tokens, from its discovery document.
const issuer = "https://slack.com"

// maxSkew is how far Slack's clock may differ from ours.
const maxSkew = time.Minute

// AppCredentials gives the credentials of the Slack app.
type AppCredentials interface {
	Client(ctx context.Context) (id, secret, api string, err error)
}

// SignIn signs people in with Slack, by OpenID Connect
// (https://docs.slack.dev/authentication/sign-in-with-slack).
type SignIn struct {
	App  AppCredentials
	HTTP *http.Client
	Now  func() time.Time
}

// SignedIn is a person whom Slack signed in.
type SignedIn struct {
	User     string
	Team     string
	TeamName string
}

// ErrSignInRefused means that Slack refused the sign-in or its answer is invalid. The person may try again.
var ErrSignInRefused = errors.New("the sign-in was refused")

// Address returns the address at which a browser signs in. Slack sends the browser back with state, and puts nonce into
// the token.
func (s *SignIn) Address(ctx context.Context, redirect, state, nonce string) (string, error) {
	return s.address(ctx, "openid/connect/authorize", url.Values{"response_type": {"code"}, "scope": {"openid profile"},
		"redirect_uri": {redirect}, "state": {state}, "nonce": {nonce}})
}

// address is one of Slack's pages where a person agrees to something.
func (s *SignIn) address(ctx context.Context, page string, query url.Values) (string, error) {
	id, _, api, err := s.App.Client(ctx)
	if err != nil {
		return "", err
	}
	query.Set("client_id", id)
	return strings.TrimSuffix(api, "api/") + page + "?" + query.Encode(), nil
}

// Person exchanges the code from Slack's redirect for the person. It returns ErrSignInRefused if Slack refuses the code
// or its answer is invalid.
func (s *SignIn) Person(ctx context.Context, code, redirect, nonce string) (SignedIn, error) {
	id, secret, api, err := s.App.Client(ctx)
	if err != nil {
		return SignedIn{}, err
	}
	out, err := slack.GetOpenIDConnectTokenContext(ctx, s.HTTP, id, secret, code, redirect, slack.OAuthOptionAPIURL(api))
	if refused := (slack.SlackErrorResponse{}); errors.As(err, &refused) {
		return SignedIn{}, fmt.Errorf("%w: Slack says %.60s", ErrSignInRefused, refused.Err)
	}
	if err != nil {
		return SignedIn{}, fmt.Errorf("openid.connect.token: %w", err)
	}
	c, err := claimsOf(out.IdToken)
	if err != nil {
		return SignedIn{}, fmt.Errorf("%w: %w", ErrSignInRefused, err)
	}
	if err := c.check(id, nonce, s.Now()); err != nil {
		return SignedIn{}, fmt.Errorf("%w: %w", ErrSignInRefused, err)
	}
	return SignedIn{User: c.User, Team: c.Team, TeamName: c.TeamName}, nil
}

// claims are the members of Slack's ID tokens that Ringi checks or uses.
type claims struct {
	Issuer   string   `json:"iss"`
	Audience audience `json:"aud"`
	Expires  int64    `json:"exp"`
	Nonce    string   `json:"nonce"`
	User     string   `json:"https://slack.com/user_id"`
	Team     string   `json:"https://slack.com/team_id"`
	TeamName string   `json:"https://slack.com/team_name"`
}

// audience is one client id or a list of them.
type audience []string

func (a *audience) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(a))
}

// claimsOf reads a token's claims. It need not check the signature: the token came from Slack itself over TLS, in
// answer to a call with the client's secret (OpenID Connect Core 1.0, 3.1.3.7, number 6).
func claimsOf(token string) (claims, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return claims{}, errors.New("the ID token is no JWT")
	}
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return claims{}, errors.New("the ID token's claims are not base64url")
	}
	var c claims
	if json.Unmarshal(b, &c) != nil {
		return claims{}, errors.New("the ID token's claims are not JSON")
	}
	return c, nil
}

// check says why claims are invalid. Its error names the wrong claim and never quotes it.
func (c claims) check(client, nonce string, now time.Time) error {
	switch {
	case c.Issuer != issuer:
		return errors.New("the ID token is not Slack's")
	case len(c.Audience) != 1 || c.Audience[0] != client:
		return errors.New("the ID token is for another app")
	case !now.Before(time.Unix(c.Expires, 0).Add(maxSkew)):
		return errors.New("the ID token has expired")
	case nonce == "" || c.Nonce != nonce:
		return errors.New("the ID token is of another sign-in")
	case c.User == "" || c.Team == "":
		return errors.New("the ID token names nobody")
	}
	return nil
}
