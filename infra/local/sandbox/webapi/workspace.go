package webapi

import (
	"fmt"
	"sync"
	"time"
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
	IsStreaming      Code = "streaming_state_conflict"
	NotStreaming     Code = "message_not_in_streaming_state"
	ViewNotFound     Code = "not_found"
	HashConflict     Code = "hash_conflict"
	PushLimit        Code = "push_limit_reached"
	DuplicateID      Code = "duplicate_external_id"
	TriggerInvalid   Code = "invalid_trigger_id"
	TriggerExpired   Code = "expired_trigger_id"
	TriggerExchanged Code = "exchanged_trigger_id"
	HookExpired      Code = "expired_url"
	HookUsed         Code = "used_url"
)

// Name is the name of every sandbox's workspace.
const Name = "Ringi Sandbox"

// Config configures a workspace. Now defaults to the wall clock. It sets timestamps and the expiry of triggers and
// response URLs. Company adds the people of a company of twelve.
type Config struct {
	TeamID  string
	AppID   string
	Company bool
	Now     func() time.Time
}

// Change is one change of the workspace. To is the only person who sees it; if it is empty, everybody in the channel
// does.
type Change struct {
	Kind     string   `json:"kind"`
	To       string   `json:"-"`
	Channel  string   `json:"channel,omitempty"`
	TS       string   `json:"ts,omitempty"`
	Message  *Message `json:"message,omitempty"`
	Previous *Message `json:"-"`
	Data     any      `json:"data,omitempty"`
}

// Workspace is safe for concurrent use. Returned values are snapshots and must not be modified.
type Workspace struct {
	cfg Config

	mu         sync.Mutex
	lastMicros int64
	serial     int
	users      []User
	groups     []Group
	channels   []*channel
	ephemerals []Message
	views      map[Hand][]*View
	homes      map[string]View
	triggers   map[string]*trigger
	hooks      map[string]*hook
	prompts    map[string][]Prompt
	sessions   map[string]Session
	files      map[string]File
	listeners  []func(Change)
}

// New makes a workspace with the sandbox's people, channels and user group.
func NewWorkspace(cfg Config) *Workspace {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	w := &Workspace{
		cfg:      cfg,
		views:    map[Hand][]*View{},
		triggers: map[string]*trigger{},
		hooks:    map[string]*hook{},
		prompts:  map[string][]Prompt{},
		sessions: map[string]Session{},
	}
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
	w.listeners = append(w.listeners, f)
}

func (w *Workspace) TeamID() string { return w.cfg.TeamID }

func (w *Workspace) AppID() string { return w.cfg.AppID }

func (w *Workspace) tell(c Change) {
	for _, f := range w.listeners {
		f(c)
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
