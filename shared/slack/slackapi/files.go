package slackapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// File is a file that somebody shared, with its content.
type File struct {
	Name, Type string // Type is the MIME type
	Body       []byte
}

// ErrFile means that nobody can read the file: it was deleted, is not stored by Slack, or is too large.
var ErrFile = errors.New("the file can't be read")

// fileHosts are Slack's file hosts. The token is sent to no other host.
var fileHosts = []string{"files.slack.com", "files.slack-gov.com"}

// File reads a file of up to most bytes. It returns ErrFile for a file that can't be read, else RateLimited, Refused or
// Unknown.
func (c *Client) File(ctx context.Context, id string, most int) (File, error) {
	f, _, _, err := c.api.GetFileInfoContext(ctx, id, 1, 1)
	if refused := (Refused{}); errors.As(normal(err), &refused) &&
		slices.Contains([]string{"file_not_found", "file_deleted", "not_visible"}, refused.Code) {
		return File{}, fmt.Errorf("files.info: %s: %w", refused.Code, ErrFile)
	}
	if err := outcome("files.info", err); err != nil {
		return File{}, err
	}
	switch {
	case f.IsExternal || f.Mode == "tombstone" || f.Mode == "hidden_by_limit":
		return File{}, fmt.Errorf("it is %s: %w", f.Mode, ErrFile)
	case f.Size > most:
		return File{}, fmt.Errorf("it has %d bytes, the limit is %d: %w", f.Size, most, ErrFile)
	}
	body, err := c.download(ctx, cmp.Or(f.URLPrivateDownload, f.URLPrivate), f.Mimetype, most)
	return File{Name: f.Name, Type: f.Mimetype, Body: body}, err
}

// download reads a file from Slack's address for it. To a token without the scope files:read Slack answers with status
// 200 and a sign-in page in HTML.
func (c *Client) download(ctx context.Context, address, wants string, most int) ([]byte, error) {
	token, api, err := c.keys.Bot(ctx)
	if err != nil {
		return nil, fmt.Errorf("read a file: %w", err)
	}
	if !fromSlack(address, api) {
		return nil, fmt.Errorf("it is not with Slack: %w", ErrFile)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("its address can't be read: %w", ErrFile)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := c.files.Do(r)
	if err != nil {
		return nil, Unknown{Cause: "reading a file failed"} // the error contains the address
	}
	defer res.Body.Close()
	got, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode != http.StatusOK || got == "text/html" && wants != got {
		return nil, fmt.Errorf("Slack answers with status %d and %.40s: %w", res.StatusCode, got, ErrFile)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, int64(most)+1))
	switch {
	case err != nil:
		return nil, Unknown{Cause: "reading a file failed"}
	case len(body) > most:
		return nil, fmt.Errorf("it has more than %d bytes: %w", most, ErrFile)
	}
	return body, nil
}

// fromSlack reports whether an address leads to Slack's files or, in the local stack, to its sandbox.
func fromSlack(address, api string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	if u.Scheme == "https" && slices.Contains(fileHosts, strings.ToLower(u.Host)) {
		return true
	}
	at, err := url.Parse(api)
	return err == nil && at.Host != "" && u.Scheme == at.Scheme && strings.EqualFold(u.Host, at.Host)
}
