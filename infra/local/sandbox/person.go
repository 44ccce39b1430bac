package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"ringi/infra/local/sandbox/webapi"
)

// Say posts what a person types and returns the message's ts. &, < and > are escaped, and people are <@U…>; the rest
// becomes what Slack's clients make of it.
func (s *Sandbox) Say(user, channel, text string) (string, error) {
	return s.Attach(user, channel, "", text)
}

// Attach says something with files, in a thread unless threadTS is empty.
func (s *Sandbox) Attach(user, channel, threadTS, text string, files ...webapi.File) (string, error) {
	if _, err := s.Workspace.User(user); err != nil {
		return "", fmt.Errorf("say as %s: %w", user, err)
	}
	d := webapi.Message{Channel: channel, User: user, ThreadTS: threadTS, Text: sent(text), Files: files}
	if len(files) > 0 {
		d.Subtype = "file_share"
	}
	m, err := s.Workspace.Post(d)
	if err != nil {
		return "", fmt.Errorf("say in %s: %w", channel, err)
	}
	return m.TS, nil
}

func (s *Sandbox) Edit(user, channel, ts, text string) error {
	text = sent(text)
	if _, err := s.Workspace.Update(channel, ts, user, webapi.Patch{Text: &text}); err != nil {
		return fmt.Errorf("edit %s: %w", ts, err)
	}
	return nil
}

// Open opens the direct messages with the app, or its Home tab: messages or home. Slack sends app_home_opened for both,
// with the present view of the Home tab.
func (s *Sandbox) Open(user, tab string) error {
	c, err := s.Workspace.Channel(user)
	if err != nil {
		return fmt.Errorf("open the tab %s of %s: %w", tab, user, err)
	}
	event := map[string]any{
		"type": "app_home_opened", "user": user, "channel": c.ID, "tab": tab, "event_ts": fmt.Sprintf("%d.000000",
			s.opts.Now().Unix()),
	}
	if v, ok := s.Workspace.Home(user); ok && tab == "home" {
		event["view"] = v
	}
	s.emit(c.ID, "", event)
	return nil
}

// Messages returns a channel's messages outside of threads, or a thread with its first message, oldest first. It
// returns nothing for an unknown channel or thread.
func (s *Sandbox) Messages(channel, thread string) []webapi.Message {
	if thread != "" {
		// As in the browser, an unknown thread is empty.
		found, _ := s.Workspace.Replies(channel, thread, webapi.Range{})
		return found
	}
	found, _ := s.Workspace.History(channel, webapi.Range{})
	slices.Reverse(found)
	return found
}

// Mark returns the delivery behind the ⚠ on a message: the last failed one, unless a later one succeeded.
func (s *Sandbox) Mark(channel, ts string) (Attempt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.marks[channel+ts]
	return a, ok
}

var (
	escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	word   = regexp.MustCompile(`\w$`)
)

// reference is what stands for more than its characters in a typed text: what Slack's format writes between < and >,
// addresses of the web and of mail.
var reference = regexp.MustCompile(`<[^<>\n]+>|` +
	`https?://[^\s<>|"\x{3000}-\x{303F}\x{FF00}-\x{FF65}]*[^\s<>|".,:;!?')\x{3000}-\x{303F}\x{FF00}-\x{FF65}]|` +
	`[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}`)

// sent returns what a person typed, in Slack's format, as Slack's clients send it: addresses become links.
func sent(typed string) string {
	return reference.ReplaceAllStringFunc(typed, func(whole string) string {
		switch {
		case strings.HasPrefix(whole, "<"):
			return whole
		case strings.Contains(whole, "://"):
			return "<" + whole + ">"
		}
		return "<mailto:" + whole + "|" + whole + ">"
	})
}

// typed converts a typed text to Slack's format: it escapes the text and turns @Name and #channel into references. A
// name that follows a letter of a mail address is none.
func (s *Sandbox) typed(plain string) string {
	names := map[string]string{}
	for _, u := range s.Workspace.Users() {
		for _, name := range []string{u.Name, cmp.Or(u.NameEN, u.Name), u.Handle} {
			names["@"+escape.Replace(name)] = "<@" + u.ID + ">"
		}
	}
	for _, c := range s.Workspace.Channels() {
		for _, name := range []string{c.Name, cmp.Or(c.NameEN, c.Name)} {
			names["#"+name] = "<#" + c.ID + "|" + s.Workspace.Named(c.Name, c.NameEN) + ">"
		}
	}
	delete(names, "#") // of a direct message
	longest := slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})
	for i, name := range longest {
		longest[i] = regexp.QuoteMeta(name)
		if word.MatchString(name) {
			longest[i] += `\b`
		}
	}
	named := regexp.MustCompile(`\w?(?:` + strings.Join(longest, "|") + `)`)
	return named.ReplaceAllStringFunc(escape.Replace(plain), func(found string) string {
		return cmp.Or(names[found], found)
	})
}

// Limits of the files of a message. Their number is Slack's. Slack takes 1 GB of each, which this machine keeps in
// memory.
const (
	maxFiles     = 10
	maxFileBytes = 32 << 20 // of all together
	maxFileName  = 255      // characters
)

// attachment is a file that a person attaches to a message.
type attachment struct {
	Name string `json:"name"`
	Body []byte `json:"body"`
}

// checked returns files as a message has them, or a FieldError.
func checked(list []attachment) (files []webapi.File, err error) {
	bytes := 0
	if len(list) > maxFiles {
		return nil, FieldError{"files", fmt.Sprintf("a message has at most %d files, not %d", maxFiles, len(list))}
	}
	for i, f := range list {
		field := fmt.Sprintf("files[%d]", i)
		bytes += len(f.Body)
		switch n := utf8.RuneCountInString(f.Name); {
		case n == 0 || n > maxFileName:
			return nil, FieldError{field, fmt.Sprintf("its name has 1 to %d characters, not %d", maxFileName, n)}
		case len(f.Body) == 0:
			return nil, FieldError{field, f.Name + " is empty"}
		case bytes > maxFileBytes:
			return nil, FieldError{field, fmt.Sprintf("with %s the files have over %d MB together", f.Name, maxFileBytes>>20)}
		}
		files = append(files, webapi.File{Name: f.Name, Body: f.Body})
	}
	return files, nil
}

// withFiles returns a form's values with the files in them kept, as Slack keeps what a person gives to a file_input.
func (s *Sandbox) withFiles(values map[string]any) (map[string]any, error) {
	out := maps.Clone(values)
	for block, value := range values {
		list, of := value.([]any)
		if !of || len(list) == 0 {
			continue
		}
		if _, of = list[0].(map[string]any); !of {
			continue
		}
		var given []attachment
		text, err := json.Marshal(list)
		if err == nil {
			err = json.Unmarshal(text, &given)
		}
		if err != nil {
			return nil, FieldError{block, "its files can't be read"}
		}
		files, err := checked(given)
		if err != nil {
			return nil, err
		}
		out[block] = s.Workspace.Keep(files)
	}
	return out, nil
}

// getFile gives a person a file that was shared, to be saved and not shown: a file's page could act as this one.
func (s *Sandbox) getFile(w http.ResponseWriter, r *http.Request) {
	f, err := s.Workspace.File(r.PathValue("id"))
	if err != nil {
		http.Error(w, "no such file was shared", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(f.Body) // a failure means that the browser has disconnected
}

// ReadMenus reads the shortcuts of an app manifest: those in a message's menu, and those that are not tied to a
// message.
// A shortcut's name has both languages, as in 取り消す / Cancel.
func ReadMenus(manifest string) (messages, globals []Shortcut, err error) {
	text, err := os.ReadFile(manifest)
	if err != nil {
		return nil, nil, fmt.Errorf("read the app manifest: %w", err)
	}
	var m struct {
		Features struct {
			Shortcuts []struct {
				Name, Type string
				CallbackID string `yaml:"callback_id"`
			}
		}
	}
	if err := yaml.Unmarshal(text, &m); err != nil {
		return nil, nil, fmt.Errorf("read the app manifest %s: %w", manifest, err)
	}
	for _, x := range m.Features.Shortcuts {
		s := Shortcut{CallbackID: x.CallbackID}
		s.Name, s.NameEN, _ = strings.Cut(x.Name, " / ")
		if x.Type == "global" {
			globals = append(globals, s)
		} else {
			messages = append(messages, s)
		}
	}
	return messages, globals, nil
}
