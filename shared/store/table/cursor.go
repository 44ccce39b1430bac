package table

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
)

// maxCursor is the most bytes of a cursor that are decoded; a real one has about 400.
const maxCursor = 2048

// position is where a list continues: after the row with these keys, or before it.
type position struct {
	List string `json:"l"` // fingerprint of the list that gave it
	PK   string `json:"p"`
	SK   string `json:"s"`
	GPK  string `json:"g,omitempty"`
	GSK  string `json:"h,omitempty"`
	Back bool   `json:"b,omitempty"` // the page that ends before the row
}

// fingerprint identifies a list, so that a cursor is refused for another tenant or filter.
func fingerprint(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p) // never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (p position) text() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("encode a cursor: %v", err)) // of strings
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// readCursor decodes a cursor of this list.
func (l List) readCursor(cursor string) (position, error) {
	refused := func(why string) (position, error) {
		return position{}, aggregate.ErrField{Field: "cursor", Limit: "must be one that this list gave: " + why}
	}
	if len(cursor) > maxCursor {
		return refused(fmt.Sprintf("it has more than %d bytes", maxCursor))
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return refused("it is not readable")
	}
	var p position
	if err := json.Unmarshal(b, &p); err != nil {
		return refused("it is not readable")
	}
	if p.List != l.fingerprint() {
		return refused("it is of another list")
	}
	// The fingerprint is not a signature, so a cursor may name any partition: refuse those outside of the list.
	inside := slices.ContainsFunc(l.owners(), func(o string) bool { return strings.HasPrefix(p.PK, o) && len(p.PK) > len(o) })
	if l.Index == "" {
		inside = inside && slices.Contains(l.Partitions, p.PK) && p.SK != ""
	} else {
		inside = inside && slices.Contains(l.Partitions, p.GPK) && p.SK != "" && p.GSK != ""
	}
	if !inside {
		return refused("it leads elsewhere")
	}
	return p, nil
}
