package webapi

import (
	"slices"
)

func authTest(a *API, _ params) (reply, error) {
	return reply{
		"url": a.Self + "/", "team": Name, "user": "ringi", "team_id": a.TeamID(),
		"user_id": Bot, "bot_id": BotID, "is_enterprise_install": false,
	}, nil
}

func authRevoke(a *API, _ params) (reply, error) {
	a.Revoke()
	return reply{"revoked": true}, nil
}

func (a *API) describeUser(u User) reply {
	name := a.Named(u.Name, u.NameEN)
	return reply{
		"id": u.ID, "team_id": u.TeamID, "name": u.Handle, "deleted": false, "real_name": name,
		"profile": reply{"real_name": name, "display_name": name, "email": u.Email,
			"title": a.Named(u.Title, u.TitleEN), "team": u.TeamID},
		"is_restricted": u.Restricted, "is_ultra_restricted": false, "is_bot": u.Bot,
		// Slack also answers false for people of other workspaces if the app shares a channel with them, as it does
		// here (docs.slack.dev, reference/objects/user-object).
		"is_stranger": false,
	}
}

// userInfo includes the locale only if the call asks for it with include_locale.
func userInfo(a *API, p params) (reply, error) {
	u, err := a.User(p.str("user"))
	if err != nil {
		return nil, err
	}
	out := a.describeUser(u)
	if p.flag("include_locale") {
		out["locale"] = u.Locale
	}
	return reply{"user": out}, nil
}

func userByEmail(a *API, p params) (reply, error) {
	for _, u := range a.Users() {
		if u.Email != "" && u.Email == p.str("email") {
			return reply{"user": a.describeUser(u)}, nil
		}
	}
	return nil, refuse("users_not_found")
}

func listUsers(a *API, p params) (reply, error) {
	var all []reply
	for _, u := range a.Users() {
		if !u.Stranger {
			all = append(all, a.describeUser(u))
		}
	}
	members, next, err := page(p, all, 1000)
	return reply{"members": members, "response_metadata": next}, err
}

func listGroups(a *API, p params) (reply, error) {
	groups := []reply{}
	for _, g := range a.Groups() {
		out := reply{
			"id": g.ID, "team_id": a.TeamID(), "is_usergroup": true, "name": a.Named(g.Name, g.NameEN),
			"handle": g.Handle, "description": "", "date_create": 0, "date_update": 0, "date_delete": 0,
			"user_count": len(g.Users),
		}
		if p.flag("include_users") {
			out["users"] = g.Users
		}
		groups = append(groups, out)
	}
	return reply{"usergroups": groups}, nil
}

func groupUsers(a *API, p params) (reply, error) {
	groups := a.Groups()
	i := slices.IndexFunc(groups, func(g Group) bool { return g.ID == p.str("usergroup") })
	if i < 0 {
		return nil, refuse("no_such_subteam")
	}
	return reply{"users": groups[i].Users}, nil
}

// The ids of every sandbox's people, channels and user group.
const (
	Sato     = "U0SANDSATO" // 佐藤 花子, a requester
	Suzuki   = "U0SANDSUZU" // 鈴木 一郎, an approver
	Tanaka   = "U0SANDTANA" // 田中 恵, an approver
	Alex     = "U0SANDALEX" // Alex Kim of another department, not a member of #人事
	Guest    = "U0SANDGUST" // a guest account of the workspace
	Stranger = "U0SANDACME" // a person of another workspace, in the shared channel #general
	Bot      = "U0SANDRING" // the app's bot user
	BotID    = "B0SANDRING"

	HR      = "C0SANDBXHR" // #人事
	General = "C0SANDGENL" // #general, shared with another workspace

	Approvers = "S0SANDAPPR" // the user group 人事部承認者

	// StrangerTeam is the id of the other workspace.
	StrangerTeam = "T0SANDACME"
)

type User struct {
	ID         string `json:"id"`
	TeamID     string `json:"team_id"`
	Handle     string `json:"handle"`
	Name       string `json:"name"`
	NameEN     string `json:"name_en,omitempty"`
	Email      string `json:"email,omitempty"`
	Title      string `json:"title,omitempty"`
	TitleEN    string `json:"title_en,omitempty"`
	Color      string `json:"color"`
	Locale     string `json:"locale"`
	Bot        bool   `json:"bot,omitempty"`
	Restricted bool   `json:"restricted,omitempty"`
	Stranger   bool   `json:"stranger,omitempty"`
}

type Group struct {
	ID     string
	Handle string
	Name   string
	NameEN string
	Users  []string
}

func (w *Workspace) populate() {
	home := w.cfg.TeamID
	w.users = []User{
		{ID: Sato, TeamID: home, Handle: "sato", Name: "佐藤 花子", NameEN: "Hanako Sato", Email: "sato@example.com",
			Title: "人事部・依頼者", TitleEN: "HR · requester", Color: "6d4bf0", Locale: "ja-JP"},
		{ID: Suzuki, TeamID: home, Handle: "suzuki", Name: "鈴木 一郎", NameEN: "Ichiro Suzuki", Email: "suzuki@example.com",
			Title: "人事部長・承認者", TitleEN: "Head of HR · approver", Color: "0b7d5f", Locale: "ja-JP"},
		{ID: Tanaka, TeamID: home, Handle: "tanaka", Name: "田中 恵", NameEN: "Megumi Tanaka", Email: "tanaka@example.com",
			Title: "労務担当・承認者", TitleEN: "Labor relations · approver", Color: "b84d1c", Locale: "ja-JP"},
		{ID: Alex, TeamID: home, Handle: "alex.kim", Name: "Alex Kim", Email: "alex.kim@example.com", Title: "営業部・部外者",
			TitleEN: "Sales · outsider", Color: "1f66bd", Locale: "en-US"},
		{ID: Guest, TeamID: home, Handle: "guest", Name: "高橋 ゲスト", NameEN: "Guest Takahashi",
			Email: "takahashi@partner.example.com", Title: "ゲスト", TitleEN: "Guest", Color: "7a6c2a", Locale: "ja-JP",
			Restricted: true},
		{ID: Stranger, TeamID: StrangerTeam, Handle: "robin", Name: "Robin Park", Email: "robin@acme.example.com",
			Title: "他社ワークスペース (Acme)", TitleEN: "Other workspace (Acme)", Color: "a83a70", Locale: "en-US", Stranger: true},
		{ID: Bot, TeamID: home, Handle: "ringi", Name: "Ringi", Title: "アプリ", TitleEN: "App", Color: "1f3a5f",
			Locale: "ja-JP", Bot: true},
	}
	w.groups = []Group{{ID: Approvers, Handle: "hr-approvers", Name: "人事部承認者", NameEN: "HR approvers",
		Users: []string{Suzuki, Tanaka}}}
	created := w.cfg.Now().Unix()
	w.channels = []*channel{
		{Channel: Channel{ID: HR, Name: "人事", NameEN: "hr", Purpose: "人事部の依頼と承認",
			PurposeEN: "HR: requests and approvals", Created: created,
			Members: []string{Sato, Suzuki, Tanaka, Guest, Bot}}},
		{Channel: Channel{ID: General, Name: "general", Purpose: "全社のお知らせ", PurposeEN: "Company-wide news", Created: created,
			Members: []string{Sato, Suzuki, Tanaka, Alex, Stranger, Bot}}},
	}
	for _, u := range w.users {
		if !u.Bot && !u.Stranger {
			w.channels = append(w.channels, ownMessages(u.ID, created))
		}
	}
}

// DirectMessage is the id of a person's direct message with the bot.
func DirectMessage(user string) string { return "D" + user[1:] }

// Users returns all people, and the bot last.
func (w *Workspace) Users() []User {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.users)
}

// User finds a person by id. It returns UserNotFound if there is none.
func (w *Workspace) User(id string) (User, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.user(id)
}

func (w *Workspace) user(id string) (User, error) {
	if i := slices.IndexFunc(w.users, func(u User) bool { return u.ID == id }); i >= 0 {
		return w.users[i], nil
	}
	return User{}, UserNotFound
}

// Speak sets the locale that a person chose in Slack, such as ja-JP. It returns UserNotFound if there is no such
// person.
func (w *Workspace) Speak(id, locale string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.users, func(u User) bool { return u.ID == id })
	if i < 0 {
		return UserNotFound
	}
	w.users[i].Locale = locale
	return nil
}

func (w *Workspace) Groups() []Group {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.groups)
}

// The ids of what a company adds to a workspace, beside the sandbox's people: eight full members in all.
const (
	Kato   = "U0SANDKATO" // 加藤 誠, the president
	Takada = "U0SANDTAKA" // 高田 健, of accounting
	Mori   = "U0SANDMORI" // 森 由美, of accounting
	Yamada = "U0SANDYAMA" // 山田 太郎, the head of sales

	Accounting = "S0SANDACCT" // the user group 経理: Tanaka, Takada, Mori
)

// colleagues are a company's further people.
var colleagues = []User{
	{ID: Takada, Handle: "takada", Name: "高田 健", NameEN: "Ken Takada", Title: "経理", TitleEN: "Accounting",
		Color: "3f6f2a"},
	{ID: Mori, Handle: "mori", Name: "森 由美", NameEN: "Yumi Mori", Title: "経理", TitleEN: "Accounting", Color: "2a6a7a"},
	{ID: Yamada, Handle: "yamada", Name: "山田 太郎", NameEN: "Taro Yamada", Title: "営業部長", TitleEN: "Head of Sales",
		Color: "7a2f2f"},
	{ID: Kato, Handle: "kato", Name: "加藤 誠", NameEN: "Makoto Kato", Title: "社長", TitleEN: "President", Color: "44546a"},
}

// employ makes the workspace a company's: further people, whom everybody meets in #general, and a user group of those
// who check amounts.
func (w *Workspace) employ() {
	at := slices.IndexFunc(w.users, func(u User) bool { return u.ID == Guest })
	general, _ := w.channel(General)
	for i, u := range colleagues {
		u.TeamID, u.Email, u.Locale = w.cfg.TeamID, u.Handle+"@example.com", "ja-JP"
		w.users = slices.Insert(w.users, at+i, u)
		general.Members = append(general.Members, u.ID)
		w.channels = append(w.channels, ownMessages(u.ID, general.Created))
	}
	w.groups = append(w.groups, Group{ID: Accounting, Handle: "keiri", Name: "経理", NameEN: "Accounting",
		Users: []string{Tanaka, Takada, Mori}})
}

// ownMessages are a person's direct messages with the bot.
func ownMessages(user string, created int64) *channel {
	return &channel{Channel: Channel{ID: DirectMessage(user), IM: user, Created: created, Members: []string{user, Bot}}}
}
