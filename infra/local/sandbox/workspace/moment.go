package workspace

import (
	"crypto/rand"
	"fmt"
	"time"
)

const (
	// TriggerLife is how long after a click a modal can be opened for it.
	TriggerLife = 3 * time.Second
	// HookLife is how long a response URL works.
	HookLife = 30 * time.Minute
	// HookUses is how often a response URL works.
	HookUses = 5
)

type trigger struct {
	hand Hand
	at   time.Time
	used bool
}

type hook struct {
	target HookTarget
	at     time.Time
	uses   int
}

// HookTarget is the message that a response URL answers to, and for whom.
type HookTarget struct {
	User      string
	Channel   string
	TS        string
	ThreadTS  string
	Ephemeral bool
}

// Prompt is a suggestion above the message box.
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
}

// NewTrigger makes a trigger id for something that a person just did.
func (w *Workspace) NewTrigger(h Hand) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := fmt.Sprintf("%d.%s", w.next(), rand.Text())
	w.triggers[id] = &trigger{hand: h, at: w.cfg.Now()}
	return id
}

// TakeTrigger uses a trigger id up and returns whose it was, or TriggerInvalid,
// TriggerExpired or TriggerExchanged.
func (w *Workspace) TakeTrigger(id string) (Hand, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, ok := w.triggers[id]
	switch {
	case !ok:
		return Hand{}, TriggerInvalid
	case t.used:
		return Hand{}, TriggerExchanged
	case w.cfg.Now().Sub(t.at) > TriggerLife:
		return Hand{}, TriggerExpired
	}
	t.used = true
	return t.hand, nil
}

// NewHook makes the secret part of a response URL.
func (w *Workspace) NewHook(target HookTarget) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := rand.Text()
	w.hooks[id] = &hook{target: target, at: w.cfg.Now()}
	return id
}

// UseHook counts one use of a response URL and returns what it answers to, or
// HookExpired or HookUsed.
func (w *Workspace) UseHook(id string) (HookTarget, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h, ok := w.hooks[id]
	if !ok || w.cfg.Now().Sub(h.at) > HookLife {
		return HookTarget{}, HookExpired
	}
	if h.uses >= HookUses {
		return HookTarget{}, HookUsed
	}
	h.uses++
	return h.target, nil
}

// SetPrompts shows suggestions in a channel, in place of earlier ones.
func (w *Workspace) SetPrompts(channelID string, prompts []Prompt) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, err := w.channel(channelID)
	if err != nil {
		return err
	}
	w.prompts[c.ID] = prompts
	w.tell(Change{Kind: "prompts", Channel: c.ID, Data: prompts})
	return nil
}

// Prompts is what SetPrompts last set.
func (w *Workspace) Prompts(channelID string) []Prompt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.prompts[channelID]
}

// SetSession keeps the state of an agent's thread. A title only counts when the
// session is new.
func (w *Workspace) SetSession(s Session) (Session, error) {
	return inChannel(w, s.Channel, func(c *channel) (Session, error) {
		s.Channel = c.ID
		if old, ok := w.sessions[c.ID+s.ThreadTS]; ok {
			s.Title = old.Title
		}
		w.sessions[c.ID+s.ThreadTS] = s
		w.tell(Change{Kind: "session", Channel: c.ID, TS: s.ThreadTS, Data: s})
		return s, nil
	})
}

// Sessions lists the agents' threads of a channel.
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
