package slackapi

import (
	"context"
	"errors"
	"iter"

	"github.com/slack-go/slack"
)

// paged lists what Slack gives page by page: next returns a page and the cursor of the one after it, empty after the last. It is
// asked only when more is wanted. An error ends the list.
func paged[V any](next func(cursor string) (page []V, after string, err error)) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		for cursor := ""; ; {
			page, after, err := next(cursor)
			if err != nil {
				yield(*new(V), err)
				return
			}
			for _, v := range page {
				if !yield(v, nil) {
					return
				}
			}
			if after == "" || after == cursor {
				return
			}
			cursor = after
		}
	}
}

// errTooLong is a thread with more pages than are read.
var errTooLong = errors.New("conversations.replies: the thread is too long to read")

// replies lists the messages of a thread, the oldest first. After most pages it ends with errTooLong.
func (c *Client) replies(
	ctx context.Context, params slack.GetConversationRepliesParameters, most int,
) iter.Seq2[slack.Message, error] {
	params.Limit, params.IncludeAllMetadata = 200, true
	read := 0
	return paged(func(cursor string) ([]slack.Message, string, error) {
		if read++; read > most {
			return nil, "", errTooLong
		}
		params.Cursor = cursor
		page, more, after, err := c.api.GetConversationRepliesContext(ctx, &params)
		if !more {
			after = ""
		}
		return page, after, outcome("conversations.replies", err)
	})
}
