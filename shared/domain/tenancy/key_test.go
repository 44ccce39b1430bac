package tenancy

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func aKey() Key {
	return Key{TenantID: "01T", Name: "agent", Answers: "U1", Tools: []string{"a"}, Channel: "C1", QuotaDay: 1,
		ExpiresAt: keyNow.AddDate(0, 0, MaxKeyDays)}
}

var keyNow = time.Date(2026, 4, 18, 14, 30, 0, 0, time.UTC)

func TestWhatDoesNotFitInAKeyIsNamed(t *testing.T) {
	admin := aggregate.Actor{Type: aggregate.ActorUser, ID: "U9"}
	_, _, _, err := NewKey(aKey(), admin, keyNow)
	expect.NoError(t, err)
	for field, change := range map[string]func(*Key){
		"name":        func(k *Key) { k.Name = strings.Repeat("あ", MaxKeyName+1) },
		"name ":       func(k *Key) { k.Name = "a\nb" },
		"answers":     func(k *Key) { k.Answers = "sato" },
		"tools":       func(k *Key) { k.Tools = nil },
		"tools[1]":    func(k *Key) { k.Tools = []string{"a", ""} },
		"channel":     func(k *Key) { k.Channel = "D1" },
		"quota_day":   func(k *Key) { k.QuotaDay = 0 },
		"expires_at":  func(k *Key) { k.ExpiresAt = keyNow.AddDate(0, 0, MaxKeyDays).Add(time.Second) },
		"expires_at ": func(k *Key) { k.ExpiresAt = keyNow },
	} {
		k := aKey()
		change(&k)
		_, _, c, err := NewKey(k, admin, keyNow)
		bad, is := errors.AsType[aggregate.Problem](err)
		expect.That(t, is && bad.Field == strings.TrimSpace(field) && len(c.Writes) == 0, "%s: %v", field, err)
	}
	_, _, _, err = NewKey(aKey(), aggregate.System(), keyNow)
	expect.That(t, err != nil, "made by nobody")
}

func TestAKeyIsGoodForItsToolsUntilItEnds(t *testing.T) {
	k, at := aKey(), keyNow
	expect.NoError(t, k.Holds("a", at))
	expect.Fails(t, k.Holds("b", at), ErrKey{KeyTool})
	expect.Fails(t, k.Holds("a", k.ExpiresAt), ErrKey{KeyExpired})
	expect.NoError(t, k.Stands(at))
	gone, c := k.Revoke(aggregate.System(), at)
	expect.Fails(t, gone.Stands(at), ErrKey{KeyRevoked})
	_, again := gone.Revoke(aggregate.System(), at)
	expect.That(t, len(c.Writes) == 1 && len(again.Writes) == 0, "revoked twice")
	_, _, err := k.Save(gone, aggregate.Actor{Type: aggregate.ActorUser, ID: "U9"}, at)
	expect.Fails(t, err, ErrKey{KeyRevoked})
}

// A key that is used each second has one write each four minutes.
func TestTheLastUseIsCoarse(t *testing.T) {
	k, at := aKey(), keyNow
	expect.Is(t, len(k.Used(at).Writes), 1)
	k.LastUsedAt = &at
	expect.Is(t, len(k.Used(at.Add(KeyUsedEvery-1)).Writes), 0)
	expect.Is(t, len(k.Used(at.Add(KeyUsedEvery)).Writes), 1)
}

// What an administrator can't change comes from the row alone.
func TestSavingAKeyKeepsItsSecret(t *testing.T) {
	was, is := aKey(), aKey()
	was.ID, was.Hash, was.Rev = "id", "hash", 3
	is.Hash, is.ID, is.TenantID, is.Name = "another", "another", "01OTHER", "new"
	got, c, err := is.Save(was, aggregate.Actor{Type: aggregate.ActorUser, ID: "U9"}, keyNow)
	expect.NoError(t, err)
	expect.That(t, got.Hash == "hash" && got.ID == "id" && got.TenantID == "01T" && got.Name == "new" &&
		c.Writes[0].Over == 3, "%+v", got)
	_, c, err = was.Save(was, aggregate.Actor{Type: aggregate.ActorUser, ID: "U9"}, keyNow)
	expect.That(t, err == nil && len(c.Writes) == 0, "the same again is written")
}
