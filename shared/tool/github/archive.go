package github

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"ringi/shared/explain"
	"ringi/shared/tool/wire"
)

// MaxArchive limits the bytes of an archive as it is sent, which is compressed. It is of the whole repository, however
// little of it is kept, and is never kept itself.
const MaxArchive = 512 << 20

// archiveHosts are the hosts that GitHub's API may redirect to for an archive. Other servers must serve it themselves.
var archiveHosts = map[string]string{"api.github.com": "codeload.github.com"}

// Archive returns the files of a commit as a compressed archive, at most MaxArchive bytes of it. GitHub answers with an
// address on another host. That address contains a token of its own: it gets no header of ours, and appears in no
// error.
func (c *Client) Archive(ctx context.Context, commit string) (io.ReadCloser, error) {
	token, err := c.wire.Tokens.Token(ctx)
	if err != nil {
		return nil, err
	}
	res, err := c.get(ctx, c.base+c.path("/tarball/%s", commit), token)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return bounded{io.LimitReader(res.Body, MaxArchive), res.Body}, nil
	}
	res.Body.Close()
	if res.StatusCode != http.StatusFound {
		return nil, wire.Refused(explain.GitHub, res.StatusCode, res.Header, "")
	}
	to, err := c.archiveAddress(res.Header.Get("Location"))
	if err != nil {
		return nil, err
	}
	if res, err = c.get(ctx, to, ""); err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, wire.Refused(explain.GitHub, res.StatusCode, res.Header, "")
	}
	return bounded{io.LimitReader(res.Body, MaxArchive), res.Body}, nil
}

type bounded struct {
	io.Reader
	io.Closer
}

// get makes a read that follows no redirect.
func (c *Client) get(ctx context.Context, address, token string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, explain.Fail(explain.ProblemInternal, errors.New("an address of an archive can't be read"),
			explain.GitHub)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := c.http.Reads.Do(r)
	if err != nil {
		e := wire.Broken(explain.GitHub, err)
		e.Outcome = explain.CallFailed
		return nil, e
	}
	return res, nil
}

// archiveAddress checks where an archive is said to be.
func (c *Client) archiveAddress(location string) (string, error) {
	base, ours := url.Parse(c.base)
	if ours != nil || location == "" {
		return "", c.odd("an archive has no address")
	}
	to, err := base.Parse(location) // it may be relative
	if err != nil {
		return "", c.odd("an archive has no address")
	}
	host := base.Host
	if other, ok := archiveHosts[host]; ok {
		host = other
	}
	if to.Scheme != base.Scheme || !strings.EqualFold(to.Host, host) || to.User != nil {
		return "", c.odd("an archive is said to be on another host than %s", host)
	}
	return to.String(), nil
}
