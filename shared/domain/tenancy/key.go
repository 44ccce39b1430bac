package tenancy

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Limits of a key.
const (
	MaxKeyName  = 60  // characters
	MaxKeyTools = 100 // tools
	MaxKeyTool  = 200 // bytes of a tool's name
	MaxKeyQuota = 1000
	MaxKeyDays  = 366
	// KeyUsedEvery is how often it is noted that a key was used, and then Slack is asked about who answers for it: so the
	// key of somebody who left stops within five minutes, whatever became of Slack's event.
	KeyUsedEvery = 4 * time.Minute
)

// Audit actions for keys.
const (
	AuditKeyCreated aggregate.Action = "key.created"
	AuditKeyUpdated aggregate.Action = "key.updated"
	AuditKeyRevoked aggregate.Action = "key.revoked"
)

// KeyMark begins each secret, so that people and scanners of leaked secrets know what it is.
const KeyMark = "rk_"

// KeyLength is how many characters a secret has.
const KeyLength = len(KeyMark) + 43

// Key is the row of a key by which an outside agent asks for calls of tools. The secret isn't stored: only
// its hash is, and the row's id is the beginning of that, so that one read finds it.
type Key struct {
	aggregate.Meta
	ID         string     `json:"id"`
	Hash       string     `json:"hash"` // SHA-256 of the secret
	TenantID   string     `json:"tenant_id"`
	Team       string     `json:"team_id"`
	Name       string     `json:"name"`
	Answers    string     `json:"answers"` // Slack user id of the person who answers for it: an asker of each call
	Tools      []string   `json:"tools"`   // that it may ask for
	Channel    string     `json:"channel"` // where its cards are posted
	QuotaDay   int        `json:"quota_day"`
	ExpiresAt  time.Time  `json:"expires_at"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
	RevokedBy  string     `json:"revoked_by,omitempty"` // empty: by the system
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
	CreatedAt  time.Time  `json:"created_at"`
	CreatedBy  string     `json:"created_by"`
}

// KeyPrefix begins the partition of each key.
const KeyPrefix = "KEY#"

const keyKey = "KEY"

// keyID is how much of a hash is a key's id: 128 bits.
const keyID = 32

// Place is in a partition of its own, which the secret alone names.
func (k Key) Place() (partition, key, typ string) { return KeyPrefix + k.ID, keyKey, "key" }

// AsRead is the key's row for a Change that relies on it: it fails with aggregate.ErrSettings once an administrator has
// changed or revoked the key. That it was used changes nothing.
func (k Key) AsRead() aggregate.Owned {
	return aggregate.Owned{Partition: KeyPrefix, Of: k.ID, Key: keyKey, Rev: k.Rev, Err: aggregate.ErrSettings}
}

// KeysOf returns the partition of GSI1 that has a tenant's keys.
func KeysOf(tenant string) string { return "TENANT#" + tenant + "#KEYS" }

// Indexes lists the key among its tenant's, by when it was made.
func (k Key) Indexes(aggregate.Root) []aggregate.Index {
	return []aggregate.Index{{N: 1, PK: KeysOf(k.TenantID), SK: aggregate.TimeText(k.CreatedAt) + "#" + k.ID}}
}

// Hashed returns the id and the hash of a secret.
func Hashed(secret string) (id, hash string) {
	sum := sha256.Sum256([]byte(secret))
	hash = hex.EncodeToString(sum[:])
	return hash[:keyID], hash
}

// ErrKey says why a key can't be used.
type ErrKey struct{ Why KeyFault }

// KeyFault is what is wrong with a key.
type KeyFault string

const (
	KeyUnknown KeyFault = "unknown"
	KeyRevoked KeyFault = "revoked"
	KeyExpired KeyFault = "expired"
	KeyTool    KeyFault = "tool" // it may not ask for this tool
)

func (e ErrKey) Error() string { return "the key can't be used: " + string(e.Why) }

// Stands returns ErrKey if the key is revoked or expired.
func (k Key) Stands(now time.Time) error {
	switch {
	case k.RevokedAt != nil:
		return ErrKey{KeyRevoked}
	case !now.Before(k.ExpiresAt):
		return ErrKey{KeyExpired}
	}
	return nil
}

// Holds returns ErrKey if a call of the tool that the key asked for may not be made any more.
func (k Key) Holds(tool string, now time.Time) error {
	if err := k.Stands(now); err != nil || slices.Contains(k.Tools, tool) {
		return err
	}
	return ErrKey{KeyTool}
}

// NewKey returns a new key with a secret, which is known to nobody but the caller.
func NewKey(k Key, by aggregate.Actor, now time.Time) (Key, string, Change, error) {
	var random [32]byte
	if _, err := rand.Read(random[:]); err != nil {
		return k, "", Change{}, fmt.Errorf("make a secret: %w", err)
	}
	secret := KeyMark + base64.RawURLEncoding.EncodeToString(random[:])
	k.ID, k.Hash = Hashed(secret)
	k.Meta, k.CreatedAt, k.CreatedBy = aggregate.Meta{}, moment(now), by.ID
	k.RevokedAt, k.RevokedBy, k.LastUsedAt = nil, "", nil
	k, c, err := k.next(Key{}, AuditKeyCreated, by, now)
	return k, secret, c, err
}

// Save replaces was by what an administrator may change of it: name, tools, channel, quota and end. A revoked key stays
// as it is, with ErrKey.
func (k Key) Save(was Key, by aggregate.Actor, now time.Time) (Key, Change, error) {
	if was.RevokedAt != nil {
		return was, Change{}, ErrKey{KeyRevoked}
	}
	is := was
	is.Name, is.Tools, is.Channel = k.Name, k.Tools, k.Channel
	is.QuotaDay, is.ExpiresAt = k.QuotaDay, moment(k.ExpiresAt)
	if is.ExpiresAt.Equal(was.ExpiresAt) && len(differences(was, is)) == 0 {
		return was, Change{}, nil
	}
	return is.next(was, AuditKeyUpdated, by, now)
}

// Revoke ends the key for good. by may be the system, when whoever answers for the key has left. Again it changes
// nothing.
func (k Key) Revoke(by aggregate.Actor, now time.Time) (Key, Change) {
	if k.RevokedAt != nil {
		return k, Change{}
	}
	over, at := k.Rev, moment(now)
	k.RevokedAt, k.RevokedBy, k.Rev = &at, by.ID, over+1
	return k, Change{Tenant: k.TenantID, Writes: []Write{{Row: k, If: map[string]any{"rev": over},
		Set: map[string]any{"revoked_at": at, "revoked_by": by.ID, "rev": k.Rev}}},
		Audit: []aggregate.AuditEntry{entry(k.TenantID, AuditKeyRevoked, "key", k.ID, map[string]any{"name": k.Name},
			by, now)}}
}

// Used notes that the key was used, KeyUsedEvery at most and once; else the Change is empty.
func (k Key) Used(now time.Time) Change {
	if k.LastUsedAt != nil && now.Before(k.LastUsedAt.Add(KeyUsedEvery)) {
		return Change{}
	}
	var before any
	if k.LastUsedAt != nil {
		before = *k.LastUsedAt
	}
	return Change{Tenant: k.TenantID, Writes: []Write{{Row: k, If: map[string]any{"last_used_at": before},
		Set: map[string]any{"last_used_at": moment(now)}}}}
}

// next checks the key and saves it as its next revision.
func (k Key) next(was Key, action aggregate.Action, by aggregate.Actor, now time.Time) (Key, Change, error) {
	k.ExpiresAt = moment(k.ExpiresAt)
	if err := cmp.Or(bySomebody(by), k.fits(was, now)); err != nil {
		return k, Change{}, err
	}
	k.Rev++
	details := map[string]any{"name": k.Name, "answers": k.Answers, "tools": k.Tools, "channel": k.Channel,
		"quota_day": k.QuotaDay, "expires_at": aggregate.TimeText(k.ExpiresAt)}
	return k, Change{Tenant: k.TenantID, Writes: []Write{{Row: k, Over: k.Rev - 1}},
		Audit: []aggregate.AuditEntry{entry(k.TenantID, action, "key", k.ID, details, by, now)}}, nil
}

// fits returns what is wrong with a key's fields.
func (k Key) fits(was Key, now time.Time) error {
	var all aggregate.Problems
	between := func(field string, n, least, most int, code string) {
		all.Unless(n >= least && n <= most, field, code, least, most)
	}
	between("name", utf8.RuneCountInString(k.Name), 1, MaxKeyName, "length")
	between("tools", len(k.Tools), 1, MaxKeyTools, "count")
	between("quota_day", k.QuotaDay, 1, MaxKeyQuota, "between")
	for i, tool := range k.Tools {
		between(fmt.Sprintf("tools[%d]", i), len(tool), 1, MaxKeyTool, "length")
	}
	all.Unless(k.Name == language.OneLine(k.Name), "name", "must be one line of visible characters")
	all.Unless(aggregate.UserForm.Get().MatchString(k.Answers), "answers", "user_id")
	all.Unless(aggregate.ChannelForm.Get().MatchString(k.Channel), "channel", "channel_id")
	until := k.ExpiresAt
	all.Unless(until.Equal(was.ExpiresAt) || until.After(now) && !until.After(now.AddDate(0, 0, MaxKeyDays)), "expires_at",
		fmt.Sprintf("must be within %d days from now", MaxKeyDays))
	return all.Err()
}
