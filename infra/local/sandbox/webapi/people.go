package webapi

import (
	"slices"
)

func authTest(a *API, _ params) (reply, error) {
	return reply{
		"url": a.opts.Self() + "/", "team": Name, "user": "ringi", "team_id": a.ws.TeamID(),
		"user_id": Bot, "bot_id": BotID, "is_enterprise_install": false,
	}, nil
}

// authRevoke revokes the token of the call, unless the argument test is set.
func authRevoke(a *API, p params) (reply, error) {
	if p.flag("test") {
		return reply{"revoked": false}, nil
	}
	a.opts.Revoke()
	return reply{"revoked": true}, nil
}

// teamInfo answers as https://docs.slack.dev/reference/methods/team.info documents for a workspace without an
// organization.
func teamInfo(a *API, p params) (reply, error) {
	if id := p.str("team"); id != "" && id != a.ws.TeamID() {
		return nil, refuse("team_not_found")
	}
	icon := reply{"image_default": true}
	for _, size := range []string{"34", "44", "68", "88", "102", "132"} {
		icon["image_"+size] = a.opts.Self() + "/icon.svg"
	}
	return reply{"team": reply{
		"id": a.ws.TeamID(), "name": Name, "domain": "ringi-sandbox", "email_domain": "example.com", "icon": icon,
		"url": a.opts.Self() + "/", "avatar_base_url": a.opts.Self() + "/", "is_verified": false,
	}}, nil
}

func describeUser(u User) reply {
	return reply{
		"id": u.ID, "team_id": u.TeamID, "name": u.Handle, "deleted": false, "color": u.Color, "real_name": u.Name,
		"tz": "Asia/Tokyo", "tz_label": "Japan Standard Time", "tz_offset": 32400,
		"profile": reply{
			"real_name": u.Name, "real_name_normalized": u.Name, "display_name": u.Name, "display_name_normalized": u.Name,
			"email": u.Email, "title": u.Title, "team": u.TeamID,
		},
		"is_admin": u.ID == Sato, "is_owner": false, "is_primary_owner": false, "is_restricted": u.Restricted,
		"is_ultra_restricted": false, "is_bot": u.Bot, "is_app_user": false, "updated": 0,
		// Slack also answers false for people of other workspaces if the app shares a channel with them, as it does
		// here (docs.slack.dev, reference/objects/user-object).
		"is_stranger": false,
	}
}

// userInfo includes the locale only if the call asks for it with include_locale.
func userInfo(a *API, p params) (reply, error) {
	u, err := a.ws.User(p.str("user"))
	if err != nil {
		return nil, err
	}
	out := describeUser(u)
	if p.flag("include_locale") {
		out["locale"] = u.Locale
	}
	return reply{"user": out}, nil
}

func userByEmail(a *API, p params) (reply, error) {
	u, err := a.ws.UserByEmail(p.str("email"))
	return reply{"user": describeUser(u)}, err
}

func listUsers(a *API, p params) (reply, error) {
	var all []reply
	for _, u := range a.ws.Users() {
		if !u.Stranger {
			all = append(all, describeUser(u))
		}
	}
	members, next, err := page(p, all, 1000)
	return reply{"members": members, "response_metadata": next}, err
}

func listGroups(a *API, p params) (reply, error) {
	groups := []reply{}
	for _, g := range a.ws.Groups() {
		out := reply{
			"id": g.ID, "team_id": a.ws.TeamID(), "is_usergroup": true, "name": g.Name, "handle": g.Handle, "description": "",
			"date_create": 0, "date_update": 0, "date_delete": 0, "user_count": len(g.Users),
		}
		if p.flag("include_users") {
			out["users"] = g.Users
		}
		groups = append(groups, out)
	}
	return reply{"usergroups": groups}, nil
}

func groupUsers(a *API, p params) (reply, error) {
	groups := a.ws.Groups()
	i := slices.IndexFunc(groups, func(g Group) bool { return g.ID == p.str("usergroup") })
	if i < 0 {
		return nil, refuse("no_such_subteam")
	}
	return reply{"users": groups[i].Users}, nil
}
