package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/clock"
	"ringi/shared/store/table"
)

// OrganisationStore reads and saves tenants' organisations: each version in rows of its own, which never change, and
// one row that says which version stands. It is safe for concurrent use.
//
// A version is written before it stands: it is listed, its batches are put, and one transaction moves the row, with its
// audit entry. Whoever dies in between leaves a listed version that never stood. It is in nobody's way, and the next
// one who saves an hour later deletes it.
type OrganisationStore struct {
	*Store
	read *clock.Answers[string, version]
}

// version is a version as its rows say.
type version struct {
	organisation *organisation.Organisation
	accounts     *organisation.Accounts
	hashes       tenancy.OrganisationVersion
}

// partsAtOnce is how many versions a process keeps: one of 10,000 people takes some 15 MB.
const partsAtOnce = 4

// OrganisationsOf returns the organisations in a store's table.
func OrganisationsOf(s *Store) *OrganisationStore {
	return &OrganisationStore{s, &clock.Answers[string, version]{Most: partsAtOnce}}
}

// StandingOrganisation is the organisation that stands for a tenant. Organisation and Accounts are nil where none does.
type StandingOrganisation struct {
	tenancy.OrganisationRow
	Organisation *organisation.Organisation
	Accounts     *organisation.Accounts
}

// Current reads which organisation stands: one item, and the rows of a version that this process has not read in the
// last hour. Rev is what a commit may rely on, by tenancy.OrganisationKey. With ErrUnreadable it returns the row.
func (s *OrganisationStore) Current(ctx context.Context, tenant string) (StandingOrganisation, error) {
	row, err := s.OrganisationRow(ctx, tenant)
	if err != nil || !row.Stands() {
		return StandingOrganisation{OrganisationRow: row}, err
	}
	o, accounts, err := s.Version(ctx, tenant, row.OrganisationVersion)
	return StandingOrganisation{row, o, accounts}, err
}

// ErrUnreadable says that a version's rows are not those that were saved, or are a later release's. Another version may
// be saved in its place.
var ErrUnreadable = errors.New("the organisation can't be read")

// errOther says that rows have another SHA-256 than the version.
var errOther = errors.New("its rows are not those that were saved")

// Version reads a version that stood at some time. Without a SHA256 in v it believes the rows. It returns ErrUnreadable
// if they are none of this release's.
func (s *OrganisationStore) Version(ctx context.Context, tenant string, v tenancy.OrganisationVersion) (
	*organisation.Organisation, *organisation.Accounts, error) {
	pk, err := organisationPartition(tenant, v.Version)
	if err != nil {
		return nil, nil, err
	}
	is, err := s.read.Ask(pk, time.Now(), time.Hour, func() (version, error) { return s.assembled(ctx, pk) })
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("read version %s of an organisation: %w", v.Version, err)
	case v.SHA256 != "" && is.hashes.SHA256 != v.SHA256,
		v.AccountsSHA256 != "" && is.hashes.AccountsSHA256 != v.AccountsSHA256:
		return nil, nil, fmt.Errorf("version %s: %w: %w", v.Version, ErrUnreadable, errOther)
	}
	return is.organisation, is.accounts, nil
}

func organisationPartition(tenant, version string) (string, error) {
	if !table.KeyPart(tenant) || !table.KeyPart(version) {
		return "", fmt.Errorf("version %.40q of an organisation: %w", version, aggregate.ErrNotFound)
	}
	return tenancy.OrganisationPartition(tenant, version), nil
}

// Sort keys of a version's rows.
const (
	batchPrefix   = "BATCH#"
	accountPrefix = "ACCOUNTS#"
)

func (s *OrganisationStore) assembled(ctx context.Context, pk string) (is version, err error) {
	of := map[string][]organisation.Batch{}
	for _, prefix := range []string{batchPrefix, accountPrefix} {
		e := table.NewExpression()
		for b, err := range table.Queried(ctx, s.Table(), table.Filled(e, &dynamodb.QueryInput{
			TableName: &s.Table().Name, ConsistentRead: aws.Bool(true),
			KeyConditionExpression: table.All(e.Is("PK", "=", pk), e.Begins("SK", prefix)),
		}), table.UnpackAs[organisation.Batch]) {
			if err != nil {
				return is, err
			}
			of[prefix] = append(of[prefix], b)
		}
	}
	is.organisation, err = organisation.Assemble(of[batchPrefix])
	if err == nil {
		is.accounts, err = organisation.AssembleAccounts(of[accountPrefix])
	}
	if err != nil {
		return is, errors.Join(ErrUnreadable, err)
	}
	is.hashes = tenancy.OrganisationVersion{SHA256: is.organisation.SHA256(), AccountsSHA256: is.accounts.SHA256()}
	return is, nil
}

// Save has an organisation and the accounts of its people stand, over the revision that was shown. What stands already
// is not saved again. It returns aggregate.ErrConflict when somebody saved in between.
func (s *OrganisationStore) Save(ctx context.Context, tenant string, over int, o *organisation.Organisation,
	accounts *organisation.Accounts, by aggregate.Actor, now time.Time) error {
	was, err := s.Current(ctx, tenant)
	if err != nil && !errors.Is(err, ErrUnreadable) {
		return err
	}
	if was.Rev != over {
		return fmt.Errorf("save the organisation of %s: %w", tenant, aggregate.ErrConflict)
	}
	v := tenancy.OrganisationVersion{SHA256: o.SHA256(), AccountsSHA256: accounts.SHA256()}
	if err == nil && was.Says(v) {
		return nil
	}
	if err := s.save(ctx, was, v, o, accounts, by, now); err != nil {
		return err
	}
	if err := s.clear(ctx, tenant, now); err != nil {
		slog.WarnContext(ctx, "versions of an organisation that never stood stay for now", "tenant", tenant, "err", err)
	}
	return nil
}

func (s *OrganisationStore) save(ctx context.Context, was StandingOrganisation, v tenancy.OrganisationVersion,
	o *organisation.Organisation,
	accounts *organisation.Accounts, by aggregate.Actor, now time.Time) error {
	w, err := s.BeginOrganisation(ctx, was.TenantID, v, now)
	if err != nil {
		return err
	}
	if err := s.put(ctx, w, o, accounts); err != nil {
		return err
	}
	_, err = s.MoveOrganisation(ctx, was.OrganisationRow, was.Rev, w, organisationCounts(was.Organisation, o, accounts),
		by, now)
	if errors.Is(err, aggregate.ErrConflict) {
		// Nobody else writes this version, and it can't stand any more.
		if err := s.ClearOrganisation(ctx, w); err != nil {
			slog.WarnContext(ctx, "a version of an organisation that lost stays for now", "tenant", was.TenantID,
				"err", err)
		}
	}
	return err
}

// put writes the rows of a listed version.
func (s *OrganisationStore) put(ctx context.Context, w tenancy.OrganisationWriting, o *organisation.Organisation,
	accounts *organisation.Accounts) error {
	pk := tenancy.OrganisationPartition(w.TenantID, w.Version)
	for prefix, batches := range map[string][]organisation.Batch{
		batchPrefix: o.Batches(), accountPrefix: accounts.Batches()} {
		for _, b := range batches {
			it, err := table.Pack("organisation_batch", pk, fmt.Sprintf("%s%04d", prefix, b.Part), b)
			if err != nil {
				return err
			}
			in := &dynamodb.PutItemInput{TableName: &s.Table().Name, Item: it}
			if _, err := s.Table().DB.PutItem(ctx, in); err != nil {
				return fmt.Errorf("write %s%d of an organisation: %w", prefix, b.Part, err)
			}
		}
	}
	return nil
}

// organisationCounts compares the people that stood with those that are saved.
func organisationCounts(was *organisation.Organisation, o *organisation.Organisation,
	accounts *organisation.Accounts) (n tenancy.OrganisationCounts) {
	n.People, n.Accounts = len(o.People()), accounts.People()
	if was == nil {
		n.Added = n.People
		return n
	}
	for _, p := range o.People() {
		if _, stood := was.Person(p.Number); !stood {
			n.Added++
		}
	}
	n.Gone = len(was.People()) + n.Added - n.People
	return n
}

// clear deletes the versions that never stood and that nobody writes any more.
func (s *OrganisationStore) clear(ctx context.Context, tenant string, now time.Time) error {
	all, err := s.OrganisationVersions(ctx, tenant)
	for _, w := range all {
		if err == nil && w.Leftover(now) {
			err = s.ClearOrganisation(ctx, w)
		}
	}
	return err
}

// OrganisationRow reads which version of its organisation stands for a tenant. A tenant that never had one has a row
// without revision.
func (s *Store) OrganisationRow(ctx context.Context, tenant string) (tenancy.OrganisationRow, error) {
	row := tenancy.OrganisationRow{TenantID: tenant}
	err := s.readIfThere(ctx, tenant, &row)
	return row, err
}

// readIfThere is read, but a row that a tenant doesn't have stays as it is.
func (s *Store) readIfThere(ctx context.Context, tenant string, into tenancy.Row) error {
	err := s.read(ctx, tenant, into)
	if errors.Is(err, aggregate.ErrNotFound) && table.KeyPart(tenant) {
		return nil
	}
	return err
}

// BeginOrganisation lists a new version of a tenant's organisation before its rows are written.
func (s *Store) BeginOrganisation(ctx context.Context, tenant string, v tenancy.OrganisationVersion, now time.Time) (
	tenancy.OrganisationWriting, error) {
	v.Version = s.newID()
	w, c := tenancy.BeginOrganisation(tenant, v, now)
	return w, s.change(ctx, c, nil)
}

// MoveOrganisation commits row.Move. It returns aggregate.ErrConflict when somebody saved in between, or abandoned the
// version.
func (s *Store) MoveOrganisation(ctx context.Context, row tenancy.OrganisationRow, over int,
	w tenancy.OrganisationWriting, n tenancy.OrganisationCounts, by aggregate.Actor,
	now time.Time) (tenancy.OrganisationRow, error) {
	is, c, err := row.Move(over, w, n, by, now)
	return is, s.change(ctx, c, err)
}

// RemoveOrganisation reads the row and commits Remove. It returns aggregate.ErrConflict when it has another revision.
func (s *Store) RemoveOrganisation(ctx context.Context, tenant string, over int, by aggregate.Actor,
	now time.Time) error {
	row, err := s.OrganisationRow(ctx, tenant)
	if err != nil {
		return err
	}
	_, c, err := row.Remove(over, by, now)
	return s.change(ctx, c, err)
}

// OrganisationVersions returns the list of a tenant's versions, the oldest first.
func (s *Store) OrganisationVersions(ctx context.Context, tenant string) ([]tenancy.OrganisationWriting, error) {
	return owned(ctx, s, tenant, tenancy.OrganisationWriting{TenantID: tenant}, "0") // ids begin with the time
}

// ClearOrganisation deletes the rows of a version that never stood. It returns aggregate.ErrConflict if it stands by
// now, or somebody else clears it.
func (s *Store) ClearOrganisation(ctx context.Context, w tenancy.OrganisationWriting) error {
	w, c := w.Abandon()
	if err := s.change(ctx, c, nil); err != nil {
		return err
	}
	if _, err := s.t.Erase(ctx, tenancy.OrganisationPartition(w.TenantID, w.Version), nil); err != nil {
		return err
	}
	return s.change(ctx, w.Drop(), nil)
}

// DueReminders returns the rows by which people are reminded of what waits for them that are due at a time, those first
// that were due first. The index may be slightly stale. A row that can't be read is an error, and the next ones follow.
func (s *Store) DueReminders(ctx context.Context, at time.Time) iter.Seq2[tenancy.Reminding, error] {
	e := table.NewExpression()
	in := table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, IndexName: aws.String("GSI2"), Limit: aws.Int32(duePage),
		KeyConditionExpression: table.All(e.Is("GSI2PK", "=", tenancy.RemindersDue),
			e.Is("GSI2SK", "<", aggregate.TimeText(at)+"$")), // the sign after #, which follows the time
	})
	return func(yield func(tenancy.Reminding, error) bool) {
		for it, err := range table.Queried(ctx, s.t, in, func(it table.Item) (table.Item, error) { return it, nil }) {
			var r tenancy.Reminding
			if err == nil {
				err = table.Unpack(it, &r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// SaveReminding commits next.Over(was). It returns aggregate.ErrConflict if the row is not as was.
func (s *Store) SaveReminding(ctx context.Context, next, was tenancy.Reminding) error {
	return s.changeOnce(ctx, next.Over(was), nil)
}
