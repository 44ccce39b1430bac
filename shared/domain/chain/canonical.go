package chain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// KeyOf is a row's partition and sort key as one word. Every byte but letters, digits and #-_.:* is written as a percent
// sign and its hexadecimal number, so that no two rows have the same word, and no word has a line break.
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

// Canonical is a row's content as bytes that don't depend on the order of its members: JSON with sorted members and
// without blanks, numbers as they are written. Values are what encoding/json makes with UseNumber.
func Canonical(members map[string]any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(members); err != nil {
		return nil, fmt.Errorf("write a row's content: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
