package auth

import (
	"crypto/rand"
	"crypto/sha1" // MySQL's protocol prescribes it
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"nextid/wire/mysqlwire"
)

const (
	// MaxName bounds a user's name, in bytes.
	MaxName = 128

	// MaxPassword bounds a password, in bytes: MySQL's limit for
	// caching_sha2_password. A longer one would be expensive to hash.
	MaxPassword = 256

	// maxUsers bounds a users file.
	maxUsers = 100_000

	adminWord  = "admin"
	onlyWord   = "only="
	mockWord   = "@mock"
	countWord  = "@users"
	mockLength = 32

	nativePrefix = "*"
)

// User is one line of the users file.
type User struct {
	Name  string
	Admin bool   // may create, alter and drop generators
	SCRAM *SCRAM // nil: none
	SHA2  *SHA2  // nil: none

	// Generators lists the names that the user may draw from. A * at the end stands
	// for any characters. nil: all names.
	Generators []string

	// Native is the digest of mysql_native_password, nil for none. It has no salt,
	// and is used only if the Policy allows it.
	Native *[sha1.Size]byte

	// fast is SHA256(SHA256(password)), for the short proof of caching_sha2_password
	// and for HTTP. It is nil before the first login with the password itself. It is
	// never written to a file.
	fast atomic.Pointer[[sha256.Size]byte]
}

// SetPassword makes the verifiers of a password for both protocols; native also for
// mysql_native_password. Verifiers that the password fits are kept: new ones would
// end the user's sessions.
func (u *User) SetPassword(password string, native bool) error {
	switch {
	case password == "":
		return errors.New("the password is empty")
	case len(password) > MaxPassword:
		return fmt.Errorf("the password is longer than %d bytes", MaxPassword)
	case strings.ContainsRune(password, 0):
		return errors.New("the password has a zero byte")
	}
	if u.SCRAM == nil || u.SHA2 == nil || !u.SCRAM.Check(password) || !u.SHA2.Check(password) {
		u.SCRAM, u.SHA2 = NewSCRAM(password), NewSHA2(password)
	}
	u.Native = nil
	if native {
		digest := mysqlwire.NativePasswordDigest(password)
		u.Native = &digest
	}
	return nil
}

// sameSecret reports whether two users have the same verifiers.
func (u *User) sameSecret(v *User) bool {
	return fmt.Sprint(u.SCRAM, u.SHA2) == fmt.Sprint(v.SCRAM, v.SHA2)
}

// Users holds the users of a server. It is not changed after ParseUsers or NewUsers,
// so it is safe for concurrent use.
type Users struct {
	byName  map[string]*User
	mock    []byte // secret of the salts of users that do not exist
	counted bool   // false: from a file without @users, which may be incomplete

	// shapes has an entry for each SCRAM verifier. A verifier for an unknown name
	// gets one of these shapes.
	shapes []shape
}

// shape holds the visible properties of a user's verifiers.
type shape struct {
	iterations, salt int
	native           bool
}

// NewUsers returns Users. mock is the secret of a users file; nil makes a new one.
func NewUsers(users []*User, mock []byte) *Users {
	u := &Users{byName: make(map[string]*User, len(users)), mock: mock, counted: true}
	if len(mock) == 0 {
		u.mock = make([]byte, mockLength)
		_, _ = rand.Read(u.mock) // never fails (crypto/rand)
	}
	for _, one := range users {
		u.byName[one.Name] = one
	}
	for _, name := range u.Names() {
		one := u.byName[name]
		if v := one.SCRAM; v != nil {
			u.shapes = append(u.shapes, shape{v.Iterations, len(v.Salt), one.Native != nil})
		}
	}
	if len(u.shapes) == 0 {
		u.shapes = []shape{{iterations: scramIterations, salt: scramSalt}}
	}
	return u
}

// Len returns the number of users, 0 for nil.
func (u *Users) Len() int {
	if u == nil {
		return 0
	}
	return len(u.byName)
}

// Names returns the users' names, sorted.
func (u *Users) Names() []string { return slices.Sorted(maps.Keys(u.byName)) }

// Lookup returns a user, nil when there is none of that name.
func (u *Users) Lookup(name string) *User { return u.byName[name] }

// secret returns 32 bytes that depend on mock, purpose and name only. A client
// cannot compute them without mock.
func (u *Users) secret(purpose, name string) []byte {
	return mac(u.mock, purpose+"\x00"+name)
}

// shapeOf returns the shape of the verifier of an unknown name.
func (u *Users) shapeOf(name string) shape {
	pick := binary.BigEndian.Uint64(u.secret("shape", name))
	return u.shapes[pick%uint64(len(u.shapes))]
}

// scram returns the verifier of a name. For a name without a verifier it makes one,
// with known false: always the same one, which no password fits. It does the same
// work for known names, so that both take the same time.
func (u *Users) scram(name string) (v *SCRAM, known bool) {
	form := u.shapeOf(name)
	salt := u.secret("salt", name)
	for len(salt) < form.salt {
		salt = append(salt, u.secret("salt", string(salt))...)
	}
	v = &SCRAM{
		Iterations: form.iterations, Salt: salt[:form.salt],
		StoredKey: [32]byte(u.secret("stored", name)), ServerKey: [32]byte(u.secret("server", name)),
	}
	if one := u.byName[name]; one != nil && one.SCRAM != nil {
		return one.SCRAM, true
	}
	return v, false
}

// ParseUsers reads a users file:
//
//	# comment
//	@users NUMBER
//	@mock SECRET
//	NAME [VERIFIER…] [admin] [only=GENERATOR,…]
//
// A verifier is SCRAM-SHA-256$… of PostgreSQL, or $A$…, 0x… or *… of MySQL. A field
// with blanks or a # is in double quotes, with a double quote doubled, as in
// PgBouncer's userlist.txt.
//
// An incomplete file is an error: the last line has no end, there is no user, or the
// number of users is not that of @users.
func ParseUsers(text string) (*Users, error) {
	var users []*User
	var mock []byte
	count := -1 // no @users
	seen := map[string]bool{}
	err := eachLine(text, func(fields []string) (err error) {
		switch fields[0] {
		case mockWord:
			mock, err = parseMock(fields[1:], mock)
			return err
		case countWord:
			count, err = parseCount(fields[1:], count)
			return err
		}
		user, err := parseUser(fields)
		switch {
		case err != nil:
			return err
		case seen[user.Name]:
			return fmt.Errorf("user %q is in the file twice", user.Name)
		case len(users) == maxUsers:
			return fmt.Errorf("more than %d users", maxUsers)
		}
		seen[user.Name] = true
		users = append(users, user)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(users) == 0:
		return nil, errors.New("the file has no user")
	case count >= 0 && count != len(users):
		return nil, fmt.Errorf("%s is %d, and the file has %d users: the file is incomplete", countWord, count, len(users))
	}
	all := NewUsers(users, mock)
	all.counted = count >= 0
	return all, nil
}

// parseCount reads the fields behind @users. before is the number so far, -1 for
// none.
func parseCount(fields []string, before int) (int, error) {
	if len(fields) == 1 && before < 0 {
		if n, err := strconv.ParseUint(fields[0], 10, 31); err == nil {
			return int(n), nil
		}
	}
	return before, errors.New(countWord + " needs the number of users, once")
}

// parseMock reads the fields behind @mock. before is the secret so far.
func parseMock(fields []string, before []byte) ([]byte, error) {
	if len(fields) != 1 || before != nil {
		return nil, errors.New(mockWord + " needs one value, once")
	}
	mock, err := base64.StdEncoding.DecodeString(fields[0])
	if err != nil || len(mock) < 16 {
		return nil, errors.New(mockWord + " needs base64 of at least 16 bytes")
	}
	return mock, nil
}

// parseUser reads the fields of a user's line. Errors do not quote a field: it could
// be a password.
func parseUser(fields []string) (*User, error) {
	if err := CheckUserName(fields[0]); err != nil {
		return nil, err
	}
	u := &User{Name: fields[0]}
	for i, f := range fields[1:] {
		var err error
		twice := false
		switch {
		case f == adminWord:
			twice, u.Admin = u.Admin, true
		case strings.HasPrefix(f, scramPrefix):
			twice = u.SCRAM != nil
			u.SCRAM, err = ParseSCRAM(f)
		case strings.HasPrefix(f, sha2Prefix), strings.HasPrefix(f, "0x"):
			twice = u.SHA2 != nil
			u.SHA2, err = ParseSHA2(f)
		case strings.HasPrefix(f, onlyWord):
			twice = u.Generators != nil
			u.Generators = strings.Split(f[len(onlyWord):], ",")
			if err = CheckGenerators(f[len(onlyWord):]); f == onlyWord {
				err = errors.New("only= names no generator")
			}
		case strings.HasPrefix(f, nativePrefix):
			twice = u.Native != nil
			u.Native, err = parseNative(f)
		case f == "" && i == 0: // no verifier, in PgBouncer's form
		default:
			return nil, fmt.Errorf("field %d of user %q is neither a verifier (SCRAM-SHA-256$…, $A$…) nor %s, only=…; "+
				"passwords are never stored, see nextid passwd", i+2, u.Name, adminWord)
		}
		if err != nil {
			return nil, fmt.Errorf("field %d of user %q: %w", i+2, u.Name, err)
		}
		if twice {
			return nil, fmt.Errorf("field %d of user %q repeats an earlier one", i+2, u.Name)
		}
	}
	return u, nil
}

// CheckGenerators checks a list of generators as in only=: names with commas between
// them, each perhaps with a * at its end. "" is no list, and no error.
func CheckGenerators(list string) error {
	if list == "" {
		return nil
	}
	for n := range strings.SplitSeq(list, ",") {
		if n == "" || strings.Contains(strings.TrimSuffix(n, "*"), "*") {
			return errors.New("write names with commas between them, such as orders,invoice_*")
		}
	}
	return nil
}

// parseNative reads * and 40 hexadecimal digits.
func parseNative(text string) (*[sha1.Size]byte, error) {
	b, err := hex.DecodeString(text[len(nativePrefix):])
	if err != nil || len(b) != sha1.Size {
		return nil, errors.New("not of the form * and 40 hexadecimal digits")
	}
	return (*[sha1.Size]byte)(b), nil
}

// CheckUserName returns an error for a name that a users file or a protocol cannot
// hold.
func CheckUserName(name string) error {
	switch {
	case name == "":
		return errors.New("a user's name is empty")
	case len(name) > MaxName:
		return fmt.Errorf("a user's name is longer than %d bytes", MaxName)
	case !utf8.ValidString(name):
		return errors.New("a user's name is not UTF-8")
	case name[0] == '@':
		return errors.New("a user's name cannot begin with @")
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("a user's name has a control character")
	}
	return nil
}

// Line returns the user's line in a users file, without its end.
func (u *User) Line() string {
	fields := []string{quoteField(u.Name)}
	if u.SCRAM != nil {
		fields = append(fields, u.SCRAM.String())
	}
	if u.SHA2 != nil {
		fields = append(fields, quoteField(u.SHA2.String()))
	}
	if u.Native != nil {
		fields = append(fields, fmt.Sprintf("%s%X", nativePrefix, *u.Native))
	}
	if u.Admin {
		fields = append(fields, adminWord)
	}
	if u.Generators != nil {
		fields = append(fields, quoteField(onlyWord+strings.Join(u.Generators, ",")))
	}
	return strings.Join(fields, " ")
}

// quoteField returns a field for a users file. It quotes a field with blanks, " or
// #. A digest with such characters, or unprintable ones, becomes hexadecimal.
func quoteField(f string) string {
	if strings.HasPrefix(f, sha2Prefix) && strings.ContainsFunc(f, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '#' }) {
		return fmt.Sprintf("0x%X", f)
	}
	if strings.ContainsAny(f, " \t\"#") {
		return `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
	}
	return f
}

// Edit returns the text of a users file with one user set, or removed if user is
// nil. The first line becomes the number of users, and a file without a secret gets
// one. All other lines stay as they are. found reports whether text had the name.
func Edit(text, name string, user *User) (edited string, found bool, err error) {
	var b strings.Builder
	mocked, count := false, 0
	add := func(line string) {
		b.WriteString(line + "\n")
		count++
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		fields, err := splitFields(line)
		switch {
		case err != nil:
			return "", false, err
		case len(fields) == 0:
			b.WriteString(line + "\n")
		case fields[0] == countWord:
		case fields[0] == mockWord:
			b.WriteString(line + "\n")
			mocked = true
		case fields[0] != name:
			add(line)
		default:
			found = true
			if user != nil {
				add(user.Line())
			}
		}
	}
	if user != nil && !found {
		add(user.Line())
	}
	edited = b.String()
	if !mocked {
		edited = fileHead + mockWord + " " + base64.StdEncoding.EncodeToString(NewUsers(nil, nil).mock) + "\n\n" + edited
	}
	return fmt.Sprintf("%s %d\n%s", countWord, count, edited), found, nil
}

const fileHead = `# Users of nextid: NAME VERIFIER… [admin] [only=GENERATOR,…]. "nextid passwd" writes it; see docs/security.md.
# @users is the number of users: a file that was cut off is refused.
# @mock makes the salts of names that do not exist. Keep it as secret as the rest of this file.
`

// eachLine calls f with the fields of every line that has any. Its error begins with
// the number of the line. A last line without an end is an error: the file may have
// been read while it was being written.
func eachLine(text string, f func(fields []string) error) error {
	number := 0
	for line := range strings.Lines(text) {
		number++
		fields, err := splitFields(line)
		if !strings.HasSuffix(line, "\n") {
			err = errors.New("the last line has no end: the file is incomplete")
		}
		if err == nil && len(fields) > 0 {
			err = f(fields)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return nil
}

// field matches the next field of a line. It may be in double quotes, with a double
// quote doubled.
var field = regexp.MustCompile(`^[ \t]*(?:"((?:[^"]|"")*)"|([^" \t][^ \t]*))[ \t]*`)

// splitFields splits a line at blanks, up to a # that begins a field.
func splitFields(line string) (fields []string, err error) {
	for rest := strings.Trim(line, " \t\r\n"); rest != "" && rest[0] != '#'; {
		m := field.FindStringSubmatch(rest)
		if m == nil {
			return nil, errors.New("a quoted field has no end")
		}
		fields = append(fields, strings.ReplaceAll(m[1], `""`, `"`)+m[2])
		rest = rest[len(m[0]):]
	}
	return fields, nil
}
