package sandbox

import (
	"fmt"
	"net/http"
	"ringi/infra/local/sandbox/webapi"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// maxTyped is Slack's limit for a message that a person types.
const maxTyped = 12000

// pageState has everything that the page shows to one person.
type pageState struct {
	Me         string                      `json:"me"`
	Team       map[string]string           `json:"team"`
	Bot        string                      `json:"bot"`
	Users      []webapi.User               `json:"users"`
	Channels   []webapi.Channel            `json:"channels"`
	Messages   map[string][]webapi.Message `json:"messages"`
	Ephemerals []ephemeral                 `json:"ephemerals"`
	Views      []webapi.OpenView           `json:"views"`
	Marks      []Attempt                   `json:"marks"`
	Prompts    map[string][]webapi.Prompt  `json:"prompts"`
	Sessions   []webapi.Session            `json:"sessions"`
	Toggles    Toggles                     `json:"toggles"`
	Shortcuts  []Shortcut                  `json:"shortcuts"`
	Globals    []Shortcut                  `json:"globals"`
	Home       *webapi.View                `json:"home"` // the app's Home tab; nil if the app has not published one
	Banner     map[string]string           `json:"banner"`
	Links      map[string]string           `json:"links"`
	Has        map[string]bool             `json:"has"`
	Admin      string                      `json:"admin"`   // the console's first administrator
	Started    time.Time                   `json:"started"` // start of the sandbox; everything on the page is newer
}

type ephemeral struct {
	Channel string         `json:"channel"`
	Message webapi.Message `json:"message"`
}

func (s *Sandbox) getState(w http.ResponseWriter, r *http.Request) {
	me, err := s.ws.User(r.URL.Query().Get("user"))
	if err != nil {
		reply(w, nil, fmt.Errorf("person %q: %w", r.URL.Query().Get("user"), err))
		return
	}
	st := pageState{
		Me: me.ID, Bot: webapi.Bot, Users: s.ws.Users(), Views: s.ws.OpenViews(me.ID), Toggles: s.Toggles(),
		Shortcuts: s.opts.Shortcuts, Globals: s.opts.Globals,
		Team:    map[string]string{"id": s.ws.TeamID(), "name": webapi.Name},
		Banner:  map[string]string{"ja": s.opts.Banner, "en": s.opts.BannerEN},
		Has:     map[string]bool{"run": s.opts.Run != nil, "tools": s.opts.Tools != nil, "cards": s.opts.Cards != nil},
		Admin:   s.opts.Administrator,
		Started: s.started, Links: s.opts.Links,
		Messages: map[string][]webapi.Message{}, Prompts: map[string][]webapi.Prompt{},
		Ephemerals: []ephemeral{}, Marks: []Attempt{}, Sessions: []webapi.Session{},
		Channels: []webapi.Channel{},
	}
	if v, ok := s.ws.Home(me.ID); ok {
		st.Home = &v
	}
	for _, c := range s.ws.Channels() {
		if !visible(webapi.Change{Channel: c.ID}, me.ID) || !slices.Contains(c.Members, me.ID) {
			continue
		}
		st.Channels = append(st.Channels, c)
		// This can't fail: channels are never removed.
		st.Messages[c.ID], _ = s.ws.Everything(c.ID)
		st.Prompts[c.ID] = s.ws.Prompts(c.ID)
		st.Sessions = append(st.Sessions, s.ws.Sessions(c.ID)...)
	}
	for _, m := range s.ws.Ephemerals(me.ID) {
		st.Ephemerals = append(st.Ephemerals, ephemeral{Channel: m.Channel, Message: m})
	}
	s.mu.Lock()
	for _, a := range s.marks {
		if visible(webapi.Change{Channel: a.Channel}, me.ID) {
			st.Marks = append(st.Marks, a)
		}
	}
	s.mu.Unlock()
	reply(w, st, nil)
}

// target has the arguments of the page's actions; each action uses some of them.
type target struct {
	User       string         `json:"user"`
	Window     string         `json:"window"`
	Channel    string         `json:"channel"`
	TS         string         `json:"ts"`
	To         string         `json:"to"` // channel that a message is forwarded to
	ThreadTS   string         `json:"thread_ts"`
	Text       string         `json:"text"`
	Files      []attachment   `json:"files"`
	ViewID     string         `json:"view_id"`
	ActionID   string         `json:"action_id"`
	CallbackID string         `json:"callback_id"`
	Value      any            `json:"value"`
	Values     map[string]any `json:"values"`
}

func (t target) hand() webapi.Hand { return webapi.Hand{User: t.User, Window: t.Window} }

// acts maps the last part of an address to an action on the page.
func (s *Sandbox) acts() map[string]func(target) (any, error) {
	return map[string]func(target) (any, error){
		"say":      s.postSay,
		"forward":  s.postForward,
		"edit":     s.postEdit,
		"delete":   func(in target) (any, error) { return nil, s.Remove(in.User, in.Channel, in.TS) },
		"shortcut": func(in target) (any, error) { return nil, s.shortcut(in.hand(), in.Channel, in.TS, in.CallbackID) },
		"channel-id": func(in target) (any, error) {
			is, err := s.ChangeChannelID(in.Channel)
			return map[string]string{"id": is}, err
		},
		"command": func(in target) (any, error) { return nil, s.command(in.hand(), in.Channel, in.Text) },
		"global":  func(in target) (any, error) { return nil, s.global(in.hand(), in.CallbackID) },
		"home":    func(in target) (any, error) { return nil, s.OpenHome(in.User) },
		"close":   func(in target) (any, error) { return nil, s.CloseView(in.User, in.ViewID) },
		"open":    func(in target) (any, error) { return nil, s.OpenMessages(in.User) },
		"dismiss": func(in target) (any, error) { s.ws.Dismiss(in.User, in.TS); return nil, nil },
		"stop":    func(in target) (any, error) { return nil, s.StopAgent(in.User, in.Channel, in.ThreadTS) },
		"act": func(in target) (any, error) {
			if in.ViewID != "" {
				return nil, s.ClickView(in.User, in.ViewID, in.ActionID, in.Value)
			}
			return nil, s.choose(in.hand(), in.Channel, in.TS, in.ActionID, in.Value)
		},
		"home/act": func(in target) (any, error) {
			value, _ := in.Value.(string)
			return nil, s.clickHome(in.hand(), in.ActionID, value)
		},
		"submit": func(in target) (any, error) {
			refused, err := s.Submit(in.User, in.ViewID, in.Values)
			return map[string]any{"errors": refused}, err
		},
	}
}

// checkTyped returns FieldErrors for a text that is too short or too long.
func checkTyped(text string, least int) error {
	if n := utf8.RuneCountInString(text); n < least || n > maxTyped {
		return FieldErrors{"text": fmt.Sprintf("%d to %d characters, not %d", least, maxTyped, n)}
	}
	return nil
}

// postEdit changes a person's own message. Only one with files or a forwarded message may have no text.
func (s *Sandbox) postEdit(in target) (any, error) {
	m, err := s.ws.Message(in.Channel, in.TS, in.User)
	if err != nil {
		return nil, fmt.Errorf("edit %s: %w", in.TS, err)
	}
	text, least := strings.TrimSpace(in.Text), 1
	if len(m.Files)+len(m.Attachments) > 0 {
		least = 0
	}
	if err := checkTyped(text, least); err != nil {
		return nil, err
	}
	return nil, s.Edit(in.User, in.Channel, in.TS, s.typed(text))
}

func (s *Sandbox) postSay(in target) (any, error) {
	text, least := strings.TrimSpace(in.Text), 1
	if len(in.Files) > 0 {
		least = 0
	}
	if err := checkTyped(text, least); err != nil {
		return nil, err
	}
	files, err := checked(in.Files)
	if err != nil {
		return nil, err
	}
	say := s.Reply
	if len(files) > 0 {
		say = func(user, channel, thread, text string) (string, error) {
			return s.Attach(user, channel, thread, text, files...)
		}
	}
	ts, err := say(in.User, in.Channel, in.ThreadTS, s.typed(text))
	return map[string]string{"ts": ts}, err
}
