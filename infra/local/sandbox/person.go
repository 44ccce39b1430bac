package sandbox

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"ringi/infra/local/sandbox/webapi"
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
		"type": "app_home_opened", "user": user, "channel": c.ID, "tab": tab, "event_ts": fmt.Sprintf("%d.000000",
			s.opts.Now().Unix()),
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

var (
	escape   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
	ranges   = []string{"here", "channel", "everyone"}
)

// reference is what stands for more than its characters in a typed text: what Slack's format writes between < and >,
// addresses of the web and of mail.
var reference = regexp.MustCompile(`<([@#]|!subteam\^|!)([^|<>\n]+)(?:\|[^<>\n]*)?>|` +
	`https?://[^\s<>|"\x{3000}-\x{303F}\x{FF00}-\x{FF65}]*[^\s<>|".,:;!?')\x{3000}-\x{303F}\x{FF00}-\x{FF65}]|` +
	`[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}`)

// composed returns the text and the blocks of what a person typed in Slack's format, as Slack's clients send them: both
// say the same. Marks of styles, lists and quotes stay characters.
func composed(typed string) (text string, blocks []any) {
	if typed == "" {
		return "", nil
	}
	var elements []any
	add := func(said, kind, member, value string) {
		if text += said; said != "" {
			elements = append(elements, map[string]any{"type": kind, member: value})
		}
	}
	from := 0
	literal := func(to int) {
		said := unescape.Replace(typed[from:to])
		add(escape.Replace(said), "text", "text", said)
	}
	for _, m := range reference.FindAllStringSubmatchIndex(typed, -1) {
		whole, sign, id := typed[m[0]:m[1]], "", ""
		if m[2] >= 0 {
			sign, id = typed[m[2]:m[3]], typed[m[4]:m[5]]
		}
		if sign == "!" && !slices.Contains(ranges, id) {
			continue // nobody can type it
		}
		literal(m[0])
		from = m[1]
		switch url := unescape.Replace(whole); {
		case sign == "@":
			add("<@"+id+">", "user", "user_id", id)
		case sign == "#":
			add(whole, "channel", "channel_id", id)
		case sign == "!":
			add("<!"+id+">", "broadcast", "range", id)
		case sign != "":
			add(whole, "usergroup", "usergroup_id", id)
		case strings.Contains(whole, "://"):
			add("<"+escape.Replace(url)+">", "link", "url", url)
		default:
			add("<mailto:"+whole+"|"+whole+">", "link", "url", "mailto:"+whole)
			elements[len(elements)-1].(map[string]any)["text"] = whole
		}
	}
	literal(len(typed))
	return text, []any{map[string]any{"type": "rich_text", "block_id": rand.Text()[:5],
		"elements": []any{map[string]any{"type": "rich_text_section", "elements": elements}}}}
}

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
		if name := s.ws.Named(c.Name, c.NameEN); c.IM == "" {
			for _, typed := range []string{c.Name, cmp.Or(c.NameEN, c.Name)} {
				names["#"+typed] = "<#" + c.ID + "|" + name + ">"
			}
		}
	}
	for _, all := range ranges {
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

// Forward sends a message that the person can see to a channel or direct message, with what the person writes to it,
// and returns the new message's ts. It returns MessageNotFound for a deleted message, NotInChannel if the person is not
// where it is or is to go, or another error of Post.
func (s *Sandbox) Forward(user, channel, ts, to, text string) (string, error) {
	shared, err := s.shared(user, channel, ts)
	if err != nil {
		return "", fmt.Errorf("forward %s as %s: %w", ts, user, err)
	}
	text, blocks := composed(text)
	m, err := s.ws.Post(webapi.Draft{Channel: to, User: user, Text: text, Blocks: blocks, Attachments: []any{shared}})
	if err != nil {
		return "", fmt.Errorf("forward %s to %s: %w", ts, to, err)
	}
	return m.TS, nil
}

// shared returns a message as the attachment by which Slack forwards it, with the members that tests of public clients
// recorded. An app's message has its bot's id in place of an author's.
func (s *Sandbox) shared(user, channel, ts string) (map[string]any, error) {
	c, err := s.ws.Channel(channel)
	if err != nil {
		return nil, err
	}
	m, err := s.ws.Message(c.ID, ts, "")
	if err != nil {
		return nil, err
	}
	author, odd := s.ws.User(m.User)
	switch {
	case !slices.Contains(c.Members, user):
		return nil, webapi.NotInChannel
	case m.Subtype == "tombstone" || odd != nil:
		return nil, webapi.MessageNotFound
	}
	said := map[string]any{"blocks": append([]any{}, m.Blocks...)}
	if len(m.Attachments) > 0 {
		said["attachments"] = m.Attachments
	}
	seconds, _ := strconv.ParseFloat(m.TS, 64)
	at := time.Unix(int64(seconds), 0).UTC().Format("January 2, 2006 3:04 PM")
	out := map[string]any{
		"ts": m.TS, "channel_id": c.ID, "channel_team": s.ws.TeamID(), "is_msg_unfurl": true, "is_share": true,
		"from_url":       m.Link(s.endpoints().Self),
		"message_blocks": []any{map[string]any{"team": m.Team, "channel": c.ID, "ts": m.TS, "message": said}},
		"author_name":    author.Name, "author_subname": author.Handle,
		"text": m.Text, "fallback": fmt.Sprintf("[%s] %s: %s", at, author.Handle, m.Text), "color": "D0D0D0",
		"mrkdwn_in": []any{"text"}, "footer": "Slack Conversation",
	}
	if m.BotID != "" {
		out["bot_id"] = m.BotID
	} else {
		out["author_id"] = m.User
	}
	if len(m.Files) > 0 {
		out["files"] = m.Files
	}
	return decoded(out), nil
}

// postForward forwards a message for the page, which sends what was typed.
func (s *Sandbox) postForward(in target) (any, error) {
	text := strings.TrimSpace(in.Text)
	if err := checkTyped(text, 0); err != nil {
		return nil, err
	}
	ts, err := s.Forward(in.User, in.Channel, in.TS, in.To, s.typed(text))
	return map[string]string{"ts": ts}, err
}

// decoded returns a value as JSON has it.
func decoded(v any) (out map[string]any) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		panic("a message was made of JSON: " + err.Error())
	}
	return out
}

// Limits of the files of a message. Their number is Slack's. Slack takes 1 GB of each, which this machine keeps in
// memory.
const (
	maxFiles     = 10
	maxFileBytes = 32 << 20 // of all together
	maxFileName  = 255      // characters
)

// maxSay is the maximum body of the page's acts, among them a message with its files in base64.
const maxSay = 64 << 20

// attachment is a file that a person attaches to a message.
type attachment struct {
	Name string `json:"name"`
	Body []byte `json:"body"`
}

// checked returns files as a message has them, or FieldErrors.
func checked(list []attachment) (files []webapi.File, err error) {
	bytes := 0
	if len(list) > maxFiles {
		return nil, FieldErrors{"files": fmt.Sprintf("a message has at most %d files, not %d", maxFiles, len(list))}
	}
	for i, f := range list {
		field := fmt.Sprintf("files[%d]", i)
		bytes += len(f.Body)
		switch n := utf8.RuneCountInString(f.Name); {
		case n == 0 || n > maxFileName:
			return nil, FieldErrors{field: fmt.Sprintf("its name has 1 to %d characters, not %d", maxFileName, n)}
		case len(f.Body) == 0:
			return nil, FieldErrors{field: f.Name + " is empty"}
		case bytes > maxFileBytes:
			return nil, FieldErrors{field: fmt.Sprintf("with %s the files have over %d MB together", f.Name, maxFileBytes>>20)}
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
			return nil, FieldErrors{block: "its files can't be read"}
		}
		files, err := checked(given)
		if err != nil {
			return nil, err
		}
		out[block] = s.ws.Keep(files)
	}
	return out, nil
}

// getFile gives a person a file that was shared, to be saved and not shown: a file's page could act as this one.
func (s *Sandbox) getFile(w http.ResponseWriter, r *http.Request) {
	f, err := s.ws.File(r.PathValue("id"))
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
		switch x.Type {
		case "message":
			messages = append(messages, s)
		case "global":
			globals = append(globals, s)
		default:
			return nil, nil, fmt.Errorf("%s: the shortcut %s is of the type %q; it is message or global", manifest,
				x.CallbackID, x.Type)
		}
	}
	return messages, globals, nil
}
