package chain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// KeyOf joins a row's partition and sort key. Bytes other than letters, digits and #-_.:* are percent-encoded, so that
// the result is unique and has no line break.
func KeyOf(partition, sort string) string { return escape(partition) + "/" + escape(sort) }

func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("#-_.:*", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Canonical encodes a row's content independently of the order of its members: JSON with sorted members, no white
// space, and numbers unchanged. members must be decoded with UseNumber.
func Canonical(members map[string]any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(members); err != nil {
		return nil, fmt.Errorf("write a row's content: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
