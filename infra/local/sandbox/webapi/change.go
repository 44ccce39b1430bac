package webapi

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxText        = 40000 // chat.postMessage truncates longer texts
	maxUpdateText  = 4000  // chat.update refuses longer texts
	maxAttachments = 100
)

// content is what a message shows, after checks.
type content struct {
	text        string
	blocks      []any
	attachments []any
	metadata    map[string]any
}

// readContent checks blocks, attachments and metadata as Slack does. Fields that the call does not set are nil.
func readContent(p params) (content, error) {
	c := content{text: p.str("text")}
	var err error
	if c.blocks, err = p.list("blocks", "invalid_blocks"); err != nil {
		return c, err
	}
	if c.attachments, err = p.list("attachments", "invalid_attachments"); err != nil {
		return c, err
	}
	if c.metadata, err = p.object("metadata", "invalid_metadata_format"); err != nil {
		return c, err
	}
	if found := Blocks(c.blocks, "/blocks", MaxMessageBlocks); len(found) > 0 {
		return c, invalid("invalid_blocks", found)
	}
	if len(c.attachments) > maxAttachments {
		return c, refuse("too_many_attachments")
	}
	for i, a := range c.attachments {
		if err := checkAttachment(i, a); err != nil {
			return c, err
		}
	}
	if Characters(c.blocks)+Characters(c.attachments) > MaxCharacters {
		return c, refuse("msg_blocks_too_long")
	}
	return c, checkMetadata(c.metadata)
}

func checkAttachment(i int, a any) error {
	at := fmt.Sprintf("/attachments/%d", i)
	m, ok := a.(map[string]any)
	if !ok {
		return invalid("invalid_attachments", []Problem{{Message: "must provide an object", Pointer: at}})
	}
	blocks, ok := m["blocks"].([]any)
	if !ok && m["blocks"] != nil {
		return invalid("invalid_attachments", []Problem{{Message: "must be an array", Pointer: at + "/blocks"}})
	}
	if found := Blocks(blocks, at+"/blocks", MaxAttachmentBlocks); len(found) > 0 {
		return invalid("invalid_attachments", found)
	}
	return nil
}

// checkMetadata requires a type and a payload. An empty object is no metadata, nor is what slack-go sends for "none".
func checkMetadata(m map[string]any) error {
	kind, _ := m["event_type"].(string)
	payload, ok := m["event_payload"].(map[string]any)
	if len(m) == 0 || kind == "" && m["event_payload"] == nil {
		return nil
	}
	if kind == "" || !ok {
		return refuse("invalid_metadata_format")
	}
	for _, v := range payload {
		if _, nested := v.([]any); nested {
			continue
		}
		if _, nested := v.(map[string]any); nested {
			return refuse("invalid_metadata_schema")
		}
	}
	return nil
}

// readSomeContent reads the content of a new message, which must not be empty.
func readSomeContent(p params) (content, error) {
	c, err := readContent(p)
	if err == nil && c.text == "" && len(c.blocks) == 0 && len(c.attachments) == 0 {
		err = refuse("no_text")
	}
	return c, err
}

// Update changes a message of user. A text without blocks removes the old blocks; attachments that are not given
// remain. It returns MessageNotFound or CantUpdate.
func (w *Workspace) Update(channelID, ts, user string, p Patch) (Message, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, err := w.open(channelID, user)
	if err != nil {
		return Message{}, err
	}
	i := c.find(ts)
	switch {
	case i < 0 || c.messages[i].Subtype == "tombstone":
		return Message{}, MessageNotFound
	case c.messages[i].User != user:
		return Message{}, CantUpdate
	}
	m, before := &c.messages[i], c.messages[i]
	if p.Text != nil {
		m.Text, m.Blocks = *p.Text, nil
	}
	if p.Blocks != nil {
		m.Blocks = w.fill(p.Blocks)
	}
	if p.Attachments != nil {
		m.Attachments = w.fillAttachments(p.Attachments)
	}
	if p.Metadata != nil {
		m.Metadata = p.Metadata
		if len(p.Metadata) == 0 {
			m.Metadata = nil
		}
	}
	if len(p.Blocks) == 0 && len(p.Attachments) == 0 {
		seconds, _, _ := strings.Cut(w.timestamp(), ".")
		m.Edited = &Edited{User: user, TS: seconds + ".000000"}
	}
	w.tell(Change{Message: new(*m), Previous: &before})
	return *m, nil
}

// Delete removes a message of user. If the message has replies, a tombstone replaces it. Delete returns
// MessageNotFound or CantDelete.
func (w *Workspace) Delete(channelID, ts, user string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, err := w.channel(channelID)
	if err != nil {
		return err
	}
	i := c.find(ts)
	if i < 0 || c.messages[i].Subtype == "tombstone" {
		return MessageNotFound
	}
	before := c.messages[i]
	if before.User != user {
		return CantDelete
	}
	if before.ReplyCount > 0 {
		stone := Message{Type: "message", Subtype: "tombstone", Text: "This message was deleted.", User: "USLACKBOT",
			TS: ts, ThreadTS: ts, ReplyCount: before.ReplyCount, Channel: c.ID}
		c.messages[i] = stone
		w.tell(Change{Message: &stone, Previous: &before})
		return nil
	}
	c.messages = slices.Delete(c.messages, i, i+1)
	w.tell(Change{Previous: &before})
	if parent := c.find(before.ThreadTS); before.ThreadTS != "" && parent >= 0 {
		w.countReplies(c, parent)
	}
	return nil
}

// PostEphemeral shows a message to one person only. It returns UserNotInChannel or an error of Post.
func (w *Workspace) PostEphemeral(to string, m Message) (Message, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, err := w.open(m.Channel, m.User)
	if err != nil {
		return Message{}, err
	}
	if !c.has(to) {
		return Message{}, UserNotInChannel
	}
	m = w.compose(c, m)
	m.IsEphemeral, m.To = true, to
	w.ephemerals = append(w.ephemerals, m)
	w.tell(Change{})
	return m, nil
}

// Dismiss removes an ephemeral message.
func (w *Workspace) Dismiss(to, ts string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ephemerals = slices.DeleteFunc(w.ephemerals, shown(to, ts))
	w.tell(Change{})
}

// Ephemerals returns the ephemeral messages for a person, oldest first.
func (w *Workspace) Ephemerals(to string) []Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.ephemerals), func(m Message) bool { return m.To != to })
}

// shown matches an ephemeral message by its person and timestamp.
func shown(to, ts string) func(Message) bool {
	return func(m Message) bool { return m.To == to && m.TS == ts }
}
