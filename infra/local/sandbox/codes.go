package sandbox

import (
	"crypto/rand"
	"sync"
	"time"
)

// codeLasts is how long a code that a browser takes back to an app can be exchanged.
const codeLasts = 10 * time.Minute

// codes are those that wait to be exchanged, with what each stands for.
type codes[T any] struct {
	now func() time.Time

	mu   sync.Mutex
	kept map[string]code[T]
}

type code[T any] struct {
	of    T
	until time.Time
}

// give makes a code.
func (c *codes[T]) give(of T) string {
	text := rand.Text()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[string]code[T]{}
	}
	c.kept[text] = code[T]{of, c.now().Add(codeLasts)}
	return text
}

// take is what a code stands for; no other call gets it again.
func (c *codes[T]) take(text string) (of T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	is, ok := c.kept[text]
	delete(c.kept, text)
	return is.of, ok && c.now().Before(is.until)
}
