package aggregate

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"ringi/shared/words/language"
)

// The forms of Slack's ids: of a person, a group of people, and a channel.
var (
	UserForm    = language.Regexp{Text: `^[UW][A-Z0-9]{1,40}$`}
	GroupForm   = language.Regexp{Text: `^S[A-Z0-9]{1,40}$`}
	ChannelForm = language.Regexp{Text: `^[CG][A-Z0-9]{1,40}$`}
)

// Ref names one aggregate of one tenant.
type Ref struct{ Tenant, Kind, ID string }

// String returns the kind and the id for error texts; these name the tenant elsewhere.
func (r Ref) String() string { return r.Kind + " " + r.ID }

// Log returns the log attributes of the aggregate: kind, id, and the id again under the kind's name, such as task_id.
// Functions that handle only one kind log just the latter.
func (r Ref) Log() slog.Attr {
	return slog.Group("", "kind", r.Kind, "id", r.ID, r.Kind+"_id", r.ID)
}

// NewID returns a fresh ULID from crypto/rand.
func NewID() string { return ulid.MustNew(ulid.Now(), rand.Reader).String() }

// TenantID derives a tenant's id from its Slack team id, so that functions called by Slack need no lookup. The time
// part of the ULID is zero.
func TenantID(team string) string { return Derive(time.Time{}, "tenant", team) }

// maxSeconds is the end of the year 9999, the last that RFC 3339 can express.
const maxSeconds = 253402300799

// ParseTS parses a Slack message timestamp and truncates it to milliseconds.
func ParseTS(ts string) (time.Time, error) {
	sec, frac, ok := strings.Cut(ts, ".")
	s, err := strconv.ParseUint(sec, 10, 64)
	if !ok || err != nil || s > maxSeconds || sec != strconv.FormatUint(s, 10) || len(frac) != 6 {
		return time.Time{}, fmt.Errorf("ts %.32q is not a Slack timestamp like 1713450000.000100", ts)
	}
	us, err := strconv.ParseUint(frac, 10, 32)
	if err != nil {
		return time.Time{}, fmt.Errorf("ts %.32q is not a Slack timestamp like 1713450000.000100", ts)
	}
	return time.Unix(int64(s), int64(us)*1000).UTC().Truncate(time.Millisecond), nil
}

// IDTime returns the time part of one of Ringi's ids, and false if id is not one.
func IDTime(id string) (time.Time, bool) {
	u, err := ulid.ParseStrict(id)
	if err != nil {
		return time.Time{}, false
	}
	return ulid.Time(u.Time()), true
}

// ValidID reports whether id is a ULID, the form of all ids that Ringi makes.
func ValidID(id string) bool {
	_, err := ulid.ParseStrict(id)
	return err == nil
}

// Derive returns a ULID whose random part is a hash of the parts.
func Derive(at time.Time, parts ...string) string {
	var id ulid.ULID
	if !at.IsZero() {
		_ = id.SetTime(uint64(at.UnixMilli())) // fails only past the year 10889
	}
	copy(id[6:], hashOf(parts)[:10])
	return id.String()
}

// UUID returns a UUID of a version whose random part is a hash of the parts.
func UUID(version byte, parts ...string) string {
	b := hashOf(parts)[:16]
	b[6], b[8] = b[6]&0x0f|version<<4, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func hashOf(parts []string) []byte {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return h.Sum(nil)
}

// Blob is a value that may be too large for a row. If it is, JSON is empty and S3Key names the object that holds it.
type Blob struct {
	JSON  JSON   `json:"json,omitempty"`
	Bytes int    `json:"bytes"`
	S3Key string `json:"s3_key,omitempty"`
}

// Opener opens values that may be in the bucket.
type Opener interface {
	Open(ctx context.Context, ref Ref, b Blob) (json.RawMessage, error)
}

// Hash returns HashOf the complete value. An object in S3 has the hash in its name.
func (b Blob) Hash() string {
	if b.S3Key != "" {
		return strings.TrimSuffix(path.Base(b.S3Key), ".json")
	}
	return HashOf(string(b.JSON))
}

// HashOf returns the hexadecimal SHA-256 of a text.
func HashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Access says whether a tool only reads or also writes. Repeating a call that writes could do its work twice.
type Access string

const (
	Read  Access = "read"
	Write Access = "write"
)
