// Package vault stores tenants' credentials for vendors sealed, each with its own data key, which KMS encrypts under
// the context {tenant_id, provider}. A sealed credential can only be opened for its own tenant and provider.
package vault

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"
)

// KMS is the part of KMS that seals and opens.
type KMS interface {
	GenerateDataKey(ctx context.Context, in *kms.GenerateDataKeyInput,
		opts ...func(*kms.Options)) (*kms.GenerateDataKeyOutput, error)
	Decrypt(ctx context.Context, in *kms.DecryptInput, opts ...func(*kms.Options)) (*kms.DecryptOutput, error)
}

// Envelope seals with a KMS key.
type Envelope struct {
	KMS   KMS
	KeyID string
}

// version begins every sealed text: v1.<wrapped data key>.<nonce and ciphertext>,
// both base64url without padding.
const version = "v1"

// ErrLocked: KMS refused the key or could not be reached.
var ErrLocked = errors.New("the key that seals credentials cannot be used")

// ErrSealed is a text that is not sealed, is damaged, or belongs to another tenant or provider.
var ErrSealed = errors.New("cannot be opened: not sealed for this tenant and provider")

// Seal encrypts a secret so that only Open with the same tenant and provider can read it.
func (e Envelope) Seal(ctx context.Context, tenant, provider string, secret []byte) (string, error) {
	s, err := e.sealer(ctx, tenant, provider)
	if err != nil {
		return "", err
	}
	return s.seal(secret)
}

// sealer seals one secret with a data key that it already has, so that sealing itself needs no call.
type sealer struct {
	tenant, provider string
	wrapped          []byte
	box              cipher.AEAD
}

// sealer asks KMS for a data key.
func (e Envelope) sealer(ctx context.Context, tenant, provider string) (sealer, error) {
	key, err := e.KMS.GenerateDataKey(ctx, &kms.GenerateDataKeyInput{
		KeyId: &e.KeyID, KeySpec: types.DataKeySpecAes256, EncryptionContext: about(tenant, provider),
	})
	if err != nil {
		return sealer{}, fmt.Errorf("seal a credential of %s: %w: %w", provider, ErrLocked, err)
	}
	defer clear(key.Plaintext)
	box, err := gcm(key.Plaintext)
	if err != nil {
		return sealer{}, fmt.Errorf("seal a credential of %s: %w", provider, err)
	}
	return sealer{tenant, provider, key.CiphertextBlob, box}, nil
}

func (s sealer) seal(secret []byte) (string, error) {
	nonce := make([]byte, s.box.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return "", fmt.Errorf("seal a credential of %s: %w", s.provider, err)
	}
	text := s.box.Seal(nonce, nonce, secret, bound(s.tenant, s.provider))
	return strings.Join([]string{version, encode(s.wrapped), encode(text)}, "."), nil
}

// Open decrypts a sealed text. It returns ErrSealed when the text is not this tenant's and provider's.
func (e Envelope) Open(ctx context.Context, tenant, provider, text string) ([]byte, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 || parts[0] != version {
		return nil, fmt.Errorf("open a credential of %s: %w", provider, ErrSealed)
	}
	wrapped, err1 := base64.RawURLEncoding.DecodeString(parts[1])
	sealed, err2 := base64.RawURLEncoding.DecodeString(parts[2])
	if err1 != nil || err2 != nil || len(wrapped) == 0 {
		return nil, fmt.Errorf("open a credential of %s: %w", provider, ErrSealed)
	}
	key, err := e.KMS.Decrypt(ctx, &kms.DecryptInput{KeyId: &e.KeyID, CiphertextBlob: wrapped,
		EncryptionContext: about(tenant, provider)})
	var refused *types.InvalidCiphertextException
	if errors.As(err, &refused) {
		return nil, fmt.Errorf("open a credential of %s: %w", provider, ErrSealed)
	}
	if err != nil {
		return nil, fmt.Errorf("open a credential of %s: %w: %w", provider, ErrLocked, err)
	}
	defer clear(key.Plaintext)
	box, err := gcm(key.Plaintext)
	if err != nil {
		return nil, fmt.Errorf("open a credential of %s: %w", provider, err)
	}
	if len(sealed) < box.NonceSize() {
		return nil, fmt.Errorf("open a credential of %s: %w", provider, ErrSealed)
	}
	secret, err := box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], bound(tenant, provider))
	if err != nil {
		return nil, fmt.Errorf("open a credential of %s: %w", provider, ErrSealed)
	}
	return secret, nil
}

// about returns the encryption context. CloudTrail logs it, so it contains only ids.
func about(tenant, provider string) map[string]string {
	return map[string]string{"tenant_id": tenant, "provider": provider}
}

// bound returns the encryption's additional data, which ties a ciphertext to its tenant and provider.
func bound(tenant, provider string) []byte {
	return []byte(version + "\x00" + tenant + "\x00" + provider)
}

func gcm(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
