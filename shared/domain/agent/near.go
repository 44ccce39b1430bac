package agent

import "strings"

// minNear is how short a name may be that is still compared: a shorter one is near too many words.
const minNear = 4

// Near returns the agents whose ids differ from a word by one letter: one more, one less, another one, or two that
// changed places. It returns none if an agent has the word as its id.
func Near(defs []Definition, word string) (near []Definition) {
	word = strings.ToLower(word)
	for _, d := range defs {
		switch {
		case d.ID == word:
			return nil
		case len(word) >= minNear && len(d.ID) >= minNear && oneApart(d.ID, word):
			near = append(near, d)
		}
	}
	return near
}

func oneApart(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch len(b) - len(a) {
	case 0:
		swapped := i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		return i < len(a) && a[i+1:] == b[i+1:] || swapped
	case 1:
		return a[i:] == b[i+1:]
	}
	return false
}
