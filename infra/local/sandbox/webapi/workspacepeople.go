package webapi

import "slices"

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
	NameEN     string `json:"name_en,omitempty"` // for the page in English
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
	Users  []string
}

func (w *Workspace) populate() {
	home := w.cfg.TeamID
	w.users = []User{
		{ID: Sato, TeamID: home, Handle: "sato", Name: "佐藤 花子", NameEN: "Hanako Sato", Email: "sato@example.com", Title: "人事部・依頼者", TitleEN: "HR · requester", Color: "6d4bf0", Locale: "ja-JP"},
		{ID: Suzuki, TeamID: home, Handle: "suzuki", Name: "鈴木 一郎", NameEN: "Ichiro Suzuki", Email: "suzuki@example.com", Title: "人事部長・承認者", TitleEN: "Head of HR · approver", Color: "0b7d5f", Locale: "ja-JP"},
		{ID: Tanaka, TeamID: home, Handle: "tanaka", Name: "田中 恵", NameEN: "Megumi Tanaka", Email: "tanaka@example.com", Title: "労務担当・承認者", TitleEN: "Labor relations · approver", Color: "b84d1c", Locale: "ja-JP"},
		{ID: Alex, TeamID: home, Handle: "alex.kim", Name: "Alex Kim", Email: "alex.kim@example.com", Title: "営業部・部外者", TitleEN: "Sales · outsider", Color: "1f66bd", Locale: "en-US"},
		{ID: Guest, TeamID: home, Handle: "guest", Name: "高橋 ゲスト", NameEN: "Guest Takahashi", Email: "takahashi@partner.example.com", Title: "ゲスト", TitleEN: "Guest", Color: "7a6c2a", Locale: "ja-JP", Restricted: true},
		{ID: Stranger, TeamID: StrangerTeam, Handle: "robin", Name: "Robin Park", Email: "robin@acme.example.com", Title: "他社ワークスペース (Acme)", TitleEN: "Other workspace (Acme)", Color: "a83a70", Locale: "en-US", Stranger: true},
		{ID: Bot, TeamID: home, Handle: "ringi", Name: "Ringi", Title: "アプリ", TitleEN: "App", Color: "1f3a5f", Locale: "ja-JP", Bot: true},
	}
	w.groups = []Group{{ID: Approvers, Handle: "hr-approvers", Name: "人事部承認者", Users: []string{Suzuki, Tanaka}}}
	created := w.cfg.Now().Unix()
	w.channels = []*channel{
		{Channel: Channel{ID: HR, Name: "人事", Purpose: "人事部の依頼と承認", PurposeEN: "HR: requests and approvals", Created: created,
			Members: []string{Sato, Suzuki, Tanaka, Guest, Bot}}},
		{Channel: Channel{ID: General, Name: "general", Purpose: "全社のお知らせ", PurposeEN: "Company-wide news", Created: created, Shared: true,
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
	return w.who(UserNotFound, func(u User) bool { return u.ID == id })
}

func (w *Workspace) who(missing Code, is func(User) bool) (User, error) {
	if i := slices.IndexFunc(w.users, is); i >= 0 {
		return w.users[i], nil
	}
	return User{}, missing
}

// Speak sets the locale that a person chose in Slack, such as ja-JP. It returns UserNotFound if there is no such person.
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

func (w *Workspace) UserByEmail(email string) (User, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.who("users_not_found", func(u User) bool { return u.Email != "" && u.Email == email })
}

func (w *Workspace) Groups() []Group {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.groups)
}
