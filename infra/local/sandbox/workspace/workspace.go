// Package workspace holds a Slack workspace in memory: people, channels,
// messages, modals and what is only valid for a moment (trigger ids, response
// URLs). It knows Slack's rules about them and nothing about HTTP.
package workspace

import (
	"fmt"
	"sync"
	"time"
)

// Code is a refusal in Slack's words, for example "channel_not_found".
type Code string

// Error is the code itself.
func (c Code) Error() string { return string(c) }

// Refusals that callers tell apart.
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

// Name is what people call every sandbox.
const Name = "Ringi Sandbox"

// Config names the workspace. Now defaults to the wall clock; it rules
// timestamps and the life of triggers and response URLs.
type Config struct {
	TeamID string
	AppID  string
	Now    func() time.Time
}

// Change is one thing that happened. To is the only person who sees it, or
// empty when everybody in the channel does.
type Change struct {
	Kind     string   `json:"kind"`
	To       string   `json:"-"`
	Channel  string   `json:"channel,omitempty"`
	TS       string   `json:"ts,omitempty"`
	Message  *Message `json:"message,omitempty"`
	Previous *Message `json:"-"`
	Data     any      `json:"data,omitempty"`
}

// Workspace is safe for concurrent use. Values that it returns are snapshots
// and must not be modified.
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
	listeners  []func(Change)
}

// New makes the sandbox's workspace with its people, channels and user group.
func New(cfg Config) *Workspace {
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
	return w
}

// inChannel does something in a channel while nobody else changes the workspace; it returns ChannelNotFound.
func inChannel[T any](w *Workspace, id string, do func(*channel) (T, error)) (out T, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, err := w.channel(id)
	if err != nil {
		return out, err
	}
	return do(c)
}

// Listen calls f with every change, in order. f runs while the workspace is
// locked: it must be quick and must not call the workspace.
func (w *Workspace) Listen(f func(Change)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listeners = append(w.listeners, f)
}

// TeamID is the workspace's id.
func (w *Workspace) TeamID() string { return w.cfg.TeamID }

// AppID is the id of the one app that is installed.
func (w *Workspace) AppID() string { return w.cfg.AppID }

func (w *Workspace) tell(c Change) {
	for _, f := range w.listeners {
		f(c)
	}
}

// timestamp is Slack's ts: seconds and six digits, never the same twice.
func (w *Workspace) timestamp() string {
	micros := max(w.cfg.Now().UnixMicro(), w.lastMicros+1)
	w.lastMicros = micros
	return fmt.Sprintf("%d.%06d", micros/1_000_000, micros%1_000_000)
}

// next is a number that no other id of this workspace has.
func (w *Workspace) next() int {
	w.serial++
	return w.serial
}
