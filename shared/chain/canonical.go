package chain

import (
	"bytes"
	"encoding/json"
	"fmt"
)

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
