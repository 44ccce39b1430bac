package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/tasks"
)

const tenantUsage = `tenant takes one of
  get                      show what is known of the workspace
  set <name>=<value> …     change its name or its admins, Slack user ids with commas between`

// tenant does what an administrator asks about the workspace itself.
func tenant(ctx context.Context, rows *tasks.Store, o order, args []string, out io.Writer) error {
	get, set := len(args) == 1 && args[0] == "get", len(args) > 1 && args[0] == "set"
	if !get && !set {
		return errors.New(tenantUsage)
	}
	var x tenancy.Tenant
	err := again(ctx, func() (err error) {
		if x, err = rows.Tenant(ctx, o.tenant); err != nil || get {
			return err
		}
		if err := assign(settable(&x), args[1:], notSettable); err != nil {
			return err
		}
		return rows.SaveTenant(ctx, x, o.by, time.Now())
	})
	if errors.Is(err, aggregate.ErrNotFound) {
		return fmt.Errorf("%s has not asked for anything yet: its first message makes the tenant", o.team)
	}
	if err != nil {
		return err
	}
	if get {
		fmt.Fprintf(out, "id=%s\nteam_id=%s\nslug=%s\n", x.ID, x.TeamID, x.Slug)
	}
	list(out, settable(&x), nil)
	return nil
}

// settable are the fields that an administrator sets. The slug is a setting, which moves it here too.
func settable(x *tenancy.Tenant) (out []tenancy.Member) {
	for _, f := range tenancy.Members(x) {
		if f.Name == "name" || f.Name == "admins" {
			out = append(out, f)
		}
	}
	return out
}

func notSettable(name string) error {
	return aggregate.ErrField{Field: name, Limit: "is not set here: name and admins are"}
}
