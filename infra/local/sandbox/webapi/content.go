package webapi

import "fmt"

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
