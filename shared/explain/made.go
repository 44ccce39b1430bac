package explain

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Linked returns an address if cards may link to it, else "".
func Linked(url string) string {
	if len(url) <= maxDetail && (addressForm.Get().MatchString(url) || Local(url)) {
		return url
	}
	return ""
}

// Local reports whether an address leads to the local sandbox.
func Local(url string) bool { return localForm.Get().MatchString(url) }

var addressForm = language.Regexp{Text: `^https://[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?:/[\w.~!$'()*+,;=:@%/?&#-]*)?$`}

var localForm = language.Regexp{Text: `^http://(?:127\.0\.0\.1|localhost):[0-9]{1,5}/[A-Za-z0-9._~/-]*$`}

// mostMade is how many characters say what was made.
const mostMade = 200

// Made says what the results of writes name, each in its turn: its address, or else its ids and numbers with what
// people call them.
func Made(locale string, result aggregate.JSON) (all []string) {
	members, read := decode(result)
	if !read {
		return nil
	}
	if url, _ := members["url"].(string); Linked(url) != "" {
		return []string{url}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		text, is := members[name].(string)
		if n, number := members[name].(json.Number); number {
			text, is = n.String(), true
		}
		if is && text != "" && rules.Identifies(name) {
			all = append(all, legible.OneLine(PartOfResult(locale, name))+" "+legible.OneLine(legible.Mask(text)))
		}
	}
	return all
}

// MadeBy is what all that was made is called, in a line.
func MadeBy(all []string) string { return legible.Beginning(strings.Join(all, " · "), mostMade) }

// Titled returns a request's title and, if a reason led to a later version, which one is meant.
func Titled(title string, version int) string {
	if LaterVersion(version) > 0 {
		title += " v" + strconv.Itoa(version)
	}
	return title
}

// LaterVersion returns a version that a reason led to, 0 for the first.
func LaterVersion(version int) int {
	if version < 2 {
		return 0
	}
	return version
}

// Size is a number of bytes in the unit that people use.
func Size(bytes int64) string {
	switch {
	case bytes < 1<<10:
		return fmt.Sprint(bytes, " B")
	case bytes < 1<<20:
		return fmt.Sprint((bytes+1<<9)>>10, " KB")
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
}
