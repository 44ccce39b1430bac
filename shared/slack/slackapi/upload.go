package slackapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/slack-go/slack"
)

// ScopeFiles is the bot's scope without which Slack takes no files.
const ScopeFiles = "files:write"

// Uploaded is a file that Slack has.
type Uploaded struct{ ID, Title string }

// May reports whether the bot's token has a scope, as Slack says with each answer. Slack is asked once for each token.
func (c *Client) May(ctx context.Context, scope string) (bool, error) {
	self, err := c.whoami(ctx)
	if err != nil {
		return false, err
	}
	scopes := strings.Split(self.Header.Get("X-OAuth-Scopes"), ",")
	return slices.ContainsFunc(scopes, func(s string) bool { return strings.TrimSpace(s) == scope }), nil
}

// Upload gives Slack a file, which nobody sees until Share is called, and returns its id. It returns RateLimited, Refused
// or Unknown; an upload may then be repeated, since one that was not shared is seen by nobody.
func (c *Client) Upload(ctx context.Context, name string, body []byte) (id string, err error) {
	to, err := c.api.GetUploadURLExternalContext(ctx, slack.GetUploadURLExternalParameters{
		FileName: name, FileSize: len(body)})
	if err := outcome("files.getUploadURLExternal", err); err != nil {
		return "", err
	}
	_, api, err := c.keys.Bot(ctx)
	if err != nil {
		return "", fmt.Errorf("upload a file: %w", err)
	}
	if !fromSlack(to.UploadURL, api) {
		return "", Refused{Code: "upload_elsewhere", Permanent: true}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.UploadURL, bytes.NewReader(body))
	if err != nil {
		return "", Refused{Code: "upload_elsewhere", Permanent: true} // the error contains the address
	}
	r.Header.Set("Content-Type", "application/octet-stream")
	res, err := c.files.Do(r)
	if err != nil {
		return "", Unknown{Cause: "uploading a file failed"}
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxRefusal))
	if res.StatusCode != http.StatusOK {
		return "", ofStatus(res.StatusCode)
	}
	return to.FileID, nil
}

// Share has Slack show uploaded files in a thread, in one message. Slack does so once for each file: a repetition is
// refused. It returns RateLimited, Refused or Unknown.
func (c *Client) Share(ctx context.Context, channel, thread, comment string, files []Uploaded) error {
	list := make([]slack.FileSummary, len(files))
	for i, f := range files {
		list[i] = slack.FileSummary{ID: f.ID, Title: f.Title}
	}
	_, err := c.api.CompleteUploadExternalContext(ctx, slack.CompleteUploadExternalParameters{
		Files: list, Channel: channel, ThreadTimestamp: thread, InitialComment: comment,
	})
	return outcome("files.completeUploadExternal", err)
}

// Shared reports whether a file stands in a thread. A file that Slack doesn't have stands nowhere.
func (c *Client) Shared(ctx context.Context, id, channel, thread string) (bool, error) {
	f, _, _, err := c.api.GetFileInfoContext(ctx, id, 1, 1)
	if refused := (Refused{}); errors.As(normal(err), &refused) &&
		slices.Contains([]string{"file_not_found", "file_deleted"}, refused.Code) {
		return false, nil
	}
	if err := outcome("files.info", err); err != nil {
		return false, err
	}
	moved, err := c.moved.all(ctx)
	return slices.ContainsFunc(moved.Names(channel), func(id string) bool {
		return slices.ContainsFunc(slices.Concat(f.Shares.Public[id], f.Shares.Private[id]),
			func(s slack.ShareFileInfo) bool { return s.ThreadTs == thread || s.Ts == thread })
	}), err
}
