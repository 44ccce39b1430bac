package aggregate

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
)

// JSON is a JSON value kept as text, so that rows stay readable in the console.
type JSON string

// MarshalJSON returns the value itself.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j == "" {
		return []byte("null"), nil
	}
	return []byte(j), nil
}

// UnmarshalJSON keeps the value's text.
func (j *JSON) UnmarshalJSON(b []byte) error {
	*j = JSON(b)
	return nil
}

// Blob is a value that may be too large for a row: then JSON is empty and S3Key
// says where it is, and Preview shows its beginning.
type Blob struct {
	JSON    JSON   `json:"json,omitempty"`
	Bytes   int    `json:"bytes"`
	S3Key   string `json:"s3_key,omitempty"`
	Preview string `json:"preview,omitempty"`
}

// Hash is HashOf the whole value: an object in S3 is named by it.
func (b Blob) Hash() string {
	if b.S3Key != "" {
		return strings.TrimSuffix(path.Base(b.S3Key), ".json")
	}
	return HashOf(string(b.JSON))
}

// HashOf is the hexadecimal SHA-256 of a text.
func HashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Access says whether a tool only reads or changes something: calling a write again could do it twice.
type Access string

const (
	Read  Access = "read"
	Write Access = "write"
)
