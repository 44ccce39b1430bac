package sandbox

import (
	"cmp"
	"context"
	"net/http"
	"ringi/infra/local/sandbox/webapi"
	"slices"
	"strings"
)

// Wait is a message that waits for a person: for a stamp, or for an answer that only the requester can give.
type Wait struct {
	Channel string `json:"channel"`
	TS      string `json:"ts"`
	Root    string `json:"root"`
	Task    string `json:"task"`
	Action  string `json:"action"` // the button's action: approve_prompt, review_step, retry_execution, …
	Asked
}

// stamps are prefixes of the approvers' buttons; answers are prefixes of the requester's.
var (
	stamps  = []string{"approve_", "review_"}
	answers = []string{"retry_", "take_as_"}
)

func (s *Sandbox) getWaits(w http.ResponseWriter, r *http.Request) {
	found, err := s.waits(r.Context(), r.URL.Query().Get("user"))
	reply(w, found, err)
}

// waits returns the messages in a person's channels that wait for that person, oldest first.
func (s *Sandbox) waits(ctx context.Context, user string) ([]Wait, error) {
	found, seen := []Wait{}, map[string]bool{}
	for _, c := range s.ws.Channels() {
		if !slices.Contains(c.Members, user) || !visible(webapi.Change{Channel: c.ID}, user) {
			continue
		}
		all, err := s.ws.Everything(c.ID)
		if err != nil {
			return nil, err
		}
		askers := map[string]string{}
		for _, m := range all {
			askers[m.TS] = m.User
		}
		for _, m := range all {
			wait, stamp := waitOf(m)
			if wait.Action == "" || seen[wait.Task+wait.Action] { // a card may have copies in direct messages
				continue
			}
			may := askers[wait.Root] == user
			if stamp && s.opts.Approvals != nil {
				if may, err = s.opts.Approvals.May(ctx, user, wait.Task); err != nil {
					return nil, err
				}
			}
			if may && stamp && s.opts.Approvals != nil {
				if wait.Asked, err = s.opts.Approvals.Asked(ctx, wait.Task); err != nil {
					return nil, err
				}
			}
			if may || stamp && s.opts.Approvals == nil {
				found, seen[wait.Task+wait.Action] = append(found, wait), true
			}
		}
	}
	slices.SortFunc(found, func(a, b Wait) int { return cmp.Compare(a.TS, b.TS) })
	return found, nil
}

// waitOf returns what a message waits for; Action is empty if it waits for nothing. stamp reports whether it waits for
// an approver.
func waitOf(m webapi.Message) (wait Wait, stamp bool) {
	for _, block := range blocksOf(m) {
		elements, _ := block["elements"].([]any)
		for _, e := range elements {
			button, _ := e.(map[string]any)
			id, _ := button["action_id"].(string)
			begins := func(prefix string) bool { return strings.HasPrefix(id, prefix) }
			if stamp = slices.ContainsFunc(stamps, begins); !stamp && !slices.ContainsFunc(answers, begins) {
				continue
			}
			place, _ := block["block_id"].(string)
			task, _, _ := strings.Cut(place, "/") // the rest is a stage
			return Wait{Channel: m.Channel, TS: m.TS, Root: cmp.Or(m.ThreadTS, m.TS), Task: task, Action: id}, stamp
		}
	}
	return Wait{}, false
}

// blocksOf returns the blocks of a message and of its attachments.
func blocksOf(m webapi.Message) (found []map[string]any) {
	lists := [][]any{m.Blocks}
	for _, a := range m.Attachments {
		card, _ := a.(map[string]any)
		blocks, _ := card["blocks"].([]any)
		lists = append(lists, blocks)
	}
	for _, b := range slices.Concat(lists...) {
		if block, ok := b.(map[string]any); ok {
			found = append(found, block)
		}
	}
	return found
}
