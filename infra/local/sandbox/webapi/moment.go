package webapi

import (
	"crypto/rand"
	"fmt"
	"time"
)

const (
	// TriggerLife is how long after a click the app can open a modal.
	TriggerLife = 3 * time.Second
	// HookLife is how long a response URL is valid.
	HookLife = 30 * time.Minute
	// HookUses is how often a response URL can be used.
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

// HookTarget is the message that a response URL belongs to, and the person who got the URL.
type HookTarget struct {
	User      string
	Channel   string
	TS        string
	ThreadTS  string
	Ephemeral bool
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
}

// NewTrigger makes a trigger id for an action of a person.
func (w *Workspace) NewTrigger(h Hand) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := fmt.Sprintf("%d.%s", w.next(), rand.Text())
	w.triggers[id] = &trigger{hand: h, at: w.cfg.Now()}
	return id
}

// TakeTrigger uses a trigger id and returns the person and window that it belongs to. It returns TriggerInvalid,
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

// NewHook makes the id of a new response URL.
func (w *Workspace) NewHook(target HookTarget) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := rand.Text()
	w.hooks[id] = &hook{target: target, at: w.cfg.Now()}
	return id
}

// UseHook uses a response URL once and returns its target. It returns HookExpired or HookUsed.
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

// SetPrompts replaces the suggested prompts of a channel.
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

func (w *Workspace) Prompts(channelID string) []Prompt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.prompts[channelID]
}

// SetSession saves the state of an agent's thread. It sets the title of a new session only.
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
