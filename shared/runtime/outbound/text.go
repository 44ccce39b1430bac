package outbound

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// Algorithm is how texts are signed, as forms name it.
const SigningAlgorithm = "AWS4-HMAC-SHA256"

// Keys are the credentials with which texts are signed at a time.
type SigningKeys struct {
	Credential string // names the key, the day, the region and the service
	Token      string // of a session; empty for a key without one

	secret string
	scope  []string
}

// Keys returns the credentials of texts that are signed at a time.
func (s *Service) Keys(ctx context.Context, at time.Time) (SigningKeys, error) {
	keys, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return SigningKeys{}, err
	}
	scope := []string{at.UTC().Format("20060102"), s.region, strings.ToLower(s.id), "aws4_request"}
	return SigningKeys{keys.AccessKeyID + "/" + strings.Join(scope, "/"), keys.SessionToken, keys.SecretAccessKey,
		scope}, nil
}

// Sign returns a text's signature. The SDK's signer signs requests only.
func (k SigningKeys) Sign(text string) string {
	key := []byte("AWS4" + k.secret)
	for _, of := range append(k.scope[:len(k.scope):len(k.scope)], text) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(of))
		key = mac.Sum(nil)
	}
	return hex.EncodeToString(key)
}
