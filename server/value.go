package server

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"nextid/generator/workerid"
)

// value reads one setting from its text, and prints it back. A text means the same
// in the file, in the environment and as a flag.
type value struct {
	Set    func(text string) error
	String func() string // without secrets
	Get    func() any
}

// valueOf returns a value that reads into *p. A text that cannot be read leaves *p
// as it was.
func valueOf[T any](p *T, read func(string) (T, error), show func(T) string) value {
	return value{
		func(s string) error {
			v, err := read(s)
			if err == nil {
				*p = v
			}
			return err
		},
		func() string { return show(*p) },
		func() any { return *p },
	}
}

func same(s string) string { return s }

// text returns a value for any text but the empty one.
func text(p *string) value {
	return valueOf(p, func(s string) (string, error) {
		if s == "" {
			return "", errors.New("must not be empty")
		}
		return s, nil
	}, same)
}

// secret returns a value for a text that is never printed.
func secret(p *string) value {
	return valueOf(p, func(s string) (string, error) { return s, nil }, func(s string) string { return "xxxxx"[:5*min(len(s), 1)] })
}

// words returns a value for a list of words with commas or blanks between.
func words(p *[]string) value {
	return valueOf(p, func(s string) ([]string, error) {
		all := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
		return append([]string(nil), all...), nil // nil for an empty list, as by default
	}, func(all []string) string { return strings.Join(all, ",") })
}

// choice returns a value for one of words, in upper or lower case.
func choice(p *string, words ...string) value {
	return valueOf(p, func(s string) (string, error) {
		if i := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(s, w) }); i >= 0 {
			return words[i], nil
		}
		return "", fmt.Errorf("%q is not one of %s", s, strings.Join(words, ", "))
	}, same)
}

// boolean returns a value for true or false, on or off, yes or no, 1 or 0.
func boolean(p *bool) value {
	return valueOf(p, func(s string) (bool, error) {
		switch strings.ToLower(s) {
		case "true", "on", "yes", "1":
			return true, nil
		case "false", "off", "no", "0":
			return false, nil
		}
		return false, fmt.Errorf("%q is not true or false", s)
	}, strconv.FormatBool)
}

// count returns a value for a whole number from lowest to highest.
func count[T int | int64](p *T, lowest, highest T) value {
	return valueOf(p, func(s string) (T, error) {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < int64(lowest) || n > int64(highest) {
			return 0, fmt.Errorf("%q is not a whole number from %d to %d", s, lowest, highest)
		}
		return T(n), nil
	}, func(n T) string { return strconv.FormatInt(int64(n), 10) })
}

// unit is a unit of sizes or times.
type unit struct {
	suffix string
	factor int64
}

var byteUnits = []unit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// bytesOf returns a value for a size in bytes, written plainly or with KiB, MiB or
// GiB.
func bytesOf[T int | int64](p *T, lowest, highest T) value {
	return valueOf(p, func(s string) (T, error) {
		digits, factor := s, int64(1)
		for _, u := range byteUnits {
			if head, ok := strings.CutSuffix(s, u.suffix); ok {
				digits, factor = strings.TrimSpace(head), u.factor
				break
			}
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 0 || n > int64(highest)/factor || n*factor < int64(lowest) {
			return 0, fmt.Errorf("%q is not a size from %s to %s (digits, or digits with KiB, MiB or GiB)",
				s, formatBytes(int64(lowest)), formatBytes(int64(highest)))
		}
		return T(n * factor), nil
	}, func(n T) string { return formatBytes(int64(n)) })
}

// inLargest prints n in the largest of the units that needs no fraction.
func inLargest(n int64, units []unit) string {
	for _, u := range units {
		if n >= u.factor && n%u.factor == 0 {
			return strconv.FormatInt(n/u.factor, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10)
}

func formatBytes(n int64) string { return inLargest(n, byteUnits[:3]) }

// duration returns a value for a time such as 500ms, 30s or 1m30s, from lowest to
// highest or one of also.
func duration(p *time.Duration, lowest, highest time.Duration, also ...time.Duration) value {
	return valueOf(p, func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || (d < lowest || d > highest) && !slices.Contains(also, d) {
			return 0, fmt.Errorf("%q is not a duration from %s to %s (for example 500ms, 30s, 1m30s)", s, formatDuration(lowest), formatDuration(highest))
		}
		return d, nil
	}, formatDuration)
}

// formatDuration prints d without trailing zero minutes and seconds.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// level returns a value for a log level.
func level(p *slog.Level) value {
	return valueOf(p, func(s string) (l slog.Level, _ error) {
		if strings.ContainsAny(s, "+-") || l.UnmarshalText([]byte(s)) != nil {
			return 0, fmt.Errorf("%q is not one of debug, info, warn, error", s)
		}
		return l, nil
	}, func(l slog.Level) string { return strings.ToLower(l.String()) })
}

// workerSource returns a value for a source of worker ids, see workerid.Check.
func workerSource(p *string) value {
	return valueOf(p, func(s string) (string, error) {
		if strings.EqualFold(s, workerid.Auto) {
			s = workerid.Auto
		}
		return s, workerid.Check(s)
	}, workerid.Redacted)
}
