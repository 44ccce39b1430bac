package aggregate

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Change is one commit: the head, the rows it writes, the rows it relied on, and the audit entries that record it. The
// store writes it in one transaction. A Change without a head leaves the aggregate's revision unchanged and puts each
// of its rows only if that row is absent.
type Change struct {
	ID     string // set by the store, which uses it to recognize its own commit when the answer was lost
	Head   Root   // the new head; the commit adds one to its Rev
	Rows   []Row  // written if their Revision has not changed since they were read
	Drop   []Row  // deleted if their Revision has not changed since they were read
	Beside []Listed
	Rely   []Row   // must have the Revision with which they were read; 0: must be absent
	Owned  []Owned // the tenant's rows that the decision relied on
	Counts []Count
	Copies []Copy // made before the commit
	Audit  []AuditEntry
	Now    time.Time
	// Made is the row among Rows that a model produced, or nil.
	Made Row
	// Then is an error to return after the commit, when the Change does only a part of what was asked for.
	Then error
}

// Listed is a row of a list that grows without limit, such as the messages of a conversation. It is stored in a
// partition of its own, and only put if it is absent. No decision or effect reads it.
type Listed struct {
	List string // prefix of the partition key, such as MESSAGES#; the tenant and Of follow
	Of   string // id of the list's owner
	Row  Row
	Err  error // returned if only this row is there already; nil: ErrConflict
}

// Copy is an object in the bucket that must be copied before a Change is committed, because the Change's rows name the
// copy. The object's name is the hash of its content.
type Copy struct{ From, To string }

// Decision makes a Change from a loaded aggregate. It must be pure, because it is called again after a conflict.
type Decision[A any] func(A) (Change, error)

// Owned is a row of the tenant's that must still have the revision with which it was read; 0: it must be absent.
type Owned struct {
	Partition string // what begins the partition key, such as DELEGATE#; empty: TENANT#
	Of        string // what ends it; empty: the tenant
	Key       string
	Rev       int
	Err       error // returned if only this row has changed; nil: ErrConflict
}

// Empty reports whether the Change writes neither a head nor rows.
func (c Change) Empty() bool { return c.Head == nil && len(c.Rows) == 0 }

// Put adds rows to write. A row replaces an earlier one with the same key, and RelyOn is not needed for it.
func (c *Change) Put(rows ...Row) {
	for _, r := range rows {
		c.without(r)
		c.Rows = append(c.Rows, r)
	}
}

// Remove adds rows to delete. A row that was to be written is then only deleted.
func (c *Change) Remove(rows ...Row) {
	for _, r := range rows {
		c.without(r)
		c.Drop = append(c.Drop, r)
	}
}

func (c *Change) without(r Row) {
	same := func(x Row) bool { return x.Key() == r.Key() }
	c.Rely, c.Rows = slices.DeleteFunc(c.Rely, same), slices.DeleteFunc(c.Rows, same)
	c.Drop = slices.DeleteFunc(c.Drop, same)
}

// RelyOn adds rows that must not have changed. It ignores rows that are already written, deleted or relied on.
func (c *Change) RelyOn(rows ...Row) {
	for _, r := range rows {
		same := func(x Row) bool { return x.Key() == r.Key() }
		if !slices.ContainsFunc(c.Rows, same) && !slices.ContainsFunc(c.Rely, same) && !slices.ContainsFunc(c.Drop, same) {
			c.Rely = append(c.Rely, r)
		}
	}
}

// Written returns the row with this key that c writes, or nil.
func (c *Change) Written(key string) Row {
	return Find(c.Rows, key)
}

// Moment returns the time of the head's next Change: now in milliseconds, but always after the previous Change.
func (h *Head) Moment(now time.Time) time.Time {
	now = now.UTC().Truncate(time.Millisecond)
	if next := h.ChangedAt.Add(time.Millisecond); now.Before(next) {
		return next
	}
	return now
}

// Details encodes the details of an audit entry: strings, numbers, booleans and lists of these.
func Details(values map[string]any) JSON {
	if values == nil {
		return "{}"
	}
	text, err := json.Marshal(values)
	if err != nil {
		panic("encode audit details: " + err.Error())
	}
	return JSON(text)
}

// Row is one item of an aggregate's partition.
type Row interface {
	// Key names the row within its aggregate; it is the sort key in the table.
	Key() string
	// Type returns the item's attribute "type", which tells the rows of a kind apart.
	Type() string
	Revision() int
	// At returns a copy of the row with the revision rev.
	At(rev int) Row
}

// Indexed is a row that has entries in the table's indexes.
type Indexed interface{ Indexes(head Root) []Index }

// Index is an entry in one of the table's indexes, which are numbered 1 to 3.
type Index struct {
	N      int
	PK, SK string
}

// Checked is a row that is validated once more just before it is written.
type Checked interface{ Check() error }

// Objects is a row with a list whose elements have a member of type JSON or *Blob. The table stores that member as an
// object if DynamoDB would not change it.
type Objects interface {
	Objects() (list, member string, blob bool)
}

// Meta is embedded in every row that a Change writes.
type Meta struct {
	Rev int `json:"rev"`
}

func (m Meta) Revision() int { return m.Rev }

// Unrevised is embedded in every row that is put if absent and no Change writes again.
type Unrevised struct{}

func (Unrevised) Revision() int { return 0 }

// ByKey returns the rows by their keys.
func ByKey[R Row](rows []R) map[string]Row {
	out := make(map[string]Row, len(rows))
	for _, r := range rows {
		out[r.Key()] = r
	}
	return out
}

// Last returns the last row, or nil.
func Last[R any](rows []*R) *R {
	if len(rows) == 0 {
		return nil
	}
	return rows[len(rows)-1]
}

// First returns the first one that is so, or the zero value.
func First[R any](rows []R, is func(R) bool) (first R) {
	if i := slices.IndexFunc(rows, is); i >= 0 {
		first = rows[i]
	}
	return first
}

// Find returns the row with this key, or nil.
func Find[R Row](rows []R, key string) R {
	return First(rows, func(r R) bool { return r.Key() == key })
}

// Insert adds a row to rows sorted by key, or replaces the one with the same key.
func Insert[R Row](rows []R, r R) []R {
	i, found := slices.BinarySearchFunc(rows, r.Key(), func(x R, key string) int { return strings.Compare(x.Key(), key) })
	if found {
		rows[i] = r
		return rows
	}
	return slices.Insert(rows, i, r)
}

// timeForm always has three digits of milliseconds, so that times sort as text.
const timeForm = "2006-01-02T15:04:05.000Z"

// TimeText formats a time for keys and attributes.
func TimeText(t time.Time) string { return t.UTC().Format(timeForm) }

// PendingOf returns the partition key of the index that has what waits for people of a tenant.
func PendingOf(tenant string) string { return "TENANT#" + tenant + "#PENDING" }

// Use is a row with the cost of model calls. It is put if absent and never rewritten, even if the result was discarded,
// because the money is spent.
type Use struct {
	Unrevised
	Usage
	Made      string    `json:"made,omitempty"`       // key of the row that the calls made; empty when they made none
	ChargedTo string    `json:"charged_to,omitempty"` // id of another aggregate that includes these costs in its own
	CreatedAt time.Time `json:"created_at"`
}

// Kept reports whether the request was saved for people to read.
func (u *Use) Kept() bool { return u.Sent != nil && u.Sent.S3Key != "" }

func (u *Use) Key() string  { return "USAGE#" + u.ID }
func (u *Use) Type() string { return "usage" }

func (u Use) At(int) Row { return &u }

// Used returns the total usage of all calls.
func (s *Shared) Used() Usage {
	var sum Usage
	for _, u := range s.Uses {
		sum = sum.Plus(u.Sum())
	}
	return sum
}

// Relied is a row that many decisions rely on. The head notes the newest of each type.
type Relied interface {
	Row
	Relied()
}

// Newest has the revision of the newest row of each Relied type by its key, each behind a space; 0 for a row that was
// deleted: " TASK=2 PROMPT#0001=5". It stands in the head, whose revision every Change requires, so that a decision may
// rely on such a row, or on there being none after it, without a condition of its own.
type Newest string

// of returns the entry of a key's type with the space before it, or "".
func (n Newest) of(key string) string {
	typ, _, _ := strings.Cut(key, "#")
	_, rest, noted := strings.Cut(string(n), " "+typ)
	if !noted {
		return ""
	}
	entry, _, _ := strings.Cut(rest, " ")
	return " " + typ + entry
}

// Key returns the key of the newest row of a type, such as PROMPT, as it was noted last; "" if there is none.
func (n Newest) Key(typ string) string {
	key, _, _ := strings.Cut(strings.TrimPrefix(n.of(typ), " "), "=")
	return key
}

// entryOf returns a row's entry, "" if the row isn't Relied.
func entryOf(r Row, rev int) string {
	if _, relied := r.(Relied); !relied {
		return ""
	}
	return " " + r.Key() + "=" + strconv.Itoa(rev)
}

// After returns the Newest of the head that a Change of the head with revision rev leaves.
func (n Newest) After(rev int, c Change) Newest {
	for _, r := range c.Rows {
		n = n.with(r, rev+1)
	}
	for _, r := range c.Drop {
		n = n.with(r, 0)
	}
	return n
}

// with notes a row's revision unless a newer row of its type is noted.
func (n Newest) with(r Row, rev int) Newest {
	last, entry := n.of(r.Key()), entryOf(r, rev)
	if entry == "" || last > " "+r.Key()+"~" { // a newer key's: after this key comes "=", which is below "~"
		return n
	}
	return Newest(strings.Replace(string(n), last, "", 1) + entry)
}

// Unproven returns those rows of which the head doesn't prove that they are as they were read, or still absent.
func (n Newest) Unproven(rows []Row) (out []Row) {
	for _, r := range rows {
		last, entry := n.of(r.Key()), entryOf(r, r.Revision())
		if entry == "" || last != entry && (r.Revision() > 0 || last >= " "+r.Key()) {
			out = append(out, r)
		}
	}
	return out
}

// Draft is a Change under construction. When a step fails, the draft keeps the first error; later steps still run, and
// Done returns that error.
type Draft struct {
	Change
	err error
}

// Fail records an error, unless an earlier one is recorded.
//
//go:noinline
func (d *Draft) Fail(err error) { d.err = cmp.Or(d.err, err) }

// Done returns the Change with its head and these rows added, or the first error.
func (d *Draft) Done(head Root, rows ...Row) (Change, error) {
	if d.err != nil {
		return Change{}, d.err
	}
	out := d.Change
	out.Put(rows...)
	out.Head = head
	return out, nil
}

// Record adds an entry to the aggregate's audit log. If the person decided elsewhere than in Slack, the details name
// that surface.
func (d *Draft) Record(of Root, by Actor, action Action, resourceType, resourceID string, details map[string]any) {
	if by.Surface != "" && by.Surface != SurfaceSlack {
		if details = maps.Clone(details); details == nil {
			details = map[string]any{}
		}
		details["surface"] = by.Surface
	}
	d.Audit = append(d.Audit, AuditEntry{
		TenantID: of.Common().TenantID, Timestamp: d.Now, ActorType: by.Type, ActorID: by.ID, Action: action,
		ResourceType: resourceType, ResourceID: resourceID, AggregateID: of.ID(), Details: Details(details),
	})
}

// Action is what an audit entry records.
type Action string

// AuditEntry is an entry of the audit log. It is written in the commit that it records, and never rewritten.
type AuditEntry struct {
	ID           string    `json:"id"` // given by the store at commit
	TenantID     string    `json:"tenant_id"`
	Timestamp    time.Time `json:"timestamp"`
	ActorType    ActorType `json:"actor_type"`
	ActorID      string    `json:"actor_id"`
	Action       Action    `json:"action"`
	ResourceType string    `json:"resource_type"`
	ResourceID   string    `json:"resource_id"`
	AggregateID  string    `json:"task_id,omitempty"` // id of an aggregate of any kind, or empty
	Details      JSON      `json:"details"`
}

// FoundBy returns the user id that a search of the log finds the entry by: the actor's or, of what Ringi itself did
// with somebody's request, the requester's. Without either it is the actor's type.
func (x AuditEntry) FoundBy() string {
	if x.ActorID != "" {
		return x.ActorID
	}
	var about struct {
		Requester string `json:"requester"`
	}
	if x.ActorType == ActorSystem && json.Unmarshal([]byte(x.Details), &about) == nil && about.Requester != "" {
		return about.Requester
	}
	return string(x.ActorType)
}

// Reason is why something ended or stopped, as a code; cards say it in the tenant's language.
type Reason string
