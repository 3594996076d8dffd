package mysql

import (
	"encoding/hex"
)

func unhex(s string) string {
	b, err := hex.DecodeString(s)
	if err != nil {
		return ""
	}
	return string(b)
}

// parseUUID reads a UUID in one of the three forms that IS_UUID knows and
// returns its 32 digits.
func parseUUID(s string) (digits string, ok bool) {
	switch {
	case len(s) == 38 && s[0] == '{' && s[37] == '}':
		s = s[1:37]
		fallthrough
	case len(s) == 36:
		if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
			return "", false
		}
		s = s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	}
	if len(s) != 32 {
		return "", false
	}
	_, err := hex.DecodeString(s)
	return s, err == nil
}
