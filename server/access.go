package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"nextid/generator"
	"nextid/wire"
	"nextid/wire/auth"
)

// Values of the setting users; any other value is a path. UsersAuto reads the file
// usersName in the data directory if that file exists. UsersOff turns password
// checks off.
const (
	UsersAuto = "auto"
	UsersOff  = "off"
	usersName = "users"
)

// usersFile returns the path of the users file, or "" without one.
func (c *Config) usersFile() string {
	switch c.Users {
	case UsersOff:
		return ""
	case UsersAuto:
		path := filepath.Join(c.Data, usersName)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return ""
		}
		return path // readUsers reports other errors, and a link to nothing
	}
	return c.Users
}

// exposed names the protection (users, a TLS certificate) that an address lacks
// which other machines can reach. It returns "" if nothing is missing, and for a
// local address.
func (c *Config) exposed(a Address) string {
	users, certificate := c.usersFile() != "", c.TLSCert != ""
	switch {
	case a.Local() || users && certificate:
		return ""
	case users:
		return "no TLS certificate (tls_cert, tls_key)"
	case certificate:
		return "no users (nextid passwd USER)"
	}
	return "neither users (nextid passwd USER) nor a TLS certificate (tls_cert, tls_key)"
}

// access holds the certificate and the login policy that are in force. reload
// replaces the contents of both.
type access struct {
	config Config
	log    *slog.Logger
	tls    *wire.TLS // nil: plaintext only
	policy *auth.Policy
}

// openAccess reads users, rules and certificates for the first time.
func openAccess(c Config, log *slog.Logger) (*access, error) {
	a := &access{config: c, log: log}
	users, rules, err := a.readLogins()
	if err != nil {
		return nil, err
	}
	a.policy = auth.New(auth.Config{Users: users, Rules: rules, RequireTLS: c.RequireTLS, NativePassword: c.NativePassword, Logger: log})
	if c.TLSCert != "" {
		a.tls = &wire.TLS{}
		err = a.readTLS()
	}
	return a, err
}

// usersKey is in a store whose servers have had users.
const usersKey = "users"

// remember records in the store that its servers have users. If the store has that
// record, a server with users: auto must find its users file. Otherwise a file that
// got lost, or a data directory that is not mounted, would let anyone in.
func (a *access) remember(ctx context.Context, store generator.Store) error {
	if a.config.Users == UsersOff || !a.policy.RequiresLogin() && a.config.Users != UsersAuto {
		return nil
	}
	_, had, err := store.Mark(ctx, usersKey)
	switch {
	case err != nil:
		return err
	case a.policy.RequiresLogin() && !had:
		_, _, err = store.Reserve(ctx, generator.Reservation{Key: usersKey, AtLeast: 1, N: 1, Limit: generator.NoLimit, Owner: owner()})
		return err
	case !a.policy.RequiresLogin() && had:
		return &Error{
			What: fmt.Sprintf("this store's servers had users, and the file %s is gone: anyone could log in", filepath.Join(a.config.Data, usersName)),
			Hint: "Put the file back, or name it with --users FILE. To accept every login from now on, start with --users off.",
		}
	}
	return nil
}

// announce logs the users, the rules and the certificate that are in force.
func (a *access) announce() {
	if a.policy.RequiresLogin() {
		users, rules := a.policy.Size()
		a.log.Info("logins need a user", "users_file", a.config.usersFile(), "users", users, "host_rules", a.config.HostRules, "rules", rules)
	}
	if a.tls != nil {
		a.log.Info("TLS is on", "certificate", a.config.TLSCert, "not_after", a.tls.Leaf().NotAfter, "required", a.config.RequireTLS)
		a.checkExpiry()
	}
}

// reload reads users, rules and certificate again. A file that cannot be read
// leaves what is in force.
func (a *access) reload(ctx context.Context, store generator.Store) {
	users, rules, err := a.readLogins()
	switch {
	case err != nil:
		a.log.Error("reload: the users and rules stay as they were", "error", err, "hint", HintOf(err))
	case users == nil && a.policy.RequiresLogin():
		a.log.Error("reload: the users file is gone; the users stay as they were", "hint", "Put the file back. To serve without users, restart with --users off.")
	default:
		if err := a.policy.Replace(users, rules); err != nil {
			a.log.Error("reload: the users and rules stay as they were", "error", err,
				"hint", fmt.Sprintf("If the file is whole, write as its first line: @users %d", users.Len()))
			break
		}
		a.log.Info("reload: users and rules read", "file", a.config.usersFile(), "users", users.Len(), "rules", len(rules))
		if users == nil {
			break
		}
		if err := a.remember(ctx, store); err != nil { // these may be its first users
			a.log.Warn("reload: the store could not record that its servers have users", "error", err, "hint", "Reload again.")
		}
	}
	if a.tls == nil {
		return
	}
	if err := a.readTLS(); err != nil {
		a.log.Error("reload: the certificate stays as it was", "error", err, "hint", HintOf(err))
		return
	}
	a.log.Info("reload: certificate read", "file", a.config.TLSCert, "serial", a.tls.Leaf().SerialNumber, "not_after", a.tls.Leaf().NotAfter)
	a.checkExpiry()
}

// readLogins reads the users and the rules. Without a users file it returns nil: no
// login is checked.
func (a *access) readLogins() (users *auth.Users, rules []auth.Rule, err error) {
	file := a.config.usersFile()
	if file == "" {
		return nil, nil, nil
	}
	if users, err = readOwnUsers(file); err == nil {
		rules, err = a.readRules()
	}
	return users, rules, err
}

// readOwnUsers reads a users file that no other user but root can change.
func readOwnUsers(file string) (*auth.Users, error) {
	_, users, err := readUsers(file)
	if info, failed := os.Stat(file); err == nil && failed == nil && !ownedBy(info, 0, os.Geteuid()) {
		err = &Error{
			What: fmt.Sprintf("the users file %s belongs to another user than the one that runs nextid, who can change it", file),
			Hint: "Give it to the user that runs nextid, or to root (chown).",
		}
	}
	return users, err
}

// readRules reads the host rules.
func (a *access) readRules() ([]auth.Rule, error) {
	file := a.config.HostRules
	if file == "" {
		return auth.DefaultRules(a.config.AllowPlaintext), nil
	}
	content, err := readPublic("host rules file", file)
	if err != nil {
		return nil, err
	}
	rules, err := auth.ParseRules(string(content))
	if err != nil {
		return nil, parseFailure(file, err)
	}
	return rules, nil
}

// parseFailure returns an error that names the file, as FILE:LINE if err names a line.
func parseFailure(file string, err error) error {
	what := file + ": " + err.Error()
	if rest, ok := strings.CutPrefix(err.Error(), "line "); ok {
		what = file + ":" + rest
	}
	return &Error{What: what, Err: err, Hint: "See docs/security.md on the form of this file."}
}

// readTLS reads the certificate, its key and the client CA, and puts them into
// force. After an error, those in force stay. It returns the first error.
func (a *access) readTLS() (first error) {
	a.checkTLS(func(_ string, err error) { first = cmp.Or(first, err) })
	return first
}

// checkTLS does what readTLS does. It calls check for each setting, with its error or
// nil.
func (a *access) checkTLS(check func(key string, err error)) {
	c := &a.config
	var pem wire.PEM
	var certErr, keyErr, caErr error
	if pem.Cert, certErr = os.ReadFile(c.TLSCert); certErr != nil {
		certErr = readFailure("certificate", c.TLSCert, certErr)
	}
	keySetting := "tls_key"
	if c.TLSKey == "" {
		keySetting = "tls_cert" // whose file has the key, too
		if certErr == nil && !bytes.Contains(pem.Cert, []byte("PRIVATE KEY-----")) {
			certErr = &Error{What: fmt.Sprintf("the certificate %s has no private key behind it", c.TLSCert), Hint: "Name the file of its key with tls_key (--tls-key)."}
		}
	}
	if c.TLSKey != "" || certErr == nil {
		pem.Key, keyErr = readPrivate("private key", cmp.Or(c.TLSKey, c.TLSCert))
	}
	if c.TLSClientCA != "" {
		pem.ClientCA, caErr = readPublic("client CA", c.TLSClientCA)
		if caErr == nil && !x509.NewCertPool().AppendCertsFromPEM(pem.ClientCA) {
			caErr = &Error{
				What: fmt.Sprintf("the client CA %s has no certificate in PEM form", c.TLSClientCA),
				Hint: "tls_client_ca is a file with the certificates of those who issue the clients' certificates.",
			}
		}
	}
	if cmp.Or(certErr, keyErr, caErr) == nil {
		if err := a.tls.Replace(pem); err != nil {
			certErr = &Error{
				What: fmt.Sprintf("TLS with %s: %s", c.TLSCert, err), Err: err,
				Hint: "tls_cert is a certificate in PEM form, with those between it and the root behind it; tls_key is its private key, not encrypted.",
			}
		}
	}
	check("tls_cert", certErr)
	check(keySetting, keyErr)
	check("tls_client_ca", caErr)
}

// expiresSoon is the time left of a certificate below which checkExpiry warns.
const expiresSoon = 7 * 24 * time.Hour

// checkExpiry warns of a certificate that clients refuse now or will soon. It runs
// at the start and on reload only.
func (a *access) checkExpiry() {
	leaf := a.tls.Leaf()
	switch left := time.Until(leaf.NotAfter); {
	case left <= 0:
		a.log.Warn("the certificate has expired: clients that check it refuse to connect", "file", a.config.TLSCert, "not_after", leaf.NotAfter)
	case left < expiresSoon:
		a.log.Warn("the certificate expires soon", "file", a.config.TLSCert, "not_after", leaf.NotAfter)
	case time.Now().Before(leaf.NotBefore):
		a.log.Warn("the certificate is not valid yet: clients that check it refuse to connect", "file", a.config.TLSCert, "not_before", leaf.NotBefore)
	}
}

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
