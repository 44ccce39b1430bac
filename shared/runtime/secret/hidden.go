package secret

// Hidden, embedded in a struct of secrets, keeps all of it out of logs, errors and JSON.
type Hidden struct{}

// String shows nothing.
func (Hidden) String() string { return "(hidden)" }

// GoString shows nothing.
func (Hidden) GoString() string { return "(hidden)" }

// MarshalJSON shows nothing; what stores a secret writes it from a struct of its own.
func (Hidden) MarshalJSON() ([]byte, error) { return []byte(`"(hidden)"`), nil }
