package sandbox

import (
	"cmp"
	"fmt"
	"maps"
	"ringi/infra/local/sandbox/webapi"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Say posts what a person types and returns the message's ts. &, < and > are escaped, and people are <@U…>; the rest
// becomes what Slack's clients make of it.
func (s *Sandbox) Say(user, channel, text string) (string, error) {
	return s.Reply(user, channel, "", text)
}

// Reply posts a person's message in a thread.
func (s *Sandbox) Reply(user, channel, threadTS, text string) (string, error) {
	if _, err := s.ws.User(user); err != nil {
		return "", fmt.Errorf("say as %s: %w", user, err)
	}
	text, blocks := composed(text)
	m, err := s.ws.Post(webapi.Draft{Channel: channel, User: user, ThreadTS: threadTS, Text: text, Blocks: blocks})
	if err != nil {
		return "", fmt.Errorf("say in %s: %w", channel, err)
	}
	return m.TS, nil
}

// Attach says something as Reply does, with files.
func (s *Sandbox) Attach(user, channel, threadTS, text string, files ...webapi.File) (string, error) {
	if _, err := s.ws.User(user); err != nil {
		return "", fmt.Errorf("attach files as %s: %w", user, err)
	}
	text, blocks := composed(text)
	m, err := s.ws.Post(webapi.Draft{Channel: channel, User: user, ThreadTS: threadTS, Text: text, Blocks: blocks,
		Subtype: "file_share", Files: files})
	if err != nil {
		return "", fmt.Errorf("attach files in %s: %w", channel, err)
	}
	return m.TS, nil
}

func (s *Sandbox) Edit(user, channel, ts, text string) error {
	m, err := s.ws.Message(channel, ts, user)
	if err != nil {
		return fmt.Errorf("edit %s: %w", ts, err)
	}
	if m.User != user {
		return fmt.Errorf("edit %s: %w", ts, webapi.CantUpdate)
	}
	text, blocks := composed(text)
	if _, err := s.ws.Update(channel, ts, user, webapi.Patch{Text: &text, Typed: blocks}); err != nil {
		return fmt.Errorf("edit %s: %w", ts, err)
	}
	return nil
}

func (s *Sandbox) Remove(user, channel, ts string) error {
	if err := s.ws.Delete(channel, ts, user); err != nil {
		return fmt.Errorf("remove %s: %w", ts, err)
	}
	return nil
}

// OpenMessages opens the direct message with the app, for which Slack sends app_home_opened.
func (s *Sandbox) OpenMessages(user string) error { return s.opened(user, "messages") }

// OpenHome opens the app's Home tab. The event contains the tab's current view.
func (s *Sandbox) OpenHome(user string) error { return s.opened(user, "home") }

func (s *Sandbox) opened(user, tab string) error {
	c, err := s.ws.Channel(user)
	if err != nil {
		return fmt.Errorf("open the tab %s of %s: %w", tab, user, err)
	}
	event := map[string]any{
		"type": "app_home_opened", "user": user, "channel": c.ID, "tab": tab, "event_ts": fmt.Sprintf("%d.000000", s.opts.Now().Unix()),
	}
	if v, ok := s.ws.Home(user); ok && tab == "home" {
		event["view"] = v
	}
	s.emit(user, c.ID, "", event)
	return nil
}

// Messages returns a channel's messages outside of threads, or a thread with its first message, oldest first. It
// returns nothing for an unknown channel or thread.
func (s *Sandbox) Messages(channel, thread string) []webapi.Message {
	if thread != "" {
		// As in the browser, an unknown thread is empty.
		found, _ := s.ws.Replies(channel, thread, webapi.Range{})
		return found
	}
	found, _ := s.ws.History(channel, webapi.Range{})
	slices.Reverse(found)
	return found
}

// Suggestions returns the prompts that the app offers in a direct message.
func (s *Sandbox) Suggestions(channel string) []webapi.Prompt { return s.ws.Prompts(channel) }

// Ephemerals returns the ephemeral messages for a person, oldest first.
func (s *Sandbox) Ephemerals(user string) []webapi.Message { return s.ws.Ephemerals(user) }

// Views returns a person's open modals, the topmost last.
func (s *Sandbox) Views(user string) []webapi.View { return s.ws.Views(user) }

// Mark returns the delivery behind the ⚠ on a message: the last failed one, unless a later one succeeded.
func (s *Sandbox) Mark(channel, ts string) (Attempt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.marks[channel+ts]
	return a, ok
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// typed converts a typed text to Slack's format: it escapes the text and turns @Name, #channel, @group and @here into
// references. A name that follows a letter of a mail address is none.
func (s *Sandbox) typed(plain string) string {
	names := map[string]string{}
	for _, u := range s.ws.Users() {
		for _, name := range []string{u.Name, u.NameEN, u.Handle} {
			names["@"+escape.Replace(name)] = "<@" + u.ID + ">"
		}
	}
	for _, g := range s.ws.Groups() {
		names["@"+g.Handle] = "<!subteam^" + g.ID + "|@" + g.Handle + ">"
	}
	for _, c := range s.ws.Channels() {
		if c.IM == "" {
			names["#"+c.Name] = "<#" + c.ID + "|" + c.Name + ">"
		}
	}
	for _, all := range []string{"here", "channel", "everyone"} {
		names["@"+all] = "<!" + all + ">"
	}
	delete(names, "@")
	longest := slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})
	var out strings.Builder
	before := rune(0)
	for text := escape.Replace(plain); text != ""; {
		i := slices.IndexFunc(longest, func(name string) bool { return begun(text, name) })
		if i >= 0 && !ascii(before) {
			out.WriteString(names[longest[i]])
			before, text = '>', text[len(longest[i]):]
			continue
		}
		r, n := utf8.DecodeRuneInString(text)
		out.WriteString(text[:n])
		before, text = r, text[n:]
	}
	return out.String()
}

// begun reports whether a text begins with a name that ends there.
func begun(text, name string) bool {
	rest, is := strings.CutPrefix(text, name)
	if !is {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(name)
	next, _ := utf8.DecodeRuneInString(rest)
	return !ascii(last) || !ascii(next)
}

// ascii reports whether a character is one of those of handles and mail addresses.
func ascii(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}
