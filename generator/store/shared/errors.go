package shared

import (
	"context"
	"errors"
	"fmt"

	"nextid/dsn"
	"nextid/generator"
)

// Unreachable returns the error of a database that fails a request. If ctx has
// ended, its message is "no answer in time".
func Unreachable(ctx context.Context, what string, err error) error {
	var known *generator.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if ctx.Err() != nil {
		return generator.StoreLateError(ctx)
	}
	return generator.CausedError(dsn.Plain(err), generator.ReasonStore, "", downHint, "cannot use the store %s", what)
}

// ReadOnly returns the error of a standby, or of a read-only database.
func ReadOnly(what string, err error) error {
	return generator.CausedError(err, generator.ReasonStore, "",
		"Name the primary, or an address that follows it. nextid goes on by itself when the store takes writes.",
		"the store %s is read-only", what)
}

// Unsafe returns the error of a setting with which the database can lose confirmed
// writes. setting is its name in Config.Unsafe.
func Unsafe(setting, found, wanted string) error {
	return generator.Errorf(generator.ErrPinned, "",
		fmt.Sprintf("Set %s = %s. Or accept repeated ids after a crash of the store with --store-unsafe %s.", setting, wanted, setting),
		"the store has %s = %s: it can forget reservations that it confirmed, and ids would repeat", setting, found)
}

// NoSchema returns the error of a database without nextid's tables.
func NoSchema(what, url string, err error) error {
	return generator.CausedError(err, generator.ErrPinned, "", "Make them once, as a user who may: nextid migrate store up --dsn "+url,
		"the store %s has no tables of nextid", what)
}

// NoRights returns the error of a database whose tables the server's user may not
// read and write.
func NoRights(what, url string, err error) error {
	return generator.CausedError(err, generator.ErrPinned, "", "Allow it once, as a user who may: nextid migrate store up --dsn "+url+" --grant USER",
		"the store %s does not let this user read and write its tables", what)
}

// Damaged returns the error of a stored value that nextid did not write.
func Damaged(what, key string, err error) error {
	return generator.CausedError(err, generator.ErrRegressed, "",
		"Something other than nextid wrote to the store. Restore it, and call recover_generator for the name.",
		"the stored %s %q is damaged, or was changed by hand", what, key)
}
