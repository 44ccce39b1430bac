package conversation

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
)

// asItIs is the address of one text of an action's payload, byte by byte. The page itself spells what people stamp.
func asItIs(path string, action, text int) string {
	return fmt.Sprintf("%s/actions/%d/%d", path, action, text)
}

// payloadTexts lists the texts of a payload: the script or scripts, or the files' changes, or the words of a command.
func payloadTexts(p conversation.Payload) []string {
	switch {
	case len(p.Argv) > 0:
		return p.Argv
	case len(p.Changes) > 0:
		return differences(p.Changes)
	case len(p.Commands) > 0:
		out := make([]string, len(p.Commands))
		for i, c := range p.Commands {
			out[i] = c.Script
		}
		return out
	case p.Tool != "":
		return []string{p.Arguments}
	}
	return []string{p.Script}
}

// differences writes each change as a unified difference.
func differences(changes []conversation.FileChange) []string {
	out := make([]string, len(changes))
	for i, c := range changes {
		out[i] = string(c.Unified())
	}
	return out
}

// showAsItIs sends one text of an action's payload as it is, to whoever may read the page.
func (c *Pages) showAsItIs(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	ref, x, err := c.asked(r, v)
	if err != nil {
		return err
	}
	p, err := c.payload(r.Context(), ref, x)
	if err != nil {
		return err
	}
	return sendText(w, r, fmt.Sprintf("action-%d", x.Number), payloadTexts(p))
}

// showBecame sends the change of one path by an action that has ended, as it is.
func (c *Pages) showBecame(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	ref, x, err := c.asked(r, v)
	if err != nil {
		return err
	}
	return sendText(w, r, fmt.Sprintf("changes-%d", x.Number), differences(c.became(r.Context(), ref, x)))
}

// asked returns the action that an address names by its number, to whoever may read the page.
func (c *Pages) asked(r *http.Request, v *web.Viewer) (ref aggregate.Ref, x *conversation.Action, err error) {
	a, err := c.Subject(r, v, c.page())
	if err != nil {
		return ref, nil, err
	}
	number, _ := strconv.Atoi(r.PathValue("number"))
	x, err = c.numbered(r.Context(), a.(*conversation.Aggregate), number)
	return a.Ref(), x, err
}

// sendText sends one of texts, by its number from 1.
func sendText(w http.ResponseWriter, r *http.Request, name string, texts []string) error {
	text, _ := strconv.Atoi(r.PathValue("text"))
	if text < 1 || text > len(texts) {
		return fmt.Errorf("text %d of %d: %w", text, len(texts), aggregate.ErrNotFound)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`inline; filename="%s-%d.txt"`, name, text))
	_, err := w.Write([]byte(texts[text-1]))
	return err
}

// numbered returns the action with a number, also if it is archived.
func (c *Pages) numbered(ctx context.Context, a *conversation.Aggregate, number int) (*conversation.Action, error) {
	for _, x := range a.Actions {
		if x.Number == number {
			return x, nil
		}
	}
	old, err := c.Conversations.Archived(ctx, a.Ref().Tenant, a.Ref().ID)
	for i := range old {
		if old[i].Number == number {
			return &old[i], nil
		}
	}
	if err == nil {
		err = fmt.Errorf("action %d: %w", number, aggregate.ErrNotFound)
	}
	return nil, err
}
