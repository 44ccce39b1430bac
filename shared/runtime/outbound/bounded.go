package outbound

import (
	"errors"
	"io"
)

// ErrTooLarge means an answer over its limit, of which the rest was not read.
var ErrTooLarge = errors.New("the answer is too large")

// bounded reads a body up to a limit.
type bounded struct {
	body io.ReadCloser
	left int64
}

// Read returns ErrTooLarge in place of the first byte past the limit.
func (b *bounded) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), ErrTooLarge
	}
	b.left -= int64(n)
	return n, err
}

func (b *bounded) Close() error { return b.body.Close() }
