package webapi

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ringi/shared/words/language"
)

// Code is Slack's error code, such as "channel_not_found".
type Code string

func (c Code) Error() string { return string(c) }

const (
	ChannelNotFound  Code = "channel_not_found"
	MessageNotFound  Code = "message_not_found"
	ThreadNotFound   Code = "thread_not_found"
	NotInChannel     Code = "not_in_channel"
	IsArchived       Code = "is_archived"
	UserNotFound     Code = "user_not_found"
	UserNotInChannel Code = "user_not_in_channel"
	CantUpdate       Code = "cant_update_message"
	CantDelete       Code = "cant_delete_message"
	ViewNotFound     Code = "not_found"
	TriggerInvalid   Code = "invalid_trigger_id"
	TriggerExpired   Code = "expired_trigger_id"
	TriggerExchanged Code = "exchanged_trigger_id"
)

// Name is the name of every sandbox's workspace.
const Name = "Ringi Sandbox"

// Config configures a workspace. Now sets timestamps and the expiry of triggers. Company adds the people of a company
// of eight. Names are in English if Language is en.
type Config struct {
	TeamID, AppID, Language string
	Company                 bool
	Now                     func() time.Time
}

// Change is a change of the workspace: a message before and after it, which is nil where there is none. Of a change of
// anything else both are nil.
type Change struct{ Message, Previous *Message }

// Workspace is safe for concurrent use. Returned values are snapshots and must not be modified.
type Workspace struct {
	cfg Config

	english atomic.Bool // names are in English

	mu         sync.Mutex
	lastMicros int64
	serial     int
	users      []User
	groups     []Group
	channels   []*channel
	ephemerals []Message
	views      map[string]*View
	homes      map[string]View
	triggers   map[string]*trigger
	prompts    map[string][]Prompt
	sessions   map[string]Session
	files      map[string]File
	listen     func(Change)
}

// NewWorkspace makes a workspace with the sandbox's people, channels and user group.
func NewWorkspace(cfg Config) *Workspace {
	w := &Workspace{
		cfg:      cfg,
		views:    map[string]*View{},
		homes:    map[string]View{},
		files:    map[string]File{},
		triggers: map[string]*trigger{},
		prompts:  map[string][]Prompt{},
		sessions: map[string]Session{},
	}
	w.SetLanguage(cfg.Language)
	w.populate()
	if cfg.Company {
		w.employ()
	}
	return w
}

// inChannel calls do with a channel while the workspace is locked. It returns ChannelNotFound if there is no such
// channel.
func inChannel[T any](w *Workspace, id string, do func(*channel) (T, error)) (out T, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, err := w.channel(id)
	if err != nil {
		return out, err
	}
	return do(c)
}

// Listen makes the workspace call f with every change, in order. f runs while the workspace is locked, so it must be
// quick and must not call the workspace.
func (w *Workspace) Listen(f func(Change)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listen = f
}

// SetLanguage sets the language in which apps get the names of people, channels and groups, ja or en. The page shows
// them in its own.
func (w *Workspace) SetLanguage(language string) { w.english.Store(language == "en") }

// Named returns one of two names by the workspace's language; en may be empty.
func (w *Workspace) Named(ja, en string) string {
	if w.english.Load() && en != "" {
		return en
	}
	return ja
}

func (w *Workspace) TeamID() string { return w.cfg.TeamID }

func (w *Workspace) AppID() string { return w.cfg.AppID }

func (w *Workspace) tell(c Change) {
	if w.listen != nil {
		w.listen(c)
	}
}

// timestamp returns a unique ts: seconds with six decimals.
func (w *Workspace) timestamp() string {
	micros := max(w.cfg.Now().UnixMicro(), w.lastMicros+1)
	w.lastMicros = micros
	return fmt.Sprintf("%d.%06d", micros/1_000_000, micros%1_000_000)
}

// next returns a number that is unique in this workspace.
func (w *Workspace) next() int {
	w.serial++
	return w.serial
}

// triggerLife is how long after a click the app can open a modal.
const triggerLife = 3 * time.Second

type trigger struct {
	user string
	at   time.Time
	used bool
}

// Prompt is a suggested prompt above the message box.
type Prompt struct {
	Title   string `json:"title"`
	Message string `json:"message"`
}

// Session is the state of a thread with an agent.
type Session struct {
	Channel  string `json:"channel"`
	ThreadTS string `json:"thread_ts"`
	Status   string `json:"status"`
	Title    string `json:"title,omitempty"`
	Waiting  string `json:"waiting,omitempty"` // what is said after the app's name until the state is set anew
}

// NewTrigger makes a trigger id for an action of a person.
func (w *Workspace) NewTrigger(user string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := fmt.Sprintf("%d.%s", w.next(), rand.Text())
	w.triggers[id] = &trigger{user: user, at: w.cfg.Now()}
	return id
}

// TakeTrigger uses a trigger id and returns the person that it belongs to. It returns TriggerInvalid,
// TriggerExpired or TriggerExchanged.
func (w *Workspace) TakeTrigger(id string) (user string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, ok := w.triggers[id]
	switch {
	case !ok:
		return "", TriggerInvalid
	case t.used:
		return "", TriggerExchanged
	case w.cfg.Now().Sub(t.at) > triggerLife:
		return "", TriggerExpired
	}
	t.used = true
	return t.user, nil
}

// SetPrompts replaces the suggested prompts of a channel.
func (w *Workspace) SetPrompts(channelID string, prompts []Prompt) error {
	return w.change(channelID, func(c *channel) error { w.prompts[c.ID] = prompts; return nil })
}

func (w *Workspace) Prompts(channelID string) []Prompt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.prompts[channelID]
}

// setSession changes the state of an agent's thread, and returns it.
func (w *Workspace) setSession(channelID, thread string, how func(*Session)) (Session, error) {
	return inChannel(w, channelID, func(c *channel) (Session, error) {
		s := w.sessions[c.ID+thread]
		s.Channel, s.ThreadTS = c.ID, thread
		how(&s)
		w.sessions[c.ID+thread] = s
		w.tell(Change{})
		return s, nil
	})
}

// Sessions returns the agents' threads of a channel.
func (w *Workspace) Sessions(channelID string) []Session {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := []Session{}
	for _, s := range w.sessions {
		if s.Channel == channelID {
			out = append(out, s)
		}
	}
	return out
}

// maxPrompts is the maximum number of suggested prompts.
const maxPrompts = 4

// setPrompts sets the suggested prompts of a direct message. As in Slack, a call with thread_ts is answered ok but
// shows nothing.
func setPrompts(a *API, p params) (reply, error) {
	items, err := p.list("prompts", "invalid_arguments")
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(items)
	var prompts []Prompt
	if err != nil || json.Unmarshal(raw, &prompts) != nil || len(prompts) == 0 || len(prompts) > maxPrompts ||
		slices.ContainsFunc(prompts, func(x Prompt) bool { return x.Title == "" || x.Message == "" }) {
		return nil, refusal{code: "invalid_arguments",
			problems: []string{"1 to 4 items with title and message [json-pointer:/prompts]"}}
	}
	if p.str("thread_ts") != "" {
		return reply{}, nil
	}
	return reply{}, a.SetPrompts(p.str("channel_id"), prompts)
}

func setSession(a *API, p params) (reply, error) {
	status := p.str("status")
	if !slices.Contains([]string{"active", "processing", "suspended", "closed"}, status) {
		return nil, refusal{code: "invalid_arguments",
			problems: []string{"must be a valid enum value: active, processing, suspended, closed [json-pointer:/status]"}}
	}
	s, err := a.setSession(p.str("channel_id"), p.str("thread_ts"), func(s *Session) {
		if s.Status == "" { // only a new session takes a title
			s.Title = language.First(p.str("title"), 200)
		}
		s.Status, s.Waiting = status, ""
	})
	if err != nil {
		return nil, err
	}
	return reply{"status": s.Status, "agent_status": s.Status, "title": s.Title}, nil
}

func setWaiting(a *API, p params) (reply, error) {
	_, err := a.setSession(p.str("channel_id"), p.str("thread_ts"), func(s *Session) { s.Waiting = p.str("status") })
	return reply{}, err
}
