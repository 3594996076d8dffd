package shared

import (
	"errors"
	"net/url"
	"strings"
)

// ParseURL reads a URL that may name several hosts, HOST:PORT,HOST:PORT. In
// the URL that it returns the first one stands for all.
func ParseURL(text string) (u *url.URL, hosts []string, err error) {
	bad := errors.New("not a URL") // url.Parse's message repeats it, password and all
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return nil, nil, bad
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, rest := rest[:end], rest[end:]
	user := ""
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, authority = authority[:at+1], authority[at+1:]
	}
	hosts = strings.Split(authority, ",")
	if u, err = url.Parse(scheme + "://" + user + hosts[0] + rest); err != nil {
		return nil, nil, bad
	}
	return u, hosts, nil
}

// Redacted is a URL with several hosts for messages: without the password.
func Redacted(u *url.URL, hosts []string) string {
	shown := *u
	shown.Host, shown.RawQuery = "HOSTS", ""
	return strings.Replace(shown.Redacted(), "HOSTS", strings.Join(hosts, ","), 1)
}
