package auth

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"nextid/wire"
)

// Method is the proof that a rule requires.
type Method string

// The methods of host rules.
const (
	Reject   Method = "reject" // no login
	Trust    Method = "trust"  // no proof
	Password Method = "scram"  // SCRAM-SHA-256 over PostgreSQL, caching_sha2_password over MySQL
	Cert     Method = "cert"   // the client's certificate names the user
	Peer     Method = "peer"   // the system's user behind a Unix socket is the user
)

// Transport is the kind of connection of a rule.
type Transport string

// The transports of host rules.
const (
	Local     Transport = "local"     // a Unix socket
	Host      Transport = "host"      // TCP, with TLS or without
	HostTLS   Transport = "hostssl"   // TCP with TLS
	HostPlain Transport = "hostnossl" // TCP without TLS
)

// Rule is one line of a host rules file.
type Rule struct {
	Transport Transport
	Users     []string     // empty: all
	Address   netip.Prefix // invalid: all
	Method    Method
	Names     []string // accepted names in the certificate or of the system's user; empty: the name of the user
}

// ParseRules reads a host rules file. Its form is that of PostgreSQL's pg_hba.conf,
// without the column for databases:
//
//	# TYPE  USER             METHOD  [OPTIONS]
//	local   USER             METHOD  [name=NAME,…]
//	host    USER    ADDRESS  METHOD  [name=NAME,…]
//
// The type may also be hostssl or hostnossl. USER is all, or names with commas
// between them. ADDRESS is all, an address, or an address with a length
// (10.0.0.0/8). The first rule that matches a connection applies. A connection that
// no rule matches is refused.
func ParseRules(text string) ([]Rule, error) {
	var rules []Rule
	err := eachLine(text, func(fields []string) error {
		r, err := parseRule(fields)
		rules = append(rules, r)
		return err
	})
	if err == nil && len(rules) == 0 {
		err = errors.New("no rule: no user could log in")
	}
	return rules, err
}

func parseRule(fields []string) (r Rule, err error) {
	r.Transport = Transport(fields[0])
	if !slices.Contains([]Transport{Local, Host, HostTLS, HostPlain}, r.Transport) {
		return r, fmt.Errorf("type %q is not one of local, host, hostssl, hostnossl", fields[0])
	}
	wanted := []string{"the type", "the user", "the address", "the method"}
	if r.Transport == Local {
		wanted = slices.Delete(wanted, 2, 3)
	}
	if len(fields) < len(wanted) {
		return r, fmt.Errorf("%s is missing", wanted[len(fields)])
	}
	if users := fields[1]; users != "all" {
		r.Users = strings.Split(users, ",")
	}
	if r.Transport != Local {
		if r.Address, err = parseAddress(fields[2]); err != nil {
			return r, err
		}
	}
	r.Method = Method(fields[len(wanted)-1])
	if err := r.check(); err != nil {
		return r, err
	}
	for _, option := range fields[len(wanted):] {
		names, ok := strings.CutPrefix(option, "name=")
		if !ok || names == "" || r.Names != nil {
			return r, fmt.Errorf("option %q is not name=NAME, once", option)
		}
		r.Names = strings.Split(names, ",")
	}
	return r, r.check()
}

// parseAddress reads the ADDRESS of a rule. The result is invalid for all, and IPv4
// for an IPv4-mapped IPv6 address.
func parseAddress(text string) (netip.Prefix, error) {
	if text == "all" {
		return netip.Prefix{}, nil
	}
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("address %q is not all, an IP address, or one with a length such as 10.0.0.0/8", text)
	}
	if p != p.Masked() {
		return p, fmt.Errorf("address %q has bits beyond its length; %s is meant, perhaps", text, p.Masked())
	}
	if p.Addr().Is4In6() { // clients' addresses are compared as IPv4
		if p.Bits() < 96 {
			return p, fmt.Errorf("address %q holds IPv4 addresses and others; write a line for each", text)
		}
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96), nil
	}
	return p, nil
}

// check returns an error for a method that does not exist or that the type does not
// allow. Names are an error if the method does not use them.
func (r *Rule) check() error {
	switch r.Method {
	case Reject, Trust, Password:
		if r.Names != nil {
			return fmt.Errorf("method %s takes no names", r.Method)
		}
	case Cert:
		if r.Transport != HostTLS {
			return errors.New("method cert is for type hostssl")
		}
	case Peer:
		if r.Transport != Local {
			return errors.New("method peer is for type local")
		}
	default:
		return fmt.Errorf("method %q is not one of scram, cert, peer, trust, reject", r.Method)
	}
	return nil
}

// DefaultRules returns the rules of a server without a rules file. Every user needs
// a password, and from other machines TLS, unless plaintext is allowed.
func DefaultRules(allowPlaintext bool) []Rule {
	text := "local all scram\nhost all 127.0.0.0/8 scram\nhost all ::1 scram\nhostssl all all scram\n"
	if allowPlaintext {
		text += "hostnossl all all scram\n"
	}
	rules, err := ParseRules(text)
	if err != nil {
		panic(err) // the text is in the lines above
	}
	return rules
}

// reaches reports whether a rule matches a connection, for some user.
func (r *Rule) reaches(c *wire.Conn) bool {
	if r.Transport == Local || c.Local {
		return r.Transport == Local && c.Local
	}
	if r.Transport == HostTLS && c.TLS == nil || r.Transport == HostPlain && c.TLS != nil {
		return false
	}
	return !r.Address.IsValid() || r.Address.Contains(wire.ClientAddress(c.IP))
}

// match returns the first rule that matches a connection and a user, nil for none.
func match(rules []Rule, c *wire.Conn, user string) *Rule {
	for i := range rules {
		r := &rules[i]
		if r.reaches(c) && (len(r.Users) == 0 || slices.Contains(r.Users, user)) {
			return r
		}
	}
	return nil
}
