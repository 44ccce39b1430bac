package signed

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// Algorithm is how texts are signed, as forms name it.
const Algorithm = "AWS4-HMAC-SHA256"

// Keys are the credentials with which texts are signed at a time.
type Keys struct {
	Credential string // names the key, the day, the region and the service
	Token      string // of a session; empty for a key without one

	secret string
	scope  []string
}

// Keys returns the credentials of texts that are signed at a time.
func (s *Service) Keys(ctx context.Context, at time.Time) (Keys, error) {
	keys, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return Keys{}, err
	}
	scope := []string{at.UTC().Format("20060102"), s.region, strings.ToLower(s.id), "aws4_request"}
	return Keys{keys.AccessKeyID + "/" + strings.Join(scope, "/"), keys.SessionToken, keys.SecretAccessKey, scope}, nil
}

// Sign returns a text's signature. The SDK's signer signs requests only.
func (k Keys) Sign(text string) string {
	key := []byte("AWS4" + k.secret)
	for _, of := range append(k.scope[:len(k.scope):len(k.scope)], text) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(of))
		key = mac.Sum(nil)
	}
	return hex.EncodeToString(key)
}
