package server

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"nextid/generator/node"
)

// value reads one setting from its text, and prints it back. The same text
// means the same in the file, in the environment and as a flag.
type value interface {
	Set(text string) error
	String() string
}

// textValue is any text but the empty one.
type textValue struct{ p *string }

func text(p *string) value { return textValue{p} }

func (v textValue) String() string { return *v.p }

func (v textValue) Set(s string) error {
	if s == "" {
		return errors.New("must not be empty")
	}
	*v.p = s
	return nil
}

// secretValue is a text that is never printed.
type secretValue struct{ p *string }

func secret(p *string) value { return secretValue{p} }

func (v secretValue) String() string {
	if *v.p == "" {
		return ""
	}
	return "xxxxx"
}

func (v secretValue) Set(s string) error {
	*v.p = s
	return nil
}

// wordsValue is a list of words with commas between.
type wordsValue struct{ p *[]string }

func words(p *[]string) value { return wordsValue{p} }

func (v wordsValue) String() string { return strings.Join(*v.p, ",") }

func (v wordsValue) Set(s string) error {
	*v.p = nil
	for word := range strings.SplitSeq(s, ",") {
		if word = strings.TrimSpace(word); word != "" {
			*v.p = append(*v.p, word)
		}
	}
	return nil
}

// choiceValue is one word of a list.
type choiceValue struct {
	p     *string
	words []string
}

func choice(p *string, words ...string) value { return choiceValue{p, words} }

func (v choiceValue) String() string { return *v.p }

func (v choiceValue) Set(s string) error {
	for _, w := range v.words {
		if strings.EqualFold(s, w) {
			*v.p = w
			return nil
		}
	}
	return fmt.Errorf("%q is not one of %s", s, strings.Join(v.words, ", "))
}

// boolValue is true or false.
type boolValue struct{ p *bool }

func boolean(p *bool) value { return boolValue{p} }

func (v boolValue) String() string { return strconv.FormatBool(*v.p) }

func (v boolValue) Set(s string) error {
	switch strings.ToLower(s) {
	case "true", "on", "yes", "1":
		*v.p = true
	case "false", "off", "no", "0":
		*v.p = false
	default:
		return fmt.Errorf("%q is not true or false", s)
	}
	return nil
}

// countValue is a whole number between two bounds.
type countValue[T int | int64] struct {
	p        *T
	min, max T
}

func count[T int | int64](p *T, lowest, highest T) value { return countValue[T]{p, lowest, highest} }

func (v countValue[T]) String() string { return strconv.FormatInt(int64(*v.p), 10) }

func (v countValue[T]) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < int64(v.min) || n > int64(v.max) {
		return fmt.Errorf("%q is not a whole number from %d to %d", s, v.min, v.max)
	}
	*v.p = T(n)
	return nil
}

// bytesValue is a size in bytes, written plainly or with KiB, MiB or GiB.
type bytesValue[T int | int64] struct {
	p        *T
	min, max T
}

func bytesOf[T int | int64](p *T, lowest, highest T) value { return bytesValue[T]{p, lowest, highest} }

var byteUnits = []struct {
	suffix string
	factor int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

func (v bytesValue[T]) String() string { return formatBytes(int64(*v.p)) }

func formatBytes(n int64) string {
	for _, u := range byteUnits {
		if n >= u.factor && n%u.factor == 0 && u.factor > 1 {
			return strconv.FormatInt(n/u.factor, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10)
}

func (v bytesValue[T]) Set(s string) error {
	digits, factor := s, int64(1)
	for _, u := range byteUnits {
		if head, ok := strings.CutSuffix(s, u.suffix); ok {
			digits, factor = strings.TrimSpace(head), u.factor
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > int64(v.max)/factor || n*factor < int64(v.min) {
		return fmt.Errorf("%q is not a size from %s to %s (digits, or digits with KiB, MiB or GiB)",
			s, formatBytes(int64(v.min)), formatBytes(int64(v.max)))
	}
	*v.p = T(n * factor)
	return nil
}

// durationValue is a span of time such as 500ms, 30s or 1m30s; 0 stands for
// "never" where the setting says so.
type durationValue struct {
	p        *time.Duration
	min, max time.Duration
	zero     bool // 0 is allowed as well
}

func duration(p *time.Duration, lowest, highest time.Duration) value {
	return durationValue{p, lowest, highest, false}
}

// durationOrZero is a duration that may also be 0, which means something else.
func durationOrZero(p *time.Duration, lowest, highest time.Duration) value {
	return durationValue{p, lowest, highest, true}
}

func (v durationValue) String() string { return formatDuration(*v.p) }

// formatDuration drops the zero minutes and seconds that time.Duration prints.
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

func (v durationValue) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || (d < v.min || d > v.max) && !(v.zero && d == 0) {
		return fmt.Errorf("%q is not a duration from %s to %s (for example 500ms, 30s, 1m30s)",
			s, formatDuration(v.min), formatDuration(v.max))
	}
	*v.p = d
	return nil
}

// levelValue is a log level.
type levelValue struct{ p *slog.Level }

func level(p *slog.Level) value { return levelValue{p} }

func (v levelValue) String() string { return strings.ToLower(v.p.String()) }

func (v levelValue) Set(s string) error {
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if strings.EqualFold(s, l.String()) {
			*v.p = l
			return nil
		}
	}
	return fmt.Errorf("%q is not one of debug, info, warn, error", s)
}

// workerValue is where the worker id comes from.
type workerValue struct{ p *string }

func workerSource(p *string) value { return workerValue{p} }

func (v workerValue) String() string { return node.RedactedSource(*v.p) }

func (v workerValue) Set(s string) error {
	if strings.EqualFold(s, node.Auto) {
		s = node.Auto
	}
	if err := node.CheckSource(s); err != nil {
		return err
	}
	*v.p = s
	return nil
}
