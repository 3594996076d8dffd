package auth

import (
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/xdg-go/stringprep"

	"nextid/sqlfuncs/sqlstate"
)

const (
	// scramIterations and scramSalt (bytes) are PostgreSQL's defaults. Clients
	// compute the iterations at each login.
	scramIterations = 4096
	scramSalt       = 16

	// maxIterations bounds the iterations of a verifier in a users file.
	maxIterations = 1_000_000

	scramPrefix = "SCRAM-SHA-256$"
)

// SCRAM is a verifier for SCRAM-SHA-256 (RFC 5802, section 3; RFC 7677). It can
// check a proof, but no proof can be computed from it.
type SCRAM struct {
	Iterations int
	Salt       []byte
	StoredKey  [sha256.Size]byte
	ServerKey  [sha256.Size]byte
}

// NewSCRAM makes the verifier of a password, with a new salt.
func NewSCRAM(password string) *SCRAM {
	salt := make([]byte, scramSalt)
	_, _ = rand.Read(salt) // never fails (crypto/rand)
	return deriveSCRAM(password, salt, scramIterations)
}

// deriveSCRAM derives the keys of a password (RFC 5802, section 3).
func deriveSCRAM(password string, salt []byte, iterations int) *SCRAM {
	salted, err := pbkdf2.Key(sha256.New, prepare(password), salt, iterations, sha256.Size)
	if err != nil {
		panic(err) // only for lengths that are constants here
	}
	return &SCRAM{
		Iterations: iterations, Salt: salt,
		StoredKey: sha256.Sum256(mac(salted, "Client Key")),
		ServerKey: [sha256.Size]byte(mac(salted, "Server Key")),
	}
}

// saslprep is SASLprep without its normalization. A zero width space, which RFC 4013
// both removes and maps to a blank, becomes a blank.
var saslprep = stringprep.Profile{
	Mappings:  append([]stringprep.Mapping{{'\u200b': {' '}}}, stringprep.SASLprep.Mappings...),
	Prohibits: stringprep.SASLprep.Prohibits, CheckBiDi: true,
}

// prepare applies SASLprep (RFC 4013) as PostgreSQL does (common/saslprep.c), which
// checks the characters before it normalizes them. Three kinds of passwords stay as
// they are: not UTF-8, with a prohibited character, with a character that Unicode 3.2
// did not have.
func prepare(password string) string {
	checked, err := saslprep.Prepare(password)
	if err != nil || checked == "" {
		return password
	}
	prepared, _ := stringprep.Profile{Normalize: true}.Prepare(checked) // it prohibits nothing
	return prepared
}

// Check reports whether the verifier is that of a password. It takes milliseconds.
func (v *SCRAM) Check(password string) bool {
	d := deriveSCRAM(password, v.Salt, v.Iterations)
	return subtle.ConstantTimeCompare(d.StoredKey[:], v.StoredKey[:]) == 1
}

// String returns the verifier in PostgreSQL's form (pg_authid.rolpassword):
// SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey.
func (v *SCRAM) String() string {
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("%s%d:%s$%s:%s", scramPrefix, v.Iterations, b64(v.Salt), b64(v.StoredKey[:]), b64(v.ServerKey[:]))
}

// ParseSCRAM reads the form of String.
func ParseSCRAM(s string) (*SCRAM, error) {
	rest, ok := strings.CutPrefix(s, scramPrefix)
	cost, keys, two := strings.Cut(rest, "$")
	iterations, salt, salted := strings.Cut(cost, ":")
	stored, server, keyed := strings.Cut(keys, ":")
	if !ok || !two || !salted || !keyed {
		return nil, errors.New("not of the form SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey")
	}
	n, err := strconv.Atoi(iterations)
	if err != nil || n < 1 || n > maxIterations {
		return nil, fmt.Errorf("iterations must be 1 to %d", maxIterations)
	}
	v := &SCRAM{Iterations: n}
	if v.Salt, err = base64.StdEncoding.DecodeString(salt); err != nil || len(v.Salt) == 0 || len(v.Salt) > 1024 {
		return nil, errors.New("the salt is not base64")
	}
	first, err1 := base64.StdEncoding.DecodeString(stored)
	second, err2 := base64.StdEncoding.DecodeString(server)
	if err1 != nil || err2 != nil || len(first) != sha256.Size || len(second) != sha256.Size {
		return nil, errors.New("a key is not base64 of 32 bytes")
	}
	v.StoredKey, v.ServerKey = [sha256.Size]byte(first), [sha256.Size]byte(second)
	return v, nil
}

// mac returns the HMAC-SHA-256 of a text.
func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// errSCRAM is returned for a message that RFC 5802 does not allow here.
var errSCRAM = sqlstate.New(sqlstate.ProtocolViolation, "malformed SCRAM message")

// errBinding is returned if the client supports channel binding and sends that the
// server does not (flag y), although the server offered it. An attacker in the
// middle may have removed the offer (RFC 5802, section 6).
var errBinding = sqlstate.New(sqlstate.InvalidAuthorization, "SCRAM channel binding negotiation error").
	WithDetail("The client supports SCRAM channel binding but thinks the server does not. However, this server does support channel binding.")

// errEndPoint is returned if the client bound its login to another certificate than
// the server's: a proxy or an attacker in the middle ends the client's TLS.
var errEndPoint = sqlstate.New(sqlstate.InvalidAuthorization, "SCRAM channel binding check failed").
	WithHint("The client sees another certificate than this server's: a proxy ends its TLS. Through such a proxy, connect with channel_binding=disable.")

// conversation is the server's side of one SCRAM login (RFC 5802, section 5).
type conversation struct {
	verifier *SCRAM
	known    bool   // false: the verifier is made up, and every proof is refused
	plus     bool   // the client chose SCRAM-SHA-256-PLUS
	endPoint []byte // of the channel binding, nil if it was not offered
	nonce    string // the server's part

	header      string // gs2-header
	clientFirst string // client-first-message-bare
	serverFirst string
	fullNonce   string
}

// first reads client-first-message and returns server-first-message. It ignores the
// user's name in it, as PostgreSQL does: the start-up packet has the name.
func (s *conversation) first(message []byte) ([]byte, error) {
	text := string(message)
	flag, rest, ok1 := strings.Cut(text, ",")
	identity, bare, ok2 := strings.Cut(rest, ",")
	if !ok1 || !ok2 || strings.ContainsRune(text, 0) {
		return nil, errSCRAM
	}
	switch {
	case identity != "": // an authorization identity is not supported
		return nil, errSCRAM
	case flag == "y" && !s.plus && s.endPoint != nil:
		return nil, errBinding
	case s.plus && flag != "p=tls-server-end-point", !s.plus && flag != "n" && flag != "y":
		return nil, errSCRAM
	}
	user, rest, ok := strings.Cut(bare, ",")
	nonce, _, _ := strings.Cut(rest, ",") // extensions may follow
	if !ok || !strings.HasPrefix(user, "n=") || !strings.HasPrefix(nonce, "r=") || !validNonce(nonce[2:]) {
		return nil, errSCRAM
	}
	s.header = flag + ",,"
	s.clientFirst = bare
	s.fullNonce = nonce[2:] + s.nonce
	s.serverFirst = "r=" + s.fullNonce + ",s=" + base64.StdEncoding.EncodeToString(s.verifier.Salt) +
		",i=" + strconv.Itoa(s.verifier.Iterations)
	return []byte(s.serverFirst), nil
}

// validNonce reports whether a nonce is printable ASCII without a comma.
func validNonce(nonce string) bool {
	return nonce != "" && !strings.ContainsFunc(nonce, func(r rune) bool { return r < 0x21 || r > 0x7e || r == ',' })
}

// final reads client-final-message. fits reports that the proof is right; only then
// may answer, server-final-message, be sent. An unknown user costs the same computation.
func (s *conversation) final(message []byte) (answer []byte, fits bool, err error) {
	at := bytes.LastIndex(message, []byte(",p="))
	if at < 0 {
		return nil, false, errSCRAM
	}
	withoutProof := string(message[:at])
	proof, err := base64.StdEncoding.DecodeString(string(message[at+3:]))
	if err != nil || len(proof) != sha256.Size {
		return nil, false, errSCRAM
	}
	binding, rest, ok := strings.Cut(withoutProof, ",")
	nonce, _, _ := strings.Cut(rest, ",") // extensions may follow
	if !ok || !strings.HasPrefix(binding, "c=") || nonce != "r="+s.fullNonce {
		return nil, false, errSCRAM
	}
	want := []byte(s.header)
	if s.plus {
		want = append(want, s.endPoint...)
	}
	if binding[2:] != base64.StdEncoding.EncodeToString(want) {
		return nil, false, errEndPoint
	}
	all := s.clientFirst + "," + s.serverFirst + "," + withoutProof
	clientKey := mac(s.verifier.StoredKey[:], all)
	subtle.XORBytes(clientKey, clientKey, proof)
	stored := sha256.Sum256(clientKey)
	signature := mac(s.verifier.ServerKey[:], all)
	fits = subtle.ConstantTimeCompare(stored[:], s.verifier.StoredKey[:]) == 1 && s.known
	return []byte("v=" + base64.StdEncoding.EncodeToString(signature)), fits, nil
}
