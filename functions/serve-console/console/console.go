// Package console assembles the console's pages into one handler, and has those of the records: what was done in a
// workspace, and what has a number.
package console

import (
	"net/http"
	"slices"

	"ringi/functions/serve-console/settings"
	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

type Console struct {
	web.Site
	Conversations *store.ConversationStore
	Contests      *store.ContestStore
	Servers       settings.ServerTools
	SignIn        *slackapi.SignIn
	Messages      settings.DirectMessages
	Connect       settings.Connections
	Files         subject.Files
	GitHub        settings.GitHub
	Outbound      []string // private addresses (host:port) where agents may run, besides all public ones
}

func (c *Console) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range c.Routes() {
		mux.HandleFunc(r.Pattern, c.SignedIn(r))
	}
	c.settings().Open(mux)
	c.open(mux)
	return web.Safe(mux)
}

func (c *Console) settings() *settings.Pages {
	return &settings.Pages{Site: &c.Site, GitHub: c.GitHub, Servers: c.Servers, Connect: c.Connect, SignIn: c.SignIn,
		Messages: c.Messages}
}

// Routes returns all pages for people who are signed in.
func (c *Console) Routes() []web.Route {
	return slices.Concat(
		(&subject.Pages{Site: &c.Site, Contests: c.Contests, Conversations: c.Conversations,
			Calls: store.CallsOf(c.Store.KindStore.Store), Outbound: c.Outbound, Files: c.Files}).Routes(),
		c.settings().Routes(), []web.Route{
			web.ForAdministrators("GET "+auditPath, c.showAudit),
			web.ForAdministrators("GET "+auditPath+"/file.csv", c.export),
			web.ForAdministrators("GET "+auditPath+"/register.csv", c.register),
			web.ForAdministrators("GET /console/figures", c.figures),
		})
}

// open registers the pages that need no session.
func (c *Console) open(mux *http.ServeMux) {
	mux.HandleFunc("GET /console/language/{locale}", c.SwitchLanguage)
	mux.HandleFunc("POST /console/language/{locale}", c.SwitchLanguage)
	mux.HandleFunc("GET /console/assets/{name}", web.ServeAsset)
	mux.HandleFunc("/", c.Open(func(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
		if in, err := c.ViewerOf(w, r); err == nil { // who is signed in keeps the menu
			*v = *in
		}
		return web.ErrNoPage
	}))
}
