package datum

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// compareRandom compares random values, from a fixed seed: arithmetic on
// numeric and timestamps, and what every date and time prints as.
func compareRandom(t *testing.T, o *oracle) {
	const rounds = 1500
	r := rand.New(rand.NewPCG(20261121, 1))
	env := &Env{Location: fuzzEnv.Location}
	o.exec("SET TimeZone = 'America/New_York'")
	for range rounds {
		a, b := randomNumeric(r), randomNumeric(r)
		op := []string{"+", "-", "*", "%"}[r.IntN(4)]
		o.same(env, fmt.Sprintf("SELECT $1::numeric %s $2::numeric", op), func() (Value, error) {
			return Compute(op[0], operand{"numeric", a}.value(t, env), operand{"numeric", b}.value(t, env), env)
		}, a, b)

		span := randomInterval(r)
		instant := randomTime(r)
		op = []string{"+", "-"}[r.IntN(2)]
		o.same(env, fmt.Sprintf("SELECT $1::timestamptz %s $2::interval", op), func() (Value, error) {
			return Compute(op[0], operand{"timestamptz", instant}.value(t, env), operand{"interval", span}.value(t, env), env)
		}, instant, span)
	}
}

// same compares a query's text with a value of ours.
func (o *oracle) same(env *Env, query string, ours func() (Value, error), params ...string) {
	o.t.Helper()
	want, _, wantErr := o.value(0, query, params...)
	v, err := ours()
	if got, w := show(AppendText(nil, v, env), false, err), show(want, false, wantErr); !agrees(got, w) {
		o.t.Errorf("%s %q = %s\n   PostgreSQL: %s", query, params, got, w)
	}
}

func randomDigits(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0000123456789999"[r.IntN(16)]
	}
	return string(b)
}

func randomNumeric(r *rand.Rand) string {
	s := randomDigits(r, 1+r.IntN(20))
	if n := r.IntN(20); n > 4 {
		s += "." + randomDigits(r, n-4)
	}
	if r.IntN(2) == 0 {
		s = "-" + s
	}
	return s
}

func randomInterval(r *rand.Rand) string {
	return fmt.Sprintf("%d months %d days %d:%02d:%02d.%06d", r.IntN(200)-100, r.IntN(200)-100, r.IntN(100), r.IntN(60), r.IntN(60), r.IntN(1_000_000))
}

func randomTime(r *rand.Rand) string {
	date := dayTime(int64(r.IntN(200_000)) - 100_000).Format(time.DateOnly)
	return fmt.Sprintf("%s %02d:%02d:%02d.%06d", date, r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1_000_000))
}
