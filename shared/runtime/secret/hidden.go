package secret

// Hidden, embedded in a struct of secrets, hides the whole struct in logs, errors and JSON.
type Hidden struct{}

// String shows nothing.
func (Hidden) String() string { return "(hidden)" }

// GoString shows nothing.
func (Hidden) GoString() string { return "(hidden)" }

// MarshalJSON shows nothing. Code that stores a secret encodes a struct of its own.
func (Hidden) MarshalJSON() ([]byte, error) { return []byte(`"(hidden)"`), nil }
