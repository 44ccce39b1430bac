package aggregate

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
)

// JSON is a JSON value stored as text, so that rows stay readable in the AWS console.
type JSON string

func (j JSON) MarshalJSON() ([]byte, error) {
	if j == "" {
		return []byte("null"), nil
	}
	return []byte(j), nil
}

func (j *JSON) UnmarshalJSON(b []byte) error {
	*j = JSON(b)
	return nil
}

// Blob is a value that may be too large for a row. If it is, JSON is empty, S3Key names the object that holds it, and
// Preview holds its beginning.
type Blob struct {
	JSON    JSON   `json:"json,omitempty"`
	Bytes   int    `json:"bytes"`
	S3Key   string `json:"s3_key,omitempty"`
	Preview string `json:"preview,omitempty"`
}

// Hash returns HashOf the complete value. An object in S3 has the hash in its name.
func (b Blob) Hash() string {
	if b.S3Key != "" {
		return strings.TrimSuffix(path.Base(b.S3Key), ".json")
	}
	return HashOf(string(b.JSON))
}

// HashOf returns the hexadecimal SHA-256 of a text.
func HashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Access says whether a tool only reads or also writes. Repeating a call that writes could do its work twice.
type Access string

const (
	Read  Access = "read"
	Write Access = "write"
)
