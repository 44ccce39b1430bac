package vault

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"ringi/shared/runtime/outbound"
)

// KMS is the part of KMS that seals and opens. about is the encryption context: what was encrypted under one can be
// decrypted only under the same.
type KMS interface {
	// GenerateDataKey returns a new key of 256 bits, in clear and encrypted with the KMS key.
	GenerateDataKey(ctx context.Context, key string, about map[string]string) (plain, wrapped []byte, err error)
	// Decrypt returns what was encrypted with the KMS key.
	Decrypt(ctx context.Context, key string, wrapped []byte, about map[string]string) (plain []byte, err error)
}

// EnvelopeAt returns the envelope whose KMS key has this id or ARN.
func EnvelopeAt(cfg aws.Config, key string) Envelope {
	return Envelope{KMS: service{outbound.ServiceAt(cfg, "KMS", outbound.JSONError)}, KeyID: key}
}

// service calls KMS in its protocol, AWS JSON 1.1.
type service struct{ kms *outbound.Service }

// maxAnswer is more than KMS's limits of a ciphertext and a plaintext in base64, 6 KiB and 4 KiB.
const maxAnswer = 32 << 10

// invalidCiphertext is the code of KMS's error for a text that it did not encrypt under the same context.
const invalidCiphertext = "InvalidCiphertextException"

// request and answered have KMS's names. Bytes are in base64 in their JSON.
type (
	request struct {
		KeyID             string            `json:"KeyId"`
		KeySpec           string            `json:",omitempty"`
		CiphertextBlob    []byte            `json:",omitempty"`
		EncryptionContext map[string]string `json:",omitempty"`
	}
	answered struct{ Plaintext, CiphertextBlob []byte }
)

func (s service) GenerateDataKey(ctx context.Context, key string, about map[string]string) (plain, wrapped []byte,
	err error) {
	var out answered
	err = s.kms.JSON(ctx, "TrentService.GenerateDataKey",
		request{KeyID: key, KeySpec: "AES_256", EncryptionContext: about}, &out, maxAnswer)
	return out.Plaintext, out.CiphertextBlob, err
}

func (s service) Decrypt(ctx context.Context, key string, wrapped []byte, about map[string]string) ([]byte, error) {
	var out answered
	err := s.kms.JSON(ctx, "TrentService.Decrypt",
		request{KeyID: key, CiphertextBlob: wrapped, EncryptionContext: about}, &out, maxAnswer)
	return out.Plaintext, err
}

// notOurs reports whether KMS says that it didn't encrypt a text under the context.
func notOurs(err error) bool {
	api, refused := errors.AsType[smithy.APIError](err)
	return refused && api.ErrorCode() == invalidCiphertext
}
