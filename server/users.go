package server

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"nextid/wire/auth"
)

// UserChange describes a change of a user, for ChangeUser.
type UserChange struct {
	Remove         bool
	Admin, NoAdmin bool
	Only           string // the generators, see auth.CheckGenerators; "all" for any, "" for the present ones
	NoPassword     bool   // the user has no password
	Password       string // else the new one
}

// CheckUsers returns an error if ChangeUser could not read the users file or could
// not protect it.
func (c *Config) CheckUsers() error {
	_, _, err := editableUsers(c.changedUsersFile())
	return err
}

// ChangeUser adds, changes or removes a user in the users file, and returns what it
// did. It makes the file if it is missing. Running servers read the file on Reload.
func (c *Config) ChangeUser(name string, change UserChange) (did string, err error) {
	file := c.changedUsersFile()
	err = editPrivate(file, func() ([]byte, error) {
		text, users, err := editableUsers(file)
		if err != nil {
			return nil, err
		}
		var user *auth.User
		if !change.Remove {
			if user, err = change.apply(users.Lookup(name), name, c.NativePassword); err != nil {
				return nil, err
			}
		}
		edited, found, err := auth.Edit(text, name, user)
		switch {
		case err != nil:
			return nil, parseFailure(file, err)
		case !change.Remove:
			did = fmt.Sprintf("%s %s %q in %s", map[bool]string{true: "changed", false: "added"}[found], kindOfUser(user), name, file)
		case !found:
			return nil, &Error{What: fmt.Sprintf("there is no user %q in %s", name, file), Hint: "Names are written exactly as they are, with their case."}
		case users.Len() == 1:
			return nil, &Error{
				What: fmt.Sprintf("user %q is the only one in %s, and a users file without users is refused", name, file),
				Hint: "Add another user first. To accept every login, start the server with --users off.",
			}
		default:
			did = fmt.Sprintf("removed user %q in %s", name, file)
		}
		return []byte(edited), nil
	})
	return did, err
}

// changedUsersFile returns the path of the file that ChangeUser writes.
func (c *Config) changedUsersFile() string {
	if c.Users == UsersAuto || c.Users == UsersOff {
		return filepath.Join(c.Data, usersName)
	}
	return c.Users
}

// apply returns the changed user. old is nil for a new user.
func (c *UserChange) apply(old *auth.User, name string, native bool) (*auth.User, error) {
	if old == nil {
		old = &auth.User{}
	}
	user := &auth.User{Name: name, Admin: (old.Admin || c.Admin) && !c.NoAdmin, Generators: old.Generators}
	switch c.Only {
	case "":
	case "all":
		user.Generators = nil
	default:
		user.Generators = strings.Split(c.Only, ",")
	}
	if c.NoPassword {
		return user, nil
	}
	user.SCRAM, user.SHA2 = old.SCRAM, old.SHA2
	if err := user.SetPassword(c.Password, native); err != nil {
		return nil, &Error{What: err.Error(), Hint: "Nothing was changed."}
	}
	return user, nil
}

func kindOfUser(u *auth.User) string {
	kind := "user"
	if u.Admin {
		kind = "administrator"
	}
	if u.SCRAM == nil && u.SHA2 == nil {
		kind += " without a password"
	}
	return kind
}

// editableUsers reads a users file. A missing file is empty.
func editableUsers(file string) (text string, users *auth.Users, err error) {
	text, users, err = readUsers(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", auth.NewUsers(nil, nil), checkReplaceable("users file", file)
	}
	return text, users, err
}

// readUsers reads a users file. It also returns its text.
func readUsers(file string) (text string, users *auth.Users, err error) {
	content, err := readPrivate("users file", file)
	if err != nil {
		return "", nil, err
	}
	if users, err = auth.ParseUsers(string(content)); err != nil {
		return "", nil, parseFailure(file, err)
	}
	return string(content), users, nil
}
