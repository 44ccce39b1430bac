package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// repeated reports whether a text of a result is its structured content, as the protocol recommends for older clients.
func repeated(parts []sdk.Content, structured json.RawMessage) bool {
	s := sums{seed: maphash.MakeSeed()}
	of, err := s.whole(structured)
	return err == nil && slices.ContainsFunc(parts, func(part sdk.Content) bool {
		text, is := part.(*sdk.TextContent)
		if !is {
			return false
		}
		sum, err := s.whole([]byte(text.Text))
		return err == nil && sum == of
	})
}

// held tells the texts of a declared result, as they are, and the values in its two outer levels: servers repeat all of
// it as a text, or each item of its list.
func held(structured json.RawMessage) func(text string) bool {
	s, has := sums{seed: maphash.MakeSeed()}, map[uint64]bool{}
	s.note = func(sum uint64, depth int, text bool) {
		if text || depth <= 2 {
			has[sum] = true
		}
	}
	if _, err := s.whole(structured); err != nil {
		clear(has)
	}
	s.note = nil
	return func(text string) bool {
		if has[s.text(text)] {
			return true
		}
		sum, err := s.whole([]byte(text))
		return err == nil && has[sum]
	}
}

// sums tells JSON values apart by a number each, in whatever order their members stand: decoded, a result would take
// many times its length. The seed is chosen for each result, so nobody can make two values that are taken for one.
type sums struct {
	seed maphash.Seed
	note func(sum uint64, depth int, text bool)
}

// deepest is how deep encoding/json reads, too.
const deepest = 10_000

func (s sums) whole(text []byte) (uint64, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	sum, err := s.value(dec, 0)
	if err != nil {
		return 0, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return 0, errors.New("more than one value")
	}
	return sum, nil
}

func (s sums) value(dec *json.Decoder, depth int) (uint64, error) {
	if depth > deepest {
		return 0, fmt.Errorf("a value over %d deep", deepest)
	}
	token, err := dec.Token()
	if err != nil {
		return 0, err
	}
	var sum uint64
	text, is := token.(string)
	switch {
	case is:
		sum = s.text(text)
	case token == json.Delim('['), token == json.Delim('{'):
		sum, err = s.members(dec, depth, token == json.Delim('['))
	default:
		sum = maphash.String(s.seed, fmt.Sprintf("%T %v", token, token))
	}
	if err == nil && s.note != nil {
		s.note(sum, depth, is)
	}
	return sum, err
}

// members adds up those of an object, each with its name, and those of a list, each with its place.
func (s sums) members(dec *json.Decoder, depth int, list bool) (uint64, error) {
	sum := maphash.String(s.seed, fmt.Sprintf("list %t", list))
	for place := 0; dec.More(); place++ {
		name := json.Token(place)
		if !list {
			var err error
			if name, err = dec.Token(); err != nil {
				return 0, err
			}
		}
		x, err := s.value(dec, depth+1)
		if err != nil {
			return 0, err
		}
		sum += maphash.Bytes(s.seed, fmt.Appendf(nil, "%v %x", name, x))
	}
	_, err := dec.Token()
	return sum, err
}

// text returns the sum of a text without the blanks around it.
func (s sums) text(text string) uint64 {
	return maphash.String(s.seed, "text "+strings.TrimSpace(text))
}
