package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// ErrNoRevoking: the vendor has no place where tokens are revoked.
var ErrNoRevoking = errors.New("the vendor takes no tokens back")

// Revoke makes a token invalid at the vendor, and with a refresh token all that came of it (RFC 7009). A token that was
// invalid before is no error. Of the answer only its code is kept.
func (p Provider) Revoke(ctx context.Context, c Client, token string) error {
	if p.RevokeURL == "" {
		return ErrNoRevoking
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exchangeWithin)
	defer cancel()
	form := url.Values{"token": {token}}
	if !p.RevokesAlone {
		form.Set("client_id", c.ID)
		if c.Secret != "" {
			form.Set("client_secret", c.Secret)
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.RevokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return fmt.Errorf("revoke a token of %s: its address is none", p.Name)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := p.transport().RoundTrip(r)
	if err != nil {
		return fmt.Errorf("revoke a token of %s: no answer", p.Name) // the error may quote the address
	}
	defer res.Body.Close()
	var said struct {
		Error string `json:"error"`
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10)) // the status counts
	_ = json.Unmarshal(body, &said)
	switch {
	case res.StatusCode == http.StatusOK, res.StatusCode == http.StatusNoContent, said.Error == "invalid_token":
		return nil
	case !code().MatchString(said.Error):
		said.Error = ""
	}
	return fmt.Errorf("revoke a token of %s: HTTP %d %s", p.Name, res.StatusCode, said.Error)
}
