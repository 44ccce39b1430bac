package stack

import (
	"context"
	"net"
	"net/http"

	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/vendors"
)

// startFront serves the template's routes, and the sandbox on all other paths.
func (s *Stack) startFront(ctx context.Context, l net.Listener) {
	api := lambda.NewGateway(s.Template.Functions, Account, s.Lambda, s.log)
	var slack http.Handler = api
	arrivals := &preparer{stack: s, next: api, seen: map[string]bool{}}
	if s.options.PrepareTeam != nil {
		slack = arrivals
	}
	var rest http.Handler = http.NotFoundHandler()
	if s.options.SlackAPIURL == "" {
		s.Sandbox = s.newSandbox()
		rest = s.Sandbox.Handler()
	}
	s.onClose(serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if api.Serves(r.URL.Path) {
			slack.ServeHTTP(w, r)
			return
		}
		rest.ServeHTTP(w, r)
	}), s.options.Hosts...))
	if s.Sandbox != nil && s.options.PrepareTeam != nil && !s.options.quiet {
		// The panels show the workspace's data even before the first request.
		arrivals.prepareTeam(ctx, s.Sandbox.TeamID())
	}
	close(s.prepared)
	if s.Sandbox != nil {
		s.onClose(s.Sandbox.Close) // ends the browsers' streams, which would block the server's shutdown
	}
}

func (s *Stack) newSandbox() *sandbox.Sandbox {
	o := s.options.Sandbox
	o.SigningSecret, o.BotToken, o.ClientSecret = s.SigningSecret, s.BotToken, s.ClientSecret
	o.URL, o.EventsURL, o.InteractionsURL, o.CommandsURL = s.URL, s.URL+"/slack/events", s.URL+"/slack/interactions", s.URL+"/slack/commands"
	o.Run, o.Row, o.Object = s.Run, s.Row, s.Object
	o.Links = map[string]string{}
	for _, name := range s.Vendors.GitHub.Names() {
		o.Links["https://github.com/"+name+"/"] = s.VendorsURL + vendors.GitHubPages + name + "/"
	}
	if o.Logger == nil {
		o.Logger = s.log
	}
	if s.options.Panels != nil {
		o.Panels = s.options.Panels(s)
	}
	return sandbox.New(o)
}
