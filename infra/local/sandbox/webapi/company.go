package webapi

import "slices"

// The ids of what a company adds to a workspace, beside the sandbox's people: twelve full members in all.
const (
	Kato      = "U0SANDKATO" // 加藤 誠, the president
	Takada    = "U0SANDTAKA" // 高田 健, of accounting
	Mori      = "U0SANDMORI" // 森 由美, of accounting
	Kobayashi = "U0SANDKOBA" // 小林 さくら, of HR
	Yamada    = "U0SANDYAMA" // 山田 太郎, the head of sales
	Ito       = "U0SANDITOH" // 伊藤 直樹, a section head of sales
	Watanabe  = "U0SANDWATA" // 渡辺 美咲, of sales
	Nakamura  = "U0SANDNAKA" // 中村 翔, of sales

	Sales = "C0SANDSALE" // #営業

	Accounting = "S0SANDACCT" // the user group 経理: Tanaka, Takada, Mori
)

// colleagues are a company's further people.
var colleagues = []User{
	{ID: Kobayashi, Handle: "kobayashi", Name: "小林 さくら", NameEN: "Sakura Kobayashi", Title: "人事部", TitleEN: "HR", Color: "9a3d8f"},
	{ID: Takada, Handle: "takada", Name: "高田 健", NameEN: "Ken Takada", Title: "経理", TitleEN: "Accounting", Color: "3f6f2a"},
	{ID: Mori, Handle: "mori", Name: "森 由美", NameEN: "Yumi Mori", Title: "経理", TitleEN: "Accounting", Color: "2a6a7a"},
	{ID: Ito, Handle: "ito", Name: "伊藤 直樹", NameEN: "Naoki Ito", Title: "営業課長", TitleEN: "Section head, Sales", Color: "8a5a14"},
	{ID: Watanabe, Handle: "watanabe", Name: "渡辺 美咲", NameEN: "Misaki Watanabe", Title: "営業部", TitleEN: "Sales", Color: "b03a5b"},
	{ID: Nakamura, Handle: "nakamura", Name: "中村 翔", NameEN: "Sho Nakamura", Title: "営業部", TitleEN: "Sales", Color: "4a5bb5"},
	{ID: Yamada, Handle: "yamada", Name: "山田 太郎", NameEN: "Taro Yamada", Title: "営業部長", TitleEN: "Head of Sales", Color: "7a2f2f"},
	{ID: Kato, Handle: "kato", Name: "加藤 誠", NameEN: "Makoto Kato", Title: "社長", TitleEN: "President", Color: "44546a"},
}

// employ makes the workspace a company's: further people, whom everybody meets in #general, a channel of the sales
// department, and a user group of those who check amounts.
func (w *Workspace) employ() {
	at := slices.IndexFunc(w.users, func(u User) bool { return u.ID == Guest })
	created := w.cfg.Now().Unix()
	general, _ := w.channel(General)
	for i, u := range colleagues {
		u.TeamID, u.Email, u.Locale = w.cfg.TeamID, u.Handle+"@example.com", "ja-JP"
		w.users = slices.Insert(w.users, at+i, u)
		general.Members = append(general.Members, u.ID)
		w.channels = append(w.channels, ownMessages(u.ID, created))
	}
	w.channels = slices.Insert(w.channels, 1, &channel{Channel: Channel{ID: Sales, Name: "営業",
		Purpose: "営業部の依頼と承認", PurposeEN: "Sales: requests and approvals", Created: created,
		Members: []string{Alex, Ito, Watanabe, Nakamura, Yamada, Bot}}})
	w.groups = append(w.groups, Group{ID: Accounting, Handle: "keiri", Name: "経理", Users: []string{Tanaka, Takada, Mori}})
}

// ownMessages are a person's direct messages with the bot.
func ownMessages(user string, created int64) *channel {
	return &channel{Channel: Channel{ID: DirectMessage(user), IM: user, Created: created, Members: []string{user, Bot}}}
}
